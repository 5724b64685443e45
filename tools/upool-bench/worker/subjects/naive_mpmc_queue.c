// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * naive_mpmc_queue.c - per class, a bounded queue of 1024 addresses.
 * Owns: classes.  Locks: none.  Entry: naive.c.
 */
#include "mpmc.h"

static struct mpmc classes[NAIVE_CLASSES];

static inline void *mpmc_queue_alloc(size_t bytes)
{
	const unsigned int cls = naive_class(bytes);
	void *buf = mpmc_get(&classes[cls]);

	return buf ? buf : naive_miss(cls);
}

static inline void mpmc_queue_free(void *buf, size_t bytes)
{
	if (!mpmc_put(&classes[naive_class(bytes)], buf))
		naive_full(buf);
}

#define SUBJECT mpmc_queue
#include "../loops.h"

static const char *mpmc_queue_init(const struct shape *shape)
{
	mpmc_init(&classes[naive_class(shape->bytes)]);
	return NULL;
}

const struct subject subject_mpmc_queue = {
	.name = "mpmc-queue",
	.init = mpmc_queue_init,
	.loops = &mpmc_queue_loops,
};
