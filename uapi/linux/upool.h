/* SPDX-License-Identifier: ((GPL-2.0-only WITH Linux-syscall-note) OR MIT) */
/*
 * upool.h - the contract of /dev/upool: pools of buffers that processes share.
 *
 * One open file is one attachment to one pool.  CREATE, ATTACH or REOPEN makes
 * it; mmap of the control area arms it; it ends when the last mapping of the
 * control area is gone, or at the last close.  A file belongs to the address
 * space that attached it: every command but QUERY, STAT and REOPEN returns
 * -EPERM elsewhere (CREATE and ATTACH -EBUSY, as for any attached file).
 *
 * Every command takes a pointer to its struct.  @size is sizeof the struct the
 * caller was compiled with: longer than the kernel's is accepted when the rest
 * is zero (-E2BIG if not), shorter is zero-extended down to the fields of the
 * first version that have no default (-EINVAL below).  Unknown flags, non-zero
 * reserved fields and non-zero "out" fields are -EINVAL, an unknown command is
 * -ENOTTY, a bad pointer -EFAULT.
 */
#ifndef _UAPI_LINUX_UPOOL_H
#define _UAPI_LINUX_UPOOL_H

#include <linux/ioctl.h>
#include <linux/types.h>

#include "upool_layout.h"
#include "upool_stats.h"

#define UPOOL_ABI_VERSION	1U
#define UPOOL_NAME_BYTES	64	/* [A-Za-z0-9][A-Za-z0-9_.-]{0,62}, zero padded */

/* mmap offsets, MAP_SHARED both */
#define UPOOL_MMAP_CONTROL	0ULL
#define UPOOL_MMAP_DATA		(1ULL << 42)

/* features, QUERY and geometry */
#define UPOOL_FEAT_RECOVERY	(1ULL << 0)	/* buffers of dead members come back */
#define UPOOL_FEAT_STEAL	(1ULL << 1)	/* buffers idle on other CPUs are reachable */
#define UPOOL_FEAT_WAIT		(1ULL << 2)	/* POP can wait */
#define UPOOL_FEAT_ZERO_ORPHANS	(1ULL << 3)	/* CREATE_F_ZERO_ORPHANS */
#define UPOOL_FEAT_TRIM		(1ULL << 4)	/* TRIM; not offered yet */
#define UPOOL_FEAT_STRICT	(1ULL << 5)	/* CREATE_F_STRICT: members free by cmpxchg */

/**
 * struct upool_query - what this kernel offers; needs no attachment
 * @size:           sizeof(struct upool_query)
 * @flags:          0
 * @features:       out: UPOOL_FEAT_*
 * @abi_version:    out: UPOOL_ABI_VERSION
 * @layout_id:      out: UPOOL_LAYOUT_ID
 * @nr_cpu_ids:     out: magazines a pool made now will have
 * @max_cap:        out: largest magazine
 * @max_count:      out: most buffers of a pool
 * @max_classes:    out: most classes of a pool
 * @max_buf_bytes:  out: largest buffer
 * @max_pool_bytes: out: largest pool, control and data, the caller could create now
 */
struct upool_query {
	__u32		size;
	__u32		flags;
	__aligned_u64	features;
	__u32		abi_version;
	__u32		layout_id;
	__u32		nr_cpu_ids;
	__u32		max_cap;
	__u32		max_count;
	__u32		max_classes;
	__aligned_u64	max_buf_bytes;
	__aligned_u64	max_pool_bytes;
};

/* which limit refused a CREATE */
#define UPOOL_LIMIT_NONE	0U
#define UPOOL_LIMIT_USER_BYTES	1U	/* module parameter max_user_bytes */
#define UPOOL_LIMIT_TOTAL_BYTES	2U	/* module parameter max_total_bytes */
#define UPOOL_LIMIT_USER_POOLS	3U	/* module parameter max_user_pools */
#define UPOOL_LIMIT_CONTROL	4U	/* module parameter max_control_bytes, one pool */

/**
 * struct upool_limit - the limit that refused
 * @which:  UPOOL_LIMIT_*
 * @__resv: 0
 * @needed: what the call would have brought it to, bytes or pools
 * @limit:  its value
 */
struct upool_limit {
	__u32		which;
	__u32		__resv;
	__aligned_u64	needed;
	__aligned_u64	limit;
};

#define UPOOL_CREATE_F_PERSIST		(1U << 0)	/* outlive the last attachment, until DESTROY */
#define UPOOL_CREATE_F_ZERO_ORPHANS	(1U << 1)	/* what a dead member held comes back as zeroes */
#define UPOOL_CREATE_F_RESERVE		(1U << 2)	/* all data pages allocated now */
#define UPOOL_CREATE_F_STRICT		(1U << 3)	/* members free by cmpxchg */
#define UPOOL_CREATE_F_ALL		0xfU

#define UPOOL_MAX_TOKEN_TTL_S	(1U << 30)

/* warnings in the result of CREATE */
#define UPOOL_WARN_CAP		(1U << 0)	/* cap * online CPUs >= nr: magazines can hold every buffer */

/**
 * struct upool_create - make a pool and attach this file to it
 * @size:        sizeof(struct upool_create)
 * @flags:       UPOOL_CREATE_F_*
 * @buf_bytes:   bytes of a buffer, 64 to 1 GiB, a multiple of 64
 * @nr:          buffers, 1 to 2^24
 * @max_nr:      buffers to leave room for; 0 = @nr
 * @cap:         slots of a per-CPU magazine, 1 to 1024; 0 = default
 * @mode:        permission bits for ATTACH by name, 0 = 0600
 * @token_ttl_s: seconds a buffer with used-up generations is parked, up to
 *               UPOOL_MAX_TOKEN_TTL_S; 0 = for good
 * @__resv:      0
 * @name:        zero padded; empty = anonymous
 * @id:          out: attachment id
 * @warnings:    out: UPOOL_WARN_*
 * @pool_id:     out: number of the pool, as in its sysfs directory
 * @limit:       out: filled with -EDQUOT only
 * @geo:         out
 *
 * -EEXIST name taken; -EBUSY file already attached; -EDQUOT see @limit;
 * -EOVERFLOW @buf_bytes times @max_nr too large; -EINTR by a signal; -ENOMEM
 */
struct upool_create {
	__u32		size;
	__u32		flags;
	__aligned_u64	buf_bytes;
	__u32		nr;
	__u32		max_nr;
	__u32		cap;
	__u32		mode;
	__u32		token_ttl_s;
	__u32		__resv;
	char		name[UPOOL_NAME_BYTES];
	__u32		id;
	__u32		warnings;
	__aligned_u64	pool_id;
	struct upool_limit limit;
	struct upool_geometry geo;
};

#define UPOOL_ATTACH_F_UID	(1U << 0)	/* look @name up among the pools of @uid */
#define UPOOL_ATTACH_F_FD	(1U << 1)	/* the pool @fd is attached to; no name */
#define UPOOL_ATTACH_F_ALL	0x3U

/**
 * struct upool_attach - join a pool; also the struct of REOPEN
 * @size:    sizeof(struct upool_attach)
 * @flags:   UPOOL_ATTACH_F_*; REOPEN: 0
 * @name:    zero padded
 * @uid:     creator, in the caller's user namespace, with _F_UID; else 0
 * @fd:      ATTACH with _F_FD: in: an attached descriptor, any process's;
 *           REOPEN: out: the new descriptor, O_CLOEXEC; else 0
 * @id:      out: attachment id
 * @layout_id: out: UPOOL_LAYOUT_ID of the pool
 * @pool_id: out: number of the pool
 * @geo:     out
 *
 * REOPEN makes a new file, attached to the same pool for the calling address
 * space: a received descriptor is a capability, the pool's mode is not asked.
 *
 * -ENOENT no such pool; -EACCES its mode, which CAP_DAC_OVERRIDE in the creator's
 * user namespace overrides; -EBUSY file already attached; -ESTALE destroyed; -ENOSPC attachment ids used up; -EBADF not a pool's
 */
struct upool_attach {
	__u32		size;
	__u32		flags;
	char		name[UPOOL_NAME_BYTES];
	__u32		uid;
	__s32		fd;
	__u32		id;
	__u32		layout_id;
	__aligned_u64	pool_id;
	struct upool_geometry geo;
};

/**
 * struct upool_batch - REFILL, FLUSH: move buffers between depot and this CPU's magazine
 * @size:  sizeof(struct upool_batch)
 * @flags: 0
 * @class_idx: size class
 * @nr:    most buffers to move, 1 to 1024
 * @done:  out: buffers moved; 0 from REFILL never comes without an error
 * @cpu:   out: CPU it happened on
 *
 * REFILL with an empty depot waits for recoveries that are due and takes what
 * other CPUs' magazines hold.  -ENOBUFS every buffer is held or parked;
 * -EAGAIN some magazine could not be reached in time, or others took what came;
 * -EINTR killed while waiting.
 */
struct upool_batch {
	__u32		size;
	__u32		flags;
	__u32		class_idx;
	__u32		nr;
	__u32		done;
	__u32		cpu;
};

/**
 * struct upool_pop - POP: take one buffer from the depot, without a magazine
 * @size:       sizeof(struct upool_pop)
 * @flags:      0
 * @class_idx:  size class
 * @timeout_ms: 0 = do not wait for a buffer, -1 = without limit
 * @index:      out: buffer, its tag now {id|H}
 * @__resv:     0
 *
 * Errors of REFILL, -ETIMEDOUT after waiting, -EINTR on a signal while waiting.
 */
struct upool_pop {
	__u32		size;
	__u32		flags;
	__u32		class_idx;
	__s32		timeout_ms;
	__u32		index;
	__u32		__resv;
};

/**
 * struct upool_push - PUSH: give one held buffer back to the depot
 * @size:   sizeof(struct upool_push)
 * @flags:  0
 * @index:  buffer; its tag must be {id|H} or {id|H|X}
 * @__resv: 0
 *
 * Parks the buffer when its generations are used up.
 * -EINVAL no such buffer or not ours; -EALREADY ours but not held; -ESTALE
 * claimed meanwhile.
 */
struct upool_push {
	__u32		size;
	__u32		flags;
	__u32		index;
	__u32		__resv;
};

/**
 * struct upool_adopt - ADOPT: claim the buffer of a token
 * @size:  sizeof(struct upool_adopt)
 * @flags: 0
 * @token: as made by the exporter; used up by success
 * @index: out: buffer, now held by the caller
 * @__resv: 0
 *
 * -EINVAL wrong check or index; -ESTALE its tenancy is over.
 */
struct upool_adopt {
	__u32		size;
	__u32		flags;
	__aligned_u64	token;
	__u32		index;
	__u32		__resv;
};

/**
 * struct upool_drain - DRAIN: empty every CPU's magazines into the depot
 * @size:        sizeof(struct upool_drain)
 * @flags:       0
 * @timeout_ms:  1 to 60000; 0 = module parameter steal_timeout_ms
 * @nr_drained:  out: buffers moved
 * @nr_missed:   out: CPUs not reached in time
 * @__resv:      0
 */
struct upool_drain {
	__u32		size;
	__u32		flags;
	__u32		timeout_ms;
	__u32		nr_drained;
	__u32		nr_missed;
	__u32		__resv;
};

/**
 * struct upool_trim - TRIM: give idle pages back; -EOPNOTSUPP without UPOOL_FEAT_TRIM
 * @size:         sizeof(struct upool_trim)
 * @flags:        0
 * @keep_bytes:   idle bytes to keep
 * @nr_trimmed_bytes: out
 */
struct upool_trim {
	__u32		size;
	__u32		flags;
	__aligned_u64	keep_bytes;
	__aligned_u64	nr_trimmed_bytes;
};

#define UPOOL_DESTROY_F_IDLE	(1U << 0)	/* only if no other attachment: else -EBUSY */
#define UPOOL_DESTROY_F_ALL	0x1U

/**
 * struct upool_destroy - DESTROY: unlink name and statistics, refuse new attachments
 * @size:  sizeof(struct upool_destroy)
 * @flags: UPOOL_DESTROY_F_*
 *
 * Attachments go on; the memory goes with the last of them.  -EPERM unless the
 * caller owns the pool or has CAP_SYS_ADMIN in the owner's user namespace;
 * -ESTALE already destroyed.
 */
struct upool_destroy {
	__u32		size;
	__u32		flags;
};

/**
 * struct upool_stat - STAT: read the pool's statistics
 * @size:   sizeof(struct upool_stat)
 * @flags:  0
 * @stats:  out
 */
struct upool_stat {
	__u32		size;
	__u32		flags;
	struct upool_pool_stats stats;
};

#ifndef __cplusplus
_Static_assert(sizeof(struct upool_query) == 56, "frozen in ABI 1");
_Static_assert(sizeof(struct upool_create) == 1232, "frozen in ABI 1");
_Static_assert(sizeof(struct upool_attach) == 1184, "frozen in ABI 1");
_Static_assert(sizeof(struct upool_batch) == 24, "frozen in ABI 1");
_Static_assert(sizeof(struct upool_pop) == 24, "frozen in ABI 1");
_Static_assert(sizeof(struct upool_push) == 16, "frozen in ABI 1");
_Static_assert(sizeof(struct upool_adopt) == 24, "frozen in ABI 1");
_Static_assert(sizeof(struct upool_drain) == 24, "frozen in ABI 1");
_Static_assert(sizeof(struct upool_trim) == 24, "frozen in ABI 1");
_Static_assert(sizeof(struct upool_destroy) == 8, "frozen in ABI 1");
#endif

#define UPOOL_IOC_MAGIC		0xB7
#define UPOOL_IOC_QUERY		_IOWR(UPOOL_IOC_MAGIC, 0x00, struct upool_query)
#define UPOOL_IOC_CREATE	_IOWR(UPOOL_IOC_MAGIC, 0x01, struct upool_create)
#define UPOOL_IOC_ATTACH	_IOWR(UPOOL_IOC_MAGIC, 0x02, struct upool_attach)
#define UPOOL_IOC_REOPEN	_IOWR(UPOOL_IOC_MAGIC, 0x03, struct upool_attach)
#define UPOOL_IOC_REFILL	_IOWR(UPOOL_IOC_MAGIC, 0x04, struct upool_batch)
#define UPOOL_IOC_FLUSH		_IOWR(UPOOL_IOC_MAGIC, 0x05, struct upool_batch)
#define UPOOL_IOC_POP		_IOWR(UPOOL_IOC_MAGIC, 0x06, struct upool_pop)
#define UPOOL_IOC_PUSH		_IOWR(UPOOL_IOC_MAGIC, 0x07, struct upool_push)
#define UPOOL_IOC_ADOPT		_IOWR(UPOOL_IOC_MAGIC, 0x08, struct upool_adopt)
#define UPOOL_IOC_DRAIN		_IOWR(UPOOL_IOC_MAGIC, 0x09, struct upool_drain)
#define UPOOL_IOC_TRIM		_IOWR(UPOOL_IOC_MAGIC, 0x0a, struct upool_trim)
#define UPOOL_IOC_STAT		_IOWR(UPOOL_IOC_MAGIC, 0x0b, struct upool_stat)
#define UPOOL_IOC_DESTROY	_IOWR(UPOOL_IOC_MAGIC, 0x0c, struct upool_destroy)

#endif /* _UAPI_LINUX_UPOOL_H */
