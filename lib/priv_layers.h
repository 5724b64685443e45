/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * priv_layers.h - what the layers of private pools offer each other.
 * Owns: nothing.  Locks: see priv.h.  Entry: priv.h, for its users.
 */
#ifndef UPOOL_PRIV_LAYERS_H
#define UPOOL_PRIV_LAYERS_H

/* priv_meta.c: memory for the above, zeroed or as left; never given back to the system */

/**
 * meta_alloc() - zeroed memory, 64-byte aligned
 * @bytes: 1 to 1 MiB
 * Return: NULL without memory
 */
void *meta_alloc(size_t bytes);
void *meta_get(size_t bytes);	/* the same, but not zeroed */
void meta_free(void *p, size_t bytes);
void meta_fork(bool before);
uint64_t meta_bytes(void);

/* priv_arena.c */

/**
 * arena_init() - reserve the arena, once
 * @h: receives where it is
 * Return: 0 or -ENOMEM
 */
int arena_init(struct upool__head *h);

/**
 * arena_take() - addresses and a number for a span
 * @cls:   size class, or PRIV_HUGE_CLASS
 * @units: of 64 KiB
 * @align: in units, a power of two
 * Return: a span of which only @off is set, and hint if it is huge; NULL when there are
 * no addresses or no memory left
 */
struct span *arena_take(unsigned int cls, uint64_t units, uint64_t align);
void arena_put(struct span *s);
uint32_t arena_nr_spans(void);
void arena_fork(bool before);

/* priv_span.c */

/**
 * span_refill() - move buffers from spans into a magazine
 * @p:   the pool
 * @cls: size class
 * @mag: not full; receives them
 * @nr:  how many at most
 * Return: how many; 0 when a limit, counted, or memory ended
 */
uint32_t span_refill(struct priv *p, unsigned int cls, struct magazine *mag, uint32_t nr);

/**
 * span_drop() - move a magazine's buffers back into their spans
 * @p:   the pool
 * @cls: their size class
 * @mag: emptied
 */
void span_drop(struct priv *p, unsigned int cls, struct magazine *mag);

/* A buffer of any size with a span of its own; upool_free() ends in huge_free(). */
void *huge_alloc(struct priv *p, uint64_t bytes);
void huge_free(struct priv *p, struct span *s);

/**
 * span_of() - the span whose buffer starts at an address
 * @p:     the pool
 * @buf:   any address
 * @index: receives which buffer
 * Return: NULL when there is none of this pool
 */
struct span *span_of(const struct priv *p, const void *buf, uint32_t *index);

/* All spans of a pool whose buffers are unused; nobody else may use the pool. */
void spans_release(struct priv *p);

/* priv_depot.c */

/**
 * shard_put() - give a magazine with entries to the depot, or drop it if that is full
 * @p:   the pool
 * @cls: size class
 * @mag: no longer the caller's
 */
void shard_put(struct priv *p, unsigned int cls, struct magazine *mag);

/**
 * shard_get() - take the newest magazine of the nearest shard that has one
 * @p:   the pool
 * @cls: size class
 * Return: the magazine, not empty; NULL when no shard has one
 */
struct magazine *shard_get(struct priv *p, unsigned int cls);

/**
 * shard_get_old() - take a magazine that has been idle longest in its shard
 * @p:      the pool
 * @cls:    size class
 * @before: only if it came before that
 * Return: the magazine, or NULL
 */
struct magazine *shard_get_old(struct priv *p, unsigned int cls, uint64_t before);

/* One buffer, state idle, around the caches. */
bool shard_get_one(struct priv *p, unsigned int cls, struct upool__entry *e);
void shard_put_one(struct priv *p, unsigned int cls, struct upool__entry e);
void shard_drop(struct priv *p, unsigned int cls, struct magazine *mag, enum drop_reason why);

struct shard *shard_new(void);
struct magazine *magazine_new(unsigned int cls);
void magazine_free(struct magazine *mag);
uint32_t magazine_limit(unsigned int cls);
uint32_t magazine_cap(unsigned int cls);

/* How many buffers to take from spans at once, into a magazine that keeps @limit. */
uint32_t magazine_portion(const struct priv *p, const struct magazine *mag, uint32_t limit);
void shards_release(struct priv *p);
void shards_fork(struct priv *p, bool before);

/* priv_thread.c */

/**
 * cache_lock() - the calling thread's cache, made if there is none yet
 * @p: the pool
 *
 * While nobody waits for buffers, hits may use it again.
 *
 * Return: locked, or NULL: the thread goes around caches
 */
struct cache *cache_lock(struct priv *p);

/* Whether the thread's cache may help: it has a bin of the class, or would get one. */
bool cache_useful(const struct priv *p, unsigned int cls);
void cache_unlock(struct cache *c);

/**
 * cache_stop() - let no further hit begin; sys_barrier() must follow
 * @p: the pool
 * @c: locked
 */
void cache_stop(struct priv *p, struct cache *c);

/**
 * cache_quiet() - M1: whether hits of a cache's thread are over and none can begin
 * @p: the pool
 * @c: locked, stopped, a barrier passed
 * Return: false when it was not stopped, or is still in a hit
 */
bool cache_quiet(const struct priv *p, const struct cache *c);

/* A pool comes, and is given a slot; a pool goes, with what threads have cached of it. */
void registry_add(struct priv *p);
void registry_remove(struct priv *p);

/* priv_cache.c */

/* Bins not used since a time to the depot.  The caller has the lock, or the cache is out of use. */
void cache_flush(struct priv *p, struct cache *c, uint64_t before);

/**
 * bin_fill() - have at least one buffer in a bin
 * @p:   the pool
 * @c:   locked
 * @cls: size class
 * Return: whether there is one
 */
bool bin_fill(struct priv *p, struct cache *c, unsigned int cls);

/**
 * bin_drain() - have room in a bin for at least one buffer
 * @p:   the pool
 * @c:   locked
 * @cls: size class
 * Return: whether there is
 */
bool bin_drain(struct priv *p, struct cache *c, unsigned int cls);

/* The part of the budget that a thread's first bin of a class takes. */
uint64_t bin_cost(unsigned int cls);

/**
 * caches_drain() - move what threads have cached to the depot
 * @p:      the pool
 * @before: only from bins whose last slow path was before that
 *
 * Threads in the middle of a hit are left alone.
 */
void caches_drain(struct priv *p, uint64_t before);
uint64_t caches_idle(struct priv *p, uint64_t *bytes, uint32_t *nr);

/* priv_cpu.c */

/**
 * cpus_init() - let CPUs have magazines of a new pool
 * @p: the pool
 * Return: NULL, or a few words why they will not
 */
const char *cpus_init(struct priv *p);

/* One buffer, state idle, by a restartable sequence; false: it cannot be used. */
bool cpu_get(struct priv *p, unsigned int cls, struct upool__entry *e);
bool cpu_put(struct priv *p, unsigned int cls, const struct upool__entry *e);

/* Magazines that came before that to the depot; what there is in all of them. */
void cpus_drain(struct priv *p, uint64_t before);
uint64_t cpus_idle(struct priv *p, uint64_t *bytes);
void cpus_release(struct priv *p);

/* priv_alloc.c: as the functions of the public header */
void *priv_alloc(struct priv *p, size_t bytes);
void *priv_alloc_wait(struct priv *p, size_t bytes, int timeout_ms);
void *priv_alloc_aligned(struct priv *p, size_t bytes, size_t align);
int priv_free(struct priv *p, void *buf);
size_t priv_usable_size(const struct priv *p, const void *buf);

/* priv_token.c */
upool_token_t priv_token(struct priv *p, void *buf);
int priv_accept(struct priv *p, upool_token_t token, void **buf);
int priv_free_token(struct priv *p, upool_token_t token);

/* The holder frees a buffer that has a token: whether it was still exported. */
bool token_end(struct priv *p, struct span *s, uint32_t index);
void tokens_release(struct priv *p);

/* priv_trim.c */
size_t priv_trim(struct priv *p, size_t keep_bytes);

/* Drop what has been idle too long, if that was not looked for lately. */
void trim_by_age(struct priv *p);

/* priv_pool.c */
int priv_create(struct upool **pool, const struct upool_options *o);
int priv_destroy(struct priv *p);

/* Buffers that are held, exactly if nobody else uses the pool; threads' caches are drained. */
uint64_t priv_held(struct priv *p);
int priv_close(struct priv *p);
void priv_stats(struct priv *p, struct upool_stats *st);

#endif /* UPOOL_PRIV_LAYERS_H */
