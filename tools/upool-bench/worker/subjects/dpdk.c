// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * dpdk.c - a mempool of DPDK with a cache per thread, without huge pages.
 * Owns: one pool, made for the case.  Locks: none.  Entry: worker/main.c.
 *
 * Its buffers have one size, are there from the beginning and stay: no malloc behind
 * it.  The calls are inline in DPDK's headers.
 */
#include "../subject.h"

#if __has_include(<rte_mempool.h>)
#include <stdio.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_lcore.h>
#include <rte_log.h>
#include <rte_mempool.h>
#include "../worker.h"

static struct rte_mempool *pool;	/* [const] after init */

static inline void *dpdk_alloc(size_t bytes)
{
	void *buf;

	(void)bytes;
	return rte_mempool_get(pool, &buf) ? NULL : buf;
}

static inline void dpdk_free(void *buf, size_t bytes)
{
	(void)bytes;
	rte_mempool_put(pool, buf);
}

#define SUBJECT dpdk
#include "../loops.h"

/* A cache keeps up to one and a half times its size: large buffers, small caches. */
static unsigned int cache_size(size_t bytes)
{
	if (bytes <= 65536)
		return RTE_MEMPOOL_CACHE_MAX_SIZE;
	return bytes <= 1 << 20 ? 32 : 2;
}

static const char *dpdk_init(const struct shape *shape)
{
	const unsigned int cache = cache_size(shape->bytes);
	const unsigned int nr = shape->nr_threads * (shape->nr_live + 3 * cache);
	char prog[] = "bench", no_huge[] = "--no-huge", no_pci[] = "--no-pci";
	char quiet[] = "--log-level=critical", no_telemetry[] = "--no-telemetry";
	char one_core[] = "--lcores=0", memory[] = "-m", no_files[] = "--no-shconf";
	char iova[] = "--iova-mode=va";
	char mib[32];
	char *argv[] = { prog, no_huge, no_pci, quiet, no_telemetry, one_core, no_files, iova,
			 memory, mib, NULL };

	snprintf(mib, sizeof(mib), "%zu", (nr * (shape->bytes + 256) >> 20) + 128);
	if (rte_eal_init((int)(sizeof(argv) / sizeof(argv[0])) - 1, argv) < 0)
		return "DPDK does not start here";
	pool = rte_mempool_create("bench", nr, (unsigned int)shape->bytes, cache, 0, NULL, NULL,
				  NULL, NULL, SOCKET_ID_ANY, RTE_MEMPOOL_F_NO_IOVA_CONTIG);
	return pool ? NULL : rte_strerror(rte_errno);
}

static void dpdk_thread_init(void)
{
	if (rte_lcore_id() == LCORE_ID_ANY && rte_thread_register())
		worker_die("DPDK has no id for a thread");
}

#define DPDK_THREAD_INIT	dpdk_thread_init
#define DPDK_LOOPS		(&dpdk_loops)
#else
#define DPDK_THREAD_INIT	NULL
#define DPDK_LOOPS		NULL

static const char *dpdk_init(const struct shape *shape)
{
	(void)shape;
	return "built without libdpdk-dev";
}
#endif

static const struct subject subject_dpdk = {
	.name = "dpdk-mempool",
	.init = dpdk_init,
	.thread_init = DPDK_THREAD_INIT,
	.loops = DPDK_LOOPS,
};

const struct subject *const bench_subjects[] = { &subject_dpdk, NULL };
