/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * depot.h - the depot of a memfd pool: idle buffers that are in no magazine.
 * Owns: the depot area, between control and data area of the memfd.
 * Locks: depot->lock.  Entry: memfd.c, steal.c.
 *
 *	0           struct depot
 *	locks_off   a mutex per magazine (LOCKED pools)   64 * nr_cpu_ids
 *	links_off   a link per buffer                      4 * max_count
 *	due_off     end of parking per buffer              4 * max_count
 *
 * A link is 0 for a buffer that is not in the depot, else LINK_END or the next
 * index + LINK_BASE, with LINK_PARKED in the list of worn buffers.  Buffers from
 * @fresh on were never used: they are in the depot without a link.
 *
 * Whoever is killed with the lock has written some links and counts.  The links
 * alone say what is in the depot; the next holder makes the rest from them.
 */
#ifndef UPOOL_DEPOT_H
#define UPOOL_DEPOT_H

#include <pthread.h>
#include "arch/generic.h"
#include "internal.h"

#define DEPOT_MAGIC		0x746f706564ULL	/* "depot" */
#define DEPOT_VERSION		1U
#define DEPOT_LOCKS_OFF		4096U
#define DEPOT_DATA_ALIGN	(2ULL << 20)	/* a huge page */

#define LINK_NONE		0U
#define LINK_END		1U
#define LINK_BASE		2U
#define LINK_PARKED		0x80000000U

#define DEPOT_F_POPULATED	(1U << 0)	/* never trimmed */

/* Statistics kept here; the others are counted from state. */
#define DEPOT_COUNTERS(X) \
	X(refills) X(refilled) X(flushes) X(flushed) X(pops) X(pushes) X(empty) \
	X(steals) X(stolen) X(steal_timeouts) X(bad_index) X(bad_push)

/**
 * struct depot - start of the depot area
 * @magic:       DEPOT_MAGIC					[const]
 * @version:     DEPOT_VERSION					[const]
 * @mutex_bytes: sizeof(struct mag_lock): members agree on it	[const]
 * @long_bytes:  sizeof(long), for the same reason		[const]
 * @flags:       DEPOT_F_*					[const]
 * @token_ttl_s: seconds a worn buffer is parked, 0 = for good	[const]
 * @last_id:     attachment id given out last; never lowered	[atomic]
 * @nr_attached: attachments that were not closed		[atomic]
 * @destroyed:   new members are refused			[atomic]
 * @wait_seq:    futex, counts returns to the depot		[atomic]
 * @nr_waiters:  threads that sleep on it			[atomic]
 * @nr_moving:   threads with buffers between two layers	[atomic]
 * @lock:        process-shared and robust
 * @top:         index + LINK_BASE of the hottest buffer, or LINK_END	[lock]
 * @fresh:       first buffer that was never used		[lock]
 * @nr_idle:     buffers in the depot, parked ones not counted	[lock] read relaxed
 * @park_head:   as @top, parked first				[lock]
 * @park_tail:   parked last					[lock]
 * @nr_parked:   parked buffers					[lock] read relaxed
 *
 * The counters of DEPOT_COUNTERS follow			[atomic]
 */
struct depot {
	uint64_t	magic;
	uint32_t	version;
	uint32_t	mutex_bytes;
	uint32_t	long_bytes;
	uint32_t	flags;
	uint32_t	token_ttl_s;

	uint32_t	last_id __attribute__((aligned(64)));
	uint32_t	nr_attached;
	uint32_t	destroyed;
	uint32_t	wait_seq;
	uint32_t	nr_waiters;
	uint32_t	nr_moving;

	pthread_mutex_t	lock __attribute__((aligned(64)));
	uint32_t	top;
	uint32_t	fresh;
	uint32_t	nr_idle;
	uint32_t	park_head;
	uint32_t	park_tail;
	uint32_t	nr_parked;

	/* private: kernel-doc cannot read the list */
#define DEPOT_X(name)	uint64_t name;
	DEPOT_COUNTERS(DEPOT_X)
#undef DEPOT_X
};

/**
 * struct depot_layout - where things are in the memfd
 * @depot_off: the depot area
 * @links_off: links, from @depot_off
 * @due_off:   ends of parking, from @depot_off
 * @data_off:  the data area
 * @file_bytes: size of the file
 */
struct depot_layout {
	uint64_t	depot_off;
	uint64_t	links_off;
	uint64_t	due_off;
	uint64_t	data_off;
	uint64_t	file_bytes;
};

/**
 * depot_layout() - lay out the memfd of a pool
 * @l:   receives it
 * @geo: validated
 */
void depot_layout(struct depot_layout *l, const struct upool_geometry *geo);

/**
 * depot_init() - fill the zeroed depot of a new pool
 * @p:      the pool, its depot mapped
 * @flags:  DEPOT_F_*
 * @ttl_s:  seconds to park worn buffers
 * @locked: make the magazines' locks too
 * Return: 0 or -errno
 */
int depot_init(struct upool *p, uint32_t flags, uint32_t ttl_s, bool locked);

/**
 * depot_valid() - whether a mapped depot is one of ours
 * @p: the pool, attaching
 * @locked: the pool is LOCKED
 * Return: whether it is
 */
bool depot_valid(const struct upool *p, bool locked);

/**
 * depot_take() - take buffers out
 * @p:   a memfd pool
 * @idx: receives them, tags {0}, the hottest first
 * @n:   how many at most
 * Return: how many
 */
uint32_t depot_take(struct upool *p, uint32_t *idx, uint32_t n);

/**
 * depot_put() - put buffers in
 * @p:   a memfd pool
 * @idx: buffers in no other layer, their tags not held; made {0} here
 * @n:   how many
 * Return: how many were accepted; those already in the depot are counted bad_index
 */
uint32_t depot_put(struct upool *p, const uint32_t *idx, uint32_t n);

/**
 * depot_park() - put a worn buffer to rest
 * @p:   a memfd pool
 * @idx: buffer in no layer, tag {0}
 */
void depot_park(struct upool *p, uint32_t idx);

/**
 * depot_lock() - lock the depot, repaired if its last holder died
 * @p: a memfd pool
 * Return: whether it is locked
 */
bool depot_lock(struct upool *p);

/**
 * depot_unlock() - unlock the depot
 * @p: a memfd pool, locked
 */
void depot_unlock(struct upool *p);

/**
 * depot_used() - how many buffers were ever taken
 * @p: a memfd pool, locked
 * Return: buffers from this one on are idle and have no link
 */
uint32_t depot_used(const struct upool *p);

/**
 * depot_trim() - give the pages of idle buffers back
 * @p:          a memfd pool
 * @keep_bytes: idle bytes to keep
 * Return: bytes given back
 */
size_t depot_trim(struct upool *p, size_t keep_bytes);

/* steal.c */

/**
 * steal() - take buffers from other CPUs' magazines
 * @p:   a memfd pool
 * @idx: receives them, tags {0}
 * @n:   how many at most
 * Return: how many
 */
uint32_t steal(struct upool *p, uint32_t *idx, uint32_t n);

/* Add to a counter of a depot. */
#define depot_count(d, name, n)	((void)add_relaxed(&(d)->name, (uint64_t)(n)))

/**
 * depot_locks() - the locks of a LOCKED pool's magazines
 * @d: its depot
 * Return: CPU 0's
 */
static inline struct mag_lock *depot_locks(struct depot *d)
{
	return (struct mag_lock *)((unsigned char *)d + DEPOT_LOCKS_OFF);
}

#endif /* UPOOL_DEPOT_H */
