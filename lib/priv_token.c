// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * priv_token.c - tokens of private pools: a table of numbers that each work once.
 * Owns: struct token_table, the exported state.  Locks: tokens.  Entry: alloc.c.
 *
 * A token names an entry of the table and its generation.  The entry's generation goes
 * up when the token is used or its tenancy ends, so no buffer has to remember one; an
 * entry whose generations are used up is not used again (statistic "retired").
 */
#include "priv.h"

#define CHUNK_SHIFT	12
#define CHUNK_NR	(1U << CHUNK_SHIFT)
#define NR_CHUNKS	(UPOOL_MAX_COUNT >> CHUNK_SHIFT)
#define NR_BUCKETS	4096U
#define NONE		UINT32_MAX

/**
 * struct token_entry - a number that is given out  [tokens]
 * @span:  of the buffer; NULL = not in use
 * @index: which buffer
 * @gen:   of the token
 * @next:  of its bucket, or of the unused; NONE ends
 */
struct token_entry {
	struct span	*span;
	uint32_t	index;
	uint32_t	gen;
	uint32_t	next;
};

/**
 * struct token_table - [tokens]
 * @used:   entries that have been in use
 * @unused: first of a list; NONE ends
 * @bucket: entries in use, by their buffer; NONE ends
 * @chunk:  CHUNK_NR entries each, made when needed
 */
struct token_table {
	uint32_t		used;
	uint32_t		unused;
	uint32_t		bucket[NR_BUCKETS];
	struct token_entry	*chunk[NR_CHUNKS];
};

static struct token_entry *entry_of(const struct token_table *t, uint32_t i)
{
	return &t->chunk[i >> CHUNK_SHIFT][i & (CHUNK_NR - 1)];
}

/* A number that is not in use, or NONE. */
static uint32_t take_number(struct priv *p)
{
	struct token_table *t = p->tokens;
	uint32_t i;

	if (!t) {
		t = meta_alloc(sizeof(*t));
		if (!t)
			return NONE;
		t->unused = NONE;
		for (i = 0; i < NR_BUCKETS; i++)
			t->bucket[i] = NONE;
		p->tokens = t;
	}
	i = t->unused;
	if (i != NONE) {
		t->unused = entry_of(t, i)->next;
		return i;
	}
	i = t->used;
	if (i >= UPOOL_MAX_COUNT)
		return NONE;
	if (!t->chunk[i >> CHUNK_SHIFT])
		t->chunk[i >> CHUNK_SHIFT] = meta_alloc(CHUNK_NR * sizeof(struct token_entry));
	if (!t->chunk[i >> CHUNK_SHIFT])
		return NONE;
	t->used++;
	return i;
}

static uint32_t *bucket_of(struct token_table *t, const struct span *s, uint32_t index)
{
	uint64_t hash = ((uintptr_t)s / sizeof(*s) + index) * 0x9e3779b97f4a7c15ULL;

	return &t->bucket[hash >> 32 & (NR_BUCKETS - 1)];
}

/* Where the number of an exported buffer's entry is linked from. */
static uint32_t *link_of(struct token_table *t, const struct span *s, uint32_t index)
{
	uint32_t *at = bucket_of(t, s, index);

	while (entry_of(t, *at)->span != s || entry_of(t, *at)->index != index)
		at = &entry_of(t, *at)->next;
	return at;
}

/* The tenancy of an exported buffer's token is over. */
static void retire(struct priv *p, const struct span *s, uint32_t index)
{
	struct token_table *t = p->tokens;
	uint32_t *at = link_of(t, s, index), i = *at;
	struct token_entry *e = entry_of(t, i);

	*at = e->next;
	e->span = NULL;
	if (++e->gen >= UPOOL_GEN_RETIRE) {
		priv_count(p, LOCAL_tokens_retired, 1);
		return;
	}
	e->next = t->unused;
	t->unused = i;
}

static upool_token_t make(struct priv *p, struct span *s, uint32_t index)
{
	unsigned char *state = s->hot.state + index, was = load_relaxed(state);
	struct token_entry *e;
	uint32_t i, *bucket;

	if (was == UPOOL__EXPORTED) {
		i = *link_of(p->tokens, s, index);
		return upool_token_make(p->check, i, entry_of(p->tokens, i)->gen);
	}
	if (was != UPOOL__HELD)
		return 0;
	i = take_number(p);
	if (i == NONE)
		return 0;
	e = entry_of(p->tokens, i);
	e->span = s;
	e->index = index;
	bucket = bucket_of(p->tokens, s, index);
	e->next = *bucket;
	*bucket = i;
	store_relaxed(state, UPOOL__EXPORTED);
	return upool_token_make(p->check, i, e->gen);
}

upool_token_t priv_token(struct priv *p, void *buf)
{
	upool_token_t token = 0;
	struct span *s;
	uint32_t i;

	s = span_of(p, buf, &i);
	if (!s)
		return 0;
	pthread_mutex_lock(&p->tokens_lock);
	token = make(p, s, i);
	pthread_mutex_unlock(&p->tokens_lock);
	return token;
}

/* Use a token up: its buffer is held, by the caller. */
static int claim(struct priv *p, upool_token_t token, void **buf)
{
	uint32_t i = upool_token_index(token), gen = upool_token_gen(token);
	struct token_entry *e;
	struct span *s;
	int ret = -ESTALE;

	if (upool_token_check(token) != p->check)
		return -EINVAL;
	pthread_mutex_lock(&p->tokens_lock);
	if (!p->tokens || i >= p->tokens->used) {
		ret = -EINVAL;
	} else {
		e = entry_of(p->tokens, i);
		s = e->span;
		if (s && e->gen == gen) {
			*buf = (char *)p->head.base + s->hot.off +
				(s->hot.cls == PRIV_HUGE_CLASS ? 0 :
				 e->index * class_bytes(s->hot.cls));
			store_relaxed(s->hot.state + e->index, UPOOL__HELD);
			retire(p, s, e->index);
			ret = 0;
		}
	}
	pthread_mutex_unlock(&p->tokens_lock);
	if (ret == -ESTALE)
		priv_count(p, LOCAL_stale, 1);
	return ret;
}

int priv_accept(struct priv *p, upool_token_t token, void **buf)
{
	return claim(p, token, buf);
}

int priv_free_token(struct priv *p, upool_token_t token)
{
	void *buf;
	int ret = claim(p, token, &buf);

	return ret ? ret : priv_free(p, buf);
}

bool token_end(struct priv *p, struct span *s, uint32_t index)
{
	unsigned char *state = s->hot.state + index;
	bool ours;

	pthread_mutex_lock(&p->tokens_lock);
	ours = load_relaxed(state) == UPOOL__EXPORTED;
	if (ours) {
		retire(p, s, index);
		store_relaxed(state, UPOOL__IDLE);
	}
	pthread_mutex_unlock(&p->tokens_lock);
	return ours;
}

void tokens_release(struct priv *p)
{
	struct token_table *t = p->tokens;
	uint32_t i;

	for (i = 0; t && i < NR_CHUNKS; i++)
		meta_free(t->chunk[i], CHUNK_NR * sizeof(struct token_entry));
	meta_free(t, sizeof(*t));
	p->tokens = NULL;
}
