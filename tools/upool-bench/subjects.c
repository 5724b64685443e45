// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * subjects.c - who is measured.
 * Owns: the table.  Locks: none.  Entry: the driver's files.
 */
#include <stddef.h>
#include "cases.h"
#include "subjects.h"

/* malloc as it gives nothing back: no mapping for one buffer, no trimming. */
#define TUNED	"glibc.malloc.mmap_threshold=33554432:glibc.malloc.trim_threshold=17179869184:" \
		"glibc.malloc.top_pad=67108864:glibc.malloc.tcache_count=8192:" \
		"glibc.malloc.tcache_max=1032"

/* Lists and naive pools keep what they have room for: there is nothing to find out. */
#define KINDS_TIMED	(KINDS_ALL & ~KIND_BIT(KIND_RSS))

/* A floor has no other thread and no way back. */
#define KINDS_KEPT	(KIND_BIT(KIND_TOUCH) | KIND_BIT(KIND_FILL) | KIND_BIT(KIND_TAKE))
#define KINDS_LOCAL	(KINDS_KEPT | KIND_BIT(KIND_PAIR) | KIND_BIT(KIND_HOLD))

#define OURS(nm, text) \
	{ .name = (nm), .family = "upool", .subject = (nm), .kinds = KINDS_ALL, \
	  .kind = PEER_OURS, .about = (text) }
#define MALLOC(nm, lib, has, tune, text) \
	{ .name = (nm), .family = "malloc", .subject = "malloc", .preload = (lib), \
	  .malloc = (has), .tunables = (tune), .kinds = KINDS_ALL, \
	  .kind = PEER_MALLOC, .about = (text) }
#define FIXED(nm, fam, text) \
	{ .name = (nm), .family = (fam), .subject = (nm), .kinds = KINDS_TIMED, \
	  .kind = PEER_FIXED, .about = (text) }
#define FLOOR(nm, knds, text) \
	{ .name = (nm), .family = "bare", .subject = (nm), .kinds = (knds), \
	  .kind = PEER_FLOOR, .about = (text) }
#define NAIVE(nm, text) \
	{ .name = (nm), .family = "naive", .subject = (nm), .kinds = KINDS_TIMED, \
	  .kind = PEER_NAIVE, .about = (text) }

const struct peer bench_peers[] = {
	OURS("upool", "upool_shared(), through libupool.so"),
	OURS("upool-inline", "upool_shared(), through upool_inline.h"),
	MALLOC("glibc", NULL, "libc.so", NULL, "malloc of libc"),
	MALLOC("glibc-tuned", NULL, "libc.so", TUNED, "malloc of libc that keeps everything"),
	MALLOC("jemalloc", "libjemalloc.so.2", "libjemalloc", NULL, "libjemalloc2"),
	MALLOC("mimalloc", "libmimalloc.so", "libmimalloc", NULL, "libmimalloc-dev"),
	MALLOC("gperftools", "libtcmalloc_minimal.so.4", "libtcmalloc", NULL,
	       "libtcmalloc-minimal4"),
	{ .name = "gslice", .family = "glib", .subject = "gslice", .kinds = KINDS_ALL,
	  .kind = PEER_MALLOC, .about = "GLib's slice allocator" },
	FIXED("dpdk-mempool", "dpdk", "rte_mempool with caches, without huge pages"),
	FIXED("urcu-lfstack", "urcu", "liburcu's lock-free stack, malloc behind it"),
	FIXED("urcu-wfcqueue", "urcu", "liburcu's wait-free queue, malloc behind it"),
	FIXED("ck-stack", "ck", "Concurrency Kit's stack, malloc behind it"),
	FLOOR("bare-fill", KINDS_KEPT, "kept buffers, no allocation at all"),
	FLOOR("tls-stack", KINDS_LOCAL, "thread-local stack of one size, unchecked"),
	NAIVE("mutex-stack", "linked stack under a mutex"),
	NAIVE("spin-arrays", "array of 50 under a spin lock"),
	NAIVE("lockfree-stack", "linked stack, tagged compare-and-swap"),
	NAIVE("lockfree-queue", "linked queue, counted references"),
	NAIVE("slot-queue", "one atomic slot, then a bounded queue"),
	NAIVE("mpmc-queue", "bounded queue of many producers and consumers"),
	NAIVE("percore-stacks", "locked stack of 32 per core"),
	{ .name = NULL },
};
