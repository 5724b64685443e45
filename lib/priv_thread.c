// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * priv_thread.c - threads and pools find each other: registration, exit, fork.
 * Owns: struct thread, the registry of threads and pools.  Locks: registry, caches,
 * cache, in this order.  Entry: cache_lock(), priv_pool.c, libc's handlers.
 */
#include "priv.h"
#include "sys.h"
#include "sys_vm.h"

#define MAX_SPIN	1000	/* looks at a thread that is in a hit */

/* Threads that are not registered, or no longer: every hit misses, and it stays so. */
static struct upool__cache no_bins;
static struct upool__thread outside = {
	.cache = { [0 ... UPOOL__CACHES - 1] = &no_bins },
};

static struct upool__thread gone = {
	.cache = { [0 ... UPOOL__CACHES - 1] = &no_bins },
};

UPOOL_API __thread struct upool__thread *upool__self_1 = &outside;

static pthread_mutex_t registry = PTHREAD_MUTEX_INITIALIZER;
static LIST_HEAD(thread_list, thread) threads;	/* [registry] */
static LIST_HEAD(pool_list, priv) pools;	/* [registry] */

static struct priv *slots[UPOOL__CACHES];	/* [registry] 0 and the last stay empty */
static pthread_key_t key;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static int unusable;				/* [const] after once */

void cache_stop(struct priv *p, struct cache *c)
{
	store_relaxed(&c->thread->hot.cache[p->head.slot], &no_bins);
}

bool cache_quiet(const struct priv *p, const struct cache *c)
{
	struct upool__thread *t = &c->thread->hot;
	int i;

	for (i = 0; i < MAX_SPIN; i++) {
		if (load_relaxed(&t->cache[p->head.slot]) != &no_bins)
			return false;
		if (!load_acquire(&t->busy))
			return true;
		sys_yield();
	}
	return false;
}

/* The caller has the registry; the cache's thread is gone, or ours, or in no hit. */
static void cache_end(struct priv *p, struct cache *c)
{
	pthread_mutex_lock(&p->caches_lock);
	cache_stop(p, c);
	store_relaxed(&c->thread->real[p->head.slot], NULL);
	LIST_REMOVE(c, link);
	pthread_mutex_lock(&c->lock);
	cache_flush(p, c, UINT64_MAX);
	pthread_mutex_unlock(&c->lock);
	pthread_mutex_unlock(&p->caches_lock);
	pthread_mutex_destroy(&c->lock);
	meta_free(c, sizeof(*c));
}

static void thread_end(struct thread *t)
{
	unsigned int i;

	for (i = 0; i < UPOOL__CACHES; i++)
		if (t->real[i])
			cache_end(slots[i], t->real[i]);
	LIST_REMOVE(t, link);
	meta_free(t, sizeof(*t));
}

/* Destructors that run later than this one go around caches. */
static void on_exit_of_thread(void *arg)
{
	upool__self_1 = &gone;
	pthread_mutex_lock(&registry);
	thread_end(arg);
	pthread_mutex_unlock(&registry);
}

/* M6: every lock is taken, and no hit goes on while the process is copied. */
static void stop_pool(struct priv *p)
{
	struct cache *c;

	pthread_mutex_lock(&p->steal_lock);
	pthread_mutex_lock(&p->caches_lock);
	LIST_FOREACH(c, &p->caches, link) {
		pthread_mutex_lock(&c->lock);
		cache_stop(p, c);
	}
	pthread_mutex_lock(&p->cpus_lock);
	pthread_mutex_lock(&p->tokens_lock);
	shards_fork(p, true);
	pthread_mutex_lock(&p->spans_lock);
	sys_barrier();
	LIST_FOREACH(c, &p->caches, link)
		cache_quiet(p, c);
}

static void before_fork(void)
{
	struct priv *p;

	pthread_mutex_lock(&registry);
	LIST_FOREACH(p, &pools, link)
		stop_pool(p);
	arena_fork(true);
	meta_fork(true);
}

static void after_fork(void)
{
	struct cache *c;
	struct priv *p;

	meta_fork(false);
	arena_fork(false);
	LIST_FOREACH(p, &pools, link) {
		pthread_mutex_unlock(&p->spans_lock);
		shards_fork(p, false);
		pthread_mutex_unlock(&p->tokens_lock);
		pthread_mutex_unlock(&p->cpus_lock);
		LIST_FOREACH(c, &p->caches, link)
			pthread_mutex_unlock(&c->lock);
		pthread_mutex_unlock(&p->caches_lock);
		pthread_mutex_unlock(&p->steal_lock);
	}
	pthread_mutex_unlock(&registry);
}

static void in_child(void)
{
	struct thread *t, *next;
	struct priv *p;

	LIST_FOREACH(p, &pools, link)
		p->waiters = 0;
	after_fork();
	sys_barrier_init();
	sys_barrier_rseq_init();
	pthread_mutex_lock(&registry);
	for (t = LIST_FIRST(&threads); t; t = next) {
		next = LIST_NEXT(t, link);
		t->hot.busy = 0;
		if (&t->hot != upool__self_1)
			thread_end(t);
	}
	pthread_mutex_unlock(&registry);
}

static void init_once(void)
{
	unusable = sys_barrier_init();
	if (!unusable)
		unusable = -pthread_key_create(&key, on_exit_of_thread);
	pthread_atfork(before_fork, after_fork, in_child);
}

void registry_add(struct priv *p)
{
	uint64_t slot;

	pthread_once(&once, init_once);
	pthread_mutex_lock(&registry);
	for (slot = 1; slot < UPOOL__CACHES - 1 && slots[slot]; slot++)
		;
	p->head.slot = slot;
	p->hits = !unusable && slot < UPOOL__CACHES - 1;
	if (p->hits)
		slots[slot] = p;
	LIST_INSERT_HEAD(&pools, p, link);
	pthread_mutex_unlock(&registry);
}

void registry_remove(struct priv *p)
{
	struct cache *c;

	pthread_mutex_lock(&registry);
	while ((c = LIST_FIRST(&p->caches)))
		cache_end(p, c);
	if (p->hits)
		slots[p->head.slot] = NULL;
	LIST_REMOVE(p, link);
	pthread_mutex_unlock(&registry);
}

static struct thread *thread_new(void)
{
	struct thread *t = meta_alloc(sizeof(*t));
	unsigned int i;

	if (!t)
		return NULL;
	for (i = 0; i < UPOOL__CACHES; i++)
		t->hot.cache[i] = &no_bins;
	if (pthread_setspecific(key, t)) {
		meta_free(t, sizeof(*t));
		return NULL;
	}
	pthread_mutex_lock(&registry);
	LIST_INSERT_HEAD(&threads, t, link);
	pthread_mutex_unlock(&registry);
	upool__self_1 = &t->hot;
	return t;
}

static struct cache *cache_new(struct priv *p, struct thread *t)
{
	struct cache *c = meta_alloc(sizeof(*c));

	if (!c)
		return NULL;
	sys_lock_init(&c->lock);
	c->thread = t;
	pthread_mutex_lock(&p->caches_lock);
	LIST_INSERT_HEAD(&p->caches, c, link);
	store_relaxed(&t->real[p->head.slot], c);
	pthread_mutex_unlock(&p->caches_lock);
	return c;
}

/* Of bins, only what the thread itself would do in a hit (M1). */
bool cache_useful(const struct priv *p, unsigned int cls)
{
	struct upool__thread *t = upool__self_1;
	const struct upool__cache *c;
	bool has;

	if (!p->hits || t == &gone)
		return false;
	if (load_relaxed(&p->budget) >= bin_cost(cls))
		return true;
	store_relaxed(&t->busy, 1);
	upool__barrier();
	c = load_relaxed(&t->cache[p->head.slot]);
	has = c->bin[cls].base || (c == &no_bins && t != &outside &&
				   ((struct thread *)t)->real[p->head.slot]);
	upool__barrier();
	store_relaxed(&t->busy, 0);
	return has;
}

struct cache *cache_lock(struct priv *p)
{
	struct upool__thread *self = upool__self_1;
	struct thread *t = (struct thread *)self;
	struct cache *c;

	if (!p->hits || self == &gone)
		return NULL;
	if (self == &outside)
		t = thread_new();
	if (!t)
		return NULL;
	c = load_relaxed(&t->real[p->head.slot]);
	if (!c)
		c = cache_new(p, t);
	if (!c)
		return NULL;
	pthread_mutex_lock(&c->lock);
	/* Whoever waits drains after it is counted: this sees it, or is drained. */
	if (load_seq_cst(&p->waiters)) {
		pthread_mutex_unlock(&c->lock);
		return NULL;
	}
#ifndef UPOOL_RSEQ_BLIND	/* else hits stay off: what they are protected by is unseen */
	store_relaxed(&t->hot.cache[p->head.slot], &c->hot);
#endif
	return c;
}

void cache_unlock(struct cache *c)
{
	pthread_mutex_unlock(&c->lock);
}
