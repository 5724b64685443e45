// SPDX-License-Identifier: GPL-2.0-only
/*
 * magazine.c - the kernel's hand in the per-CPU magazines, memory that members can spoil.
 * Owns: nothing.  Locks: none, preemption off (I4).  Entry: buffer.c, steal.c.
 *
 * A member that was preempted in a restartable sequence on this CPU restarts it,
 * because it was scheduled away before we could run here.  That holds for process
 * context only, never for interrupts (I4).
 */
#include <linux/preempt.h>
#include <linux/smp.h>
#include "internal.h"
#include "trace.h"

/* Count of a word read once; a count out of range means empty, and is counted. */
static u32 count_of(struct pool *pool, u64 state)
{
	u32 n = UPOOL_MAG_COUNT(state);

	if (likely(n <= pool->cap))
		return n;
	pool_count(pool, bad_count, 1);
	trace_poolmod_bad(pool->id, "count", n);
	return 0;
}

static u64 with_count(u64 state, u32 n)
{
	return (state & ~0xffffULL) | n;
}

/**
 * magazine_fill() - add buffers to this CPU's magazine
 * @pool: the pool
 * @idx:  buffers taken from the depot, hottest first
 * @n:    how many
 * @cpu:  receives the CPU
 * Context: process, does not sleep.
 * Return: how many there was room for; the first ones
 */
u32 magazine_fill(struct pool *pool, const u32 *idx, u32 n, unsigned int *cpu)
{
	struct upool_magazine *mag;
	u32 count, put, i;
	u64 state;

	preempt_disable();
	*cpu = smp_processor_id();
	mag = pool_mag(pool, *cpu);
	state = READ_ONCE(mag->state);
	count = count_of(pool, state);
	put = min(n, pool->cap - count);
	for (i = 0; i < put; i++)	/* the hottest on top */
		WRITE_ONCE(mag->slot[count + i], idx[put - 1 - i]);
	/* [M1] Slots before count; pairs with [M2] in recovery's snapshot. */
	smp_store_release(&mag->state, with_count(state, count + put));
	preempt_enable();
	return put;
}

/*
 * Take up to @n off a magazine that nobody else can write now.  A buffer that is
 * held got here by a second free that raced the first: its holder keeps it.
 */
static u32 take_off(struct pool *pool, struct upool_magazine *mag, u32 *idx, u32 n, u32 *bad)
{
	u64 state = READ_ONCE(mag->state);
	u32 count = count_of(pool, state), took = min(n, count), good = 0, i, v;

	for (i = 0; i < took; i++) {
		v = READ_ONCE(mag->slot[count - 1 - i]);
		if (v >= pool->nr || READ_ONCE(*pool_owner(pool, v)) & UPOOL_TAG_HELD)
			continue;
		WRITE_ONCE(*pool_owner(pool, v), 0);	/* I6 */
		idx[good++] = v;
	}
	/* [M3] Owners before count; pairs with [M2]. */
	smp_store_release(&mag->state, with_count(state, count - took));
	*bad = took - good;
	return good;
}

static void count_bad(struct pool *pool, u32 bad)
{
	if (likely(!bad))
		return;
	pool_count(pool, bad_index, bad);
	trace_poolmod_bad(pool->id, "index", bad);
}

/**
 * magazine_flush() - move up to @n buffers from this CPU's magazine to the depot
 * @pool: the pool
 * @n:    up to DEPOT_BATCH
 * @cpu:  receives the CPU
 * Context: process, does not sleep.
 * Return: how many left the magazine
 */
u32 magazine_flush(struct pool *pool, u32 n, unsigned int *cpu)
{
	u32 idx[DEPOT_BATCH], good, bad;

	preempt_disable();
	*cpu = smp_processor_id();
	good = take_off(pool, pool_mag(pool, *cpu), idx, n, &bad);
	preempt_enable();
	count_bad(pool, bad);
	if (good)
		depot_put(pool, idx, good);
	return good + bad;
}

/**
 * magazine_drain_here() - empty the magazine of @cpu, from a work item bound to it
 * @pool: the pool
 * @cpu:  where we should be; nothing happens elsewhere
 * Context: process.
 * Return: how many buffers went to the depot
 */
u32 magazine_drain_here(struct pool *pool, unsigned int cpu)
{
	u32 idx[DEPOT_BATCH], good, bad, moved = 0, room = pool->cap;

	do {
		good = 0;
		bad = 0;
		preempt_disable();
		if (smp_processor_id() == cpu)
			good = take_off(pool, pool_mag(pool, cpu), idx, DEPOT_BATCH, &bad);
		preempt_enable();
		count_bad(pool, bad);
		if (good)
			moved += depot_put(pool, idx, good);
		room -= min(room, good + bad);
	} while (good + bad && room);
	return moved;
}

/**
 * magazine_drain_offline() - empty the magazine of a CPU that is offline
 * @pool: the pool, its offline_mutex held
 * @cpu:  kept offline by the caller
 * Context: process.
 * Return: how many buffers went to the depot
 */
u32 magazine_drain_offline(struct pool *pool, unsigned int cpu)
{
	u32 idx[DEPOT_BATCH], good, bad, moved = 0, room = pool->cap;

	lockdep_assert_held(&pool->offline_mutex);
	do {
		good = take_off(pool, pool_mag(pool, cpu), idx, DEPOT_BATCH, &bad);
		count_bad(pool, bad);
		if (good)
			moved += depot_put(pool, idx, good);
		room -= min(room, good + bad);
	} while (good + bad && room);
	return moved;
}

/**
 * magazine_peek() - how many buffers a magazine seems to hold
 * @pool: the pool
 * @cpu:  any CPU
 * Return: 0 to cap; wrong at once, and as its members like
 */
u32 magazine_peek(struct pool *pool, unsigned int cpu)
{
	return min(UPOOL_MAG_COUNT(READ_ONCE(pool_mag(pool, cpu)->state)), pool->cap);
}
