// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * priv_arena.c - one reserved range of addresses, divided into spans of equal buffers.
 * Owns: the arena, struct span.  Locks: spans of a pool, then arena.  Entry: priv_*.c.
 *
 * What describes buffers lies outside of them, dense, found from an address by two
 * loads.  A span that is not used keeps its addresses and number for its size class,
 * its memory goes back to the system.
 */
#include "priv.h"
#include "sys.h"
#include "sys_vm.h"

#define MAX_ARENA	((uint64_t)1 << 40)
#define MIN_ARENA	((uint64_t)1 << 26)
#define DROP_PAGES	65536	/* buffers as large give their pages back one by one */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct upool__head arena;		/* [const] once reserved */
static uint64_t next_unit;			/* [lock] units below were used */
static uint32_t next_span;			/* [lock] numbers below were used */
static uint64_t map_ready, spans_ready;		/* [lock] entries that can be written */
static uint32_t unused[UPOOL__CLASSES + 1];	/* [lock] spans by class; last: huge */

static uint64_t nr_units(void)
{
	return arena.bytes >> UPOOL__UNIT_SHIFT;
}

static int reserve_all(uint64_t bytes)
{
	uint64_t units = bytes >> UPOOL__UNIT_SHIFT;
	void *base, *map, *spans;

	if (sys_reserve(&base, bytes, PRIV_MAX_ALIGN, 0))
		return -ENOMEM;
	if (sys_reserve(&map, units * sizeof(uint32_t), UPOOL_MAP_ALIGN, 1))
		goto no_map;
	if (sys_reserve(&spans, (units + 1) * sizeof(struct span), UPOOL_MAP_ALIGN, 0))
		goto no_spans;
	if (sys_commit(spans, UPOOL_MAP_ALIGN))
		goto no_memory;
	spans_ready = UPOOL_MAP_ALIGN / sizeof(struct span);
	next_span = 1;
	arena.base = (uintptr_t)base;
	arena.map = map;
	arena.spans = spans;
	arena.bytes = bytes;
	return 0;

no_memory:
	sys_unmap(spans, (units + 1) * sizeof(struct span));
no_spans:
	sys_unmap(map, units * sizeof(uint32_t));
no_map:
	sys_unmap(base, bytes);
	return -ENOMEM;
}

int arena_init(struct upool__head *h)
{
	uint64_t bytes = MAX_ARENA;

	pthread_mutex_lock(&lock);
	/* A limit on addresses leaves a smaller one. */
	while (!arena.bytes && bytes >= MIN_ARENA && reserve_all(bytes))
		bytes /= 2;
	pthread_mutex_unlock(&lock);
	if (!arena.bytes)
		return -ENOMEM;
	h->base = arena.base;
	h->bytes = arena.bytes;
	h->map = arena.map;
	h->spans = arena.spans;
	return 0;
}

static struct span *span_nr(uint32_t nr)
{
	return (struct span *)&arena.spans[nr];
}

static uint32_t nr_of(const struct span *s)
{
	return (uint32_t)((const struct upool__span *)s - arena.spans);
}

static void *span_start(const struct span *s)
{
	return (void *)(arena.base + s->hot.off);
}

/* About 64 buffers, but not more than 1 MiB for them. */
static uint64_t units_of(unsigned int cls)
{
	uint64_t bytes = class_bytes(cls), want = 64 * bytes;

	if (want > (1U << 20))
		want = bytes > (1U << 20) ? bytes : 1U << 20;
	return (want + PRIV_UNIT - 1) >> UPOOL__UNIT_SHIFT;
}

/* Entries [*ready, limit) of an array become writable, in steps of whole pages. */
static int make_ready(void *array, uint64_t *ready, uint64_t limit, size_t entry)
{
	uint64_t step = UPOOL_MAP_ALIGN / entry, n;

	if (limit <= *ready)
		return 0;
	n = (limit - *ready + step - 1) / step * step;
	if (sys_commit((char *)array + *ready * entry, n * entry))
		return -ENOMEM;
	*ready += n;
	return 0;
}

/* Addresses never used before.  The caller has the lock. */
static struct span *carve(uint64_t units, uint64_t align)
{
	uint64_t first = (next_unit + align - 1) & ~(align - 1);
	struct span *s;

	if (units > nr_units() || first > nr_units() - units)
		return NULL;
	if (make_ready((void *)(uintptr_t)arena.map, &map_ready, first + units, sizeof(uint32_t)) ||
	    make_ready(arena.spans, &spans_ready, next_span + 1, sizeof(struct span)) ||
	    sys_commit((void *)(arena.base + first * PRIV_UNIT), units * PRIV_UNIT))
		return NULL;
	s = span_nr(next_span++);
	s->hot.off = first * PRIV_UNIT;
	next_unit = first + units;
	return s;
}

static struct span *unused_take(unsigned int cls, uint64_t units)
{
	uint32_t *at = &unused[cls];
	struct span *s;

	for (; *at; at = &s->next) {
		s = span_nr(*at);
		if (cls < UPOOL__CLASSES || s->hint >= units) {
			*at = s->next;
			return s;
		}
	}
	return NULL;
}

/* From the address to the span, for every unit in which a buffer can start. */
static void map_set(const struct span *s, uint64_t units, uint32_t nr)
{
	uint32_t *map = (uint32_t *)(uintptr_t)arena.map + (s->hot.off >> UPOOL__UNIT_SHIFT);
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

	if (state) {
		pthread_mutex_lock(&lock);
		s = unused_take(cls, units);
		if (!s)
			s = carve(units, !align ? 1 : align < max_align ? align : max_align);
		pthread_mutex_unlock(&lock);
	}
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
	map_set(s, units, nr_of(s));
	store_relaxed(&p->span_bytes, p->span_bytes + units * PRIV_UNIT);
	if (p->flags & UPOOL_F_HUGE)
		sys_huge(span_start(s), units * PRIV_UNIT);
	return s;
}

/* The memory goes back, the addresses wait for the next span of that class. */
static void span_release(struct priv *p, struct span *s)
{
	unsigned int cls = s->hot.cls;
	uint64_t units = cls == PRIV_HUGE_CLASS ? s->hint : units_of(cls);

	map_set(s, units, 0);
	s->hot.key = NULL;
	store_relaxed(&s->pool, NULL);
	sys_decommit(span_start(s), units * PRIV_UNIT);
	meta_free(s->hot.state, s->hot.nr);
	store_relaxed(&p->span_bytes, p->span_bytes - units * PRIV_UNIT);
	pthread_mutex_lock(&lock);
	s->next = unused[cls];
	unused[cls] = nr_of(s);
	pthread_mutex_unlock(&lock);
}

static void partial_add(struct priv *p, struct span *s)
{
	uint32_t *first = &p->sizes[s->hot.cls].partial;

	s->prev = 0;
	s->next = *first;
	if (*first)
		span_nr(*first)->prev = nr_of(s);
	*first = nr_of(s);
}

static void partial_remove(struct priv *p, struct span *s)
{
	if (s->next)
		span_nr(s->next)->prev = s->prev;
	if (s->prev)
		span_nr(s->prev)->next = s->next;
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
		s = span_nr(p->sizes[cls].partial);
		/* idle says that there is one; the states of others change meanwhile */
		state = s->hot.state + s->hint;
		while (load_relaxed(state) != UPOOL__BACKING)
			state++;
		s->hint = (uint32_t)(state - s->hot.state);
		mag->e[mag->nr].buf = (char *)span_start(s) + s->hint * bytes;
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
	uint64_t unit = ((uintptr_t)e->buf - arena.base) >> UPOOL__UNIT_SHIFT;
	struct span *s = span_nr(arena.map[unit]);
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
		sys_decommit(mag->e[i].buf, bytes);
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
	return s ? span_start(s) : NULL;
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
	uint64_t off = (uintptr_t)buf - arena.base, q;
	struct span *s;

	if (off >= arena.bytes)
		return NULL;
	s = span_nr(load_relaxed(&arena.map[off >> UPOOL__UNIT_SHIFT]));
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
	uint32_t n, limit = load_relaxed(&next_span);

	pthread_mutex_lock(&p->spans_lock);
	for (n = 1; n < limit; n++)
		if (load_relaxed(&span_nr(n)->pool) == p)
			span_release(p, span_nr(n));
	pthread_mutex_unlock(&p->spans_lock);
}

void arena_fork(bool before)
{
	if (before)
		pthread_mutex_lock(&lock);
	else
		pthread_mutex_unlock(&lock);
}
