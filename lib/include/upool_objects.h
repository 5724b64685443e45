/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * upool_objects.h - object pools: objects of one type, made once and used again.
 * Part of upool.h, whose general rules hold.
 */
#ifndef UPOOL_OBJECTS_H
#define UPOOL_OBJECTS_H

#include <stddef.h>
#include <upool_options.h>

#ifdef __cplusplus
extern "C" {
#endif

struct upool_objects;

/**
 * struct upool_object_ops - what an object pool does with its objects
 * @size:    sizeof(struct upool_object_ops)
 * @bytes:   of an object, 1 to 1 GiB - 16; aligned to 16
 * @create:  make an object in @bytes of any contents: 0, else there is none; NULL = nothing to do
 * @reset:   before a returned object is kept: 0, else it is destroyed; NULL = nothing to do
 * @destroy: end an object that is no longer kept; NULL = nothing to do
 * @arg:     for the callbacks
 *
 * Callbacks run in the thread that calls; @destroy also in one that allocates from, frees
 * to or trims the pool, with locks held: it must not use the same object pool, and while
 * it uses another one no thread may fork.
 */
struct upool_object_ops {
	size_t	size;
	size_t	bytes;
	int	(*create)(void *obj, void *arg);
	int	(*reset)(void *obj, void *arg);
	void	(*destroy)(void *obj, void *arg);
	void	*arg;
};

/**
 * struct upool_objects_options - limits; start from { .size = sizeof(...) }
 * @size:         sizeof(struct upool_objects_options)
 * @flags:        0
 * @trim_age_ms:  milliseconds after which idle objects go; 0 = 1000; UINT_MAX = never
 * @max_retained: idle objects that are kept, half of them by threads for themselves;
 *                0 = what fits the defaults of private pools
 * @max_objects:  objects that may exist, 1 to 2^24; 0 = any number
 * @__resv:       0
 */
struct upool_objects_options {
	size_t		size;
	unsigned int	flags;
	unsigned int	trim_age_ms;
	size_t		max_retained;
	size_t		max_objects;
	size_t		__resv[4];
};

/**
 * upool_objects_create() - make an object pool
 * @p:   receives the pool; untouched on error
 * @ops: copied
 * @opt: not retained; NULL = defaults
 *
 * Context: may sleep.
 * Return: 0; -EINVAL a size, a limit, a flag or a reserved member is not as described;
 * -ENOMEM no memory or addresses
 */
int upool_objects_create(struct upool_objects **p, const struct upool_object_ops *ops,
			 const struct upool_objects_options *opt);

/**
 * upool_objects_get() - take an idle object, or make one
 * @p: an object pool
 *
 * Context: as upool_alloc(); may call create, and destroy for others.
 * Return: the object; NULL when create failed, max_objects exist, or without memory
 */
void *upool_objects_get(struct upool_objects *p);

/**
 * upool_objects_put() - give an object back
 * @p:   the pool it came from
 * @obj: the object; NULL is allowed
 *
 * What is refused was not reset, and is unharmed.
 *
 * Context: as upool_alloc(); may call reset, and destroy.
 * Return: 0; -EINVAL not an object of this pool; -EALREADY not held
 */
int upool_objects_put(struct upool_objects *p, void *obj);

/**
 * upool_objects_trim() - destroy idle objects
 * @p:    an object pool
 * @keep: idle objects to keep
 *
 * Context: may sleep; calls destroy.
 * Return: how many objects, and places for one, were given back
 */
size_t upool_objects_trim(struct upool_objects *p, size_t keep);

/**
 * upool_objects_stats_read() - statistics; held are the objects that are out
 * @p:  an object pool
 * @st: as for upool_stats_read()
 *
 * Context: may sleep.
 * Return: 0; -EINVAL size is smaller than the size field
 */
int upool_objects_stats_read(const struct upool_objects *p, struct upool_stats *st);

/**
 * upool_objects_destroy() - destroy all objects and the pool
 * @p: dead afterwards, unless an error is returned; NULL is allowed
 *
 * Context: may sleep; calls destroy; no other thread may be using @p.
 * Return: 0; -EBUSY objects are out: how many is in the statistics
 */
int upool_objects_destroy(struct upool_objects *p);

#ifdef __cplusplus
}
#endif

#endif /* UPOOL_OBJECTS_H */
