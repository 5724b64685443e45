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

/**
 * struct haul - what was found in a magazine
 * @nr:    buffers in @idx, their owner 0
 * @bad:   indices dropped
 * @reset: the count was out of range
 * @idx:   below pool->nr
 */
struct haul {
	u32	nr;
	u32	bad;
	bool	reset;
	u32	idx[DEPOT_BATCH];
};

/* Count of a word read once; a count out of range means empty. */
static u32 count_of(const struct pool *pool, u64 state, bool *reset)
{
	u32 n = UPOOL_MAG_COUNT(state);

	*reset = n > pool->cap;
	return *reset ? 0 : n;
}

/* Outside of the section with preemption off: tracepoints may take their time. */
static void report(struct pool *pool, u32 bad, bool reset)
{
	if (unlikely(reset)) {
		pool_count(pool, bad_count, 1);
		trace_poolmod_bad(pool->id, BAD_COUNT, 1);
	}
	if (unlikely(bad)) {
		pool_count(pool, bad_index, bad);
		trace_poolmod_bad(pool->id, BAD_INDEX, bad);
	}
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
	bool reset;
	u64 state;

	preempt_disable();
	*cpu = smp_processor_id();
	mag = pool_mag(pool, *cpu);
	state = READ_ONCE(mag->state);
	count = count_of(pool, state, &reset);
	put = min(n, pool->cap - count);
	for (i = 0; i < put; i++)	/* the hottest on top */
		WRITE_ONCE(mag->slot[count + i], idx[put - 1 - i]);
	/* [M1] Slots before count; pairs with [M2] in recovery's snapshot. */
	smp_store_release(&mag->state, with_count(state, count + put));
	preempt_enable();
	report(pool, 0, reset);
	return put;
}

/*
 * Take up to @n off a magazine that nobody else can write now.  A buffer that is
 * held got here by a second free that raced the first: its holder keeps it.
 */
static void take_off(struct pool *pool, struct upool_magazine *mag, u32 n, struct haul *h)
{
	u64 state = READ_ONCE(mag->state);
	u32 count = count_of(pool, state, &h->reset), took = min(n, count), i, v;

	h->nr = 0;
	for (i = 0; i < took; i++) {
		v = READ_ONCE(mag->slot[count - 1 - i]);
		if (v >= pool->nr || READ_ONCE(*pool_owner(pool, v)) & UPOOL_TAG_HELD)
			continue;
		WRITE_ONCE(*pool_owner(pool, v), 0);	/* I6 */
		h->idx[h->nr++] = v;
	}
	h->bad = took - h->nr;
	if (!took && !h->reset)
		return;
	if (h->nr)
		move_begin(pool);
	/* [M3] Owners before count; pairs with [M2]. */
	smp_store_release(&mag->state, with_count(state, count - took));
}

/* Into the depot with it.  Returns how many went in. */
static u32 deliver(struct pool *pool, const struct haul *h)
{
	u32 put;

	report(pool, h->bad, h->reset);
	if (!h->nr)
		return 0;
	put = depot_put(pool, h->idx, h->nr);
	move_end(pool);
	return put;
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
	struct haul h;

	preempt_disable();
	*cpu = smp_processor_id();
	take_off(pool, pool_mag(pool, *cpu), n, &h);
	preempt_enable();
	deliver(pool, &h);
	return h.nr + h.bad;
}

/**
 * magazine_drain_here() - empty the magazine of the CPU we are on
 * @pool: the pool
 * @cpu:  where we should be; nothing happens elsewhere
 * Context: process.
 * Return: how many buffers went to the depot
 */
u32 magazine_drain_here(struct pool *pool, unsigned int cpu)
{
	u32 moved = 0, room = pool->cap;
	struct haul h;

	do {
		h.nr = 0;
		h.bad = 0;
		h.reset = false;
		preempt_disable();
		if (smp_processor_id() == cpu)
			take_off(pool, pool_mag(pool, cpu), DEPOT_BATCH, &h);
		preempt_enable();
		moved += deliver(pool, &h);
		room -= min(room, h.nr + h.bad);
	} while (h.nr + h.bad && room);
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
	u32 moved = 0, room = pool->cap;
	struct haul h;

	lockdep_assert_held(&pool->offline_mutex);
	do {
		take_off(pool, pool_mag(pool, cpu), DEPOT_BATCH, &h);
		moved += deliver(pool, &h);
		room -= min(room, h.nr + h.bad);
	} while (h.nr + h.bad && room);
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
	/* [V2] Before the next look elsewhere; pairs with [V1]. */
	return min(UPOOL_MAG_COUNT(smp_load_acquire(&pool_mag(pool, cpu)->state)), pool->cap);
}
