// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * naive_lockfree_stack.c - per class, a linked stack changed by compare-and-swap.
 * Owns: classes.  Locks: none.  Entry: naive.c.
 *
 * The top is 48 bits of address and 16 bits that count pops, against one that sees
 * the same address again.  Buffers are never unmapped: reading the link of a buffer
 * that somebody has taken meanwhile gives garbage, which the swap then refuses.
 */
#include <stdint.h>
#include "naive.h"

#define TAG_SHIFT	48
#define ADDRESS		(((uint64_t)1 << TAG_SHIFT) - 1)

static struct NAIVE_LINE {
	_Atomic uint64_t top;	/* [atomic] */
} classes[NAIVE_CLASSES];

static inline void *lockfree_stack_alloc(size_t bytes)
{
	const unsigned int cls = naive_class(bytes);
	uint64_t old = atomic_load_explicit(&classes[cls].top, memory_order_acquire);
	uint64_t new;
	_Atomic uint64_t *buf;

	do {
		buf = (_Atomic uint64_t *)(uintptr_t)(old & ADDRESS);
		if (!buf)
			return naive_miss(cls);
		new = (atomic_load_explicit(buf, memory_order_relaxed) & ADDRESS) |
		      (((old >> TAG_SHIFT) + 1) << TAG_SHIFT);
	} while (!atomic_compare_exchange_weak_explicit(&classes[cls].top, &old, new,
							memory_order_acquire,
							memory_order_acquire));
	return buf;
}

static inline void lockfree_stack_free(void *buf, size_t bytes)
{
	const unsigned int cls = naive_class(bytes);
	uint64_t old = atomic_load_explicit(&classes[cls].top, memory_order_relaxed);
	uint64_t new;

	do {
		atomic_store_explicit((_Atomic uint64_t *)buf, old & ADDRESS,
				      memory_order_relaxed);
		new = (uint64_t)(uintptr_t)buf | (old & ~ADDRESS);
	} while (!atomic_compare_exchange_weak_explicit(&classes[cls].top, &old, new,
							memory_order_release,
							memory_order_relaxed));
}

#define SUBJECT lockfree_stack
#include "../loops.h"

const struct subject subject_lockfree_stack = {
	.name = "lockfree-stack",
	.loops = &lockfree_stack_loops,
};
