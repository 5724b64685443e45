// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * token.c - handing a buffer to another member by a number that works once.
 * Owns: the exported flag and the generation of tags.  Locks: none.
 * Entry: the public header.
 *
 * A tag without X is written by its holder alone, with plain stores.  Once X is
 * set everybody, the holder too, exchanges the whole tag.
 */
#include "priv.h"

UPOOL_API upool_token_t upool_token(struct upool *pool, void *buf)
{
	const struct mags *m = &pool->hot;
	uint64_t idx, tag;
	uint32_t owner, gen;

	if (is_private(pool))
		return priv_token(priv_of(pool), buf);
	idx = buf_index(m, buf);
	if (!pool_is_ours(pool) || idx >= m->nr)
		return 0;
	tag = load_relaxed(&m->tags[idx].word);
	owner = upool_tag_owner(tag);
	gen = upool_tag_gen(tag);
	if ((owner & ~UPOOL_TAG_EXPORTED) != m->held || gen == UPOOL_GEN_MAX)
		return 0;
	/* [T1] Contents before X; pairs with [T2]: who accepts sees what was written. */
	if (!(owner & UPOOL_TAG_EXPORTED))
		store_release(&m->tags[idx].owner, owner | UPOOL_TAG_EXPORTED);
	return upool_token_make(pool->geo.check, (uint32_t)idx, gen);
}

/*
 * Move the tag to {me|H, gen + 1}.  Worn generations keep X, which sends their
 * free to the path that looks at the generation.
 */
static int claim(struct upool *p, upool_token_t token, uint32_t *idx)
{
	uint32_t i = upool_token_index(token), gen = upool_token_gen(token), owner;
	const struct mags *m = &p->hot;
	uint64_t tag;

	if (upool_token_check(token) != p->geo.check || i >= m->nr)
		return -EINVAL;
	tag = load_relaxed(&m->tags[i].word);
	owner = m->held;
	if (gen != UPOOL_GEN_MAX && gen + 1 >= UPOOL_GEN_RETIRE)
		owner |= UPOOL_TAG_EXPORTED;
	UPOOL_INJECT(ACCEPT);
	/* [T2] pairs with [T1] */
	if (upool_tag_gen(tag) != gen || gen == UPOOL_GEN_MAX ||
	    (~upool_tag_owner(tag) & (UPOOL_TAG_HELD | UPOOL_TAG_EXPORTED)) ||
	    !cas64(&m->tags[i].word, tag, upool_tag(owner, gen + 1))) {
		local_add(p, LOCAL_stale, 1);
		return -ESTALE;
	}
	*idx = i;
	return 0;
}

UPOOL_API int upool_accept(struct upool *pool, upool_token_t token, void **buf)
{
	uint32_t idx;
	int ret;

	if (is_private(pool))
		return priv_accept(priv_of(pool), token, buf);
	if (!pool_is_ours(pool))
		return -EPERM;
	ret = claim(pool, token, &idx);
	if (!ret)
		*buf = buf_of(&pool->hot, idx);
	return ret;
}

UPOOL_API int upool_free_token(struct upool *pool, upool_token_t token)
{
	uint32_t idx;
	int ret;

	if (is_private(pool))
		return priv_free_token(priv_of(pool), token);
	if (!pool_is_ours(pool))
		return -EPERM;
	ret = claim(pool, token, &idx);
	return ret ? ret : free_index(pool, idx);
}
