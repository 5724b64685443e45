// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * objects.c - object pools: a private pool of one size whose idle objects stay made.
 * Owns: struct upool_objects, the header before an object.  Locks: none.
 * Entry: the public header.
 *
 * O1  made is set while an object exists in the buffer, held or idle; memory that comes
 *     from a span has it clear, since it is zero, or was cleared when the object ended.
 */
#include <string.h>
#include "priv.h"
#include "sys.h"

/**
 * struct object - what precedes an object
 * @made:   O1				[owner of the buffer]
 * @__resv: keeps objects aligned to 16
 */
struct object {
	uint64_t	made;
	uint64_t	__resv;
	unsigned char	bytes[];
};

/**
 * struct upool_objects - an object pool  [const]
 * @pool:  its private pool
 * @ops:   the caller's
 * @bytes: of a buffer
 */
struct upool_objects {
	struct priv		*pool;
	struct upool_object_ops	ops;
	size_t			bytes;
};

static struct object *object_of(void *obj)
{
	return (struct object *)((unsigned char *)obj - offsetof(struct object, bytes));
}

static void end_object(struct upool_objects *p, struct object *o)
{
	if (!o->made)
		return;
	if (p->ops.destroy)
		p->ops.destroy(o->bytes, p->ops.arg);
	o->made = 0;
}

static void on_drop(void *arg, void *buf)
{
	end_object(arg, buf);
}

static int check(const struct upool_object_ops *ops, const struct upool_objects_options *o)
{
	size_t i;

	if (!ops || ops->size != sizeof(*ops) || !ops->bytes ||
	    ops->bytes > UPOOL_MAX_BUF_BYTES - sizeof(struct object))
		return -EINVAL;
	if (!o)
		return 0;
	for (i = 0; i < sizeof(o->__resv) / sizeof(o->__resv[0]); i++)
		if (o->__resv[i])
			return -EINVAL;
	return o->size == sizeof(*o) && !o->flags ? 0 : -EINVAL;
}

/* Half of what is retained in threads, half in the depot: together no more. */
static void share(struct upool_options *o, size_t bytes, size_t retained)
{
	size_t half = retained / 2;

	o->thread_bytes = UPOOL_NOTHING;
	o->retain_bytes = UPOOL_NOTHING;
	if (half && half < SIZE_MAX / 2 / bytes)
		o->thread_bytes = half * bytes;
	if (retained && retained - half < SIZE_MAX / 2 / bytes)
		o->retain_bytes = (retained - half) * bytes;
}

UPOOL_API int upool_objects_create(struct upool_objects **p, const struct upool_object_ops *ops,
				   const struct upool_objects_options *opt)
{
	struct upool_options o = { .size = sizeof(o), .backing = UPOOL_BACKING_PRIVATE };
	struct upool_objects *new;
	struct upool *pool;
	int ret = check(ops, opt);

	if (ret)
		return ret;
	new = meta_alloc(sizeof(*new));
	if (!new)
		return -ENOMEM;
	new->ops = *ops;
	new->bytes = sizeof(struct object) + ops->bytes;
	if (opt && opt->max_retained)
		share(&o, class_bytes(upool__class_of(new->bytes)), opt->max_retained);
	if (opt) {
		o.nr_buffers = opt->max_objects;
		o.trim_age_ms = opt->trim_age_ms;
	}
	o.buffer_bytes = new->bytes;
	ret = upool_create(&pool, &o);
	if (ret) {
		meta_free(new, sizeof(*new));
		return ret;
	}
	new->pool = priv_of(pool);
	new->pool->drop = on_drop;
	new->pool->drop_arg = new;
	*p = new;
	return 0;
}

UPOOL_API void *upool_objects_get(struct upool_objects *p)
{
	struct upool *pool = (struct upool *)p->pool;
	struct object *o = upool_alloc_inline(pool, p->bytes);

	if (!o || likely(o->made))
		return o ? o->bytes : NULL;
	if (p->ops.create && p->ops.create(o->bytes, p->ops.arg)) {
		upool_free(pool, o);
		return NULL;
	}
	o->made = 1;
	return o->bytes;
}

UPOOL_API int upool_objects_put(struct upool_objects *p, void *obj)
{
	struct upool *pool = (struct upool *)p->pool;
	unsigned char *state;
	unsigned int cls;

	if (!obj)
		return 0;
	/* before the callback sees it */
	if (!upool__lookup(&p->pool->head, object_of(obj), &state, &cls) ||
	    load_relaxed(state) != UPOOL__HELD)
		return upool_free(pool, object_of(obj));
	if (p->ops.reset && p->ops.reset(obj, p->ops.arg))
		end_object(p, object_of(obj));
	return upool_free_inline(pool, object_of(obj));
}

UPOOL_API int upool_objects_stats_read(const struct upool_objects *p, struct upool_stats *st)
{
	return upool_stats_read((const struct upool *)p->pool, st);
}

UPOOL_API size_t upool_objects_trim(struct upool_objects *p, size_t keep)
{
	size_t bytes = class_bytes(upool__class_of(p->bytes));

	if (keep > SIZE_MAX / bytes)
		return 0;
	return upool_trim((struct upool *)p->pool, keep * bytes) / bytes;
}

UPOOL_API int upool_objects_destroy(struct upool_objects *p)
{
	int ret;

	if (!p)
		return 0;
	if (priv_held(p->pool))
		return -EBUSY;
	upool_trim((struct upool *)p->pool, 0);
	ret = priv_destroy(p->pool);
	if (!ret)
		meta_free(p, sizeof(*p));
	return ret;
}
