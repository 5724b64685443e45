// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * reserve.c - buffers put aside, to be taken where nothing may fail or sleep.
 * Owns: struct upool_reservation.  Locks: none.  Entry: the public header.
 */
#include <stdlib.h>
#include "priv.h"

/**
 * struct upool_reservation - buffers held for later
 * @pool:  where they come from			[const]
 * @n:     how many				[const]
 * @taken: how many were handed out, from the front	[atomic]
 * @bufs:  the buffers				[const]
 */
struct upool_reservation {
	struct upool	*pool;
	size_t		n;
	size_t		taken;
	void		*bufs[];
};

UPOOL_API int upool_reserve(struct upool *pool, size_t bytes, size_t n,
			    struct upool_reservation **r)
{
	struct upool_reservation *new;
	int err = errno;
	size_t got;

	if (!n || n > UPOOL_MAX_COUNT)
		return -EINVAL;
	if (!is_private(pool)) {
		if (!pool_is_ours(pool))
			return -EPERM;
		if (bytes > pool->hot.buf_bytes)
			return -EINVAL;
		if (n > pool->hot.nr)
			return -ENOBUFS;
	}
	new = malloc(sizeof(*new) + n * sizeof(new->bufs[0]));
	errno = err;
	if (!new)
		return -ENOMEM;
	got = upool_alloc_bulk(pool, bytes, new->bufs, n);
	if (got < n) {
		upool_free_bulk(pool, new->bufs, got);
		free(new);
		return -ENOBUFS;
	}
	new->pool = pool;
	new->n = n;
	new->taken = 0;
	*r = new;
	return 0;
}

UPOOL_API void *upool_alloc_reserved(struct upool_reservation *r)
{
	size_t i = load_relaxed(&r->taken);

	if (!is_private(r->pool) && !pool_is_ours(r->pool))
		return NULL;
	do {
		if (i >= r->n)
			return NULL;
	} while (!__atomic_compare_exchange_n(&r->taken, &i, i + 1, true, __ATOMIC_RELAXED,
					      __ATOMIC_RELAXED));
	return r->bufs[i];
}

UPOOL_API void upool_unreserve(struct upool_reservation *r)
{
	size_t taken;

	if (!r)
		return;
	taken = load_relaxed(&r->taken);
	upool_free_bulk(r->pool, r->bufs + taken, r->n - taken);
	free(r);
}
