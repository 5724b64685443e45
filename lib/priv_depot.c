// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * priv_depot.c - magazines on their way between threads, in shards, bounded in bytes.
 * Owns: struct shard, struct magazine.  Locks: one shard's.  Entry: priv_*.c.
 *
 * A shard is made when a CPU first needs it.  The summary of a class says which shards
 * have magazines: finding that there are none costs one load.
 */
#include "priv.h"
#include "sys.h"
#include "sys_vm.h"

/* How many a thread keeps in one; shallow where they are large. */
uint32_t magazine_limit(unsigned int cls)
{
	uint64_t bytes = class_bytes(cls);

	if (bytes >= 1048576)
		return 1;
	if (bytes > 131072)
		return 6;
	if (bytes > 16384)
		return 30;
	return bytes >= 1024 && bytes <= 4096 ? 254 : 64;
}

/* Room for more, up to what sizeof(struct magazine) leaves of a power of two. */
uint32_t magazine_cap(unsigned int cls)
{
	uint32_t limit = magazine_limit(cls), cap = 2;

	while (cap < limit + limit / 2 && cap < 254)
		cap = 2 * cap + 2;
	return cap;
}

static size_t magazine_bytes(uint32_t cap)
{
	return sizeof(struct magazine) + cap * sizeof(struct upool__entry);
}

struct magazine *magazine_new(unsigned int cls)
{
	uint32_t cap = magazine_cap(cls);
	struct magazine *mag = meta_get(magazine_bytes(cap));

	if (mag) {
		mag->nr = 0;
		mag->cap = cap;
	}
	return mag;
}

void magazine_free(struct magazine *mag)
{
	if (mag)
		meta_free(mag, magazine_bytes(mag->cap));
}

/*
 * States of neighbours are in one line of memory: a thread takes as many as that, lest
 * it share the line with another one in every hit.  Few, where others may lack them.
 */
uint32_t magazine_portion(const struct priv *p, const struct magazine *mag, uint32_t limit)
{
	uint32_t few = limit < 2 ? 1 : limit / 2;

	if (p->max_nr || p->max_bytes || p->drop)
		return few;
	return mag->cap < PRIV_LINE ? mag->cap : PRIV_LINE;
}

struct shard *shard_new(void)
{
	struct shard *s = meta_alloc(sizeof(*s));
	unsigned int cls;

	if (!s)
		return NULL;
	sys_lock_init(&s->lock);
	for (cls = 0; cls < UPOOL__CLASSES; cls++)
		TAILQ_INIT(&s->full[cls]);
	return s;
}

static uint32_t nr_here(const struct priv *p)
{
	return (uint32_t)sys_cpu() % p->nr_shards;
}

/* The shard of this CPU, or one that exists when there is no memory for it. */
static struct shard *shard_here(struct priv *p, uint32_t *nr)
{
	uint32_t n = nr_here(p);
	struct shard *s = load_acquire(&p->shard[n]), *other = NULL;

	*nr = n;
	if (likely(s))
		return s;
	s = shard_new();
	if (!s) {
		*nr = 0;
		return p->shard[0];
	}
	if (__atomic_compare_exchange_n(&p->shard[n], &other, s, false, __ATOMIC_ACQ_REL,
					__ATOMIC_ACQUIRE))
		return s;
	pthread_mutex_destroy(&s->lock);
	meta_free(s, sizeof(*s));
	return other;
}

static void insert(struct priv *p, unsigned int cls, struct shard *s, uint32_t n,
		   struct magazine *mag)
{
	if (TAILQ_EMPTY(&s->full[cls]))
		__atomic_fetch_or(&p->sizes[cls].summary, 1ULL << n, __ATOMIC_SEQ_CST);
	TAILQ_INSERT_HEAD(&s->full[cls], mag, link);
}

static void extract(struct priv *p, unsigned int cls, struct shard *s, uint32_t n,
		    struct magazine *mag)
{
	TAILQ_REMOVE(&s->full[cls], mag, link);
	if (TAILQ_EMPTY(&s->full[cls]))
		__atomic_fetch_and(&p->sizes[cls].summary, ~(1ULL << n), __ATOMIC_SEQ_CST);
}

static void count(struct priv *p, unsigned int cls, int64_t nr)
{
	add_relaxed(&p->sizes[cls].depot, (uint64_t)nr);
	add_relaxed(&p->depot, (uint64_t)nr * class_bytes(cls));
}

void shard_drop(struct priv *p, unsigned int cls, struct magazine *mag, enum drop_reason why)
{
	static const enum local_stat stat[] = {
		[DROP_FULL] = LOCAL_dropped_full,
		[DROP_AGE] = LOCAL_dropped_age,
		[DROP_OVERSIZE] = LOCAL_dropped_oversize,
	};

	priv_count(p, stat[why], mag->nr);
	span_drop(p, cls, mag);
	magazine_free(mag);
}

void shard_put(struct priv *p, unsigned int cls, struct magazine *mag)
{
	uint64_t bytes = mag->nr * class_bytes(cls);
	struct shard *s;
	uint32_t n;

	if (class_bytes(cls) > p->retain / 2)
		return shard_drop(p, cls, mag, DROP_OVERSIZE);
	if (load_relaxed(&p->depot) + load_relaxed(&p->cpu_bytes) + bytes > p->retain)
		return shard_drop(p, cls, mag, DROP_FULL);
	mag->stamp = sys_age_ms();
	s = shard_here(p, &n);
	pthread_mutex_lock(&s->lock);
	count(p, cls, mag->nr);
	insert(p, cls, s, n, mag);
	pthread_mutex_unlock(&s->lock);
}

/* Every line of it: the next allocations find them in the cache. */
static void prefetch(const struct magazine *mag)
{
	uint32_t i;

	for (i = 0; i < mag->nr; i += PRIV_LINE / sizeof(mag->e[0]))
		__builtin_prefetch(&mag->e[i]);
}

static struct magazine *take_first(struct priv *p, unsigned int cls, struct shard *s, uint32_t n)
{
	struct magazine *mag;

	pthread_mutex_lock(&s->lock);
	mag = TAILQ_FIRST(&s->full[cls]);
	if (mag) {
		extract(p, cls, s, n, mag);
		count(p, cls, -(int64_t)mag->nr);
	}
	pthread_mutex_unlock(&s->lock);
	return mag;
}

struct magazine *shard_get(struct priv *p, unsigned int cls)
{
	uint64_t summary = load_seq_cst(&p->sizes[cls].summary);
	struct magazine *mag = NULL;
	uint32_t n;

	if (!summary)
		return NULL;
	n = nr_here(p);
	if (summary & 1ULL << n)
		mag = take_first(p, cls, load_acquire(&p->shard[n]), n);
	for (summary &= ~(1ULL << n); !mag && summary; summary &= summary - 1) {
		n = (uint32_t)__builtin_ctzll(summary);
		mag = take_first(p, cls, load_acquire(&p->shard[n]), n);
	}
	if (mag)
		prefetch(mag);
	return mag;
}

struct magazine *shard_get_old(struct priv *p, unsigned int cls, uint64_t before)
{
	uint64_t summary = load_seq_cst(&p->sizes[cls].summary);
	struct magazine *mag = NULL;
	struct shard *s;
	uint32_t n;

	for (; !mag && summary; summary &= summary - 1) {
		n = (uint32_t)__builtin_ctzll(summary);
		s = load_acquire(&p->shard[n]);
		pthread_mutex_lock(&s->lock);
		mag = TAILQ_LAST(&s->full[cls], magazines);
		if (mag && mag->stamp < before) {
			extract(p, cls, s, n, mag);
			count(p, cls, -(int64_t)mag->nr);
		} else {
			mag = NULL;
		}
		pthread_mutex_unlock(&s->lock);
	}
	return mag;
}

bool shard_get_one(struct priv *p, unsigned int cls, struct upool__entry *e)
{
	struct magazine *mag = shard_get(p, cls);

	if (!mag) {
		mag = magazine_new(cls);
		if (!mag)
			return false;
		if (!span_refill(p, cls, mag, 1)) {
			magazine_free(mag);
			return false;
		}
	}
	*e = mag->e[--mag->nr];
	if (mag->nr)
		shard_put(p, cls, mag);
	else
		magazine_free(mag);
	return true;
}

void shard_put_one(struct priv *p, unsigned int cls, struct upool__entry e)
{
	struct magazine *mag = shard_get(p, cls);

	if (mag && mag->nr == mag->cap) {
		shard_put(p, cls, mag);
		mag = NULL;
	}
	if (!mag)
		mag = magazine_new(cls);
	if (!mag) {
		/* without memory for a magazine there is one on the stack */
		unsigned char room[sizeof(*mag) + sizeof(e)] __attribute__((aligned(16))) = { 0 };

		mag = (struct magazine *)room;
		mag->e[mag->nr++] = e;
		span_drop(p, cls, mag);
		return;
	}
	mag->e[mag->nr++] = e;
	shard_put(p, cls, mag);
}

/* The magazines with it; what is in them belongs to spans that end too. */
void shards_release(struct priv *p)
{
	struct magazine *mag;
	unsigned int cls;
	uint32_t n;

	for (cls = 0; cls < UPOOL__CLASSES; cls++)
		while ((mag = shard_get_old(p, cls, UINT64_MAX)))
			magazine_free(mag);
	for (n = 0; n < p->nr_shards; n++) {
		if (!p->shard[n])
			continue;
		pthread_mutex_destroy(&p->shard[n]->lock);
		meta_free(p->shard[n], sizeof(*p->shard[n]));
	}
}

void shards_fork(struct priv *p, bool before)
{
	struct shard *s;
	uint32_t n;

	for (n = 0; n < p->nr_shards; n++) {
		s = load_acquire(&p->shard[n]);
		if (s && before)
			pthread_mutex_lock(&s->lock);
		else if (s)
			pthread_mutex_unlock(&s->lock);
	}
}
