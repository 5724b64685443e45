/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * mpmc.h - bounded queue for many producers and consumers, a sequence number per slot.
 * Owns: struct mpmc.  Locks: none.  Entry: naive_mpmc_queue.c, naive_slot_queue.c.
 *
 * A slot whose number is the position takes a buffer; one whose number is the position
 * plus one gives it.  Who moves the position owns the slot until it stores the number.
 */
#ifndef UPOOL_BENCH_MPMC_H
#define UPOOL_BENCH_MPMC_H

#include "naive.h"

#define MPMC_SLOTS	1024u

struct mpmc {
	atomic_size_t	put NAIVE_LINE;	/* [atomic] next position to fill */
	atomic_size_t	get NAIVE_LINE;	/* [atomic] next position to empty */
	struct {
		atomic_size_t	seq;	/* [atomic] release orders buf before it */
		void		*buf;	/* its owner's */
	} slot[MPMC_SLOTS] NAIVE_LINE;
};

static inline void mpmc_init(struct mpmc *q)
{
	size_t i;

	for (i = 0; i < MPMC_SLOTS; i++)
		atomic_init(&q->slot[i].seq, i);
}

/* The slot of the next position, moved past; -1 when it is not in that state. */
static inline long mpmc_claim(struct mpmc *q, atomic_size_t *at, size_t state)
{
	size_t pos = atomic_load_explicit(at, memory_order_relaxed);

	for (;;) {
		const size_t seq = atomic_load_explicit(&q->slot[pos % MPMC_SLOTS].seq,
							memory_order_acquire);

		if (seq == pos + state) {
			if (atomic_compare_exchange_weak_explicit(at, &pos, pos + 1,
								  memory_order_relaxed,
								  memory_order_relaxed))
				return (long)pos;
		} else if ((long)(seq - pos - state) < 0) {
			return -1;
		} else {
			pos = atomic_load_explicit(at, memory_order_relaxed);
		}
	}
}

static inline void *mpmc_get(struct mpmc *q)
{
	const long pos = mpmc_claim(q, &q->get, 1);
	void *buf;

	if (pos < 0)
		return NULL;
	buf = q->slot[(size_t)pos % MPMC_SLOTS].buf;
	atomic_store_explicit(&q->slot[(size_t)pos % MPMC_SLOTS].seq, (size_t)pos + MPMC_SLOTS,
			      memory_order_release);
	return buf;
}

static inline int mpmc_put(struct mpmc *q, void *buf)
{
	const long pos = mpmc_claim(q, &q->put, 0);

	if (pos < 0)
		return 0;
	q->slot[(size_t)pos % MPMC_SLOTS].buf = buf;
	atomic_store_explicit(&q->slot[(size_t)pos % MPMC_SLOTS].seq, (size_t)pos + 1,
			      memory_order_release);
	return 1;
}

#endif /* UPOOL_BENCH_MPMC_H */
