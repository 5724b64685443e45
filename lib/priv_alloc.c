// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * priv_alloc.c - allocation and free in private pools, where a hit did not do it.
 * Owns: which layer is asked next.  Locks: none held here across layers.
 * Entry: alloc.c.
 */
#include <string.h>
#include "priv.h"
#include "sys.h"

#define NEXT_CLASSES	2	/* larger ones that a bounded pool tries */
#define LOOK_MS		10	/* between looks at threads that were in a hit */

/* From the thread's bin, the CPU's magazine, the depot or the spans; state idle. */
static bool take(struct priv *p, unsigned int cls, struct upool__entry *e)
{
	struct cache *c = cache_useful(p, cls) ? cache_lock(p) : NULL;
	struct upool__bin *b;
	bool got = false;

	if (c) {
		got = bin_fill(p, c, cls);
		if (got) {
			b = &c->hot.bin[cls];
			*e = b->top[-1];
			store_relaxed(&b->top, b->top - 1);
		}
		cache_unlock(c);
	}
	/* without a cache, or without budget for a bin */
	return got || cpu_get(p, cls, e) || shard_get_one(p, cls, e);
}

/* When everything of a class exists: what other threads have cached, larger classes. */
static bool take_anywhere(struct priv *p, unsigned int cls, struct upool__entry *e)
{
	unsigned int last = cls + NEXT_CLASSES, i;

	if (take(p, cls, e))
		return true;
	priv_count(p, LOCAL_drains, 1);
	caches_drain(p, UINT64_MAX);
	for (i = cls; i <= last && i < UPOOL__CLASSES && class_bytes(i) <= p->max_buf; i++)
		if (take(p, i, e))
			return true;
	return false;
}

static void *hand_over(struct priv *p, const struct upool__entry *e, size_t bytes)
{
	set_state(e, UPOOL__HELD);
	return p->flags & UPOOL_F_CLEAR ? memset(e->buf, 0, bytes) : e->buf;
}

/* The class of a size, or that of the huge. */
static unsigned int class_for(const struct priv *p, size_t *bytes)
{
	if (!*bytes)
		*bytes = 1;
	if (*bytes > p->max_buf)
		return PRIV_HUGE_CLASS;
	if (p->flags & UPOOL_F_POW2 && *bytes > 16)
		*bytes = (size_t)1 << (64 - __builtin_clzll(*bytes - 1));
	return upool__class_of(*bytes);
}

static void *alloc_huge(struct priv *p, size_t bytes)
{
	priv_count(p, LOCAL_too_big, 1);
	return huge_alloc(p, bytes);	/* its pages are zero */
}

void *priv_alloc(struct priv *p, size_t bytes)
{
	size_t want = bytes;
	unsigned int cls = class_for(p, &bytes);
	struct upool__entry e;
	void *buf = NULL;

	if (cls == PRIV_HUGE_CLASS)
		buf = alloc_huge(p, bytes);
	else if (take_anywhere(p, cls, &e))
		buf = hand_over(p, &e, want);
	if (!buf)
		priv_count(p, LOCAL_exhausted, 1);
	trim_by_age(p);
	return buf;
}

/* The smallest class that is at least as aligned: its size is a multiple. */
void *priv_alloc_aligned(struct priv *p, size_t bytes, size_t align)
{
	if (align > PRIV_MAX_ALIGN || bytes > SIZE_MAX - align)
		return NULL;
	if (!bytes)
		bytes = 1;
	bytes = (bytes + align - 1) & ~(align - 1);
	if (bytes <= p->max_buf && align > 16)
		while (class_bytes(upool__class_of(bytes)) & (align - 1))
			bytes += align;
	return priv_alloc(p, bytes);
}

static uint64_t deadline_of(int timeout_ms)
{
	return timeout_ms < 0 ? UINT64_MAX : sys_now_ms() + (unsigned int)timeout_ms;
}

/*
 * While somebody is counted as waiting, threads go around their caches, and every free
 * comes by wake().
 */
void *priv_alloc_wait(struct priv *p, size_t bytes, int timeout_ms)
{
	uint64_t deadline = deadline_of(timeout_ms), now;
	size_t want = bytes;
	unsigned int cls = class_for(p, &bytes);
	struct upool__entry e;
	bool got = false;
	uint32_t seen;

	if (cls == PRIV_HUGE_CLASS || !timeout_ms)
		return priv_alloc(p, want);
	if (take(p, cls, &e))
		return hand_over(p, &e, want);
	priv_count(p, LOCAL_waits, 1);
	add_seq_cst(&p->waiters, 1);
	for (;;) {
		seen = load_seq_cst(&p->freed);
		got = take_anywhere(p, cls, &e);
		now = sys_now_ms();
		if (got || now >= deadline)
			break;
		sys_futex_wait(&p->freed, seen, deadline - now < LOOK_MS ?
			       (unsigned int)(deadline - now) : LOOK_MS);
	}
	__atomic_fetch_sub(&p->waiters, 1, __ATOMIC_SEQ_CST);
	if (!got)
		priv_count(p, LOCAL_exhausted, 1);
	return got ? hand_over(p, &e, want) : NULL;
}

static void wake(struct priv *p)
{
	if (!load_seq_cst(&p->waiters))
		return;
	add_seq_cst(&p->freed, 1);
	sys_futex_wake(&p->freed);
}

/* To the thread's bin, the CPU's magazine or the depot; state idle. */
static void give(struct priv *p, unsigned int cls, struct upool__entry e)
{
	struct cache *c = cache_useful(p, cls) ? cache_lock(p) : NULL;
	struct upool__bin *b;
	bool room = false;

	if (c) {
		room = bin_drain(p, c, cls);
		if (room) {
			b = &c->hot.bin[cls];
			*b->top = e;
			store_relaxed(&b->top, b->top + 1);
		}
		cache_unlock(c);
	}
	if (!room && !cpu_put(p, cls, &e))
		shard_put_one(p, cls, e);
	wake(p);
}

/* End the tenancy: 0 or -errno.  With UPOOL_F_STRICT racing frees are told apart too. */
static int end(struct priv *p, struct span *s, uint32_t index)
{
	unsigned char *state = s->hot.state + index, was = load_relaxed(state);

	if (was == UPOOL__EXPORTED)
		return token_end(p, s, index) ? 0 : -ESTALE;
	if (was != UPOOL__HELD)
		return -EALREADY;
	if (!(p->flags & UPOOL_F_STRICT)) {
		store_relaxed(state, UPOOL__IDLE);
		return 0;
	}
	return __atomic_compare_exchange_n(state, &was, UPOOL__IDLE, false, __ATOMIC_ACQ_REL,
					   __ATOMIC_RELAXED) ? 0 : -EALREADY;
}

int priv_free(struct priv *p, void *buf)
{
	struct upool__entry e = { .buf = buf };
	struct span *s;
	uint32_t i;
	int ret;

	if (!buf)
		return 0;
	s = span_of(p, buf, &i);
	if (!s) {
		priv_count(p, LOCAL_foreign_free, 1);
		return -EINVAL;
	}
	ret = end(p, s, i);
	if (ret) {
		priv_count(p, ret == -ESTALE ? LOCAL_stale : LOCAL_double_free, 1);
		return ret;
	}
	if (s->hot.cls == PRIV_HUGE_CLASS) {
		huge_free(p, s);
		wake(p);
		return 0;
	}
	e.state = s->hot.state + i;
	give(p, s->hot.cls, e);
	trim_by_age(p);
	return 0;
}

size_t priv_usable_size(const struct priv *p, const void *buf)
{
	uint32_t i;
	struct span *s = span_of(p, buf, &i);

	if (!s)
		return 0;
	return s->hot.cls == PRIV_HUGE_CLASS ? s->hint * PRIV_UNIT : class_bytes(s->hot.cls);
}
