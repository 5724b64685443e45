// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * pool_transport.c - buffers travel as tokens: the contents stay where the
 * reader put them until the writer is done.
 * Owns: nothing of its own.  Locks: none.  Entry: struct transport.
 *
 * Why nothing waits for ever in a pool of n buffers:
 * D1  Only the reader allocates while chunks are under way, and only below
 *     job->credits.  A worker that makes frames got one buffer when it joined
 *     (its spare) and never asks again: it writes the frame into the spare, hands
 *     the spare to the writer, and keeps the chunk's buffer as its next spare.
 * D2  So at most credits + workers (frames) or credits (digests) buffers are out.
 *     run.c chooses credits to keep that within n, and no more workers than n / 2
 *     when frames are made.
 * D3  A worker waits for chunks only, and never for the writer: its outcome has a
 *     slot (S2).  The writer waits for outcomes only.  So every chunk that was
 *     sent comes to its end without the reader, and its buffer comes back.
 * D4  The reader may wait for buffers (D3 brings them) and for the writer to
 *     finish units, the latter only when no file is open: then every unit it
 *     started was sent to its end.
 * D5  A sleeper that waits for a batch of chunks or outcomes looks at what there
 *     is after CHUNKS_MS or OUTCOMES_MS: nothing is delayed longer when the input
 *     is slow.  Once the reader has ended, the last outcome wakes the writer.
 */
#include <string.h>
#include "report.h"
#include "transport.h"

#define CHUNKS_MS	5	/* a worker waits for a batch of chunks */
#define OUTCOMES_MS	50	/* the writer waits for a batch of outcomes */
#define BATCH_MAX	64u

static uint64_t batch_of(uint64_t n)
{
	return n < 1 ? 1 : n > BATCH_MAX ? BATCH_MAX : n;
}

static int pool_setup(struct job *job)
{
	(void)job;
	return 0;
}

static void pool_forked(struct job *job)
{
	(void)job;
}

static void *take_waiting(struct member *m)
{
	void *buf = upool_alloc_wait(m->pool, m->job->fill_bytes, -1);

	if (!buf)
		die("no buffer in the pool");
	return buf;
}

static void pool_join(struct member *m)
{
	int ret = upool_attach(&m->pool, upool_fd(m->job->pool));

	if (ret)
		die("cannot join the pool: %s", strerror(-ret));
	upool_close(m->job->pool);	/* the parent's handle, inherited */
	if (m->role == ROLE_WORKER && m->job->op->frames) {
		m->spare = take_waiting(m);	/* D1 */
		stat_add(&m->stats->buffers, 1);
	}
}

static void give_back(struct member *m, void *buf)
{
	int ret = upool_free(m->pool, buf);

	if (ret)
		die("cannot give a buffer back: %s", strerror(-ret));
}

/*
 * A member that leaves takes the tokens with it that nobody has claimed yet, as
 * if it had died.  The writer is last to claim.
 */
static void wait_for_writer(struct member *m)
{
	struct gauge *finished = m->job->shared->finished;
	unsigned int i;

	if (m->role == ROLE_WRITER) {
		for (i = 0; i < m->job->nr_workers + 2; i++)
			gauge_add(&finished[i], 1, &m->stats->transport);
		return;
	}
	while (!gauge_read(&finished[m->index]))
		gauge_wait(&finished[m->index], 1, GAUGE_FOREVER, &m->stats->transport);
}

static void pool_leave(struct member *m)
{
	struct upool_stats st = { .size = sizeof(st) };

	if (m->spare)
		give_back(m, m->spare);
	wait_for_writer(m);
	if (!upool_stats_read(m->pool, &st))
		stat_add(&m->stats->pool, st.syscalls);
	upool_close(m->pool);
}

static void pool_flush(struct member *m)
{
	struct shared *s = m->job->shared;
	unsigned int i;

	for (i = 0; i < m->job->nr_workers; i++)
		gauge_kick(&s->ring[i].pushed, stat_read(&s->worker[i].chunks),
			   &m->stats->transport);
}

static void *pool_take(struct member *m)
{
	struct gauge *returned = &m->job->shared->returned;
	const uint64_t credits = m->job->credits;
	void *buf = m->spare;

	m->spare = NULL;
	if (buf)
		return buf;
	while (m->taken - gauge_read(returned) >= credits) {
		pool_flush(m);
		gauge_wait(returned, m->taken - credits + batch_of(credits / 2), GAUGE_FOREVER,
			   &m->stats->transport);
	}
	buf = upool_alloc(m->pool, m->job->fill_bytes);
	if (!buf) {
		pool_flush(m);
		buf = take_waiting(m);	/* members of another program hold them */
	}
	m->taken++;
	stat_add(&m->stats->buffers, 1);
	return buf;
}

static void push(struct member *m, unsigned int worker, const struct chunk *c)
{
	struct shared *s = m->job->shared;
	struct ring *r = &s->ring[worker];
	uint64_t tail = atomic_load_explicit(&r->pushed.value, memory_order_relaxed);

	r->entry[tail & (s->ring_cap - 1)] = *c;	/* S1: there is room */
	gauge_add(&r->pushed, 1, &m->stats->transport);
}

static void pool_send(struct member *m, unsigned int worker, const struct chunk *c)
{
	struct chunk entry = *c;

	if (c->data) {
		entry.token = upool_token(m->pool, c->data);
		if (!entry.token)
			die("cannot make a token");
	}
	push(m, worker, &entry);
}

static void pool_end(struct member *m)
{
	const struct chunk quit = { .flags = CHUNK_QUIT };
	struct shared *s = m->job->shared;
	unsigned int i;

	for (i = 0; i < m->job->nr_workers; i++)
		push(m, i, &quit);
	pool_flush(m);
	/* [E1] pairs with [E2]: the writer sees how many units there are */
	atomic_store(&s->ended, 1);
	gauge_add(&s->published, 1, &m->stats->transport);
	gauge_kick(&s->published, 0, &m->stats->transport);
}

static void *accept_token(struct member *m, uint64_t token)
{
	void *buf;
	int ret = upool_accept(m->pool, token, &buf);

	if (ret)
		die("cannot claim a buffer: %s", strerror(-ret));
	return buf;
}

static bool pool_recv(struct member *m, struct chunk *c)
{
	struct shared *s = m->job->shared;
	struct ring *r = &s->ring[m->index];
	const uint64_t batch = batch_of(m->job->credits / 2 / m->job->nr_workers);

	if (gauge_read(&r->pushed) == r->head)
		gauge_wait(&r->pushed, r->head + batch, CHUNKS_MS, &m->stats->transport);
	while (gauge_read(&r->pushed) == r->head)
		gauge_wait(&r->pushed, r->head + 1, GAUGE_FOREVER, &m->stats->transport);
	*c = r->entry[r->head & (s->ring_cap - 1)];
	r->head++;
	if (c->flags & CHUNK_QUIT)
		return false;
	c->data = c->token ? accept_token(m, c->token) : NULL;
	return true;
}

static void *pool_target(struct member *m)
{
	return m->spare;
}

static void pool_publish(struct member *m, const struct outcome *o)
{
	struct shared *s = m->job->shared;
	struct slot *slot = &s->slot[o->unit & (m->job->window - 1)];	/* S2 */

	slot->outcome = *o;
	if (o->len) {
		slot->outcome.token = upool_token(m->pool, m->spare);
		if (!slot->outcome.token)
			die("cannot make a token");
		m->spare = NULL;
	}
	/* [P1] pairs with [P2]: the outcome before the flag */
	atomic_store_explicit(&slot->ready, o->unit + 1, memory_order_release);
	gauge_add(&s->published, 1, &m->stats->transport);
}

static void pool_release(struct member *m, struct chunk *c)
{
	if (!c->data)
		return;
	if (m->job->op->frames && !m->spare) {
		m->spare = c->data;	/* D1; the writer returns the credit */
		return;
	}
	give_back(m, c->data);
	gauge_add(&m->job->shared->returned, 1, &m->stats->transport);
}

static bool unit_ready(struct slot *slot, uint64_t unit)
{
	/* [P2] pairs with [P1] */
	return atomic_load_explicit(&slot->ready, memory_order_acquire) == unit + 1;
}

static bool pool_collect(struct member *m, uint64_t unit, struct outcome *o,
			 void (*before_sleep)(void *), void *arg)
{
	struct shared *s = m->job->shared;
	struct slot *slot = &s->slot[unit & (m->job->window - 1)];
	const uint64_t batch = batch_of(m->job->credits / 2);
	int timeout_ms = OUTCOMES_MS;
	uint64_t seen, target, all;

	for (target = batch;; target = 1) {
		/* counted before the look: what comes after it ends the wait */
		seen = gauge_read(&s->published);
		if (unit_ready(slot, unit))
			break;
		/* [E2] pairs with [E1] */
		all = atomic_load(&s->ended) ? stat_read(&s->started) : UINT64_MAX;
		if (unit >= all)
			return false;
		target += seen;
		if (all != UINT64_MAX && target > all + 1)
			target = all + 1;	/* the outcomes and the end */
		before_sleep(arg);
		gauge_wait(&s->published, target, timeout_ms, &m->stats->transport);
		timeout_ms = GAUGE_FOREVER;
	}
	*o = slot->outcome;
	o->data = o->token ? accept_token(m, o->token) : NULL;
	return true;
}

static void pool_done(struct member *m, struct outcome *o)
{
	struct shared *s = m->job->shared;

	if (o->data) {
		give_back(m, o->data);
		gauge_add(&s->returned, 1, &m->stats->transport);
	}
	gauge_add(&s->written, 1, &m->stats->transport);
}

const struct transport pool_transport = {
	.name = "pool",
	.setup = pool_setup,
	.forked = pool_forked,
	.join = pool_join,
	.leave = pool_leave,
	.take = pool_take,
	.send = pool_send,
	.flush = pool_flush,
	.end = pool_end,
	.recv = pool_recv,
	.target = pool_target,
	.publish = pool_publish,
	.release = pool_release,
	.collect = pool_collect,
	.done = pool_done,
};
