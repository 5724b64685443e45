// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * alloc.c - the exported ways to take and give back buffers.
 * Owns: nothing.  Locks: none.  Entry: the public header.
 */
#include <string.h>
#include "fastpath.h"
#include "priv.h"

static inline __attribute__((always_inline)) void *any_alloc(struct upool *pool, size_t bytes)
{
	const struct upool__head *h = (const struct upool__head *)pool;
	void *buf;

	if (!h->slot)
		return fast_alloc(pool, bytes);
	if (likely(bytes < h->end) && likely(upool__pop(h, upool__class_of(bytes), &buf)))
		return buf;
	return priv_alloc(priv_of(pool), bytes);
}

static inline __attribute__((always_inline)) int any_free(struct upool *pool, void *buf)
{
	const struct upool__head *h = (const struct upool__head *)pool;
	unsigned char *state;
	unsigned int cls;

	if (!h->slot)
		return fast_free(pool, buf);
	if (likely(upool__lookup(h, buf, &state, &cls)) &&
	    likely(load_relaxed(state) == UPOOL__HELD) &&
	    likely(upool__push(h, cls, buf, state)))
		return 0;
	return priv_free(priv_of(pool), buf);
}

UPOOL_API void *upool_alloc(struct upool *pool, size_t bytes)
{
	return any_alloc(pool, bytes);
}

UPOOL_API int upool_free(struct upool *pool, void *buf)
{
	return any_free(pool, buf);
}

UPOOL_API void *upool_zalloc(struct upool *pool, size_t bytes)
{
	void *buf = any_alloc(pool, bytes);

	return buf ? memset(buf, 0, bytes) : NULL;
}

UPOOL_API void *upool_alloc_aligned(struct upool *pool, size_t bytes, size_t align)
{
	uint64_t size;

	if (!align || align & (align - 1))
		return NULL;
	if (is_private(pool))
		return priv_alloc_aligned(priv_of(pool), bytes, align);
	size = pool->hot.buf_bytes;
	return align > (size & -size) ? NULL : fast_alloc(pool, bytes);
}

UPOOL_API void *upool_alloc_wait(struct upool *pool, size_t bytes, int timeout_ms)
{
	uint32_t idx;

	if (is_private(pool))
		return priv_alloc_wait(priv_of(pool), bytes, timeout_ms);
	if (!timeout_ms || !pool_is_ours(pool) || bytes > pool->hot.buf_bytes)
		return fast_alloc(pool, bytes);
	if (take_index(pool, &idx) &&
	    pool->backing->take(pool, &idx, timeout_ms < 0 ? -1 : timeout_ms)) {
		local_add(pool, LOCAL_exhausted, 1);
		return NULL;
	}
	return hand_out(pool, idx);
}

UPOOL_API size_t upool_alloc_bulk(struct upool *pool, size_t bytes, void **bufs, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		bufs[i] = any_alloc(pool, bytes);
		if (!bufs[i])
			break;
	}
	return i;
}

UPOOL_API size_t upool_free_bulk(struct upool *pool, void **bufs, size_t n)
{
	size_t refused = 0, i;
	void *buf;

	for (i = 0; i < n; i++) {
		buf = bufs[i];
		if (any_free(pool, buf))
			bufs[refused++] = buf;
	}
	return n - refused;
}

UPOOL_API size_t upool_usable_size(const struct upool *pool, const void *buf)
{
	const struct mags *m = &pool->hot;

	if (is_private(pool))
		return priv_usable_size(priv_of(pool), buf);
	return pool_is_ours(pool) && buf_index(m, buf) < m->nr ? (size_t)m->buf_bytes : 0;
}
