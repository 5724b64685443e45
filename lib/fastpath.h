/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * fastpath.h - alloc and free that hit this CPU's magazine: no lock, no system
 * call, no function call.
 * Owns: nothing.  Locks: none.  Entry: alloc.c, which exports them.
 *
 * A child of fork, a pool without restartable sequences, one that clears and one
 * that frees by cmpxchg all fail the first comparison (I1, I2).
 */
#ifndef UPOOL_FASTPATH_H
#define UPOOL_FASTPATH_H

#include "internal.h"

static inline __attribute__((always_inline)) void *fast_alloc(struct upool *p, size_t bytes)
{
	const struct mags *m = &p->hot;
	enum rseq_outcome out;
	uint32_t idx;

	if (unlikely(bytes >= m->alloc_end))
		return alloc_slow(p, bytes);
	out = rseq_mag_pop(m, &idx);
	if (unlikely(out != RSEQ_DONE))
		return alloc_missed(p, out);
	store_relaxed(tag_owner(m, idx), m->held);
	return buf_of(m, idx);
}

static inline __attribute__((always_inline)) int fast_free(struct upool *p, void *buf)
{
	const struct mags *m = &p->hot;
	uint64_t idx = buf_index(m, buf);
	enum rseq_outcome out;

	if (unlikely(idx >= m->free_nr))
		return free_slow(p, buf);
	/* Half a tag: the store to that half is forwarded to this load. */
	if (unlikely(load_relaxed(tag_owner(m, (uint32_t)idx)) != m->held))
		return free_slow(p, buf);
	/* Not held before the sequence, which can restart and never touches the tag. */
	store_relaxed(tag_owner(m, (uint32_t)idx), m->me);
	out = rseq_mag_push(m, (uint32_t)idx);
	if (unlikely(out != RSEQ_DONE))
		return free_missed(p, (uint32_t)idx, out);
	return 0;
}

#endif /* UPOOL_FASTPATH_H */
