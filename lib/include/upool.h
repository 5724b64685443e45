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

#include <upool_objects.h>

#endif /* UPOOL_H */
