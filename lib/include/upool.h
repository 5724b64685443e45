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
 * handle is dead: every call but upool_close(), upool_fd() and upool_mode() gives
 * -EPERM, NULL or 0; the child joins with upool_attach(&p, upool_fd(parents_pool)).  A
 * vfork() child, or one made by clone(CLONE_VM) that shares its parent's TLS,
 * must not call the library at all.  A private pool is the child's own copy: it
 * goes on there, with what other threads of the parent had cached idle again.
 */
#ifndef UPOOL_H
#define UPOOL_H

#include <stddef.h>
#include <stdint.h>
#include <upool_options.h>

#ifdef __cplusplus
extern "C" {
#endif

struct upool;
struct upool_reservation;

typedef uint64_t upool_token_t;

/**
 * upool_create() - make a pool, private or shared, and join it
 * @pool: receives the pool; untouched on error
 * @opt:  not retained; NULL = defaults
 *
 * UPOOL_BACKING_AUTO takes a memfd whenever the device cannot be opened, for whatever
 * reason, and reports what the device says once it is open.
 *
 * Context: may sleep.
 * Return: 0; -EINVAL an option is out of range, a flag unknown, a size shorter than the
 * size field or longer than ours with more than zeroes, a private pool has a name; -EEXIST
 * the user has a pool of that name on the device; -ENODEV UPOOL_BACKING_DEVICE without the
 * module; -EACCES UPOOL_BACKING_DEVICE and the device may not be opened; -EPROTO the
 * module is of an incompatible version; -EDQUOT a quota of the device; -EINTR a signal
 * while the device made the pool; -EOPNOTSUPP the backing does not offer a flag;
 * -EOVERFLOW more than 4 TiB, max_bytes, RLIMIT_FSIZE or the address space; -EMFILE too
 * many open files of this process; -ENFILE too many open files of the system; -ENOSPC no
 * room for UPOOL_F_POPULATE on the device; -ENOMEM no memory or addresses
 */
int upool_create(struct upool **pool, const struct upool_options *opt);

/**
 * upool_shared() - the private pool that all of the process uses
 *
 * Made when first asked for, with defaults; never ends.  If that fails it is not
 * tried again.
 *
 * Context: the first call may sleep.
 * Return: the pool; NULL without memory or addresses when it was first asked for
 */
struct upool *upool_shared(void);

/**
 * upool_open() - join the named pool, made first if it does not exist
 * @pool: receives the pool; untouched on error
 * @name: [A-Za-z0-9][A-Za-z0-9_.-]{0,62}: the caller's own; "uid:name": that
 *        user's, where its mode allows, never made
 * @opt:  used when the pool is made; with NULL it is not made (-ENOENT)
 *
 * Names need the device, also with UPOOL_BACKING_AUTO; a memfd pool is passed on by
 * descriptor.  A pool that exists stays as it was made: of @opt only UPOOL_F_CLEAR and
 * UPOOL_F_HUGE hold then, for this member.
 *
 * Context: may sleep.
 * Return: as upool_create(); -EINVAL the name is NULL or not of that form, or as for
 * upool_create(); -ENOENT there is none and it is not to be made; -ENODEV without the
 * module; -EACCES the device may not be opened, or the pool's mode does not admit the
 * caller; -EOPNOTSUPP a private or memfd backing; -EEXIST the name came and went while it
 * was looked for; -ESTALE it was destroyed meanwhile; -ENOSPC its attachment ids are used
 * up, or as for upool_create()
 */
int upool_open(struct upool **pool, const char *name, const struct upool_options *opt);

/**
 * upool_attach() - join the pool behind a received or inherited descriptor
 * @pool: receives the pool; untouched on error
 * @fd:   made by upool_fd() in any process; stays the caller's
 *
 * UPOOL_F_CLEAR and UPOOL_F_HUGE are a member's own: they do not hold here.
 *
 * Context: may sleep.
 * Return: 0; -EBADF not an open descriptor; -EINVAL not a pool's; -ENXIO of the device,
 * but not in a pool; -EACCES not open for reading and writing; -EPROTO made by an
 * incompatible version; -ESTALE destroyed; -ENOSPC attachment ids used up; -EMFILE too
 * many open files of this process; -ENFILE too many open files of the system; -EOVERFLOW
 * larger than the address space; -ENOMEM no memory or addresses
 */
int upool_attach(struct upool **pool, int fd);

/**
 * upool_fd() - a descriptor to pass on
 * @pool: a pool
 *
 * Valid until upool_close() of @pool in this process; close a duplicate, never this.
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
 * A private pool ends, and every buffer of it becomes invalid.  Reservations have to
 * end before.
 *
 * Context: may sleep; no other thread may be using @pool.
 * Return: 0; -EPERM it is upool_shared()
 */
int upool_close(struct upool *pool);

/**
 * upool_destroy() - remove the name and refuse new members, then detach
 * @pool: dead afterwards, unless an error is returned
 *
 * Members that are attached go on.  A private pool ends.  Any member may destroy a memfd
 * pool; on the device its owner, or who has CAP_SYS_ADMIN over it.
 *
 * Context: may sleep; no other thread may be using @pool.
 * Return: 0; -EPERM not the owner, upool_shared(), or after fork with a shared pool;
 * -ESTALE it was destroyed before, on the device; -EBUSY a private pool with buffers that
 * are held
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
 * is page aligned; NULL when none is left (counted exhausted), @bytes is larger than a
 * shared pool's buffers (counted too_big), or after fork with a shared pool
 */
void *upool_alloc(struct upool *pool, size_t bytes);

/**
 * upool_zalloc() - take a buffer, the first @bytes zeroed
 * @pool:  a pool
 * @bytes: as for upool_alloc()
 *
 * Context: as upool_alloc().
 * Return: as upool_alloc()
 */
void *upool_zalloc(struct upool *pool, size_t bytes);

/**
 * upool_alloc_aligned() - take a buffer with an alignment
 * @pool:  a pool
 * @bytes: as for upool_alloc()
 * @align: a power of two; at most 2 MiB with a private pool
 *
 * Context: as upool_alloc().
 * Return: as upool_alloc(); NULL also when @align is not as described, or the buffers of a
 * shared pool are less aligned
 */
void *upool_alloc_aligned(struct upool *pool, size_t bytes, size_t align);

/**
 * upool_alloc_wait() - take a buffer, waiting for one
 * @pool:       a pool
 * @bytes:      as for upool_alloc()
 * @timeout_ms: milliseconds; 0 = like upool_alloc(), negative = without limit
 *
 * Nothing is waited for when @bytes are more than a shared pool's buffers have, or than a
 * private pool keeps: that is as upool_alloc().
 *
 * Context: may sleep; the return of a signal handler does not end the wait; not a
 * cancellation point.
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
 * Context: as upool_alloc().
 * Return: 0; -EINVAL not a buffer of this pool, interior, or held by another
 * member (counted foreign_free); -EALREADY not held (counted double_free); -ESTALE claimed
 * by an accept meanwhile (counted stale); -EPERM after fork with a shared pool
 */
int upool_free(struct upool *pool, void *buf);

/**
 * upool_alloc_bulk() - take up to @n buffers
 * @pool:  a pool
 * @bytes: as for upool_alloc()
 * @bufs:  receives them; what follows the last one taken is undefined
 * @n:     how many
 *
 * Context: as upool_alloc().
 * Return: how many were taken; fewer than @n for the reasons of upool_alloc()
 */
size_t upool_alloc_bulk(struct upool *pool, size_t bytes, void **bufs, size_t n);

/**
 * upool_free_bulk() - give @n buffers back
 * @pool: the pool they came from
 * @bufs: their addresses; those that were refused are moved to the front
 * @n:    how many
 *
 * Why one was refused is what upool_free() of it says, and is counted.
 *
 * Context: as upool_alloc().
 * Return: how many were accepted
 */
size_t upool_free_bulk(struct upool *pool, void **bufs, size_t n);

/**
 * upool_usable_size() - bytes a buffer really has
 * @pool: a pool
 * @buf:  the start of a buffer of it, held or not
 *
 * Context: does not sleep.
 * Return: bytes; 0 when @buf is not a buffer of @pool, or after fork with a shared pool
 */
size_t upool_usable_size(const struct upool *pool, const void *buf);

/**
 * upool_reserve() - put buffers aside
 * @pool:  a pool
 * @bytes: as for upool_alloc()
 * @n:     how many, 1 to 2^24
 * @r:     receives the reservation; untouched on error
 *
 * The buffers are held by the caller from now on.  The reservation ends with
 * upool_unreserve(), before its pool is closed.
 *
 * Context: may sleep.
 * Return: 0; -EINVAL @n is out of range, or @bytes larger than a shared pool's buffers;
 * -ENOBUFS there are fewer than @n, and none is kept; -EPERM after fork with a shared pool;
 * -ENOMEM no memory for the reservation
 */
int upool_reserve(struct upool *pool, size_t bytes, size_t n, struct upool_reservation **r);

/**
 * upool_alloc_reserved() - take a buffer that was put aside
 * @r: a reservation
 *
 * It goes back with upool_free(), as every other.
 *
 * Context: no system call that sleeps, no lock; async-signal-safe.
 * Return: a buffer, as many times as were reserved; NULL afterwards, or after fork with a
 * shared pool
 */
void *upool_alloc_reserved(struct upool_reservation *r);

/**
 * upool_unreserve() - end a reservation; what was not taken goes back
 * @r: a reservation or NULL; dead afterwards
 *
 * Context: as upool_alloc(); no other thread may be using @r.
 */
void upool_unreserve(struct upool_reservation *r);

/**
 * upool_token() - a number that lets another member claim a buffer, once
 * @pool: a pool
 * @buf:  held by the caller
 *
 * The holder keeps the buffer until somebody accepts the token, and may free
 * it before that, which ends the token; so does upool_close(), or its death.
 * Asked again before that, it is the same number.
 *
 * Context: does not sleep in a shared pool; may sleep in a private one.
 * Return: the token; 0 when @buf is not held here, its generations are used up, without
 * memory for a private pool's table, with 2^24 tokens in use there, or after fork with
 * a shared pool
 */
upool_token_t upool_token(struct upool *pool, void *buf);

/**
 * upool_accept() - claim the buffer of a token
 * @pool:  the same pool, in this or another process
 * @token: from upool_token()
 * @buf:   receives the buffer, now held by the caller; untouched on error
 *
 * What the giver wrote before upool_token() is seen.
 *
 * Context: as upool_token().
 * Return: 0; -EINVAL not a token of this pool; -ESTALE used, freed or reclaimed (counted
 * stale); -EPERM after fork with a shared pool
 */
int upool_accept(struct upool *pool, upool_token_t token, void **buf);

/**
 * upool_free_token() - give back the buffer of a token, if nobody claimed it
 * @pool:  the pool
 * @token: from upool_token(), by any member
 *
 * Context: as upool_alloc().
 * Return: as upool_accept(); -EALREADY another thread freed the buffer at the same time
 */
int upool_free_token(struct upool *pool, upool_token_t token);

/**
 * upool_trim() - give idle pages back to the system
 * @pool:       a pool
 * @keep_bytes: idle bytes to keep in memory
 *
 * Buffers that are held are left alone; so are those idle in a magazine of a shared pool,
 * while what threads have cached of a private pool is collected first.  Idle buffers may
 * lose their contents.  A private pool counts bytes of buffers; the system has small ones
 * when all that share a span are unused.
 *
 * Context: may sleep.
 * Return: bytes given back; 0 also with UPOOL_F_POPULATE, on a device that cannot trim,
 * and after fork with a shared pool
 */
size_t upool_trim(struct upool *pool, size_t keep_bytes);

/**
 * upool_stats_read() - read the statistics
 * @pool: a pool
 * @st:   size set by the caller, the rest is filled; untouched on error
 *
 * What others do meanwhile may be in some figures and not in others.
 *
 * Context: may sleep.
 * Return: 0; -EINVAL size is smaller than the size field; -EPERM after fork with a shared
 * pool
 */
int upool_stats_read(const struct upool *pool, struct upool_stats *st);

/**
 * upool_mode() - which back end serves this pool, and why not a better one
 * @pool: a pool
 *
 * Context: does not sleep; async-signal-safe.
 * Return: text that lives as long as the handle, e.g. "device: rseq",
 * "memfd: locked (rseq: ENOSYS), no recovery"
 */
const char *upool_mode(const struct upool *pool);

/**
 * upool_version() - version of the library
 *
 * Context: does not sleep; async-signal-safe.
 * Return: major << 16 | minor << 8 | patch
 */
unsigned int upool_version(void);

#ifdef __cplusplus
}
#endif

#include <upool_objects.h>

#endif /* UPOOL_H */
