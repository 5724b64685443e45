// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * depot.c - the locked lists of a memfd pool's depot, repaired after a death.
 * Owns: links, counts and parking.  Locks: depot->lock (leaf).  Entry: depot.h.
 *
 * Order of stores.  Into the depot: nr_idle, link, top; out of it: top, link,
 * nr_idle.  So nr_idle is never below the truth, and a buffer whose link is set
 * has not been handed out: rebuild() may keep it.
 */
#include <string.h>
#include "depot.h"

void depot_layout(struct depot_layout *l, const struct upool_geometry *geo)
{
	uint64_t locks = DEPOT_LOCKS_OFF + sizeof(struct mag_lock) * (uint64_t)geo->nr_cpu_ids;

	l->depot_off = geo->control_bytes;
	l->links_off = upool_round_up(locks, 4096);
	l->due_off = upool_round_up(l->links_off + 4ULL * geo->max_count, 4096);
	l->data_off = upool_round_up(l->depot_off + l->due_off + 4ULL * geo->max_count,
				     DEPOT_DATA_ALIGN);
	l->file_bytes = l->data_off + geo->data_bytes;
}

static int robust_init(pthread_mutex_t *mutex)
{
	pthread_mutexattr_t attr;
	int ret = pthread_mutexattr_init(&attr);

	if (ret)
		return -ret;
	ret = pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	if (!ret)
		ret = pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
	if (!ret)
		ret = pthread_mutex_init(mutex, &attr);
	pthread_mutexattr_destroy(&attr);
	return -ret;
}

int depot_init(struct upool *p, uint32_t flags, uint32_t ttl_s, bool locked)
{
	struct depot *d = p->depot;
	uint32_t cpu;
	int ret;

	d->version = DEPOT_VERSION;
	d->mutex_bytes = sizeof(struct mag_lock);
	d->long_bytes = sizeof(long);
	d->flags = flags;
	d->token_ttl_s = ttl_s;
	d->top = LINK_END;
	d->park_head = LINK_END;
	d->park_tail = LINK_END;
	d->nr_idle = p->geo.classes[0].nr;
	ret = robust_init(&d->lock);
	for (cpu = 0; !ret && locked && cpu < p->geo.nr_cpu_ids; cpu++)
		ret = robust_init(&depot_locks(d)[cpu].mutex);
	d->magic = DEPOT_MAGIC;
	return ret;
}

/* A mutex like @ours: libc believes the kind it finds in one. */
static bool same_kind(const pthread_mutex_t *mutex, const pthread_mutex_t *ours)
{
#ifdef __GLIBC__
	return load_relaxed(&mutex->__data.__kind) == ours->__data.__kind;
#else
	(void)mutex;
	(void)ours;
	return true;
#endif
}

bool depot_valid(const struct upool *p, bool locked)
{
	struct depot *d = p->depot;
	pthread_mutex_t ours;
	uint32_t cpu;

	if (d->magic != DEPOT_MAGIC || d->version != DEPOT_VERSION ||
	    d->mutex_bytes != sizeof(struct mag_lock) || d->long_bytes != sizeof(long))
		return false;
	memset(&ours, 0, sizeof(ours));
	if (robust_init(&ours) || !same_kind(&d->lock, &ours))
		return false;
	for (cpu = 0; locked && cpu < p->geo.nr_cpu_ids; cpu++)
		if (!same_kind(&depot_locks(d)[cpu].mutex, &ours))
			return false;
	return true;
}

uint32_t depot_used(const struct upool *p)
{
	uint32_t fresh = load_relaxed(&p->depot->fresh);

	return fresh < p->hot.nr ? fresh : p->hot.nr;
}

static void park_append(struct upool *p, uint32_t idx)
{
	struct depot *d = p->depot;
	uint32_t tail = load_relaxed(&d->park_tail) - LINK_BASE;

	store_relaxed(&p->links[idx], LINK_PARKED | LINK_END);
	if (tail < p->hot.nr)
		store_relaxed(&p->links[tail], LINK_PARKED | (idx + LINK_BASE));
	else
		store_relaxed(&d->park_head, idx + LINK_BASE);
	store_relaxed(&d->park_tail, idx + LINK_BASE);
}

/* Everything from the links: after a death in the lock, or damage. */
static void rebuild(struct upool *p)
{
	struct depot *d = p->depot;
	uint32_t used = depot_used(p), top = LINK_END, idle = 0, parked = 0, i, link;

	store_relaxed(&d->fresh, used);
	store_relaxed(&d->park_head, LINK_END);
	store_relaxed(&d->park_tail, LINK_END);
	for (i = 0; i < used; i++) {
		link = load_relaxed(&p->links[i]);
		if (link & LINK_PARKED) {
			park_append(p, i);
			parked++;
		} else if (link) {
			store_relaxed(&p->links[i], top);
			top = i + LINK_BASE;
			idle++;
		}
	}
	store_relaxed(&d->top, top);
	store_relaxed(&d->nr_parked, parked);
	store_relaxed(&d->nr_idle, idle + (p->hot.nr - used));
}

bool depot_lock(struct upool *p)
{
	int ret = robust_lock(&p->depot->lock);

	if (ret == EOWNERDEAD)
		rebuild(p);
	return !ret || ret == EOWNERDEAD;
}

void depot_unlock(struct upool *p)
{
	pthread_mutex_unlock(&p->depot->lock);
}

/* Counts first (see the file's head), link second, top last. */
static void push(struct upool *p, uint32_t idx)
{
	struct depot *d = p->depot;
	uint32_t top = load_relaxed(&d->top);

	store_relaxed(&d->nr_idle, load_relaxed(&d->nr_idle) + 1);
	store_relaxed(&p->links[idx], top ? top & ~LINK_PARKED : LINK_END);
	UPOOL_INJECT(DEPOT);
	store_relaxed(&d->top, idx + LINK_BASE);
}

/* The hottest buffer; false: none, or the list is damaged. */
static bool pop(struct upool *p, uint32_t *idx)
{
	struct depot *d = p->depot;
	uint32_t i = load_relaxed(&d->top) - LINK_BASE, link;

	if (i >= depot_used(p))
		return false;
	link = load_relaxed(&p->links[i]);
	if (link == LINK_NONE || link & LINK_PARKED)
		return false;
	store_relaxed(&d->top, link);
	UPOOL_INJECT(DEPOT);
	store_relaxed(&p->links[i], LINK_NONE);
	store_relaxed(&d->nr_idle, load_relaxed(&d->nr_idle) - 1);
	*idx = i;
	return true;
}

static bool pop_fresh(struct upool *p, uint32_t *idx)
{
	struct depot *d = p->depot;
	uint32_t used = depot_used(p);

	if (used == p->hot.nr)
		return false;
	store_relaxed(&d->fresh, used + 1);
	store_relaxed(&d->nr_idle, load_relaxed(&d->nr_idle) - 1);
	*idx = used;
	return true;
}

/* Parked buffers whose time is over start again with generation 0. */
static void unpark_due(struct upool *p)
{
	struct depot *d = p->depot;
	uint32_t ttl = load_relaxed(&d->token_ttl_s), now, i, next;

	if (!ttl || !load_relaxed(&d->nr_parked))
		return;
	now = sys_boot_seconds();
	for (;;) {
		i = load_relaxed(&d->park_head) - LINK_BASE;
		if (i >= p->hot.nr || (int32_t)(now - load_relaxed(&p->due[i])) < 0)
			return;
		next = load_relaxed(&p->links[i]);
		if (!(next & LINK_PARKED))
			return;
		next &= ~LINK_PARKED;
		store_relaxed(&d->park_head, next);
		if (next == LINK_END)
			store_relaxed(&d->park_tail, LINK_END);
		store_relaxed(&p->hot.tags[i].word, upool_tag(0, 0));
		push(p, i);
		store_relaxed(&d->nr_parked, load_relaxed(&d->nr_parked) - 1);
	}
}

uint32_t depot_take(struct upool *p, uint32_t *idx, uint32_t n)
{
	struct depot *d = p->depot;
	bool rebuilt = false;
	uint32_t got = 0;

	if (!load_relaxed(&d->nr_idle) && !load_relaxed(&d->nr_parked))
		return 0;
	if (!depot_lock(p))
		return 0;
	unpark_due(p);
	while (got < n) {
		if (pop(p, &idx[got])) {
			got++;
		} else if (load_relaxed(&d->top) != LINK_END && !rebuilt) {
			rebuild(p);
			rebuilt = true;
		} else if (pop_fresh(p, &idx[got])) {
			got++;
		} else {
			break;
		}
	}
	depot_unlock(p);
	return got;
}

uint32_t depot_put(struct upool *p, const uint32_t *idx, uint32_t n)
{
	struct depot *d = p->depot;
	uint32_t i, used, accepted = 0;

	if (!n || !depot_lock(p))
		return 0;
	used = depot_used(p);
	for (i = 0; i < n; i++) {
		if (idx[i] >= used || load_relaxed(&p->links[idx[i]])) {
			depot_count(d, bad_index, 1);
			continue;
		}
		store_relaxed(tag_owner(&p->hot, idx[i]), 0);	/* I3 */
		push(p, idx[i]);
		accepted++;
	}
	depot_unlock(p);
	/* [W1] Sequence before waiters; pairs with [W2]: a waiter that we miss sees it. */
	add_seq_cst(&d->wait_seq, 1);
	if (load_seq_cst(&d->nr_waiters)) {
		local_add(p, LOCAL_syscalls, 1);
		sys_futex_wake(&d->wait_seq);
	}
	return accepted;
}

void depot_park(struct upool *p, uint32_t idx)
{
	struct depot *d = p->depot;

	if (!depot_lock(p))
		return;
	if (idx < depot_used(p) && !load_relaxed(&p->links[idx])) {
		store_relaxed(&p->due[idx], sys_boot_seconds() + load_relaxed(&d->token_ttl_s));
		store_relaxed(&d->nr_parked, load_relaxed(&d->nr_parked) + 1);
		park_append(p, idx);
	} else {
		depot_count(d, bad_index, 1);
	}
	depot_unlock(p);
}
