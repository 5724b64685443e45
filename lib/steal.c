// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * steal.c - reaches the buffers that idle in other CPUs' magazines of a memfd pool.
 * Owns: nothing.  Locks: one mag_lock at a time in LOCKED pools.  Entry: memfd.c.
 *
 * A magazine of restartable sequences may only be changed on its CPU, and there
 * is no fence that reaches other processes' sequences: so the thread goes there.
 * It waits as long as that CPU does not run it; a real-time task can make that
 * long, which only a kernel module could bound.
 */
#include "depot.h"

/* Worth a visit: read without a lock, a guess. */
static bool looks_used(const struct mags *m, uint32_t cpu)
{
	return UPOOL_MAG_COUNT(load_acquire(&mag_of(m, cpu)->state)) != 0;
}

static uint32_t empty_here(struct upool *p, uint32_t *idx, uint32_t n)
{
	uint32_t got = 0;

	while (got < n && mag_pop(p, &idx[got]) == RSEQ_DONE)
		store_relaxed(tag_owner(&p->hot, idx[got++]), 0);
	return got;
}

static uint32_t steal_rseq(struct upool *p, uint32_t *idx, uint32_t n)
{
	const struct mags *m = &p->hot;
	uint32_t start = (uint32_t)sys_cpu() + 1, got = 0, i, cpu;
	struct cpu_mask mask;
	bool moved = false;

	for (i = 0; i < m->nr_cpus && !got; i++) {
		cpu = (start + i) % m->nr_cpus;
		if (!looks_used(m, cpu))
			continue;
		if (!moved && sys_affinity_get(&mask))
			break;
		local_add(p, LOCAL_syscalls, 1);
		if (sys_affinity_one(cpu)) {
			depot_count(p->depot, steal_timeouts, 1);
			continue;
		}
		moved = true;
		UPOOL_INJECT(STEAL);
		got = empty_here(p, idx, n);
	}
	if (moved)
		(void)sys_affinity_set(&mask);
	return got;
}

static uint32_t steal_locked(struct upool *p, uint32_t *idx, uint32_t n)
{
	const struct mags *m = &p->hot;
	uint32_t start = (uint32_t)sys_cpu() + 1, got = 0, i, cpu;
	int ret;

	for (i = 0; i < m->nr_cpus && !got; i++) {
		cpu = (start + i) % m->nr_cpus;
		if (!looks_used(m, cpu))
			continue;
		ret = robust_lock(&m->locks[cpu].mutex);
		if (ret && ret != EOWNERDEAD)
			continue;
		while (got < n && generic_mag_pop(m, mag_of(m, cpu), &idx[got]) == RSEQ_DONE)
			store_relaxed(tag_owner(m, idx[got++]), 0);
		pthread_mutex_unlock(&m->locks[cpu].mutex);
	}
	return got;
}

uint32_t steal(struct upool *p, uint32_t *idx, uint32_t n)
{
	uint32_t got = 0;

	if (p->ops == OPS_RSEQ)
		got = steal_rseq(p, idx, n);
	else if (p->ops == OPS_LOCKED)
		got = steal_locked(p, idx, n);
	if (got) {
		depot_count(p->depot, steals, 1);
		depot_count(p->depot, stolen, got);
	}
	return got;
}
