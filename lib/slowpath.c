// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * slowpath.c - alloc and free that miss: refill, flush, restarts, refusals.
 * Owns: the bounds on retries.  Locks: none held here.  Entry: fastpath.h, alloc.c.
 */
#include <string.h>
#include "arch/generic.h"
#include "internal.h"
#include "sys.h"

bool pool_is_ours(const struct upool *p)
{
	return p->hot.me && (!p->pid || p->pid == sys_getpid());
}

/* One pop that is restarted a bounded number of times. */
enum rseq_outcome mag_pop(struct upool *p, uint32_t *idx)
{
	enum rseq_outcome out;
	int i;

	if (p->ops != OPS_RSEQ)
		return p->ops == OPS_LOCKED ? locked_mag_pop(&p->hot, idx) : RSEQ_NOCPU;
	for (i = 0; i < UPOOL_MAX_ABORTS; i++) {
		out = rseq_mag_pop(&p->hot, idx);
		if (out != RSEQ_ABORTED)
			return out;
		local_add(p, LOCAL_aborts, 1);
	}
	local_add(p, LOCAL_fallbacks, 1);
	return RSEQ_ABORTED;
}

enum rseq_outcome mag_push(struct upool *p, uint32_t idx)
{
	enum rseq_outcome out;
	int i;

	if (p->ops != OPS_RSEQ)
		return p->ops == OPS_LOCKED ? locked_mag_push(&p->hot, idx) : RSEQ_NOCPU;
	for (i = 0; i < UPOOL_MAX_ABORTS; i++) {
		out = rseq_mag_push(&p->hot, idx);
		if (out != RSEQ_ABORTED)
			return out;
		local_add(p, LOCAL_aborts, 1);
	}
	local_add(p, LOCAL_fallbacks, 1);
	return RSEQ_ABORTED;
}

/* A buffer from the nearest layer that has one, held.  0 or -errno. */
int take_index(struct upool *p, uint32_t *idx)
{
	enum rseq_outcome out;
	int round, ret;

	for (round = 0; round < UPOOL_MAX_ROUNDS; round++) {
		out = mag_pop(p, idx);
		if (out == RSEQ_DONE) {
			store_relaxed(tag_owner(&p->hot, *idx), p->hot.held);
			return 0;
		}
		if (out == RSEQ_ABORTED || out == RSEQ_NOCPU)
			break;
		if (out == RSEQ_BAD)
			local_add(p, LOCAL_bad_magazine, 1);
		ret = p->backing->refill(p, idx);
		if (ret == 1)
			return 0;
		if (ret < 0 && ret != -EAGAIN)
			return ret;
	}
	return p->backing->take(p, idx, 0);
}

/* A buffer of ours in no layer, its tag {me}: into the magazine or around it. */
static int give_index(struct upool *p, uint32_t idx)
{
	enum rseq_outcome out;
	int round;

	for (round = 0; round < UPOOL_MAX_ROUNDS; round++) {
		out = mag_push(p, idx);
		if (out == RSEQ_DONE)
			return 0;
		if (out == RSEQ_ABORTED || out == RSEQ_NOCPU)
			break;
		if (out == RSEQ_BAD)
			local_add(p, LOCAL_bad_magazine, 1);
		if (p->backing->flush(p))
			break;
	}
	store_relaxed(tag_owner(&p->hot, idx), p->hot.held);
	return p->backing->put(p, idx);
}

void *hand_out(struct upool *p, uint32_t idx)
{
	void *buf = buf_of(&p->hot, idx);

	return p->flags & UPOOL_F_CLEAR ? memset(buf, 0, (size_t)p->hot.buf_bytes) : buf;
}

static void *alloc_any(struct upool *p)
{
	uint32_t idx;

	if (take_index(p, &idx)) {
		local_add(p, LOCAL_exhausted, 1);
		return NULL;
	}
	return hand_out(p, idx);
}

/* The inline hit does not serve this pool, or not this size. */
void *alloc_slow(struct upool *p, size_t bytes)
{
	if (!pool_is_ours(p))
		return NULL;
	if (bytes > p->hot.buf_bytes) {
		local_add(p, LOCAL_too_big, 1);
		return NULL;
	}
	return alloc_any(p);
}

/* The inline hit tried and did not succeed. */
void *alloc_missed(struct upool *p, enum rseq_outcome out)
{
	if (out == RSEQ_ABORTED)
		local_add(p, LOCAL_aborts, 1);
	return alloc_any(p);
}

static int refused(struct upool *p, int err)
{
	local_add(p, err == -EALREADY ? LOCAL_double_free :
		     err == -ESTALE ? LOCAL_stale : LOCAL_foreign_free, 1);
	return err;
}

/*
 * End the tenancy of a held buffer: tag {me|H} or {me|H|X} to {me}.
 * 1 = give it to the magazine, 0 = the backing took it, -errno = not ours to free.
 */
static int end_tenancy(struct upool *p, uint32_t idx)
{
	const struct mags *m = &p->hot;
	uint64_t tag = load_relaxed(&m->tags[idx].word);
	uint32_t owner = upool_tag_owner(tag), gen = upool_tag_gen(tag);

	if (!(owner & UPOOL_TAG_HELD))
		return -EALREADY;
	if (owner != m->held && owner != (m->held | UPOOL_TAG_EXPORTED))
		return -EINVAL;
	if (owner == m->held && !(p->geo.features & UPOOL_FEAT_STRICT)) {
		if (p->ops == OPS_NONE)
			return p->backing->put(p, idx);
		store_relaxed(tag_owner(m, idx), m->me);
		return 1;
	}
	if (owner == m->held)
		return cas64(&m->tags[idx].word, tag, upool_tag(m->me, gen)) ? 1 : -EALREADY;
	/* Worn generations rest with the backing, and so does the last of all. */
	if (gen >= UPOOL_GEN_RETIRE - 1)
		return p->backing->put(p, idx);
	return cas64(&m->tags[idx].word, tag, upool_tag(m->me, gen + 1)) ? 1 : -ESTALE;
}

/* Give back a buffer by index.  0 or -errno, counted. */
int free_index(struct upool *p, uint32_t idx)
{
	int ret = end_tenancy(p, idx);

	UPOOL_INJECT(FREED);
	if (ret > 0)
		ret = give_index(p, idx);
	return ret ? refused(p, ret) : 0;
}

/* The inline free found something it does not decide. */
int free_slow(struct upool *p, void *buf)
{
	uint64_t idx;

	if (!buf)
		return 0;
	if (!pool_is_ours(p))
		return -EPERM;
	idx = buf_index(&p->hot, buf);
	if (idx >= p->hot.nr)
		return refused(p, -EINVAL);
	return free_index(p, (uint32_t)idx);
}

/* The inline free ended the tenancy, and its push did not succeed. */
int free_missed(struct upool *p, uint32_t idx, enum rseq_outcome out)
{
	int ret;

	if (out == RSEQ_ABORTED)
		local_add(p, LOCAL_aborts, 1);
	ret = give_index(p, idx);
	return ret ? refused(p, ret) : 0;
}
