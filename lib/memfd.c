// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * memfd.c - pools in a memfd: the operations that need no kernel module.
 * Owns: movement between magazines and the depot.  Locks: none held here.
 * Entry: struct backing.
 */
#include "depot.h"
#include "memfd.h"

#define MOVING_YIELDS	16
#define WAIT_MIN_MS	1
#define WAIT_MAX_MS	16

static void hold(struct upool *p, uint32_t idx)
{
	store_relaxed(tag_owner(&p->hot, idx), p->hot.held);
}

/*
 * Up to @n buffers from depot or other magazines.  While others have buffers
 * between two layers, "none" may be wrong for a moment: give them a chance.
 */
static uint32_t gather(struct upool *p, uint32_t *idx, uint32_t n)
{
	struct depot *d = p->depot;
	uint32_t got;
	int i;

	for (i = 0;; i++) {
		got = depot_take(p, idx, n);
		if (!got)
			got = steal(p, idx, n);
		if (got || i == MOVING_YIELDS || load_relaxed(&d->nr_moving) <= 1)
			break;
		sys_yield();
	}
	if (!got)
		depot_count(d, empty, 1);
	return got;
}

static int memfd_refill(struct upool *p, uint32_t *idx)
{
	uint32_t batch[UPOOL_MAX_BATCH], n;
	struct depot *d = p->depot;

	add_relaxed(&d->nr_moving, 1);
	n = gather(p, batch, p->hot.cap / 2 + 1);
	UPOOL_INJECT(REFILL);
	if (n) {
		*idx = batch[0];
		hold(p, *idx);
		depot_count(d, refills, 1);
		depot_count(d, refilled, n);
	}
	/* The hottest last, so that it is popped first. */
	while (n > 1 && mag_push(p, batch[n - 1]) == RSEQ_DONE)
		n--;
	if (n > 1)
		depot_put(p, batch + 1, n - 1);
	sub_relaxed(&d->nr_moving, 1);
	return n ? 1 : -ENOBUFS;
}

static int memfd_flush(struct upool *p)
{
	uint32_t batch[UPOOL_MAX_BATCH], max = p->hot.cap / 2, n = 0;
	struct depot *d = p->depot;

	add_relaxed(&d->nr_moving, 1);
	while (n < (max ? max : 1) && mag_pop(p, &batch[n]) == RSEQ_DONE)
		n++;
	UPOOL_INJECT(FLUSH);
	if (n) {
		depot_count(d, flushes, 1);
		depot_count(d, flushed, depot_put(p, batch, n));
	}
	sub_relaxed(&d->nr_moving, 1);
	return 0;
}

static int take_one(struct upool *p, uint32_t *idx)
{
	struct depot *d = p->depot;
	uint32_t got;

	add_relaxed(&d->nr_moving, 1);
	got = gather(p, idx, 1);
	sub_relaxed(&d->nr_moving, 1);
	if (!got)
		return -ENOBUFS;
	hold(p, *idx);
	depot_count(d, pops, 1);
	return 0;
}

/*
 * Returns to the depot wake us; returns to magazines do not, since a free that
 * hits looks at nothing but its magazine.  So look again, and steal, in periods.
 */
static int memfd_take(struct upool *p, uint32_t *idx, int timeout_ms)
{
	uint64_t end = timeout_ms > 0 ? sys_now_ms() + (uint64_t)timeout_ms : 0, now;
	unsigned int period = WAIT_MIN_MS, wait;
	struct depot *d = p->depot;
	uint32_t seen;
	int ret;

	if (!timeout_ms)
		return take_one(p, idx);
	add_seq_cst(&d->nr_waiters, 1);
	for (;;) {
		/* [W2] Waiters before sequence; pairs with [W1]. */
		seen = load_seq_cst(&d->wait_seq);
		ret = take_one(p, idx);
		if (!ret)
			break;
		wait = period;
		if (timeout_ms > 0) {
			now = sys_now_ms();
			if (now >= end) {
				ret = -ETIMEDOUT;
				break;
			}
			wait = end - now < wait ? (unsigned int)(end - now) : wait;
		}
		local_add(p, LOCAL_syscalls, 1);
		sys_futex_wait(&d->wait_seq, seen, wait);
		period = period < WAIT_MAX_MS ? period * 2 : WAIT_MAX_MS;
	}
	sub_relaxed(&d->nr_waiters, 1);
	return ret;
}

/* Tag {me|H} or {me|H|X}: end the tenancy, then into the depot. */
static int memfd_put(struct upool *p, uint32_t idx)
{
	const struct mags *m = &p->hot;
	uint64_t tag = load_relaxed(&m->tags[idx].word);
	uint32_t owner = upool_tag_owner(tag), gen = upool_tag_gen(tag);
	bool worn = false;

	if (owner == (m->held | UPOOL_TAG_EXPORTED)) {
		worn = gen >= UPOOL_GEN_RETIRE - 1;
		if (!cas64(&m->tags[idx].word, tag, upool_tag(0, worn ? gen : gen + 1)))
			return -ESTALE;
	} else if (owner != m->held) {
		return owner & UPOOL_TAG_HELD ? -EINVAL : -EALREADY;
	} else if (!cas64(&m->tags[idx].word, tag, upool_tag(m->me, gen))) {
		return -EALREADY;
	}
	depot_count(p->depot, pushes, 1);
	if (worn)
		depot_park(p, idx);
	else
		depot_put(p, &idx, 1);
	return 0;
}

static int memfd_stats(const struct upool *p, struct upool_pool_stats *st)
{
	const struct mags *m = &p->hot;
	struct depot *d = p->depot;
	uint64_t state, idle = 0, away, ours;
	struct stat sb;
	uint32_t cpu;
	int ret = sys_fstat(p->fd, &sb);

	if (ret)
		return ret;
	for (cpu = 0; cpu < m->nr_cpus; cpu++) {
		state = load_relaxed(&mag_of(m, cpu)->state);
		idle += UPOOL_MAG_COUNT(state) <= m->cap ? UPOOL_MAG_COUNT(state) : 0;
		st->mag_pops += UPOOL_MAG_POPS(state);
	}
#define DEPOT_X(name)	st->name = load_relaxed(&d->name);
	DEPOT_COUNTERS(DEPOT_X)
#undef DEPOT_X
	/* Flushes and steals pop as well, but allocate nothing. */
	st->mag_pops -= st->flushed + st->stolen < st->mag_pops ? st->flushed + st->stolen : 0;
	st->nr_buffers = m->nr;
	st->buffer_bytes = m->buf_bytes;
	st->data_bytes = p->geo.data_bytes;
	st->control_bytes = p->map_bytes;
	ours = sys_resident(p->control, (size_t)p->map_bytes);
	st->resident_bytes = (uint64_t)sb.st_blocks * 512;
	st->resident_bytes -= ours < st->resident_bytes ? ours : st->resident_bytes;
	st->nr_attachments = load_relaxed(&d->nr_attached);
	st->mag_idle = idle;
	st->depot_idle = load_relaxed(&d->nr_idle);
	st->retired = load_relaxed(&d->nr_parked);
	away = st->mag_idle + st->depot_idle + st->retired;
	st->held = away < m->nr ? m->nr - away : 0;
	return 0;
}

static int memfd_destroy(struct upool *p)
{
	store_relaxed(&p->depot->destroyed, 1);
	return 0;
}

static void memfd_detach(struct upool *p)
{
	sub_relaxed(&p->depot->nr_attached, 1);
}

static size_t memfd_trim(struct upool *p, size_t keep_bytes)
{
	return depot_trim(p, keep_bytes);
}

const struct backing memfd_backing = {
	.refill = memfd_refill,
	.take = memfd_take,
	.flush = memfd_flush,
	.put = memfd_put,
	.stats = memfd_stats,
	.destroy = memfd_destroy,
	.trim = memfd_trim,
	.detach = memfd_detach,
};
