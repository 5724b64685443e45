// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * stats.c - the pool's statistics and this process's, in one struct; trim.
 * Owns: nothing.  Locks: none.  Entry: the public header.
 */
#include <string.h>
#include "priv.h"

static int shared_stats(const struct upool *pool, struct upool_stats *all)
{
	struct upool_pool_stats shared;
	int ret;

	if (!pool_is_ours(pool))
		return -EPERM;
	memset(&shared, 0, sizeof(shared));
	ret = pool->backing->stats(pool, &shared);
	if (ret)
		return ret;
#define UPOOL_X(name, help)	all->name = shared.name;
	UPOOL_POOL_STATS(UPOOL_X)
#undef UPOOL_X
#define UPOOL_X(name, help)	all->name = load_relaxed(&pool->local[LOCAL_##name]);
	UPOOL_LOCAL_STATS(UPOOL_X)
#undef UPOOL_X
	return 0;
}

UPOOL_API int upool_stats_read(const struct upool *pool, struct upool_stats *st)
{
	struct upool_stats all;
	int ret;

	if (st->size < sizeof(st->size))
		return -EINVAL;
	memset(&all, 0, sizeof(all));
	if (is_private(pool)) {
		priv_stats(priv_of(pool), &all);
	} else {
		ret = shared_stats(pool, &all);
		if (ret)
			return ret;
	}
	all.size = st->size;
	memcpy(st, &all, st->size < sizeof(all) ? (size_t)st->size : sizeof(all));
	return 0;
}

UPOOL_API size_t upool_trim(struct upool *pool, size_t keep_bytes)
{
	if (is_private(pool))
		return priv_trim(priv_of(pool), keep_bytes);
	return pool_is_ours(pool) ? pool->backing->trim(pool, keep_bytes) : 0;
}
