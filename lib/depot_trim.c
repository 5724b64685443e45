// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * depot_trim.c - gives the pages of buffers that idle in a memfd depot back.
 * Owns: nothing.  Locks: depot->lock, for one chunk at a time.  Entry: memfd.c.
 *
 * A buffer can only be taken from the depot with its lock, so punching under the
 * lock never meets a user.  Neighbours go in one call, whole pages only.
 */
#include "depot.h"

#define TRIM_CHUNK	256	/* buffers looked at per lock hold */

static uint64_t file_bytes(const struct upool *p)
{
	struct stat sb;

	return sys_fstat(p->fd, &sb) ? 0 : (uint64_t)sb.st_blocks * 512;
}

/* Pages that lie wholly in buffers @from to @to - 1. */
static void punch(struct upool *p, uint32_t from, uint32_t to)
{
	const uint64_t page = sys_page_bytes();
	uint64_t lo = upool_round_up(from * p->hot.buf_bytes, page);
	uint64_t hi = to * p->hot.buf_bytes & ~(page - 1);

	if (hi > lo)
		(void)sys_punch(p->fd, p->map_bytes + lo, hi - lo);
}

/* One chunk from @i on; the lock is held. */
static void punch_chunk(struct upool *p, uint32_t i, uint32_t end)
{
	uint32_t from, link;

	while (i < end) {
		for (from = i; i < end; i++) {
			link = load_relaxed(&p->links[i]);
			if (link == LINK_NONE || link & LINK_PARKED)
				break;
		}
		if (i > from)
			punch(p, from, i);
		i++;
	}
}

size_t depot_trim(struct upool *p, size_t keep_bytes)
{
	uint64_t before = file_bytes(p), idle, freed = 0, now;
	struct depot *d = p->depot;
	uint32_t i, end, used;

	if (load_relaxed(&d->flags) & DEPOT_F_POPULATED)
		return 0;
	for (i = 0;; i = end) {
		if (!depot_lock(p))
			break;
		used = depot_used(p);
		idle = load_relaxed(&d->nr_idle) - (uint64_t)(p->hot.nr - used);
		idle *= p->hot.buf_bytes;
		end = used - i > TRIM_CHUNK && used > i ? i + TRIM_CHUNK : used;
		if (i < end && idle > keep_bytes + freed)
			punch_chunk(p, i, end);
		depot_unlock(p);
		now = file_bytes(p);
		freed = now < before ? before - now : 0;
		if (i >= end || idle <= keep_bytes + freed)
			break;
	}
	return (size_t)freed;
}
