// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * priv_cache.c - magazines of threads: refill, overflow, theft.
 * Owns: struct cache.  Locks: steal, caches, cache, in this order.
 * Entry: priv_alloc.c, priv_trim.c, priv_pool.c.
 *
 * Taking from a thread that is elsewhere, perhaps asleep, costs its hits nothing but
 * two plain stores (M1).  Where the system has no membarrier() hits are off.
 */
#include "priv.h"
#include "sys_vm.h"

#define FIRST_LIMIT	8	/* entries of a bin before it grows */

static uint32_t stamp_of(uint64_t ms)
{
	return (uint32_t)(ms >> 6);
}

/* Bytes of budget that a bin has: for its loaded and its previous magazine. */
static uint64_t cost_of(unsigned int cls, uint32_t entries)
{
	return 2 * entries * class_bytes(cls);
}

void cache_flush(struct priv *p, struct cache *c, uint64_t before)
{
	struct magazine *mag;
	uint64_t keep = 0;
	struct upool__bin *b;
	unsigned int cls;

	for (cls = 0; cls < UPOOL__CLASSES; cls++) {
		b = &c->hot.bin[cls];
		if (!b->base)
			continue;
		if (c->stamp[cls] >= stamp_of(before)) {
			keep += cost_of(cls, c->limit[cls]);
			continue;
		}
		mag = (struct magazine *)((char *)b->base - offsetof(struct magazine, e));
		mag->nr = (uint32_t)(b->top - b->base);
		if (mag->nr)
			shard_put(p, cls, mag);
		else
			magazine_free(mag);
		mag = b->prev;
		if (mag && mag->nr)
			shard_put(p, cls, mag);
		else
			magazine_free(mag);
		*b = (struct upool__bin){ 0 };
		c->limit[cls] = 0;
	}
	add_relaxed(&p->budget, c->budget - keep);
	c->budget = keep;
}

static struct magazine *loaded(const struct upool__bin *b)
{
	return (struct magazine *)((char *)b->base - offsetof(struct magazine, e));
}

static void load(struct upool__bin *b, struct magazine *mag, uint32_t limit)
{
	b->base = mag->e;
	b->end = mag->e + (limit < mag->nr ? mag->nr : limit);
	store_relaxed(&b->top, mag->e + mag->nr);
}

static struct magazine *unload(struct upool__bin *b)
{
	struct magazine *mag = loaded(b);

	mag->nr = (uint32_t)(b->top - b->base);
	return mag;
}

uint64_t bin_cost(unsigned int cls)
{
	uint32_t most = magazine_limit(cls);

	return cost_of(cls, most < FIRST_LIMIT ? most : FIRST_LIMIT);
}

/* Twice @from, at most a magazine; as far as the pool's budget of bytes goes. */
static uint32_t grow(struct priv *p, struct cache *c, unsigned int cls, uint32_t from)
{
	uint32_t most = magazine_limit(cls), to = from ? 2 * from : FIRST_LIMIT;
	uint64_t cost, left = load_relaxed(&p->budget);

	to = to < most ? to : most;
	if (to <= from)
		return from;
	cost = cost_of(cls, to - from);
	do {
		if (cost > left)
			return from;
	} while (!__atomic_compare_exchange_n(&p->budget, &left, left - cost, true,
					      __ATOMIC_RELAXED, __ATOMIC_RELAXED));
	c->budget += cost;
	return to;
}

/* A bin's first magazine.  Without budget it has none, and its thread goes around it. */
static bool bin_start(struct priv *p, struct cache *c, unsigned int cls)
{
	struct upool__bin *b = &c->hot.bin[cls];
	struct magazine *mag;
	uint32_t limit;

	if (b->base)
		return true;
	limit = grow(p, c, cls, 0);
	mag = limit ? magazine_new(cls) : NULL;
	if (!mag)
		return false;
	c->limit[cls] = (uint16_t)limit;
	load(b, mag, limit);
	return true;
}

bool bin_fill(struct priv *p, struct cache *c, unsigned int cls)
{
	struct upool__bin *b = &c->hot.bin[cls];
	struct magazine *mag = b->prev;
	uint32_t limit;

	c->stamp[cls] = stamp_of(sys_age_ms());
	if (b->top != b->base)
		return true;
	if (!bin_start(p, c, cls))
		return false;
	limit = c->limit[cls];
	if (mag && mag->nr) {
		b->prev = unload(b);
		load(b, mag, limit);
		return true;
	}
	mag = shard_get(p, cls);
	if (mag) {
		magazine_free(b->prev);
		b->prev = unload(b);
		load(b, mag, limit);
		return true;
	}
	mag = loaded(b);
	mag->nr = 0;
	span_refill(p, cls, mag, magazine_portion(p, mag, limit));
	load(b, mag, limit);
	return mag->nr;
}

bool bin_drain(struct priv *p, struct cache *c, unsigned int cls)
{
	struct upool__bin *b = &c->hot.bin[cls];
	struct magazine *prev = b->prev, *empty;
	uint32_t limit;

	c->stamp[cls] = stamp_of(sys_age_ms());
	if (!bin_start(p, c, cls))
		return false;
	if (b->top != b->end)
		return true;
	limit = grow(p, c, cls, c->limit[cls]);
	c->limit[cls] = (uint16_t)limit;
	if (b->end < b->base + limit) {
		b->end = b->base + limit;
		return true;
	}
	if (prev && !prev->nr) {
		b->prev = unload(b);
		load(b, prev, limit);
		return true;
	}
	empty = magazine_new(cls);
	if (!empty)
		return false;
	if (prev)
		shard_put(p, cls, prev);
	b->prev = unload(b);
	load(b, empty, limit);
	return true;
}

static bool has_old(const struct cache *c, uint64_t before)
{
	unsigned int cls;

	for (cls = 0; cls < UPOOL__CLASSES; cls++)
		if (c->hot.bin[cls].base && c->stamp[cls] < stamp_of(before))
			return true;
	return false;
}

void caches_drain(struct priv *p, uint64_t before)
{
	struct cache *c;

	pthread_mutex_lock(&p->steal_lock);
	pthread_mutex_lock(&p->caches_lock);
	LIST_FOREACH(c, &p->caches, link) {
		pthread_mutex_lock(&c->lock);
		if (has_old(c, before))
			cache_stop(p, c);
		pthread_mutex_unlock(&c->lock);
	}
	sys_barrier();
	LIST_FOREACH(c, &p->caches, link) {
		pthread_mutex_lock(&c->lock);
		if (cache_quiet(p, c))
			cache_flush(p, c, before);
		pthread_mutex_unlock(&c->lock);
	}
	pthread_mutex_unlock(&p->caches_lock);
	cpus_drain(p, before);
	pthread_mutex_unlock(&p->steal_lock);
}

uint64_t caches_idle(struct priv *p, uint64_t *bytes, uint32_t *nr)
{
	uint64_t all, n;
	struct cache *c;
	unsigned int cls;

	*bytes = 0;
	*nr = 0;
	all = cpus_idle(p, bytes);
	pthread_mutex_lock(&p->caches_lock);
	LIST_FOREACH(c, &p->caches, link) {
		pthread_mutex_lock(&c->lock);
		for (cls = 0; cls < UPOOL__CLASSES; cls++) {
			const struct upool__bin *b = &c->hot.bin[cls];
			const struct magazine *prev = b->prev;

			n = (uint64_t)(load_relaxed(&b->top) - b->base) + (prev ? prev->nr : 0);
			all += n;
			*bytes += n * class_bytes(cls);
		}
		pthread_mutex_unlock(&c->lock);
		++*nr;
	}
	pthread_mutex_unlock(&p->caches_lock);
	return all;
}
