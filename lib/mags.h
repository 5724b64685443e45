/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * mags.h - what a hit needs to know about a pool, in two cache lines.
 * Owns: struct mags.  Locks: none; constant once the pool is published.
 * Entry: the operations in arch/, fastpath.h.
 */
#ifndef UPOOL_MAGS_H
#define UPOOL_MAGS_H

#include <stddef.h>
#include <stdint.h>
#include <upool/upool_layout.h>

/* The tag of a buffer: written whole by cas64(), by its halves otherwise. */
union tag {
	uint64_t word;
	struct {
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
		uint32_t owner;
		uint32_t gen;
#else
		uint32_t gen;
		uint32_t owner;
#endif
	};
};

struct mag_lock;

/**
 * struct mags - the magazines, tags and buffers of one class  [const]
 * @slot:      0, which tells it from a private pool
 * @alloc_end: sizes below it are served by the inline hit; 0 = none
 * @none:      0: no part of the arena; as far as this it is a struct upool__head
 * @rseq_off:  libc's rseq area, from the thread pointer
 * @mags:      CPU 0's magazine
 * @tags:      tag of buffer 0
 * @data:      buffer 0
 * @buf_bytes: distance of buffers
 * @inv:       inverse of the odd part of @buf_bytes, modulo 2^64
 * @stride:    bytes between magazines
 * @nr_cpus:   magazines
 * @cap:       slots of a magazine
 * @nr:        buffers
 * @me:        attachment id
 * @held:      @me | UPOOL_TAG_HELD
 * @free_nr:   buffers the inline free takes back: @nr or 0
 * @rot:       log2 of the even part of @buf_bytes
 * @locks:     one per magazine in LOCKED pools
 */
struct mags {
	uint64_t	slot;
	uint64_t	alloc_end;
	uint64_t	none[2];
	intptr_t	rseq_off;
	unsigned char	*mags;
	union tag	*tags;
	unsigned char	*data;
	uint64_t	buf_bytes;
	uint64_t	inv;
	uint32_t	stride;
	uint32_t	nr_cpus;
	uint32_t	cap;
	uint32_t	nr;
	uint32_t	me;
	uint32_t	held;
	uint32_t	free_nr;
	uint32_t	rot;
	struct mag_lock	*locks;
};

/**
 * mag_of() - a CPU's magazine
 * @m:   the magazines
 * @cpu: below @m->nr_cpus
 * Return: the magazine
 */
static inline struct upool_magazine *mag_of(const struct mags *m, uint32_t cpu)
{
	return (struct upool_magazine *)(m->mags + (size_t)cpu * m->stride);
}

/**
 * buf_of() - address of a buffer
 * @m:   the magazines
 * @idx: below @m->nr
 * Return: its first byte
 */
static inline void *buf_of(const struct mags *m, uint32_t idx)
{
	return m->data + (size_t)(idx * m->buf_bytes);
}

/**
 * buf_index() - which buffer starts at an address
 * @m:   the magazines
 * @buf: any address
 *
 * Multiplying by the inverse of the odd part and rotating the even part away
 * divides exact multiples of buf_bytes, and takes everything else above
 * (2^64 - 1) / buf_bytes: one comparison finds foreign and interior pointers.
 *
 * Return: its index, or a value not below @m->nr
 */
static inline uint64_t buf_index(const struct mags *m, const void *buf)
{
	uint64_t q = ((uint64_t)(uintptr_t)buf - (uint64_t)(uintptr_t)m->data) * m->inv;

	return q >> (m->rot & 63) | q << (-m->rot & 63);
}

#endif /* UPOOL_MAGS_H */
