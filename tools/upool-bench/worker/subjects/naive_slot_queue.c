// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * naive_slot_queue.c - per class, one atomic slot in front of a bounded queue.
 * Owns: classes.  Locks: none.  Entry: naive.c.
 */
#include "mpmc.h"

static struct NAIVE_LINE {
	_Atomic(void *)	hot;	/* [atomic] */
	struct mpmc	rest;
} classes[NAIVE_CLASSES];

static inline void *slot_queue_alloc(size_t bytes)
{
	const unsigned int cls = naive_class(bytes);
	void *buf = atomic_load_explicit(&classes[cls].hot, memory_order_relaxed);

	if (buf && atomic_compare_exchange_strong_explicit(&classes[cls].hot, &buf, NULL,
							   memory_order_acquire,
							   memory_order_relaxed))
		return buf;
	buf = mpmc_get(&classes[cls].rest);
	return buf ? buf : naive_miss(cls);
}

static inline void slot_queue_free(void *buf, size_t bytes)
{
	const unsigned int cls = naive_class(bytes);
	void *none = NULL;

	if (!atomic_load_explicit(&classes[cls].hot, memory_order_relaxed) &&
	    atomic_compare_exchange_strong_explicit(&classes[cls].hot, &none, buf,
						    memory_order_release, memory_order_relaxed))
		return;
	if (!mpmc_put(&classes[cls].rest, buf))
		naive_full(buf);
}

#define SUBJECT slot_queue
#include "../loops.h"

static const char *slot_queue_init(const struct shape *shape)
{
	mpmc_init(&classes[naive_class(shape->bytes)].rest);
	return NULL;
}

const struct subject subject_slot_queue = {
	.name = "slot-queue",
	.init = slot_queue_init,
	.loops = &slot_queue_loops,
};
