// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * priv_arena.c - one reserved range of addresses, for the spans of all private pools.
 * Owns: the arena, numbers and addresses of spans.  Locks: arena.  Entry: priv_span.c.
 *
 * A span that is not used keeps its addresses and number for its size class.
 */
#include "priv.h"
#include "sys.h"
#include "sys_vm.h"

#define MAX_ARENA	((uint64_t)1 << (sizeof(void *) == 8 ? 40 : 30))
#define MIN_ARENA	((uint64_t)1 << 26)

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
	    sys_commit((char *)arena.base + first * PRIV_UNIT, units * PRIV_UNIT))
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

struct span *arena_take(unsigned int cls, uint64_t units, uint64_t align)
{
	struct span *s;

	pthread_mutex_lock(&lock);
	s = unused_take(cls, units);
	if (!s)
		s = carve(units, align);
	pthread_mutex_unlock(&lock);
	return s;
}

void arena_put(struct span *s)
{
	uint32_t *first = &unused[s->hot.cls];

	pthread_mutex_lock(&lock);
	s->next = *first;
	*first = nr_of(s);
	pthread_mutex_unlock(&lock);
}

uint32_t arena_nr_spans(void)
{
	uint32_t n;

	pthread_mutex_lock(&lock);
	n = next_span;
	pthread_mutex_unlock(&lock);
	return n;
}

void arena_fork(bool before)
{
	if (before)
		pthread_mutex_lock(&lock);
	else
		pthread_mutex_unlock(&lock);
}
