// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * cases.c - what is measured.
 * Owns: the table.  Locks: none.  Entry: driver and workers.
 */
#include <string.h>
#include "cases.h"

#define KIB	((size_t)1 << 10)
#define MIB	((size_t)1 << 20)

#define PAIR(nm, sz) \
	{ .name = (nm), .unit = "ns", .bytes = (sz), .nr_threads = 1, .nr_live = 1, \
	  .kind = KIND_PAIR, .layouts = 1 }
#define HOLD(nm, sz) \
	{ .name = (nm), .unit = "ns", .bytes = (sz), .nr_threads = 1, \
	  .nr_live = HOLD_BUFFERS, .kind = KIND_HOLD, .layouts = 1 }
#define TOUCH(nm, sz) \
	{ .name = (nm), .unit = "us", .bytes = (sz), .nr_threads = 1, .nr_live = 1, \
	  .kind = KIND_TOUCH }
#define FILL(nm, nbufs, threads) \
	{ .name = (nm), .unit = "ms", .bytes = KIB, .count = 65536, .nr_threads = (threads), \
	  .nr_live = (nbufs), .kind = KIND_FILL }
#define TAKE(nm, threads) \
	{ .name = (nm), .unit = "ms", .bytes = KIB, .count = 8192, .nr_threads = (threads), \
	  .nr_live = 8192, .kind = KIND_TAKE }
#define PRODCONS(nm, sz) \
	{ .name = (nm), .unit = "ns", .bytes = (sz), .nr_threads = 2, \
	  .nr_live = RING_SLOTS, .kind = KIND_PRODCONS }
#define RSS(nm, sz) \
	{ .name = (nm), .unit = "MiB", .bytes = MIB, .count = 512, .later = (sz), \
	  .nr_threads = 1, .nr_live = 512, .kind = KIND_RSS }

const struct bench_case bench_cases[] = {
	PAIR("pair-64", 64),
	PAIR("pair-1K", KIB),
	PAIR("pair-4K", 4 * KIB),
	PAIR("pair-64K", 64 * KIB),
	PAIR("pair-1M", MIB),
	PAIR("pair-16M", 16 * MIB),
	HOLD("hold64-1K", KIB),
	HOLD("hold64-64K", 64 * KIB),
	TOUCH("touch-16M", 16 * MIB),
	TOUCH("touch-64M", 64 * MIB),
	FILL("fill-1x16", 1, 16),
	FILL("fill-2x16", 2, 16),
	FILL("fill-1x1", 1, 1),
	FILL("fill-1x2", 1, 2),
	FILL("fill-1x4", 1, 4),
	FILL("fill-1x64", 1, 64),
	TAKE("never-return-16", 16),
	PRODCONS("prodcons-1K", KIB),
	PRODCONS("prodcons-64K", 64 * KIB),
	RSS("retention-rss", 64 * KIB),
	RSS("retention-same", MIB),
	{ .name = NULL },
};

const struct bench_case *case_find(const char *name)
{
	const struct bench_case *c;

	for (c = bench_cases; c->name; c++)
		if (!strcmp(c->name, name))
			return c;
	return NULL;
}

size_t case_count(const struct bench_case *c, int quick)
{
	return quick && c->count >= 16 ? c->count / 16 : c->count;
}
