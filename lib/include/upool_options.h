/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * upool_options.h - how a pool is made, and what it tells: part of upool.h.
 */
#ifndef UPOOL_OPTIONS_H
#define UPOOL_OPTIONS_H

#include <stddef.h>
#include <stdint.h>
#include <upool/upool_stats.h>

/**
 * enum upool_backing - where a pool's memory lives
 * @UPOOL_BACKING_AUTO:    the device if it can be opened, else a memfd
 * @UPOOL_BACKING_PRIVATE: anonymous memory of one process, buffers of every size
 * @UPOOL_BACKING_MEMFD:   shared by inheritance or a passed descriptor; buffers of
 *                         a killed member are lost until the pool ends
 * @UPOOL_BACKING_DEVICE:  /dev/upool: recovery, names, quotas; -ENODEV without it
 */
enum upool_backing {
	UPOOL_BACKING_AUTO = 0,
	UPOOL_BACKING_PRIVATE,
	UPOOL_BACKING_MEMFD,
	UPOOL_BACKING_DEVICE,
};

#define UPOOL_F_CLEAR		(1u << 0)	/* what this member allocates is zeroed */
#define UPOOL_F_HUGE		(1u << 1)	/* this member asks for huge pages; a hint */
#define UPOOL_F_POW2		(1u << 2)	/* round buffer_bytes up to a power of two */
#define UPOOL_F_ONE_SHARD	(1u << 3)	/* PRIVATE: one depot for all CPUs */
#define UPOOL_F_STRICT		(1u << 4)	/* free by cmpxchg: racing double frees are seen too */
#define UPOOL_F_PERSIST		(1u << 5)	/* DEVICE: outlive the last attachment */
#define UPOOL_F_ZERO_ORPHANS	(1u << 6)	/* DEVICE: what a dead member held comes back zeroed */
#define UPOOL_F_POPULATE	(1u << 7)	/* shared pools: allocate all pages at creation */

/**
 * struct upool_options - how to make a pool; start from UPOOL_OPTIONS_INIT
 * @size:         sizeof(struct upool_options); a shorter struct leaves the rest at its default
 * @flags:        UPOOL_F_*
 * @backing:      enum upool_backing
 * @name:         DEVICE: name others can open; NULL = anonymous.  MEMFD: names the file in
 *                /proc only.  PRIVATE: NULL
 * @nr_buffers:   1 to 2^24; 0 = 256.  PRIVATE: buffers of each size class that may
 *                exist; 0 = any number
 * @buffer_bytes: bytes of a buffer, 1 to 1 GiB, rounded up to a multiple of 64; 0 = 64 KiB.
 *                PRIVATE: the largest size that is pooled; 0 = 1 GiB
 * @max_bytes:    refuse a pool whose buffers are more than this; 0 = no limit of ours.
 *                PRIVATE: bytes of all buffers that may exist
 * @retain_bytes: PRIVATE: idle bytes that all threads share; 0 = 256 MiB.  A buffer
 *                of more than half of it is never kept
 * @thread_bytes: PRIVATE: idle bytes that threads keep for themselves, all together;
 *                0 = 64 MiB
 * @idle_floor_bytes: PRIVATE: idle bytes that stay, however old, to about a MiB; 0 = 8 MiB
 * @nr_shards:    PRIVATE: parts of the depot, 1 to 64; 0 = one for each CPU
 * @trim_age_ms:  PRIVATE: milliseconds after which idle buffers go; 0 = 1000; UINT_MAX = never
 * @token_ttl_s:  seconds until a buffer with used-up generations comes back, up to 2^30;
 *                0 = 3600
 * @numa:         0
 * @magazine:     buffers a CPU's magazine holds, 1 to 1024; 0 = a quarter of the
 *                buffers spread over the CPUs, 1 to 64
 * @mode:         permission bits of a named pool, within 0666; 0 = 0600
 * @__resv:       0
 *
 * In @retain_bytes, @thread_bytes and @idle_floor_bytes UPOOL_NOTHING is none at all and
 * UPOOL_UNLIMITED no limit.  Where a private pool has 0 there, the environment is asked
 * first: UPOOL_RETAIN_BYTES, UPOOL_THREAD_BYTES, UPOOL_IDLE_FLOOR_BYTES, UPOOL_SHARDS,
 * UPOOL_TRIM_AGE_MS, decimal; 0 is nothing there, and what is not a number counts as
 * bad_settings and is ignored.
 */
struct upool_options {
	size_t		size;
	unsigned int	flags;
	unsigned int	backing;
	const char	*name;
	size_t		nr_buffers;
	size_t		buffer_bytes;
	size_t		max_bytes;
	size_t		retain_bytes;
	size_t		thread_bytes;
	size_t		idle_floor_bytes;
	unsigned int	nr_shards;
	unsigned int	trim_age_ms;
	unsigned int	token_ttl_s;
	int		numa;
	unsigned int	magazine;
	unsigned int	mode;
	unsigned int	__resv[8];
};

#define UPOOL_UNLIMITED	((size_t)-1)
#define UPOOL_NOTHING	((size_t)-2)

#define UPOOL_OPTIONS_INIT { .size = sizeof(struct upool_options) }

/*
 * What this process did with the pool, after the pool's own statistics in
 * struct upool_stats: append only.
 */
#define UPOOL_LOCAL_STATS(X)						\
	X(syscalls,	"system calls made for allocation and free")	\
	X(aborts,	"restarted sequences: preempted, migrated or signalled") \
	X(fallbacks,	"operations that gave up restarting and went around the magazine") \
	X(exhausted,	"allocations that found no buffer")		\
	X(too_big,	"allocations larger than a buffer")		\
	X(double_free,	"frees of a buffer that was not held: refused")	\
	X(foreign_free,	"frees of what is not a buffer of ours: refused") \
	X(stale,	"tokens whose tenancy was over: refused")	\
	X(bad_magazine,	"magazines found damaged by another member")	\
	X(threads,	"threads that have magazines of a private pool")	\
	X(idle_bytes,	"idle bytes of a private pool, all layers")	\
	X(new_buffers,	"buffers that came from no layer above the arena") \
	X(dropped_full,	"buffers given back because the depot was full") \
	X(dropped_age,	"buffers given back because they were idle too long, or by trim") \
	X(dropped_oversize, "buffers given back because no layer keeps their size") \
	X(trimmed_bytes, "bytes of buffers given back by age or trim")	\
	X(drains,	"times other threads' magazines were asked for buffers") \
	X(waits,	"allocations that had to wait")			\
	X(tokens_retired, "numbers of tokens with used-up generations")	\
	X(bad_settings,	"environment settings that were not understood") \
	X(trim_errors,	"times the system would not take idle memory back")

/*
 * struct upool_stats - statistics of a pool and of this process's use of it.
 * size is sizeof(struct upool_stats), set by the caller; fields beyond it are not
 * written.
 */
struct upool_stats {
	uint64_t size;
#define UPOOL_X(name, help)	uint64_t name;
	UPOOL_POOL_STATS(UPOOL_X)
	UPOOL_LOCAL_STATS(UPOOL_X)
#undef UPOOL_X
};

#endif /* UPOOL_OPTIONS_H */
