/* SPDX-License-Identifier: MIT */
/*
 * upool_inline.h - upool_alloc() and upool_free() of private pools, compiled into the
 * caller.  Opt-in: a program that includes this is bound to this layout; the number in
 * the name of upool__self_1 makes an incompatible library fail to link or load.
 *
 * Names with two underscores are not for callers.
 *
 * Source: magazines are Bonwick and Adams, "Magazines and Vmem" (USENIX 2001).
 *
 * Invariants of a hit, which takes no lock and calls nothing
 *	M1  busy is set before the cache is looked up and cleared after the last access to
 *	    it.  Who wants another thread's cache replaces the pointer, has every CPU pass
 *	    a barrier, and keeps off while busy is set.
 *	M2  A buffer's state is written by whoever owns it: its holder, the cache it is in,
 *	    or the lock of the layer it is in.
 *	M3  An address is compared with the arena's bounds before anything it leads to is
 *	    read.
 */
#ifndef UPOOL_INLINE_H
#define UPOOL_INLINE_H

#include <upool.h>

#ifdef __cplusplus
extern "C" {
#endif

#define UPOOL__CLASSES		100	/* 16 bytes to 1 GiB */
#define UPOOL__CACHES		256	/* private pools that have thread magazines */
#define UPOOL__UNIT_SHIFT	16	/* the arena is divided into units of 64 KiB */

/* State of a buffer, a byte each, outside of the buffers. */
enum {
	UPOOL__BACKING = 0,	/* in its span */
	UPOOL__IDLE,		/* in a magazine */
	UPOOL__HELD,
	UPOOL__EXPORTED,	/* held, and there is a token */
};

struct upool__entry {
	void			*buf;
	unsigned char		*state;
};

/**
 * struct upool__bin - a thread's magazines of one size class
 * @top:  above the last entry of the loaded magazine
 * @base: its first entry; equal to @top when there is none
 * @end:  where it counts as full
 * @prev: the previous magazine: full, empty or NULL
 */
struct upool__bin {
	struct upool__entry	*top;
	struct upool__entry	*base;
	struct upool__entry	*end;
	void			*prev;
};

struct upool__cache {
	struct upool__bin	bin[UPOOL__CLASSES];
};

/**
 * struct upool__thread - what a thread has
 * @cache: by slot of the pool; never NULL	[atomic]
 * @busy:  a hit is under way (M1)		[atomic]
 */
struct upool__thread {
	struct upool__cache	*cache[UPOOL__CACHES];
	unsigned int		busy;
};

/**
 * struct upool__span - units of the arena that hold buffers of one size
 * @key:   the pool, if hits may free into it, else NULL
 * @off:   its first byte, from the arena's
 * @inv:   inverse of the odd part of the size, modulo 2^64
 * @state: of buffer 0
 * @nr:    buffers
 * @rot:   log2 of the even part of the size
 * @cls:   size class
 * @__resv: 0
 * @__lib: the library's
 */
struct upool__span {
	const void		*key;
	uint64_t		off;
	uint64_t		inv;
	unsigned char		*state;
	uint32_t		nr;
	uint8_t			rot;
	uint8_t			cls;
	uint16_t		__resv;
	uint64_t		__lib[3];
} __attribute__((aligned(64)));

/**
 * struct upool__head - beginning of every pool  [const]
 * @slot:  of a private pool; 0 = a shared pool, of which no thread has a cache
 * @end:   sizes below it are served by hits
 * @base:  the arena
 * @bytes: of the arena; 0 = a shared pool
 * @map:   number of the span, by unit; readable for the whole arena
 * @spans: span 0 has no buffers
 */
struct upool__head {
	uint64_t		slot;
	uint64_t		end;
	uintptr_t		base;
	uint64_t		bytes;
	const uint32_t		*map;
	struct upool__span	*spans;
};

extern __thread struct upool__thread *upool__self_1 __attribute__((tls_model("initial-exec")));

#define upool__always_inline	inline __attribute__((always_inline))

#define upool__load(p)		__atomic_load_n(p, __ATOMIC_RELAXED)
#define upool__store(p, v)	__atomic_store_n(p, v, __ATOMIC_RELAXED)
#define upool__barrier()	__atomic_signal_fence(__ATOMIC_SEQ_CST)

/* 16-byte steps to 64 bytes, then four classes for each doubling; up to 1 GiB. */
static upool__always_inline unsigned int upool__class_of(size_t bytes)
{
	uint64_t n = (uint64_t)bytes - !!bytes;
	unsigned int e;

	if (n < 64)
		return (unsigned int)(n >> 4);
	e = (unsigned int)__builtin_clzll(n) ^ 63;
	return (e - 6) * 4 + (unsigned int)(n >> (e - 2));
}

/* Whether there was a buffer: *@buf, held. */
static upool__always_inline int upool__pop(const struct upool__head *h, unsigned int cls,
					   void **buf)
{
	struct upool__thread *t = upool__self_1;
	struct upool__entry *top;
	struct upool__bin *b;

	upool__store(&t->busy, 1u);
	upool__barrier();
	b = &upool__load(&t->cache[h->slot])->bin[cls];
	top = upool__load(&b->top);
	if (__builtin_expect(top == b->base, 0)) {
		upool__store(&t->busy, 0u);
		return 0;
	}
	*buf = top[-1].buf;
	upool__store(top[-1].state, (unsigned char)UPOOL__HELD);
	upool__store(&b->top, top - 1);
	upool__barrier();
	upool__store(&t->busy, 0u);
	return 1;
}

/* Whether there was room for @buf, which the caller holds; @state is its state. */
static upool__always_inline int upool__push(const struct upool__head *h, unsigned int cls,
					    void *buf, unsigned char *state)
{
	struct upool__thread *t = upool__self_1;
	struct upool__entry *top;
	struct upool__bin *b;

	upool__store(&t->busy, 1u);
	upool__barrier();
	b = &upool__load(&t->cache[h->slot])->bin[cls];
	top = upool__load(&b->top);
	if (__builtin_expect(top == b->end, 0)) {
		upool__store(&t->busy, 0u);
		return 0;
	}
	upool__store(state, (unsigned char)UPOOL__IDLE);
	top->buf = buf;
	top->state = state;
	upool__store(&b->top, top + 1);
	upool__barrier();
	upool__store(&t->busy, 0u);
	return 1;
}

/**
 * upool__lookup() - the buffer that starts at an address
 * @h:     a pool
 * @buf:   any address
 * @state: receives where its state is
 * @cls:   receives its size class
 *
 * Multiplying by the inverse of the odd part and rotating the even part away divides
 * exact multiples of the size, and takes everything else above the number of buffers.
 *
 * Return: whether a hit may free it
 */
static upool__always_inline int upool__lookup(const struct upool__head *h, const void *buf,
					      unsigned char **state, unsigned int *cls)
{
	uint64_t off = (uintptr_t)buf - h->base, q;
	const struct upool__span *s;

	if (__builtin_expect(off >= h->bytes, 0))
		return 0;
	s = &h->spans[upool__load(&h->map[off >> UPOOL__UNIT_SHIFT])];
	q = (off - s->off) * s->inv;
	q = q >> s->rot | q << (-s->rot & 63);
	if (__builtin_expect(s->key != (const void *)h, 0) || __builtin_expect(q >= s->nr, 0))
		return 0;
	*state = s->state + q;
	*cls = s->cls;
	return 1;
}

/**
 * upool_alloc_inline() - upool_alloc(), compiled into the caller
 * @pool:  a pool, of any backing
 * @bytes: as for upool_alloc()
 *
 * Context: as upool_alloc().
 * Return: as upool_alloc()
 */
static upool__always_inline void *upool_alloc_inline(struct upool *pool, size_t bytes)
{
	const struct upool__head *h = (const struct upool__head *)pool;
	void *buf;

	if (__builtin_expect(bytes < h->end, 1) &&
	    __builtin_expect(upool__pop(h, upool__class_of(bytes), &buf), 1))
		return buf;
	return upool_alloc(pool, bytes);
}

/**
 * upool_free_inline() - upool_free(), compiled into the caller
 * @pool: the pool it came from, of any backing
 * @buf:  its address; NULL is allowed
 *
 * Context: as upool_alloc().
 * Return: as upool_free()
 */
static upool__always_inline int upool_free_inline(struct upool *pool, void *buf)
{
	const struct upool__head *h = (const struct upool__head *)pool;
	unsigned char *state;
	unsigned int cls;

	if (__builtin_expect(upool__lookup(h, buf, &state, &cls), 1) &&
	    __builtin_expect(upool__load(state) == UPOOL__HELD, 1) &&
	    __builtin_expect(upool__push(h, cls, buf, state), 1))
		return 0;
	return upool_free(pool, buf);
}

#ifdef __cplusplus
}
#endif

#endif /* UPOOL_INLINE_H */
