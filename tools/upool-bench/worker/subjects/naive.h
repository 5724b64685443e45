/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * naive.h - what the naive pools have in common: classes, a spin lock, malloc behind.
 * Owns: nothing.  Locks: struct spin.  Entry: the naive_*.c files.
 *
 * They are what people write: size classes by powers of two, and malloc when the pool
 * is empty, free when it is full.  All of them live in one process image; each is
 * measured in a process of its own.
 */
#ifndef UPOOL_BENCH_NAIVE_H
#define UPOOL_BENCH_NAIVE_H

#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include "../ring.h"
#include "../subject.h"

#define NAIVE_CLASSES	31u
#define NAIVE_LINE	__attribute__((aligned(128)))

extern const struct subject subject_mutex_stack;
extern const struct subject subject_spin_arrays;
extern const struct subject subject_lockfree_stack;
extern const struct subject subject_lockfree_queue;
extern const struct subject subject_slot_queue;
extern const struct subject subject_mpmc_queue;
extern const struct subject subject_percore_stacks;

/* Class i holds buffers of 1 << i bytes, 16 at least. */
static inline unsigned int naive_class(size_t bytes)
{
	return bytes <= 16 ? 4 : 64 - (unsigned int)__builtin_clzl(bytes - 1);
}

static inline __attribute__((cold)) void *naive_miss(unsigned int cls)
{
	return malloc((size_t)1 << cls);
}

static inline __attribute__((cold)) void naive_full(void *buf)
{
	free(buf);
}

/* Test and test-and-set; gives way to a holder that is not running. */
struct spin {
	atomic_int held;	/* [atomic] acquire on entry, release on exit */
};

static inline int spin_try(struct spin *s)
{
	return !atomic_load_explicit(&s->held, memory_order_relaxed) &&
	       !atomic_exchange_explicit(&s->held, 1, memory_order_acquire);
}

static inline void spin_lock(struct spin *s)
{
	unsigned int spins = 0;

	while (!spin_try(s)) {
		if (++spins % 64)
			cpu_relax();
		else
			sched_yield();
	}
}

static inline void spin_unlock(struct spin *s)
{
	atomic_store_explicit(&s->held, 0, memory_order_release);
}

#endif /* UPOOL_BENCH_NAIVE_H */
