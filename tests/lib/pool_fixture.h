/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * pool_fixture.h - what tests of the library share: a pool on the backing under test.
 */
#ifndef POOL_FIXTURE_H
#define POOL_FIXTURE_H

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <upool.h>

static inline unsigned int backing_under_test(void)
{
	const char *s = getenv("UPOOL_TEST_BACKING");

	return s && !strcmp(s, "device") ? UPOOL_BACKING_DEVICE : UPOOL_BACKING_MEMFD;
}

static inline int make_pool_on(unsigned int backing, struct upool **pool, size_t bytes, size_t nr,
			       unsigned int flags)
{
	struct upool_options o = UPOOL_OPTIONS_INIT;

	o.backing = backing;
	o.buffer_bytes = bytes;
	o.nr_buffers = nr;
	o.flags = flags;
	return upool_create(pool, &o);
}

static inline int make_pool(struct upool **pool, size_t bytes, size_t nr, unsigned int flags)
{
	return make_pool_on(backing_under_test(), pool, bytes, nr, flags);
}

static inline struct upool_stats read_stats(const struct upool *pool)
{
	struct upool_stats st = { .size = sizeof(st) };

	if (upool_stats_read(pool, &st))
		st.size = 0;
	return st;
}

/* Every buffer, then back; returns how many there were. */
static inline size_t count_buffers(struct upool *pool, size_t most)
{
	void **bufs = calloc(most + 1, sizeof(*bufs));
	size_t n = upool_alloc_bulk(pool, 1, bufs, most + 1);

	n -= n - upool_free_bulk(pool, bufs, n);
	free(bufs);
	return n;
}

static inline int run_on_cpu(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	return sched_setaffinity(0, sizeof(set), &set);
}

#endif /* POOL_FIXTURE_H */
