// SPDX-License-Identifier: GPL-2.0-only
/*
 * steal.c - reaches buffers that idle in the magazines of other CPUs.
 * Owns: struct steal.  Locks: cpu_hotplug_lock around queueing only, offline_mutex.
 * Entry: buffer.c, dev.c (DRAIN), pool.c (a CPU went offline).
 *
 * A magazine can be written on its CPU only (I4), so a work item goes there.  A
 * real-time task that owns the CPU keeps it waiting; nobody waits for it longer
 * than the timeout.
 */
#include <linux/cpu.h>
#include <linux/cpumask.h>
#include <linux/jiffies.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include "internal.h"
#include "trace.h"

static void steal_work(struct work_struct *work)
{
	struct steal *s = container_of(work, struct steal, work);
	u32 moved;

	/* [S1] Running before not asked; pairs with [S2]: one of them is seen set. */
	WRITE_ONCE(s->running, true);
	smp_store_release(&s->asked, false);	/* [S1] */
	moved = magazine_drain_here(s->pool, s->cpu);
	pool_count(s->pool, stolen, moved);
	smp_store_release(&s->running, false);	/* [S1] its result before its end */
	wake_up_all(&s->pool->wait);
}

/**
 * steals_init() - allocate a pool's work items
 * @pool: the pool
 * Return: 0 or -ENOMEM
 */
int steals_init(struct pool *pool)
{
	unsigned int cpu;

	pool->steals = kvcalloc(pool->geo.nr_cpu_ids, sizeof(*pool->steals), GFP_KERNEL_ACCOUNT);
	if (!pool->steals)
		return -ENOMEM;
	for (cpu = 0; cpu < pool->geo.nr_cpu_ids; cpu++) {
		INIT_WORK(&pool->steals[cpu].work, steal_work);
		pool->steals[cpu].pool = pool;
		pool->steals[cpu].cpu = cpu;
	}
	return 0;
}

/**
 * steals_destroy() - wait for the work items that are under way, free them
 * @pool: no attachment is left
 * Context: process; sleeps.
 */
void steals_destroy(struct pool *pool)
{
	unsigned int cpu;

	if (!pool->steals)
		return;
	for (cpu = 0; cpu < pool->geo.nr_cpu_ids; cpu++)
		cancel_work_sync(&pool->steals[cpu].work);
	kvfree(pool->steals);
}

/* Ask every CPU whose magazine seems to hold something; drain offline ones here. */
static u32 ask(struct pool *pool, u32 *moved)
{
	unsigned int cpu;
	u32 asked = 0;

	cpus_read_lock();
	for (cpu = 0; cpu < pool->geo.nr_cpu_ids; cpu++) {
		if (!cpu_possible(cpu) || !magazine_peek(pool, cpu))
			continue;
		asked++;
		if (cpu_online(cpu)) {
			WRITE_ONCE(pool->steals[cpu].asked, true);
			queue_work_on(cpu, upool_steal_wq, &pool->steals[cpu].work);
		} else {
			mutex_lock(&pool->offline_mutex);
			*moved += magazine_drain_offline(pool, cpu);
			mutex_unlock(&pool->offline_mutex);
		}
	}
	cpus_read_unlock();
	return asked;
}

/* CPUs whose answer is not there yet. */
static u32 unanswered(struct pool *pool)
{
	unsigned int cpu;
	u32 n = 0;

	for (cpu = 0; cpu < pool->geo.nr_cpu_ids; cpu++) {
		struct steal *s = &pool->steals[cpu];

		/* [S2] pairs with [S1] */
		if (smp_load_acquire(&s->asked) || smp_load_acquire(&s->running))
			n++;
	}
	return n;
}

/* Nothing to hope for: no CPU will answer, no buffer is under way to a layer. */
static bool settled(struct pool *pool)
{
	int done = atomic_read_acquire(&pool->moves_done);

	return !unanswered(pool) && atomic_read(&pool->moves_begun) == done;
}

/* Until CPUs have answered or, unless @all are wanted, there is a buffer. */
static long await(struct pool *pool, unsigned int timeout_ms, bool all)
{
	unsigned long timeout = msecs_to_jiffies(timeout_ms);

	if (all)
		return wait_event_killable_timeout(pool->wait, !unanswered(pool), timeout);
	return wait_event_killable_timeout(pool->wait, READ_ONCE(pool->depot.nr_idle) ||
					   settled(pool), timeout);
}

/**
 * steal() - move what idles in magazines to the depot
 * @pool:       the pool
 * @timeout_ms: for CPUs to answer
 * @all:        wait for every CPU; else until the depot has a buffer
 * @moved:      receives buffers moved, others' concurrent steals included
 * @missed:     receives CPUs that did not answer in time
 *
 * No limit on the rate: CPUs whose magazine is empty are not asked, and those that
 * were asked and have not answered are not asked again.
 *
 * Context: process; sleeps, killable.
 * Return: 0 look again; -ENOBUFS depot and magazines are empty; -EAGAIN nothing
 * came before the timeout; -EINTR killed
 */
int steal(struct pool *pool, unsigned int timeout_ms, bool all, u32 *moved, u32 *missed)
{
	/* [V2] Before the first look at a magazine; pairs with [V1]. */
	int done = atomic_read_acquire(&pool->moves_done);
	u64 before = atomic64_read(&pool->counters.stolen);
	u32 drained = magazine_drain_here(pool, raw_smp_processor_id()), asked = 0;
	long left = 1;

	*moved = drained;
	*missed = 0;
	if (all || !drained)
		asked = ask(pool, &drained);
	if (asked || drained) {
		pool_count(pool, steals, 1);
		pool_count(pool, stolen, drained);
	} else if (!all && !READ_ONCE(pool->depot.nr_idle)) {
		smp_rmb();	/* [V2] the last look before begun moves; pairs with [V1] */
		if (atomic_read(&pool->moves_begun) == done)
			return -ENOBUFS;
	}
	if (all || !drained)
		left = await(pool, timeout_ms, all);
	if (left < 0)
		return -EINTR;
	*moved = atomic64_read(&pool->counters.stolen) - before;
	if (!left) {
		*missed = unanswered(pool);
		pool_count(pool, steal_timeouts, *missed);
	}
	trace_poolmod_steal(pool->id, *moved);
	return left || READ_ONCE(pool->depot.nr_idle) ? 0 : -EAGAIN;
}
