// SPDX-License-Identifier: GPL-2.0-only
/*
 * buffer.c - REFILL, POP, PUSH, ADOPT: what members ask for when a magazine cannot serve.
 * Owns: the bounds on retries and waits.  Locks: depot->lock.  Entry: dev.c.
 */
#include <linux/jiffies.h>
#include <linux/nospec.h>
#include <linux/sched/signal.h>
#include "internal.h"
#include "trace.h"

#define TRIES		8	/* of steals whose result others took */
#define PERIOD_MIN_MS	2	/* between looks at magazines while waiting */
#define PERIOD_MAX_MS	16

/*
 * The depot was empty: wait for recoveries that are due, then ask other CPUs.
 * 0 = look again, -ENOBUFS = there is nothing, -EAGAIN = out of reach, -EINTR.
 */
static int find_more(struct pool *pool, unsigned int timeout_ms)
{
	u32 moved, missed;
	int ret = recover_wait(pool);

	if (ret || READ_ONCE(pool->depot.nr_idle))
		return ret;
	return steal(pool, timeout_ms, false, &moved, &missed);
}

/* Depot to this CPU's magazine.  1 = the magazine is full, 0 = the depot is empty. */
static bool refill_once(struct pool *pool, u32 n, u32 *done, unsigned int *cpu)
{
	u32 idx[DEPOT_BATCH], got, put;

	while (*done < n) {
		got = depot_take(pool, idx, min_t(u32, n - *done, DEPOT_BATCH));
		if (!got)
			return false;
		put = magazine_fill(pool, idx, got, cpu);
		*done += put;
		if (put < got)
			depot_put(pool, idx + put, got - put);
		move_end(pool);
		if (put < got)
			return true;
	}
	return true;
}

/**
 * buffer_refill() - REFILL
 * @att:  a mapped attachment
 * @n:    buffers wanted
 * @done: receives how many were moved
 * @cpu:  receives the CPU
 * Context: process; may sleep when the depot is empty.
 * Return: 0; -EAGAIN, -ENOBUFS, -EINTR as in the uapi header
 */
int buffer_refill(struct attachment *att, u32 n, u32 *done, unsigned int *cpu)
{
	struct pool *pool = att->pool;
	int ret = 0, i;
	bool full;

	*done = 0;
	for (i = 0; i < TRIES; i++) {
		full = refill_once(pool, n, done, cpu);
		if (*done) {
			pool_count(pool, refills, 1);
			pool_count(pool, refilled, *done);
			trace_poolmod_refill(pool->id, *done);
			return 0;
		}
		if (full)
			return -EAGAIN;	/* moved to a CPU whose magazine has some */
		ret = find_more(pool, READ_ONCE(steal_timeout_ms));
		if (ret)
			break;
	}
	pool_count(pool, empty, 1);
	return ret ? ret : -EAGAIN;
}

static int pop_once(struct attachment *att, u32 *idx)
{
	struct pool *pool = att->pool;
	struct depot *d = &pool->depot;
	int ret = 0;

	spin_lock(&d->lock);
	if (att->ended) {	/* I9 */
		ret = -ENXIO;
	} else {
		*idx = __depot_take(pool, numa_node_id());
		if (*idx == NO_INDEX)
			ret = -ENOBUFS;
		else
			WRITE_ONCE(*pool_owner(pool, *idx), att->id | UPOOL_TAG_HELD);
	}
	spin_unlock(&d->lock);
	return ret;
}

/* Everything that needs no new return of a buffer. */
static int pop_now(struct attachment *att, unsigned int steal_ms, u32 *idx)
{
	int ret, more, i;

	for (i = 0; i < TRIES; i++) {
		ret = pop_once(att, idx);
		if (ret != -ENOBUFS)
			return ret;
		more = find_more(att->pool, steal_ms);
		if (more)
			return more;
	}
	return -EAGAIN;
}

/*
 * Returns to the depot wake us; returns to magazines do not, since a hit makes no
 * system call.  So look at the magazines in periods.
 */
static int pop_wait(struct attachment *att, int timeout_ms, u32 *idx)
{
	unsigned long end = jiffies + msecs_to_jiffies(timeout_ms), left, period;
	unsigned int period_ms = PERIOD_MIN_MS, steal_ms = READ_ONCE(steal_timeout_ms);
	struct pool *pool = att->pool;
	int ret;

	if (timeout_ms > 0)
		steal_ms = min_t(unsigned int, steal_ms, timeout_ms);
	for (;;) {
		ret = pop_now(att, steal_ms, idx);
		if (ret != -ENOBUFS && ret != -EAGAIN)
			return ret;
		period = msecs_to_jiffies(period_ms);
		if (timeout_ms > 0) {
			if (time_after_eq(jiffies, end))
				return -ETIMEDOUT;
			left = end - jiffies;
			period = min(period, left);
		}
		if (wait_event_interruptible_timeout(pool->wait, READ_ONCE(pool->depot.nr_idle),
						     period) < 0)
			return -EINTR;
		period_ms = min(period_ms * 2, (unsigned int)PERIOD_MAX_MS);
	}
}

/**
 * buffer_pop() - POP
 * @att:        a mapped attachment
 * @timeout_ms: 0 = do not wait for a return, -1 = without limit
 * @idx:        receives the buffer, held
 * Context: process; may sleep.
 * Return: 0; -ENXIO the attachment ended; -ENOBUFS, -EAGAIN, -ETIMEDOUT, -EINTR
 */
int buffer_pop(struct attachment *att, int timeout_ms, u32 *idx)
{
	struct pool *pool = att->pool;
	int ret;

	if (timeout_ms)
		ret = pop_wait(att, timeout_ms, idx);
	else
		ret = pop_now(att, READ_ONCE(steal_timeout_ms), idx);

	if (ret) {
		pool_count(pool, empty, 1);
		return ret;
	}
	pool_count(pool, pops, 1);
	trace_poolmod_pop(pool->id, *idx);
	return 0;
}

/**
 * buffer_unpop() - the result of POP could not be delivered
 * @att: the attachment
 * @idx: from buffer_pop()
 */
void buffer_unpop(struct attachment *att, u32 idx)
{
	if (buffer_push(att, idx))
		return;	/* spoiled by a member, or recovery was quicker */
	pool_count(att->pool, pops, -1);
	pool_count(att->pool, pushes, -1);
}

/* {id|H} or {id|H|X} to {0}, and into the depot. */
static int push_locked(struct attachment *att, u32 idx)
{
	u32 held = att->id | UPOOL_TAG_HELD, owner, gen;
	struct pool *pool = att->pool;
	bool exported, worn;
	u64 tag;

	lockdep_assert_held(&pool->depot.lock);
	tag = READ_ONCE(pool->tags[idx]);
	owner = upool_tag_owner(tag);
	gen = upool_tag_gen(tag);
	exported = owner & UPOOL_TAG_EXPORTED;
	if (owner == att->id)
		return -EALREADY;
	if ((owner & ~UPOOL_TAG_EXPORTED) != held || test_bit(idx, pool->depot.present))
		return -EINVAL;
	worn = exported && gen >= UPOOL_GEN_RETIRE - 1;
	if (exported && !worn)
		gen++;
	if (cmpxchg64(&pool->tags[idx], tag, upool_tag(0, gen)) != tag)
		return -ESTALE;
	if (worn)
		__depot_park(pool, idx);
	else
		__depot_put(pool, idx, numa_node_id());
	return 0;
}

/**
 * buffer_push() - PUSH
 * @att: the attachment
 * @idx: as user space said
 * Context: process; does not sleep.
 * Return: 0; -EINVAL, -EALREADY, -ESTALE as in the uapi header
 */
int buffer_push(struct attachment *att, u32 idx)
{
	struct pool *pool = att->pool;
	int ret = -EINVAL;

	if (idx < pool->nr) {
		idx = array_index_nospec(idx, pool->nr);
		spin_lock(&pool->depot.lock);
		ret = push_locked(att, idx);
		spin_unlock(&pool->depot.lock);
	}
	if (ret) {
		pool_count(pool, bad_push, 1);
		return ret;
	}
	pool_count(pool, pushes, 1);
	trace_poolmod_push(pool->id, idx);
	wake_up_all(&pool->wait);
	return 0;
}

static int adopt_locked(struct attachment *att, u32 idx, u32 gen)
{
	const u32 flags = UPOOL_TAG_HELD | UPOOL_TAG_EXPORTED;
	u32 owner = att->id | UPOOL_TAG_HELD;
	struct pool *pool = att->pool;
	u64 tag = READ_ONCE(pool->tags[idx]);

	lockdep_assert_held(&pool->depot.lock);
	if (att->ended)		/* I9 */
		return -ENXIO;
	if (gen == UPOOL_GEN_MAX || upool_tag_gen(tag) != gen ||
	    (upool_tag_owner(tag) & flags) != flags)
		return -ESTALE;
	if (gen + 1 >= UPOOL_GEN_RETIRE)
		owner |= UPOOL_TAG_EXPORTED;	/* its free will look at the generation */
	return cmpxchg64(&pool->tags[idx], tag, upool_tag(owner, gen + 1)) == tag ? 0 : -ESTALE;
}

/**
 * buffer_adopt() - ADOPT
 * @att:   a mapped attachment
 * @token: as user space said
 * @idx:   receives the buffer, held
 * Context: process; does not sleep.
 * Return: 0; -EINVAL, -ESTALE, -ENXIO as in the uapi header
 */
int buffer_adopt(struct attachment *att, u64 token, u32 *idx)
{
	u32 i = upool_token_index(token);
	struct pool *pool = att->pool;
	int ret;

	if (upool_token_check(token) != pool->geo.check || i >= pool->nr) {
		ret = -EINVAL;
		goto refuse;
	}
	i = array_index_nospec(i, pool->nr);
	spin_lock(&pool->depot.lock);
	ret = adopt_locked(att, i, upool_token_gen(token));
	spin_unlock(&pool->depot.lock);
	if (ret)
		goto refuse;
	*idx = i;
	pool_count(pool, adopts, 1);
	trace_poolmod_adopt(pool->id, i);
	return 0;
refuse:
	if (ret != -ENXIO)
		pool_count(pool, stale_tokens, 1);
	return ret;
}

/**
 * buffer_unadopt() - the result of ADOPT could not be delivered
 * @att: the attachment
 * @idx: from buffer_adopt()
 *
 * The token is used up and the buffer goes to the depot: giving it back to an
 * exporter whose attachment may have been recovered meanwhile would lose it.
 */
void buffer_unadopt(struct attachment *att, u32 idx)
{
	pool_count(att->pool, adopts, -1);
	if (!buffer_push(att, idx))
		pool_count(att->pool, pushes, -1);
}
