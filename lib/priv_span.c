// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * priv_span.c - equal buffers in a row, and what is known of them.
 * Owns: struct span, states of buffers that are in no layer above.  Locks: spans of a
 * pool.  Entry: priv_*.c.
 *
 * What describes buffers lies outside of them, dense, found from an address by two
 * loads.  The memory of a span that is not used goes back to the system.
 */
#include "priv.h"
#include "sys.h"
#include "sys_vm.h"

#define DROP_PAGES	65536	/* buffers as large give their pages back one by one */

static struct span *span_nr(const struct priv *p, uint32_t nr)
{
	return (struct span *)&p->head.spans[nr];
}

static uint32_t nr_of(const struct priv *p, const struct span *s)
{
	return (uint32_t)((const struct upool__span *)s - p->head.spans);
}

static void *span_start(const struct priv *p, const struct span *s)
{
	return (char *)p->head.base + s->hot.off;
}

/* About 64 buffers, but not more than 1 MiB for them. */
static uint64_t units_of(unsigned int cls)
{
	uint64_t bytes = class_bytes(cls), want = 64 * bytes;

	if (want > (1U << 20))
		want = bytes > (1U << 20) ? bytes : 1U << 20;
	return (want + PRIV_UNIT - 1) >> UPOOL__UNIT_SHIFT;
}

/* From the address to the span, for every unit in which a buffer can start. */
static void map_set(const struct priv *p, const struct span *s, uint64_t units, uint32_t nr)
{
	uint32_t *map = (uint32_t *)(uintptr_t)p->head.map + (s->hot.off >> UPOOL__UNIT_SHIFT);
	uint64_t i;

	for (i = 0; i < (s->hot.nr == 1 ? 1 : units); i++)
		store_relaxed(&map[i], nr);
}

static uint64_t inverse(uint64_t odd)
{
	uint64_t x = odd;	/* correct to 3 bits; each step doubles them */
	int i;

	for (i = 0; i < 5; i++)
		x *= 2 - odd * x;
	return x;
}

static struct span *span_new(struct priv *p, unsigned int cls, uint64_t units, uint64_t bytes)
{
	uint64_t align = (bytes & -bytes) >> UPOOL__UNIT_SHIFT;
	uint64_t max_align = PRIV_MAX_ALIGN >> UPOOL__UNIT_SHIFT;
	uint32_t nr = cls == PRIV_HUGE_CLASS ? 1 : (uint32_t)(units * PRIV_UNIT / bytes);
	unsigned char *state = meta_alloc(nr);
	struct span *s = NULL;

	if (state)
		s = arena_take(cls, units, !align ? 1 : align < max_align ? align : max_align);
	if (!s) {
		meta_free(state, nr);
		return NULL;
	}
	s->hot.rot = cls == PRIV_HUGE_CLASS ? 0 : (uint8_t)__builtin_ctzll(bytes);
	s->hot.inv = cls == PRIV_HUGE_CLASS ? 1 : inverse(bytes >> s->hot.rot);
	s->hot.state = state;
	s->hot.nr = nr;
	s->hot.cls = (uint8_t)cls;
	s->hot.key = cls == PRIV_HUGE_CLASS || p->flags & UPOOL_F_STRICT ? NULL : p;
	store_relaxed(&s->pool, p);
	if (cls != PRIV_HUGE_CLASS)
		s->hint = 0;
	else if (s->hint < units)
		s->hint = (uint32_t)units;
	else
		units = s->hint;
	s->idle = nr;
	map_set(p, s, units, nr_of(p, s));
	store_relaxed(&p->span_bytes, p->span_bytes + units * PRIV_UNIT);
	if (p->flags & UPOOL_F_HUGE)
		sys_huge(span_start(p, s), units * PRIV_UNIT);
	return s;
}

static void decommit(struct priv *p, void *at, uint64_t bytes)
{
	if (sys_decommit(at, bytes))
		priv_count(p, LOCAL_trim_errors, 1);
}

/* The memory goes back, the addresses wait for the next span of that class. */
static void span_release(struct priv *p, struct span *s)
{
	unsigned int cls = s->hot.cls;
	uint64_t units = cls == PRIV_HUGE_CLASS ? s->hint : units_of(cls);

	map_set(p, s, units, 0);
	s->hot.key = NULL;
	store_relaxed(&s->pool, NULL);
	decommit(p, span_start(p, s), units * PRIV_UNIT);
	meta_free(s->hot.state, s->hot.nr);
	store_relaxed(&p->span_bytes, p->span_bytes - units * PRIV_UNIT);
	arena_put(s);
}

static void partial_add(struct priv *p, struct span *s)
{
	uint32_t *first = &p->sizes[s->hot.cls].partial;

	s->prev = 0;
	s->next = *first;
	if (*first)
		span_nr(p, *first)->prev = nr_of(p, s);
	*first = nr_of(p, s);
}

static void partial_remove(struct priv *p, struct span *s)
{
	if (s->next)
		span_nr(p, s->next)->prev = s->prev;
	if (s->prev)
		span_nr(p, s->prev)->next = s->next;
	else
		p->sizes[s->hot.cls].partial = s->next;
}

static void count_total(struct priv *p, unsigned int cls, int64_t n)
{
	store_relaxed(&p->sizes[cls].total, (uint32_t)(p->sizes[cls].total + n));
	store_relaxed(&p->bytes, p->bytes + (uint64_t)n * class_bytes(cls));
}

/* How many of @nr buffers the pool's limits still allow. */
static uint32_t allowed(const struct priv *p, unsigned int cls, uint32_t nr)
{
	uint64_t bytes = class_bytes(cls), room = nr, more;

	if (p->max_nr) {
		more = p->max_nr - p->sizes[cls].total;
		room = more < room ? more : room;
	}
	if (p->max_bytes) {
		more = p->bytes < p->max_bytes ? (p->max_bytes - p->bytes) / bytes : 0;
		room = more < room ? more : room;
	}
	return (uint32_t)room;
}

uint32_t span_refill(struct priv *p, unsigned int cls, struct magazine *mag, uint32_t nr)
{
	uint64_t bytes = class_bytes(cls);
	unsigned char *state;
	uint32_t got = 0;
	struct span *s;

	pthread_mutex_lock(&p->spans_lock);
	nr = allowed(p, cls, nr);
	while (got < nr) {
		if (!p->sizes[cls].partial) {
			s = span_new(p, cls, units_of(cls), bytes);
			if (!s)
				break;
			partial_add(p, s);
		}
		s = span_nr(p, p->sizes[cls].partial);
		/* idle says that there is one; the states of others change meanwhile */
		state = s->hot.state + s->hint;
		while (load_relaxed(state) != UPOOL__BACKING)
			state++;
		s->hint = (uint32_t)(state - s->hot.state);
		mag->e[mag->nr].buf = (char *)span_start(p, s) + s->hint * bytes;
		mag->e[mag->nr].state = state;
		set_state(&mag->e[mag->nr++], UPOOL__IDLE);
		s->hint++;
		got++;
		if (!--s->idle)
			partial_remove(p, s);
	}
	count_total(p, cls, got);
	pthread_mutex_unlock(&p->spans_lock);
	priv_count(p, LOCAL_new_buffers, got);
	return got;
}

static void span_put(struct priv *p, const struct upool__entry *e)
{
	uint64_t unit = ((uintptr_t)e->buf - p->head.base) >> UPOOL__UNIT_SHIFT;
	struct span *s = span_nr(p, p->head.map[unit]);
	uint32_t i = (uint32_t)(e->state - s->hot.state);

	set_state(e, UPOOL__BACKING);
	s->hint = i < s->hint ? i : s->hint;
	if (!s->idle++)
		partial_add(p, s);
	if (s->idle == s->hot.nr) {
		partial_remove(p, s);
		span_release(p, s);
	}
}

void span_drop(struct priv *p, unsigned int cls, struct magazine *mag)
{
	uint64_t bytes = class_bytes(cls);
	uint32_t i;

	for (i = 0; p->drop && i < mag->nr; i++)
		p->drop(p->drop_arg, mag->e[i].buf);
	for (i = 0; bytes >= DROP_PAGES && i < mag->nr; i++)
		decommit(p, mag->e[i].buf, bytes);
	pthread_mutex_lock(&p->spans_lock);
	count_total(p, cls, -(int64_t)mag->nr);
	while (mag->nr)
		span_put(p, &mag->e[--mag->nr]);
	pthread_mutex_unlock(&p->spans_lock);
}

void *huge_alloc(struct priv *p, uint64_t bytes)
{
	uint64_t units = (bytes + PRIV_UNIT - 1) >> UPOOL__UNIT_SHIFT;
	struct span *s = NULL;

	if (bytes > p->head.bytes)
		return NULL;
	pthread_mutex_lock(&p->spans_lock);
	if (!p->max_bytes || (p->bytes < p->max_bytes && bytes <= p->max_bytes - p->bytes))
		s = span_new(p, PRIV_HUGE_CLASS, units, units * PRIV_UNIT);
	if (s) {
		store_relaxed(&s->hot.state[0], UPOOL__HELD);
		store_relaxed(&p->bytes, p->bytes + s->hint * PRIV_UNIT);
		store_relaxed(&p->huge, p->huge + 1);
	}
	pthread_mutex_unlock(&p->spans_lock);
	return s ? span_start(p, s) : NULL;
}

void huge_free(struct priv *p, struct span *s)
{
	pthread_mutex_lock(&p->spans_lock);
	store_relaxed(&p->bytes, p->bytes - s->hint * PRIV_UNIT);
	store_relaxed(&p->huge, p->huge - 1);
	span_release(p, s);
	pthread_mutex_unlock(&p->spans_lock);
}

struct span *span_of(const struct priv *p, const void *buf, uint32_t *index)
{
	uint64_t off = (uintptr_t)buf - p->head.base, q;
	struct span *s;

	if (off >= p->head.bytes)
		return NULL;
	s = span_nr(p, load_relaxed(&p->head.map[off >> UPOOL__UNIT_SHIFT]));
	q = (off - s->hot.off) * s->hot.inv;
	q = q >> s->hot.rot | q << (-s->hot.rot & 63);
	if (load_relaxed(&s->pool) != p || q >= s->hot.nr)
		return NULL;
	*index = (uint32_t)q;
	return s;
}

/* The units of a pool's spans are found by walking all numbers: pools end rarely. */
void spans_release(struct priv *p)
{
	uint32_t n, limit = arena_nr_spans();

	pthread_mutex_lock(&p->spans_lock);
	for (n = 1; n < limit; n++)
		if (load_relaxed(&span_nr(p, n)->pool) == p)
			span_release(p, span_nr(p, n));
	pthread_mutex_unlock(&p->spans_lock);
}
