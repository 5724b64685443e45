// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * naive_spin_arrays.c - per class, an array of 50 addresses under a spin lock.
 * Owns: classes.  Locks: a spin lock per class.  Entry: naive.c.
 */
#include "naive.h"

#define SLOTS	50u

static struct NAIVE_LINE {
	struct spin	lock;
	unsigned int	nr;		/* [lock] */
	void		*slot[SLOTS];	/* [lock] */
} classes[NAIVE_CLASSES];

static inline void *spin_arrays_alloc(size_t bytes)
{
	const unsigned int cls = naive_class(bytes);
	void *buf = NULL;

	spin_lock(&classes[cls].lock);
	if (classes[cls].nr)
		buf = classes[cls].slot[--classes[cls].nr];
	spin_unlock(&classes[cls].lock);
	return buf ? buf : naive_miss(cls);
}

static inline void spin_arrays_free(void *buf, size_t bytes)
{
	const unsigned int cls = naive_class(bytes);

	spin_lock(&classes[cls].lock);
	if (classes[cls].nr < SLOTS) {
		classes[cls].slot[classes[cls].nr++] = buf;
		buf = NULL;
	}
	spin_unlock(&classes[cls].lock);
	if (buf)
		naive_full(buf);
}

#define SUBJECT spin_arrays
#include "../loops.h"

const struct subject subject_spin_arrays = {
	.name = "spin-arrays",
	.loops = &spin_arrays_loops,
};
