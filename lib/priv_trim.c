// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * priv_trim.c - idle buffers leave: by age, or when asked.
 * Owns: when.  Locks: none held here.  Entry: slow paths, upool_trim().
 *
 * There is no thread for it: a slow path that finds the last look long enough ago does
 * one, in bounded portions, and nobody waits for it.
 */
#include "priv.h"
#include "sys_vm.h"

#define PORTION	1024	/* magazines a slow path gives back at most */

static uint64_t idle_bytes(struct priv *p)
{
	uint64_t cached = p->budget_bytes - load_relaxed(&p->budget);	/* at most */

	return load_relaxed(&p->depot) + load_relaxed(&p->cpu_bytes) + cached;
}

/* Largest sizes first: they give most back for each step. */
static uint64_t drop(struct priv *p, uint64_t before, uint64_t keep, uint64_t portion)
{
	uint64_t bytes = 0, n;
	struct magazine *mag;
	unsigned int cls;

	for (cls = UPOOL__CLASSES; cls-- && portion;) {
		while (portion && load_relaxed(&p->depot) > keep) {
			mag = shard_get_old(p, cls, before);
			if (!mag)
				break;
			n = mag->nr * class_bytes(cls);
			bytes += n;
			portion--;
			shard_drop(p, cls, mag, DROP_AGE);
		}
	}
	priv_count(p, LOCAL_trimmed_bytes, bytes);
	return bytes;
}

void trim_by_age(struct priv *p)
{
	uint64_t now = sys_age_ms(), last = load_relaxed(&p->trimmed), before;

	/* Twice per age: what is too old goes before it is one and a half times as old. */
	if (now - last < p->age_ms / 2 || p->age_ms == UINT64_MAX)
		return;
	if (!__atomic_compare_exchange_n(&p->trimmed, &last, now, false, __ATOMIC_RELAXED,
					 __ATOMIC_RELAXED))
		return;
	if (idle_bytes(p) <= p->floor)
		return;
	before = now < p->age_ms ? 0 : now - p->age_ms;
	caches_drain(p, before);
	drop(p, before, p->floor, PORTION);
}

size_t priv_trim(struct priv *p, size_t keep_bytes)
{
	caches_drain(p, UINT64_MAX);
	return (size_t)drop(p, UINT64_MAX, keep_bytes, UINT64_MAX);
}
