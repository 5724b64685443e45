/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * ring.h - bounded ring from one producer to one consumer, published in batches.
 * Owns: struct ring.  Locks: none.  Entry: loops.h, team.c.
 *
 * The same for every subject, so that a difference is the allocators'.  A batch
 * costs one transfer of each index between the two cores.
 */
#ifndef UPOOL_BENCH_RING_H
#define UPOOL_BENCH_RING_H

#include <sched.h>
#include <stdatomic.h>
#include <stddef.h>
#include "../cases.h"

#define RING_BATCH	16u
#define RING_SPINS	20000u

struct ring {
	/* [producer] own position and the last head that was seen */
	size_t		tail __attribute__((aligned(128)));
	size_t		seen_head;
	/* [consumer] */
	size_t		head __attribute__((aligned(128)));
	size_t		seen_tail;
	/* [atomic] written by the producer; release orders the slots before it */
	atomic_size_t	pub_tail __attribute__((aligned(128)));
	/* [atomic] written by the consumer; release orders its reads before it */
	atomic_size_t	pub_head __attribute__((aligned(128)));
	/* a slot belongs to the consumer between pub_head and pub_tail, else to the producer */
	void		*slot[RING_SLOTS] __attribute__((aligned(128)));
};

static inline void cpu_relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ __volatile__("yield" : : : "memory");
#endif
}

/* One turn of a loop that waits for another thread, perhaps of the same CPU. */
static inline void ring_wait(unsigned int *spins)
{
	if (++*spins % RING_SPINS)
		cpu_relax();
	else
		sched_yield();
}

static inline void ring_publish(struct ring *r)
{
	atomic_store_explicit(&r->pub_tail, r->tail, memory_order_release);
}

static inline void ring_send(struct ring *r, void *buf)
{
	unsigned int spins = 0;

	while (r->tail - r->seen_head == RING_SLOTS) {
		r->seen_head = atomic_load_explicit(&r->pub_head, memory_order_acquire);
		if (r->tail - r->seen_head < RING_SLOTS)
			break;
		ring_publish(r);
		ring_wait(&spins);
	}
	r->slot[r->tail++ % RING_SLOTS] = buf;
	if (!(r->tail % RING_BATCH))
		ring_publish(r);
}

static inline void *ring_receive(struct ring *r)
{
	unsigned int spins = 0;
	void *buf;

	while (r->head == r->seen_tail) {
		r->seen_tail = atomic_load_explicit(&r->pub_tail, memory_order_acquire);
		if (r->head != r->seen_tail)
			break;
		ring_wait(&spins);
	}
	buf = r->slot[r->head++ % RING_SLOTS];
	if (!(r->head % RING_BATCH))
		atomic_store_explicit(&r->pub_head, r->head, memory_order_release);
	return buf;
}

#endif /* UPOOL_BENCH_RING_H */
