/* SPDX-License-Identifier: ((GPL-2.0-only WITH Linux-syscall-note) OR MIT) */
/*
 * upool_layout.h - the memory that the members of a shared pool have in common.
 *
 * The control area is
 *
 *	0            struct upool_header          (one page of 4096 bytes)
 *	mag_off[c]   magazines of class c         nr_cpu_ids * mag_stride bytes
 *	tag_off      one 64-bit tag per buffer    max_count * 8 bytes
 *
 * and the data area is the buffers of every class one after the other.  The
 * same layout serves /dev/upool and memfd pools; it is frozen by
 * UPOOL_LAYOUT_ID, which is compared for equality by whoever attaches.
 *
 * Any member can write every byte of both areas.  The header is therefore
 * informative: nobody computes an address or a bound from it.  Geometry comes
 * from the result of CREATE, ATTACH and REOPEN, or, for a memfd, from one
 * validated private copy.
 *
 * Only fixed-width types and integer arithmetic here: no libc, no kernel helper.
 */
#ifndef _UAPI_LINUX_UPOOL_LAYOUT_H
#define _UAPI_LINUX_UPOOL_LAYOUT_H

#include <linux/types.h>

#define UPOOL_MAGIC		0x306c6f6f7075ULL	/* "upool0" */
#define UPOOL_LAYOUT_ID		1U

#define UPOOL_HEADER_BYTES	4096U
#define UPOOL_MAX_CLASSES	16U
#define UPOOL_MAX_COUNT		(1U << 24)	/* buffers: the index bits of a token */
#define UPOOL_MAX_CAP		1024U		/* slots of a magazine */
#define UPOOL_MIN_BUF_BYTES	64U
#define UPOOL_MAX_BUF_BYTES	(1ULL << 30)
#define UPOOL_MAG_ALIGN		128U		/* two lines: no adjacent-line prefetch between CPUs */
#define UPOOL_MAP_ALIGN		65536U		/* largest page size of any architecture we run on */
#define UPOOL_MAX_DATA_BYTES	(1ULL << 42)

/**
 * struct upool_class - buffers of one size
 * @buf_bytes:   distance between two buffers and usable bytes of each; multiple of 64
 * @data_off:    byte offset of the first buffer in the data area
 * @mag_off:     byte offset of CPU 0's magazine in the control area
 * @first_index: index of the first buffer; indices are global over classes
 * @nr:          buffers that exist
 * @max_nr:      buffers that data and tag areas have room for
 * @mag_stride:  bytes from one CPU's magazine to the next
 * @cap:         slots of a magazine
 * @__resv:      0
 */
struct upool_class {
	__aligned_u64	buf_bytes;
	__aligned_u64	data_off;
	__aligned_u64	mag_off;
	__u32		first_index;
	__u32		nr;
	__u32		max_nr;
	__u32		mag_stride;
	__u32		cap;
	__u32		__resv[5];
};

/**
 * struct upool_geometry - where everything of a pool is
 * @control_bytes: size of the control area, a multiple of UPOOL_MAP_ALIGN
 * @data_bytes:    size of the data area, a multiple of UPOOL_MAP_ALIGN
 * @tag_off:       byte offset of the tags in the control area
 * @features:      UPOOL_FEAT_* the pool was made with
 * @nr_cpu_ids:    magazines per class; CPU ids can be sparse, all are below this
 * @max_count:     tags
 * @nr_classes:    valid entries of @classes
 * @check:         8 bits that every token of this pool carries
 * @__resv:        0
 * @classes:       the size classes
 */
struct upool_geometry {
	__aligned_u64	control_bytes;
	__aligned_u64	data_bytes;
	__aligned_u64	tag_off;
	__aligned_u64	features;
	__u32		nr_cpu_ids;
	__u32		max_count;
	__u32		nr_classes;
	__u32		check;
	__u32		__resv[4];
	struct upool_class classes[UPOOL_MAX_CLASSES];
};

/**
 * struct upool_header - first bytes of the control area; informative
 * @magic:     UPOOL_MAGIC
 * @layout_id: UPOOL_LAYOUT_ID
 * @mode:      UPOOL_MODE_*: who may touch the magazines, and how
 * @__resv:    0
 * @geo:       copy of the geometry
 */
struct upool_header {
	__aligned_u64	magic;
	__u32		layout_id;
	__u32		mode;
	__u32		__resv[28];
	struct upool_geometry geo;
};

#define UPOOL_MODE_RSEQ		1U	/* restartable sequences on the CPU that owns the magazine */
#define UPOOL_MODE_LOCKED	2U	/* memfd only: under that magazine's lock */

/**
 * struct upool_magazine - idle buffers of one class on one CPU, a stack
 * @state: count of slots in use in bits 0-15, pops since creation in bits 16-63.
 *         One 64-bit store commits both, so hits are counted for nothing.
 * @slot:  global buffer indices; slot[count - 1] is popped next
 *
 * Written only by the CPU it belongs to: by restartable sequences of members,
 * and by the kernel there with preemption off.
 */
struct upool_magazine {
	__aligned_u64	state;
	__u32		slot[];
};

#define UPOOL_MAG_COUNT(state)	((__u32)(state) & 0xffffU)
#define UPOOL_MAG_POPS(state)	((__u64)(state) >> 16)
#define UPOOL_MAG_POP		((1ULL << 16) - 1)	/* added to state: one more pop, one less slot */
#define UPOOL_MAG_PUSH		1ULL			/* added to state: one more slot */

/*
 * A tag is owner in the low and generation in the high half of one aligned
 * 64-bit word.  Owner is an attachment id with two flags.  The generation
 * changes only when a tenancy that had a token ends, or when the token is used.
 */
#define UPOOL_TAG_HELD		0x80000000U	/* H: out of every layer, held by the owner */
#define UPOOL_TAG_EXPORTED	0x40000000U	/* X: a token of this tenancy was issued */
#define UPOOL_TAG_ID_MASK	0x3fffffffU	/* attachment id; 0 = none */
#define UPOOL_MAX_ID		UPOOL_TAG_ID_MASK

/*
 * A buffer whose generation has come this far is parked at its next free
 * instead of reused, until no token of its first generations can be alive.
 * Hand-overs in one tenancy can go on to UPOOL_GEN_MAX, for which no token
 * is issued.
 */
#define UPOOL_GEN_RETIRE	0xffff0000U
#define UPOOL_GEN_MAX		0xffffffffU

#ifndef __cplusplus
_Static_assert(sizeof(struct upool_class) == 64, "frozen by UPOOL_LAYOUT_ID");
_Static_assert(sizeof(struct upool_geometry) == 1088, "frozen by UPOOL_LAYOUT_ID");
_Static_assert(sizeof(struct upool_header) == 1216, "frozen by UPOOL_LAYOUT_ID");
#endif

static inline __u64 upool_tag(__u32 owner, __u32 gen)
{
	return (__u64)gen << 32 | owner;
}

static inline __u32 upool_tag_owner(__u64 tag)
{
	return (__u32)tag;
}

static inline __u32 upool_tag_gen(__u64 tag)
{
	return (__u32)(tag >> 32);
}

/* A token is check:8 | index:24 | gen:32; check is never 0, so 0 is no token. */
static inline __u64 upool_token_make(__u32 check, __u32 index, __u32 gen)
{
	return (__u64)(check & 0xffU) << 56 | (__u64)(index & 0xffffffU) << 32 | gen;
}

static inline __u32 upool_token_check(__u64 token)
{
	return (__u32)(token >> 56);
}

static inline __u32 upool_token_index(__u64 token)
{
	return (__u32)(token >> 32) & 0xffffffU;
}

static inline __u32 upool_token_gen(__u64 token)
{
	return (__u32)token;
}

static inline __u64 upool_round_up(__u64 x, __u64 align)
{
	return (x + align - 1) & ~(align - 1);
}

/**
 * upool_default_cap() - slots of a magazine for a class of @nr buffers
 * @nr:       buffers of the class
 * @nr_cpus:  online CPUs
 *
 * At most a quarter of the buffers can idle in magazines.
 * Return: 1 to 64
 */
static inline __u32 upool_default_cap(__u32 nr, __u32 nr_cpus)
{
	__u32 cap = nr / 4 / (nr_cpus ? nr_cpus : 1);

	return cap < 1 ? 1 : cap > 64 ? 64 : cap;
}

/**
 * upool_geometry_init() - lay out a pool of one class
 * @g:          zeroed; receives everything but @check and @features
 * @buf_bytes:  64 to 1 GiB, a multiple of 64
 * @nr:         buffers, 1 to @max_nr
 * @max_nr:     buffers to leave room for, up to UPOOL_MAX_COUNT
 * @cap:        slots per magazine, 1 to UPOOL_MAX_CAP
 * @nr_cpu_ids: 1 to 65536
 *
 * No intermediate value can overflow for arguments in range.
 * Return: 0, or -1 when an argument is out of range or the data area would
 * exceed UPOOL_MAX_DATA_BYTES; @g is then undefined
 */
static inline int upool_geometry_init(struct upool_geometry *g, __u64 buf_bytes, __u32 nr,
				      __u32 max_nr, __u32 cap, __u32 nr_cpu_ids)
{
	struct upool_class *c = &g->classes[0];
	__u64 mag_bytes;

	if (buf_bytes < UPOOL_MIN_BUF_BYTES || buf_bytes > UPOOL_MAX_BUF_BYTES || buf_bytes % 64)
		return -1;
	if (!nr || nr > max_nr || max_nr > UPOOL_MAX_COUNT)
		return -1;
	if (!cap || cap > UPOOL_MAX_CAP || !nr_cpu_ids || nr_cpu_ids > 65536)
		return -1;
	if (buf_bytes > UPOOL_MAX_DATA_BYTES / max_nr)
		return -1;

	mag_bytes = upool_round_up(sizeof(struct upool_magazine) + 4ULL * cap, UPOOL_MAG_ALIGN);
	c->buf_bytes = buf_bytes;
	c->nr = nr;
	c->max_nr = max_nr;
	c->cap = cap;
	c->mag_off = UPOOL_HEADER_BYTES;
	c->mag_stride = (__u32)mag_bytes;

	g->nr_classes = 1;
	g->nr_cpu_ids = nr_cpu_ids;
	g->max_count = max_nr;
	g->tag_off = upool_round_up(c->mag_off + mag_bytes * nr_cpu_ids, 4096);
	g->control_bytes = upool_round_up(g->tag_off + 8ULL * max_nr, UPOOL_MAP_ALIGN);
	g->data_bytes = upool_round_up(buf_bytes * max_nr, UPOOL_MAP_ALIGN);
	return 0;
}

#endif /* _UAPI_LINUX_UPOOL_LAYOUT_H */
