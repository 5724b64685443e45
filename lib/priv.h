/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * priv.h - private pools: what their files offer each other.
 * Owns: struct priv.  Locks: below.  Entry: priv_*.c, objects.c, and the dispatch in alloc.c.
 *
 *	thread (struct cache) -> depot (struct shard) -> spans of the arena
 *	CPU (struct cpu_slots) -> for threads without a cache, or without budget for it
 *
 * Locks, in the order they are taken; all but the registry's and the arena's are a pool's:
 *	registry	threads, and which pools exist		priv_thread.c
 *	steal		one thief at a time			priv_cache.c
 *	caches		the list of caches			priv_cache.c
 *	cache		one thread's bins, when not in a hit	priv_thread.c
 *	cpus		magazines of CPUs, against sequences	priv_cpu.c
 *	tokens		table of tokens				priv_token.c
 *	shard		magazines of one shard			priv_depot.c
 *	spans		spans that have buffers left, totals	priv_span.c
 *	arena		units and numbers of spans		priv_arena.c
 *	meta		memory of all of the above		priv_meta.c
 *
 * Invariants, after M1 to M3 in upool_inline.h
 *	M4  A buffer is in one place: held, a bin, a magazine of a shard, or its span; only
 *	    between two of them it belongs to the thread that moves it.
 *	M5  total counts the buffers that are not in their spans.
 *	M6  In a child of fork no hit is half done: fork waits for those under way.
 */
#ifndef UPOOL_PRIV_H
#define UPOOL_PRIV_H

#include <pthread.h>
#include <sys/queue.h>
#include <upool_inline.h>
#include "internal.h"

#define PRIV_MAX_SHARDS		64
#define PRIV_HUGE_CLASS		UPOOL__CLASSES	/* of a span with one buffer of any size */
#define PRIV_LINE		64
#define PRIV_MAX_ALIGN		((uint64_t)2 << 20)
#define PRIV_UNIT		((uint64_t)1 << UPOOL__UNIT_SHIFT)

/**
 * struct magazine - buffers that move between layers together
 * @link:  in a shard						[shard]
 * @stamp: when it came there, milliseconds			[shard]
 * @nr:    entries						[owner]
 * @cap:   entries there is room for				[const]
 * @e:     the buffers						[owner]
 */
struct magazine {
	uint64_t		stamp;
	uint32_t		nr;
	uint32_t		cap;

	TAILQ_ENTRY(magazine)	link;
	struct upool__entry	e[];
};

TAILQ_HEAD(magazines, magazine);

/**
 * struct shard - part of the depot: full magazines, newest first
 * @lock: guards all
 * @full: by size class
 */
struct shard {
	pthread_mutex_t		lock;
	struct magazines	full[UPOOL__CLASSES];
};

struct thread;

LIST_HEAD(cache_list, cache);

/**
 * struct cache - one thread's magazines of one pool
 * @hot:    what hits use; only the thread in a hit, or who has @lock (M1)
 * @lock:   owner's slow paths, thieves
 * @thread: whose						[const]
 * @link:   in the pool						[caches]
 * @budget: bytes of the pool's budget it has			[lock]
 * @stamp:  last slow path in a bin, in units of 64 ms: 8 years	[lock]
 * @limit:  entries of a bin's magazine that the budget allows	[lock]
 */
struct cache {
	struct upool__cache	hot;
	pthread_mutex_t		lock;
	struct thread		*thread;
	uint64_t		budget;
	uint32_t		stamp[UPOOL__CLASSES];
	uint16_t		limit[UPOOL__CLASSES];

	LIST_ENTRY(cache)	link;
};

/**
 * struct thread - a thread that used a private pool
 * @hot:  see there
 * @real: caches, whether or not hits may use them	[registry, or the thread itself]
 * @link: in the registry				[registry]
 */
struct thread {
	struct upool__thread	hot;
	struct cache		*real[UPOOL__CACHES];

	LIST_ENTRY(thread)	link;
};

/*
 * struct span - see struct upool__span, whose __lib is used here
 * @pool:  whose							[spans]
 * @hint:  no buffer below it is in the span; of a huge one its units	[spans]
 * @idle:  buffers in the span						[spans]
 * @next:  in the list of those that have some, or of free ones; 0 ends	[spans, arena]
 * @prev:  in the list of those that have some				[spans]
 */
struct span {
	union {
		struct upool__span	hot;
		struct {
			unsigned char	__hot[offsetof(struct upool__span, __lib)];
			struct priv	*pool;
			uint32_t	hint;
			uint32_t	idle;
			uint32_t	next;
			uint32_t	prev;
		};
	};
};

/**
 * struct sizes - a pool's buffers of one size class
 * @depot:   buffers in the depot					[atomic]
 * @summary: shards that have magazines, a bit each			[atomic]
 * @partial: first span with buffers left				[spans]
 * @total:   M5								[spans; read atomic]
 */
struct sizes {
	uint64_t	depot;
	uint64_t	summary;
	uint32_t	partial;
	uint32_t	total;
};

/* A CPU's magazines, NULL where it has none; M7 in priv_cpu.c */
struct cpu_slots {
	struct magazine		*mag[UPOOL__CLASSES];
};

/*
 * struct cpu_table - what sequences read
 * @slots:    by CPU; @stopped where none may be used	[cpus; read in sequences]
 * @stopped:  slots without magazines			[const]
 * @rseq_off: the thread's rseq area, from the thread pointer	[const]
 * @nr_cpus:  entries					[const]
 */
struct cpu_table {
	struct cpu_slots	**slots;
	struct cpu_slots	*stopped;
	intptr_t		rseq_off;
	uint32_t		nr_cpus;
};

enum drop_reason { DROP_FULL, DROP_AGE, DROP_OVERSIZE };

struct token_table;

/*
 * struct priv - a private pool
 * @head:      what hits read						[const]
 * @flags:     UPOOL_F_*						[const]
 * @check:     of tokens						[const]
 * @nr_shards: at most							[const]
 * @hits:      whether hits are allowed at all				[const]
 * @max_nr:    buffers of a class that may exist; 0 = any		[const]
 * @max_bytes: of all buffers that may exist; 0 = any			[const]
 * @max_buf:   largest size that is pooled				[const]
 * @retain:    bytes the depot may hold					[const]
 * @age_ms:    after which idle buffers go				[const]
 * @floor:     idle bytes that stay whatever their age			[const]
 * @budget_bytes: that threads may cache				[const]
 * @budget:    what is left of them					[atomic]
 * @depot:     bytes in the depot					[atomic]
 * @cpus:      slots of CPUs; no slots = none				[cpus]
 * @cpu_slots: the same, also while stopped				[cpus]
 * @cpu_bytes: what magazines in them have room for			[atomic]
 * @bytes:     bytes of buffers that are not in their spans		[spans; read atomic]
 * @span_bytes: bytes of spans						[spans; read atomic]
 * @huge:      allocations larger than @max_buf that are out		[spans]
 * @trimmed:   when idle buffers were looked for, milliseconds		[atomic]
 * @drop:      NULL, or told of each buffer that leaves for its span	[const]
 * @drop_arg:  its first argument					[const]
 * @waiters:   callers that wait for a buffer				[atomic]
 * @freed:     changes when a buffer comes back while somebody waits	[atomic]
 * @tokens:    NULL until there is one					[tokens]
 * @steal_lock, @caches_lock, @cpus_lock, @tokens_lock, @spans_lock: see above
 * @caches:    of threads						[caches]
 * @link:      in the registry						[registry]
 * @shard:     of the depot; once made they stay			[atomic]
 * @sizes:     by class
 * @local:     UPOOL_LOCAL_STATS					[atomic]
 * @mode:      text of upool_mode()					[const]
 */
struct priv {
	struct upool__head	head;
	unsigned int		flags;
	uint32_t		check;
	uint32_t		nr_shards;
	bool			hits;
	uint64_t		max_nr;
	uint64_t		max_bytes;
	uint64_t		max_buf;
	uint64_t		retain;
	uint64_t		age_ms;
	uint64_t		floor;
	uint64_t		budget_bytes;
	uint64_t		budget;
	uint64_t		depot;
	struct cpu_table	cpus;
	struct cpu_slots	**cpu_slots;
	uint64_t		cpu_bytes;
	uint64_t		bytes;
	uint64_t		span_bytes;
	uint32_t		huge;
	uint64_t		trimmed;
	void			(*drop)(void *arg, void *buf);
	void			*drop_arg;
	uint32_t		waiters;
	uint32_t		freed;
	struct token_table	*tokens;
	pthread_mutex_t		steal_lock;
	pthread_mutex_t		caches_lock;
	pthread_mutex_t		cpus_lock;
	pthread_mutex_t		tokens_lock;
	pthread_mutex_t		spans_lock;
	struct cache_list	caches;
	struct shard		*shard[PRIV_MAX_SHARDS];
	struct sizes		sizes[UPOOL__CLASSES];
	uint64_t		local[LOCAL_NR];
	char			mode[UPOOL_MODE_BYTES];

	LIST_ENTRY(priv)	link;
};

_Static_assert(sizeof(struct span) == 64, "pages hold a whole number of them");

static inline struct priv *priv_of(const struct upool *pool)
{
	return (struct priv *)(uintptr_t)pool;
}

static inline bool is_private(const struct upool *pool)
{
	return ((const struct upool__head *)pool)->slot != 0;
}

static inline void priv_count(struct priv *p, enum local_stat s, uint64_t n)
{
	add_relaxed(&p->local[s], n);
}

static inline uint64_t class_bytes(unsigned int cls)
{
	return cls < 4 ? 16 * (cls + 1) : (uint64_t)(cls % 4 + 5) << (cls / 4 + 3);
}

/* Atomic: hits of other threads may read or write it. */
static inline void set_state(const struct upool__entry *e, unsigned char state)
{
	store_relaxed(e->state, state);
}

#include "priv_layers.h"

#endif /* UPOOL_PRIV_H */
