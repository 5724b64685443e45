/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * internal.h - a member's handle on a pool, and what its files offer each other.
 * Owns: struct upool.  Locks: see below.  Entry: every file of the library.
 *
 * Locks, all leaves, never two at once, in shared memory and robust:
 *	struct depot::lock	the depot of a memfd pool
 *	struct mag_lock		one magazine of a LOCKED memfd pool
 *
 * Invariants
 *	I1  hot is all zero in a child of fork, and only there: me == 0 means dead;
 *	    where no kernel promises that, pid is set and asked in every call
 *	I2  hot.alloc_end and hot.free_nr are zero unless ops is OPS_RSEQ and pid 0
 *	I3  a buffer in the depot has owner 0, and is in it once
 *	I4  nothing read from shared memory is an index, size or address before it
 *	    was compared with a private bound
 *	I5  a buffer between two layers belongs to one thread, and its tag is not held
 */
#ifndef UPOOL_INTERNAL_H
#define UPOOL_INTERNAL_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <upool.h>
#include <upool/upool.h>
#include "arch/rseq_ops.h"
#include "atomic.h"
#include "inject.h"

#define UPOOL_API		__attribute__((visibility("default")))

#define UPOOL_MODE_BYTES	96
#define UPOOL_MAX_ABORTS	16	/* in a row, then around the magazine */
#define UPOOL_MAX_ROUNDS	4	/* of refill or flush, then around the magazine */
#define UPOOL_MAX_BATCH		(UPOOL_MAX_CAP / 2 + 1)

#define UPOOL_FLAGS_ALL		0xffu

enum mag_ops {
	OPS_NONE = 0,		/* this process cannot use magazines: around them */
	OPS_RSEQ,
	OPS_LOCKED,
};

struct depot;

/**
 * struct backing - what the device and a memfd do differently
 * @refill:  half a magazine from the depot; 1 = *idx was handed out (held), 0 =
 *           pop again, -ENOBUFS none left, -EAGAIN try again, other -errno
 * @take:    one buffer around the magazine, held; 0 or -errno
 * @flush:   half a magazine to the depot; 0 or -errno
 * @put:     a buffer whose tag is held or exported back around the magazine
 * @stats:   the pool's own statistics
 * @destroy: refuse new members
 * @trim:    bytes given back
 * @detach:  end the attachment and its mappings but the data
 */
struct backing {
	int	(*refill)(struct upool *p, uint32_t *idx);
	int	(*take)(struct upool *p, uint32_t *idx, int timeout_ms);
	int	(*flush)(struct upool *p);
	int	(*put)(struct upool *p, uint32_t idx);
	int	(*stats)(const struct upool *p, struct upool_pool_stats *st);
	int	(*destroy)(struct upool *p);
	size_t	(*trim)(struct upool *p, size_t keep_bytes);
	void	(*detach)(struct upool *p);
};

enum local_stat {
#define UPOOL_X(name, help)	LOCAL_##name,
	UPOOL_LOCAL_STATS(UPOOL_X)
#undef UPOOL_X
	LOCAL_NR,
};

/**
 * struct upool - this process's attachment to a pool
 * @hot:     what a hit reads; zeroed in children by the kernel	[const]
 * @page:    keeps the rest out of the pages that are zeroed
 * @backing: device or memfd					[const]
 * @ops:     how this process uses magazines			[const]
 * @flags:   UPOOL_F_*						[const]
 * @fd:      device file or memfd				[const]
 * @pid:     0, or our process where a child's page is not zeroed	[const]
 * @control: control area; not in children			[const]
 * @depot:   depot area of a memfd; not in children		[const]
 * @links:   links of the depot					[const]
 * @due:     ends of parking in the depot			[const]
 * @data:    data area; children inherit it			[const]
 * @geo:     validated private copy				[const]
 * @map_bytes: bytes of @control, depot area included		[const]
 * @id:      attachment id					[const]
 * @local:   UPOOL_LOCAL_STATS					[atomic]
 * @mode:    text of upool_mode()				[const]
 */
struct upool {
	union {
		struct mags	hot;
		unsigned char	page[UPOOL_MAP_ALIGN];	/* any page size */
	};
	const struct backing	*backing;
	enum mag_ops		ops;
	unsigned int		flags;
	int			fd;
	int			pid;
	unsigned char		*control;
	struct depot		*depot;
	uint32_t		*links;
	uint32_t		*due;
	unsigned char		*data;
	struct upool_geometry	geo;
	uint64_t		map_bytes;
	uint32_t		id;
	uint64_t		local[LOCAL_NR];
	char			mode[UPOOL_MODE_BYTES];
};

/* upool.c */

/**
 * pool_new() - make a handle that is not live yet
 * @out:     receives it; undo with pool_discard()
 * @backing: device or memfd
 * @flags:   UPOOL_F_*
 * Return: 0, -ENOMEM
 */
int pool_new(struct upool **out, const struct backing *backing, unsigned int flags);

/**
 * pool_publish() - make a handle live
 * @p:    its geometry, mappings and ops are set
 * @id:   attachment id
 * @kind: first part of the mode's text
 * @why:  why restartable sequences are not used, or NULL
 * @rest: last part
 */
void pool_publish(struct upool *p, uint32_t id, const char *kind, const char *why,
		  const char *rest);

/**
 * pool_map_data() - map the data area, aligned as the buffers need it
 * @p:   its file and geometry are set
 * @off: offset in the file
 * Return: 0, -ENOMEM, -EOVERFLOW: larger than the address space
 */
int pool_map_data(struct upool *p, uint64_t off);

/**
 * pool_discard() - free a handle and what it has so far
 * @p: live or not, in the process that made it or in a child
 */
void pool_discard(struct upool *p);

/**
 * geometry_valid() - whether this version lays a pool out like that
 * @geo: a private copy
 * Return: whether every field is as upool_geometry_init() makes it
 */
bool geometry_valid(const struct upool_geometry *geo);

/* options.c */

/**
 * options_read() - check options and replace zeroes by defaults
 * @o:   receives them, sizes rounded
 * @opt: the caller's, of any size; NULL = all defaults
 * Return: 0, -EINVAL, -EOVERFLOW
 */
int options_read(struct upool_options *o, const struct upool_options *opt);

/**
 * name_valid() - whether a pool may have that name
 * @name: zero-terminated
 * Return: whether it is [A-Za-z0-9][A-Za-z0-9_.-]{0,62}
 */
bool name_valid(const char *name);

/* memfd_join.c, device_join.c: as upool_create(), upool_open(), upool_attach() */
int memfd_create_pool(struct upool **out, const struct upool_options *o);
int memfd_attach(struct upool **out, int fd);
int device_create_pool(struct upool **out, const struct upool_options *o);
int device_open_pool(struct upool **out, const char *name, const struct upool_options *o);
int device_attach(struct upool **out, int fd);

/* slowpath.c */

/**
 * pool_is_ours() - whether the handle is live in this process
 * @p: a handle
 * Return: false in a child of fork (I1)
 */
bool pool_is_ours(const struct upool *p);

/**
 * alloc_slow() - allocate where the inline hit does not serve the pool or size
 * @p:     a handle, perhaps a child's
 * @bytes: as for upool_alloc()
 * Return: as upool_alloc()
 */
void *alloc_slow(struct upool *p, size_t bytes);

/**
 * alloc_missed() - allocate where the inline hit failed
 * @p:   a live handle
 * @out: how it failed
 * Return: as upool_alloc()
 */
void *alloc_missed(struct upool *p, enum rseq_outcome out);

/**
 * free_slow() - free what the inline hit does not decide
 * @p:   a handle, perhaps a child's
 * @buf: any address
 * Return: as upool_free()
 */
int free_slow(struct upool *p, void *buf);

/**
 * free_missed() - finish a free whose push failed
 * @p:   a live handle
 * @idx: buffer, tag {me}, in no layer
 * @out: how it failed
 * Return: as upool_free()
 */
int free_missed(struct upool *p, uint32_t idx, enum rseq_outcome out);

/**
 * mag_pop() - pop, restarted a bounded number of times
 * @p:   a live handle
 * @idx: receives the buffer with RSEQ_DONE, tag {me}
 * Return: as rseq_mag_pop(); NOCPU too where magazines cannot be used
 */
enum rseq_outcome mag_pop(struct upool *p, uint32_t *idx);

/**
 * mag_push() - push, restarted a bounded number of times
 * @p:   a live handle
 * @idx: buffer, its tag not held
 * Return: as rseq_mag_push(); NOCPU too where magazines cannot be used
 */
enum rseq_outcome mag_push(struct upool *p, uint32_t idx);

/**
 * take_index() - a buffer from the nearest layer that has one
 * @p:   a live handle
 * @idx: receives it, held
 * Return: 0 or -errno
 */
int take_index(struct upool *p, uint32_t *idx);

/**
 * free_index() - give a buffer back, counting refusals
 * @p:   a live handle
 * @idx: below the number of buffers
 * Return: as upool_free()
 */
int free_index(struct upool *p, uint32_t idx);

/**
 * hand_out() - address of a buffer for the caller, cleared if the pool clears
 * @p:   a live handle
 * @idx: held by us
 * Return: its first byte
 */
void *hand_out(struct upool *p, uint32_t idx);

/**
 * local_add() - count something this process did; slow paths only
 * @p: a handle
 * @s: what
 * @n: how often
 */
static inline void local_add(struct upool *p, enum local_stat s, uint64_t n)
{
	add_relaxed(&p->local[s], n);
}

/**
 * tag_owner() - owner half of a buffer's tag
 * @m:   the magazines
 * @idx: below @m->nr
 * Return: the word
 */
static inline uint32_t *tag_owner(const struct mags *m, uint32_t idx)
{
	return &m->tags[idx].owner;
}

#endif /* UPOOL_INTERNAL_H */
