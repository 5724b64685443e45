/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * generic.h - the operations of rseq_ops.h under a lock per magazine.
 * Owns: struct mag_lock.  Locks: mag_lock (leaf).  Entry: slowpath.c, steal.c.
 *
 * Serves LOCKED memfd pools, and is the reference the sequences are compared
 * with.  The commit is still the last store, so a holder that is killed leaves
 * either the old or the new magazine, and the next holder has nothing to repair.
 */
#ifndef UPOOL_ARCH_GENERIC_H
#define UPOOL_ARCH_GENERIC_H

#include <errno.h>
#include <pthread.h>
#include "../atomic.h"
#include "../inject.h"
#include "../sys.h"
#include "rseq_ops.h"

/**
 * struct mag_lock - lock of one CPU's magazine, in the depot area of a memfd
 * @mutex: process-shared and robust
 */
struct mag_lock {
	pthread_mutex_t mutex;
} __attribute__((aligned(64)));

/**
 * robust_lock() - lock a mutex whose holder may have been killed
 * @mutex: process-shared and robust
 * Return: 0; EOWNERDEAD locked, the last holder died in it; other: not locked
 */
static inline int robust_lock(pthread_mutex_t *mutex)
{
	int ret = pthread_mutex_lock(mutex);

	if (ret == EOWNERDEAD && pthread_mutex_consistent(mutex)) {
		pthread_mutex_unlock(mutex);
		ret = EINVAL;
	}
	return ret;
}

/**
 * generic_mag_pop() - rseq_mag_pop() from where the magazine is known
 * @m:   the magazines
 * @mag: one of them; no other thread uses it
 * @idx: receives the buffer with RSEQ_DONE
 * Return: DONE, EMPTY, BAD
 */
static inline enum rseq_outcome generic_mag_pop(const struct mags *m, struct upool_magazine *mag,
						uint32_t *idx)
{
	uint64_t state = load_relaxed(&mag->state);
	uint32_t n = UPOOL_MAG_COUNT(state), i;

	if (!n)
		return RSEQ_EMPTY;
	if (n > m->cap)
		return RSEQ_BAD;
	i = load_relaxed(&mag->slot[n - 1]);
	if (i >= m->nr)
		return RSEQ_BAD;
	store_relaxed(&m->tags[i].owner, m->me);
	UPOOL_INJECT(LOCKED);
	store_release(&mag->state, state + UPOOL_MAG_POP);
	*idx = i;
	return RSEQ_DONE;
}

/**
 * generic_mag_push() - rseq_mag_push() from where the magazine is known
 * @m:   the magazines
 * @mag: one of them; no other thread uses it
 * @idx: buffer
 * Return: DONE, FULL, BAD
 */
static inline enum rseq_outcome generic_mag_push(const struct mags *m, struct upool_magazine *mag,
						 uint32_t idx)
{
	uint64_t state = load_relaxed(&mag->state);
	uint32_t n = UPOOL_MAG_COUNT(state);

	if (n >= m->cap)
		return n == m->cap ? RSEQ_FULL : RSEQ_BAD;
	store_relaxed(&mag->slot[n], idx);
	UPOOL_INJECT(LOCKED);
	store_release(&mag->state, state + UPOOL_MAG_PUSH);
	return RSEQ_DONE;
}

/* This thread's CPU, or another magazine where that is not known: the lock makes it safe. */
static inline uint32_t locked_cpu(const struct mags *m)
{
	uint32_t cpu = (uint32_t)sys_cpu();

	return cpu < m->nr_cpus ? cpu : 0;
}

/**
 * locked_mag_pop() - rseq_mag_pop() under the magazine's lock
 * @m:   the magazines
 * @idx: receives the buffer with RSEQ_DONE
 * Return: DONE, EMPTY, BAD, NOCPU
 */
static inline enum rseq_outcome locked_mag_pop(const struct mags *m, uint32_t *idx)
{
	uint32_t cpu = locked_cpu(m);
	enum rseq_outcome out;
	int ret = robust_lock(&m->locks[cpu].mutex);

	if (ret && ret != EOWNERDEAD)
		return RSEQ_NOCPU;
	out = generic_mag_pop(m, mag_of(m, cpu), idx);
	pthread_mutex_unlock(&m->locks[cpu].mutex);
	return out;
}

/**
 * locked_mag_push() - rseq_mag_push() under the magazine's lock
 * @m:   the magazines
 * @idx: buffer
 * Return: DONE, FULL, BAD, NOCPU
 */
static inline enum rseq_outcome locked_mag_push(const struct mags *m, uint32_t idx)
{
	uint32_t cpu = locked_cpu(m);
	enum rseq_outcome out;
	int ret = robust_lock(&m->locks[cpu].mutex);

	if (ret && ret != EOWNERDEAD)
		return RSEQ_NOCPU;
	out = generic_mag_push(m, mag_of(m, cpu), idx);
	pthread_mutex_unlock(&m->locks[cpu].mutex);
	return out;
}

#endif /* UPOOL_ARCH_GENERIC_H */
