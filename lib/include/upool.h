/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * upool.h - pools of buffers that threads and processes share.
 *
 * Everything here is thread-safe, nothing is async-signal-safe unless it says
 * so.  int results are 0 or -errno; errno itself is left alone.  Handles come
 * through an out-parameter that is untouched on error.  The library never
 * prints, never exits and starts no thread.
 *
 * A pool belongs to the process that opened it.  After fork() the child's
 * handle is dead: every call but upool_close() and upool_fd() gives -EPERM or
 * NULL; the child joins with upool_attach(&p, upool_fd(parents_pool)).  A
 * vfork() child, or one made by clone(CLONE_VM) that shares its parent's TLS,
 * must not call the library at all.  A private pool is the child's own copy: it
 * goes on there, with what other threads of the parent had cached idle again.
 */
#ifndef UPOOL_H
#define UPOOL_H

#include <stddef.h>
#include <stdint.h>
#include <upool/upool_stats.h>

#ifdef __cplusplus
extern "C" {
#endif

struct upool;
struct upool_reservation;

typedef uint64_t upool_token_t;

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

#define UPOOL_F_CLEAR		(1u << 0)	/* every allocation is zeroed */
#define UPOOL_F_HUGE		(1u << 1)	/* ask for huge pages; a hint */
#define UPOOL_F_POW2		(1u << 2)	/* round buffer_bytes up to a power of two */
#define UPOOL_F_ONE_SHARD	(1u << 3)	/* PRIVATE: one depot for all CPUs */
#define UPOOL_F_STRICT		(1u << 4)	/* free by cmpxchg: racing double frees are seen too */
#define UPOOL_F_PERSIST		(1u << 5)	/* DEVICE: outlive the last attachment */
#define UPOOL_F_ZERO_ORPHANS	(1u << 6)	/* DEVICE: what a dead member held comes back zeroed */
#define UPOOL_F_POPULATE	(1u << 7)	/* allocate all pages at creation */

/**
 * struct upool_options - how to make a pool; start from UPOOL_OPTIONS_INIT
 * @size:         sizeof(struct upool_options); a shorter struct leaves the rest at its default
 * @flags:        UPOOL_F_*
 * @backing:      enum upool_backing
 * @name:         DEVICE: name others can open; NULL = anonymous
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
 * @idle_floor_bytes: PRIVATE: idle bytes that stay, however old; 0 = 8 MiB
 * @nr_shards:    PRIVATE: parts of the depot, 1 to 64; 0 = one for each CPU
 * @trim_age_ms:  PRIVATE: milliseconds after which idle buffers go; 0 = 1000; UINT_MAX = never
 * @token_ttl_s:  seconds until a buffer with used-up generations comes back, up to 2^30;
 *                0 = 3600
 * @numa:         0
 * @magazine:     buffers a CPU's magazine holds, 1 to 1024; 0 = a quarter of the
 *                buffers spread over the CPUs, 1 to 64
 * @mode:         permission bits of a named pool; 0 = 0600
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
	X(bad_settings,	"environment settings that were not understood")

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

/**
 * upool_create() - make a pool, private or shared, and join it
 * @pool: receives the pool; untouched on error
 * @opt:  not retained; NULL = defaults
 *
 * Context: may sleep.
 * Return: 0; -EINVAL an option is out of range, an unknown flag, a bad size;
 * -EEXIST the name is taken; -ENODEV DEVICE without the module; -EDQUOT a quota
 * of the device; -EOPNOTSUPP backing or flag not offered; -EOVERFLOW sizes too
 * large; -EACCES, -EMFILE, -ENOMEM
 */
int upool_create(struct upool **pool, const struct upool_options *opt);

/**
 * upool_shared() - the private pool that all of the process uses
 *
 * Made when first asked for, with defaults; never ends.
 *
 * Context: the first call may sleep.
 * Return: the pool; NULL without memory or addresses
 */
struct upool *upool_shared(void);

/**
 * upool_open() - join the named pool, made first if it does not exist
 * @pool: receives the pool; untouched on error
 * @name: [A-Za-z0-9][A-Za-z0-9_.-]{0,62}: the caller's own; "uid:name": that
 *        user's, where its mode allows, never made
 * @opt:  used when the pool is made; with NULL it is not made (-ENOENT)
 *
 * Names need the device; a memfd pool is passed on by descriptor.
 *
 * Context: may sleep.
 * Return: as upool_create(); -ENOENT, -EACCES; -EOPNOTSUPP for a MEMFD backing
 */
int upool_open(struct upool **pool, const char *name, const struct upool_options *opt);

/**
 * upool_attach() - join the pool behind a received or inherited descriptor
 * @pool: receives the pool; untouched on error
 * @fd:   made by upool_fd() in any process; stays the caller's
 *
 * Context: may sleep.
 * Return: 0; -EBADF not an open descriptor; -EINVAL not a pool's; -EPROTO made by
 * an incompatible version; -ESTALE destroyed; -ENOSPC attachment ids used up;
 * -EMFILE, -ENOMEM
 */
int upool_attach(struct upool **pool, int fd);

/**
 * upool_fd() - a descriptor to pass on
 * @pool: a pool
 *
 * Context: does not sleep; async-signal-safe.
 * Return: the descriptor, O_CLOEXEC, owned by the pool; -EOPNOTSUPP a private pool
 */
int upool_fd(const struct upool *pool);

/**
 * upool_close() - detach this process
 * @pool: NULL is allowed; dead afterwards
 *
 * Buffers still held go back to the pool on the device (they are reclaimed as
 * if the process had died) and are lost to a memfd pool: free them first.  A
 * buffer is held until its token is accepted: leave only when the tokens that
 * were sent have been claimed, or they become stale.
 *
 * A private pool ends, and every buffer of it becomes invalid.
 *
 * Context: may sleep; no other thread may be using @pool.
 * Return: 0; -EPERM it is upool_shared()
 */
int upool_close(struct upool *pool);

/**
 * upool_destroy() - remove the name and refuse new members, then detach
 * @pool: dead afterwards, unless an error is returned
 *
 * Members that are attached go on.  A private pool ends.
 *
 * Context: may sleep; no other thread may be using @pool.
 * Return: 0; -EPERM not the owner, or upool_shared(); -EBUSY a private pool with buffers
 * that are held
 */
int upool_destroy(struct upool *pool);

/**
 * upool_alloc() - take a buffer
 * @pool:  a pool
 * @bytes: 0 to the pool's buffer size; any size with a private pool, where 0 is the
 *         smallest class
 *
 * A buffer idle anywhere in the pool is found, on another CPU or in another
 * thread too.  Contents are whatever the last holder left.
 *
 * Private pools have classes of 16, 32, 48 and 64 bytes, then four for each doubling.  A
 * larger size than the pool's largest gets pages of its own, counted too_big, that are
 * not kept.  When a bounded pool has no buffer of a class the next two are tried.
 *
 * Context: a few instructions while this CPU's or thread's magazine has buffers, else
 * locks and system calls that may sleep.
 * Return: the buffer, aligned to the largest power of two that divides the size of a
 * buffer: at least 64, private pools 16; there at most 2 MiB, and a whole number of pages
 * is page aligned.  NULL when none is left, or @bytes is too large (counted too_big)
 */
void *upool_alloc(struct upool *pool, size_t bytes);

/**
 * upool_zalloc() - take a buffer, the first @bytes zeroed
 * @pool:  a pool
 * @bytes: as for upool_alloc()
 * Return: as upool_alloc()
 */
void *upool_zalloc(struct upool *pool, size_t bytes);

/**
 * upool_alloc_aligned() - take a buffer with an alignment
 * @pool:  a pool
 * @bytes: as for upool_alloc()
 * @align: a power of two
 * Return: as upool_alloc(); NULL also when the pool's buffers are less aligned
 */
void *upool_alloc_aligned(struct upool *pool, size_t bytes, size_t align);

/**
 * upool_alloc_wait() - take a buffer, waiting for one
 * @pool:       a pool
 * @bytes:      as for upool_alloc()
 * @timeout_ms: 0 = like upool_alloc(), -1 = without limit
 *
 * Context: may sleep; a cancellation point only in the sense that a signal
 * handler's return does not end the wait.
 * Return: as upool_alloc(); NULL also when the time is over
 */
void *upool_alloc_wait(struct upool *pool, size_t bytes, int timeout_ms);

/**
 * upool_free() - give a buffer back
 * @pool: the pool it came from
 * @buf:  its address; NULL is allowed
 *
 * Checked always; a refused free leaves the pool unharmed and is counted.  Not
 * seen: a second free after the same process was given the buffer again (a
 * token free is), and, without UPOOL_F_STRICT, two threads freeing one buffer
 * within the same few instructions, which the depot finds later.
 *
 * Return: 0; -EINVAL not a buffer of this pool, interior, or held by another
 * member; -EALREADY not held; -ESTALE claimed by an accept meanwhile; -EPERM
 * after fork
 */
int upool_free(struct upool *pool, void *buf);

/**
 * upool_alloc_bulk() - take up to @n buffers
 * @pool:  a pool
 * @bytes: as for upool_alloc()
 * @bufs:  receives them
 * @n:     how many
 * Return: how many were taken
 */
size_t upool_alloc_bulk(struct upool *pool, size_t bytes, void **bufs, size_t n);

/**
 * upool_free_bulk() - give @n buffers back
 * @pool: the pool they came from
 * @bufs: their addresses; those that were refused are moved to the front
 * @n:    how many
 * Return: how many were accepted
 */
size_t upool_free_bulk(struct upool *pool, void **bufs, size_t n);

/**
 * upool_usable_size() - bytes a buffer really has
 * @pool: a pool
 * @buf:  a buffer of it
 * Return: bytes; 0 when @buf is not a buffer of @pool
 */
size_t upool_usable_size(const struct upool *pool, const void *buf);

/**
 * upool_reserve() - put buffers aside
 * @pool:  a pool
 * @bytes: as for upool_alloc()
 * @n:     how many, at least 1
 * @r:     receives the reservation; untouched on error
 *
 * Context: may sleep.
 * Return: 0; -EINVAL; -ENOBUFS fewer than @n are idle, none is kept; -ENOMEM
 */
int upool_reserve(struct upool *pool, size_t bytes, size_t n, struct upool_reservation **r);

/**
 * upool_alloc_reserved() - take a buffer that was put aside
 * @r: a reservation
 *
 * Context: no system call, no lock; async-signal-safe.
 * Return: a buffer, @n times; NULL afterwards
 */
void *upool_alloc_reserved(struct upool_reservation *r);

/**
 * upool_unreserve() - end a reservation; what was not taken goes back
 * @r: a reservation or NULL
 */
void upool_unreserve(struct upool_reservation *r);

/**
 * upool_token() - a number that lets another member claim a buffer, once
 * @pool: a pool
 * @buf:  held by the caller
 *
 * The holder keeps the buffer until somebody accepts the token, and may free
 * it before that, which ends the token; so does upool_close(), or its death.
 *
 * Return: the token; 0 when @buf is not held here, or its generations are used up
 */
upool_token_t upool_token(struct upool *pool, void *buf);

/**
 * upool_accept() - claim the buffer of a token
 * @pool:  the same pool, in this or another process
 * @token: from upool_token()
 * @buf:   receives the buffer, now held by the caller; untouched on error
 * Return: 0; -EINVAL not a token of this pool; -ESTALE used, freed or reclaimed
 */
int upool_accept(struct upool *pool, upool_token_t token, void **buf);

/**
 * upool_free_token() - give back the buffer of a token, if nobody claimed it
 * @pool:  the pool
 * @token: from upool_token(), by any member
 * Return: 0; -EINVAL not a token of this pool; -ESTALE its tenancy is over
 */
int upool_free_token(struct upool *pool, upool_token_t token);

/**
 * upool_trim() - give idle pages back to the system
 * @pool:       a pool
 * @keep_bytes: idle bytes to keep in memory
 *
 * Buffers that are held or idle in a magazine are left alone.  The contents of
 * trimmed buffers are zero when they are next allocated.
 *
 * Context: may sleep.
 * Return: bytes given back; 0 on a device that cannot trim
 */
size_t upool_trim(struct upool *pool, size_t keep_bytes);

/**
 * upool_stats_read() - read the statistics
 * @pool: a pool
 * @st:   size set by the caller, the rest is filled
 * Return: 0; -EINVAL size is smaller than the size field
 */
int upool_stats_read(const struct upool *pool, struct upool_stats *st);

/* Object pools: objects of one type, made once and used again. */

struct upool_objects;

/**
 * struct upool_object_ops - what an object pool does with its objects
 * @size:    sizeof(struct upool_object_ops)
 * @bytes:   of an object, 1 to 1 GiB - 16; aligned to 16
 * @create:  make an object in @bytes of any contents: 0, else there is none; NULL = nothing to do
 * @reset:   before a returned object is kept: 0, else it is destroyed; NULL = nothing to do
 * @destroy: end an object that is no longer kept; NULL = nothing to do
 * @arg:     for the callbacks
 *
 * Callbacks run in the thread that calls; @destroy also in one that allocates from, frees
 * to or trims the pool, with locks held: it must not use the same object pool.
 */
struct upool_object_ops {
	size_t	size;
	size_t	bytes;
	int	(*create)(void *obj, void *arg);
	int	(*reset)(void *obj, void *arg);
	void	(*destroy)(void *obj, void *arg);
	void	*arg;
};

/**
 * struct upool_objects_options - limits; start from { .size = sizeof(...) }
 * @size:         sizeof(struct upool_objects_options)
 * @flags:        0
 * @trim_age_ms:  milliseconds after which idle objects go; 0 = 1000; UINT_MAX = never
 * @max_retained: idle objects that are kept, half of them by threads for themselves;
 *                0 = what fits the defaults of private pools
 * @max_objects:  objects that may exist, 1 to 2^24; 0 = any number
 * @__resv:       0
 */
struct upool_objects_options {
	size_t		size;
	unsigned int	flags;
	unsigned int	trim_age_ms;
	size_t		max_retained;
	size_t		max_objects;
	size_t		__resv[4];
};

/**
 * upool_objects_create() - make an object pool
 * @p:   receives the pool; untouched on error
 * @ops: copied
 * @opt: not retained; NULL = defaults
 *
 * Context: may sleep.
 * Return: 0; -EINVAL; -ENOMEM
 */
int upool_objects_create(struct upool_objects **p, const struct upool_object_ops *ops,
			 const struct upool_objects_options *opt);

/**
 * upool_objects_get() - take an idle object, or make one
 * @p: an object pool
 * Return: the object; NULL when it could not be made, or @max_objects exist
 */
void *upool_objects_get(struct upool_objects *p);

/**
 * upool_objects_put() - give an object back
 * @p:   the pool it came from
 * @obj: the object; NULL is allowed
 *
 * What is refused was not reset, and is unharmed.
 *
 * Return: 0; -EINVAL not an object of this pool; -EALREADY not held
 */
int upool_objects_put(struct upool_objects *p, void *obj);

/**
 * upool_objects_trim() - destroy idle objects
 * @p:    an object pool
 * @keep: idle objects to keep
 * Return: how many objects, and places for one, were given back
 */
size_t upool_objects_trim(struct upool_objects *p, size_t keep);

/**
 * upool_objects_stats_read() - statistics; held are the objects that are out
 * @p:  an object pool
 * @st: as for upool_stats_read()
 * Return: as upool_stats_read()
 */
int upool_objects_stats_read(const struct upool_objects *p, struct upool_stats *st);

/**
 * upool_objects_destroy() - destroy all objects and the pool
 * @p: dead afterwards, unless an error is returned; NULL is allowed
 *
 * Context: may sleep; no other thread may be using @p.
 * Return: 0; -EBUSY objects are out: how many is in the statistics
 */
int upool_objects_destroy(struct upool_objects *p);

/**
 * upool_mode() - which back end serves this pool, and why not a better one
 * @pool: a pool
 * Return: text that lives as long as the pool, e.g. "device: rseq",
 * "memfd: locked (rseq: ENOSYS), no recovery"
 */
const char *upool_mode(const struct upool *pool);

/**
 * upool_version() - version of the library
 * Return: major << 16 | minor << 8 | patch
 */
unsigned int upool_version(void);

#ifdef __cplusplus
}
#endif

#endif /* UPOOL_H */
