// SPDX-License-Identifier: GPL-2.0-only
/*
 * depot.c - idle buffers that are in no magazine, a stack per NUMA node.
 * Owns: struct depot.  Locks: depot->lock (leaf).  Entry: buffer.c, steal.c, recover.c.
 */
#include <linux/bitmap.h>
#include <linux/jiffies.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>
#include <linux/topology.h>
#include "internal.h"
#include "trace.h"

/* Kernel memory that a user asked for: zeroed, charged to its cgroup. */
static void *charged_array(size_t n, size_t size)
{
	return kvcalloc(n, size, GFP_KERNEL_ACCOUNT);
}

int depot_init(struct depot *d, u32 nr, u32 max_nr)
{
	u32 i;

	spin_lock_init(&d->lock);
	d->park_head = NO_INDEX;
	d->park_tail = NO_INDEX;
	d->present = charged_array(BITS_TO_LONGS(max_nr), sizeof(long));
	d->next = charged_array(max_nr, sizeof(*d->next));
	d->due = charged_array(max_nr, sizeof(*d->due));
	d->head = charged_array(nr_node_ids, sizeof(*d->head));
	if (!d->present || !d->next || !d->due || !d->head)
		return -ENOMEM;

	for (i = 0; i < nr_node_ids; i++)
		d->head[i] = NO_INDEX;
	/* Pages come from the node that first touches them: one stack is as good as many. */
	for (i = 0; i < nr; i++) {
		d->next[i] = i + 1 < nr ? i + 1 : NO_INDEX;
		if (i % 65536 == 0)
			cond_resched();
	}
	bitmap_set(d->present, 0, nr);
	d->head[first_online_node] = 0;
	d->nr_idle = nr;
	return 0;
}

void depot_destroy(struct depot *d)
{
	kvfree(d->present);
	kvfree(d->next);
	kvfree(d->due);
	kvfree(d->head);
}

/**
 * __depot_put() - put one buffer in, depot->lock held
 * @pool: the pool
 * @idx:  below pool->nr, not present (I1), owner 0 (I2)
 * @node: whose stack
 */
void __depot_put(struct pool *pool, u32 idx, int node)
{
	struct depot *d = &pool->depot;

	lockdep_assert_held(&d->lock);
	__set_bit(idx, d->present);
	d->next[idx] = d->head[node];
	d->head[node] = idx;
	WRITE_ONCE(d->nr_idle, d->nr_idle + 1);
}

/**
 * __depot_take() - take one buffer out, depot->lock held
 * @pool: the pool
 * @node: whose stack to look at first
 * Return: its index, or NO_INDEX
 */
u32 __depot_take(struct pool *pool, int node)
{
	struct depot *d = &pool->depot;
	u32 idx, i;

	lockdep_assert_held(&d->lock);
	if (!d->nr_idle)
		return NO_INDEX;
	for (i = 0; d->head[node] == NO_INDEX && i < nr_node_ids; i++)
		node = node + 1 < nr_node_ids ? node + 1 : 0;
	idx = d->head[node];
	if (WARN_ON_ONCE(idx == NO_INDEX))	/* I3 */
		return NO_INDEX;
	d->head[node] = d->next[idx];
	__clear_bit(idx, d->present);
	WRITE_ONCE(d->nr_idle, d->nr_idle - 1);
	return idx;
}

/**
 * depot_take() - take up to @n buffers out, hottest first
 * @pool: the pool
 * @idx:  receives their indices
 * @n:    1 to DEPOT_BATCH
 * Context: process, does not sleep.
 * Return: how many; unless 0, move_end() has to follow
 */
u32 depot_take(struct pool *pool, u32 *idx, u32 n)
{
	struct depot *d = &pool->depot;
	u32 got;

	spin_lock(&d->lock);
	if (d->nr_idle)
		move_begin(pool);
	for (got = 0; got < n; got++) {
		idx[got] = __depot_take(pool, numa_node_id());
		if (idx[got] == NO_INDEX)
			break;
	}
	spin_unlock(&d->lock);
	return got;
}

/**
 * depot_put() - put up to @n buffers in
 * @pool: the pool
 * @idx:  their indices, below pool->nr, as read from a magazine
 * @n:    up to DEPOT_BATCH
 *
 * A buffer that is already present was pushed twice by members: dropped.
 *
 * Context: process, does not sleep.
 * Return: how many went in
 */
u32 depot_put(struct pool *pool, const u32 *idx, u32 n)
{
	struct depot *d = &pool->depot;
	u32 i, put = 0;

	spin_lock(&d->lock);
	for (i = 0; i < n; i++) {
		if (test_bit(idx[i], d->present))
			continue;
		__depot_put(pool, idx[i], numa_node_id());
		put++;
	}
	spin_unlock(&d->lock);
	if (put < n) {
		pool_count(pool, bad_index, n - put);
		trace_poolmod_bad(pool->id, BAD_INDEX, n - put);
	}
	if (put)
		wake_up_all(&pool->wait);
	return put;
}

/**
 * __depot_park() - rest a buffer whose generations are used up, depot->lock held
 * @pool: the pool
 * @idx:  below pool->nr, not present (I1), owner 0
 */
void __depot_park(struct pool *pool, u32 idx)
{
	struct depot *d = &pool->depot;

	lockdep_assert_held(&d->lock);
	__set_bit(idx, d->present);
	d->due[idx] = (u32)ktime_get_seconds() + pool->token_ttl_s;
	d->next[idx] = NO_INDEX;
	if (d->park_tail == NO_INDEX)
		d->park_head = idx;
	else
		d->next[d->park_tail] = idx;
	d->park_tail = idx;
	WRITE_ONCE(d->nr_parked, d->nr_parked + 1);
	if (pool->token_ttl_s && d->nr_parked == 1)
		queue_delayed_work(upool_wq, &pool->unpark_work,
				   (unsigned long)pool->token_ttl_s * HZ);
}

/**
 * depot_unpark() - return the buffers whose rest is over, with generation 0
 * @work: pool->unpark_work
 */
void depot_unpark(struct work_struct *work)
{
	struct pool *pool = container_of(to_delayed_work(work), struct pool, unpark_work);
	struct depot *d = &pool->depot;
	u32 now = (u32)ktime_get_seconds(), idx, n = 0;
	s32 left = 0;

	spin_lock(&d->lock);
	while (d->park_head != NO_INDEX && n < DEPOT_BATCH) {
		idx = d->park_head;
		left = (s32)(d->due[idx] - now);
		if (left > 0)
			break;
		left = 0;
		d->park_head = d->next[idx];
		if (d->park_head == NO_INDEX)
			d->park_tail = NO_INDEX;
		WRITE_ONCE(d->nr_parked, d->nr_parked - 1);
		WRITE_ONCE(pool->tags[idx], upool_tag(0, 0));
		__clear_bit(idx, d->present);
		__depot_put(pool, idx, numa_node_id());
		n++;
	}
	if (d->park_head != NO_INDEX)
		queue_delayed_work(upool_wq, &pool->unpark_work, (unsigned long)left * HZ);
	spin_unlock(&d->lock);
	if (n)
		wake_up_all(&pool->wait);
}
