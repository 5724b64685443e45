// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * private_cpu.c - threads without a budget use the magazines of CPUs, and these are
 * bounded, found and given back like everything that is idle.  Where there are no
 * restartable sequences the same holds with the depot in their place.
 */
#include <sys/wait.h>
#include <upool_inline.h>
#include "kselftest_harness.h"
#include "private_fixture.h"

#define NR	1000
#define BYTES	1000

static struct upool *pool_of_cpus(size_t nr, size_t retain)
{
	struct upool_options o = PRIVATE_OPTIONS;
	struct upool *pool = NULL;

	o.thread_bytes = UPOOL_NOTHING;
	o.nr_buffers = nr;
	o.buffer_bytes = nr ? BYTES : 0;
	o.retain_bytes = retain;
	return upool_create(&pool, &o) ? NULL : pool;
}

static bool has_sequences(struct upool *pool)
{
	return strstr(upool_mode(pool), "rseq") && !strstr(upool_mode(pool), "(rseq:");
}

static void use(struct upool *pool, size_t nr)
{
	void *bufs[NR];
	size_t i;

	for (i = 0; i < nr; i++)
		bufs[i] = upool_alloc(pool, BYTES);
	for (i = 0; i < nr; i++)
		upool_free(pool, bufs[i]);
}

static void *use_in_thread(void *pool)
{
	use(pool, 50);
	return NULL;
}

TEST(no_lock_for_a_hit)
{
	struct upool *pool = pool_of_cpus(0, 0);
	struct upool_stats st;

	ASSERT_NE(NULL, pool);
	use(pool, 1);
	st = read_stats(pool);
	EXPECT_EQ(0, st.held);
	EXPECT_EQ(st.nr_buffers, has_sequences(pool) ? st.mag_idle : st.depot_idle);
	use(pool, 1);
	EXPECT_EQ(st.nr_buffers, read_stats(pool).nr_buffers);
	EXPECT_EQ(0, upool_destroy(pool));
}

/* Ended threads leave nothing behind: their successors on the CPU find it. */
TEST(bounded_by_cpus)
{
	struct upool *pool = pool_of_cpus(0, 0);
	uint64_t nr;
	int i;

	ASSERT_NE(NULL, pool);
	run_on_cpu(0);
	in_thread(use_in_thread, pool);
	nr = read_stats(pool).nr_buffers;
	for (i = 0; i < 1000; i++)
		in_thread(use_in_thread, pool);
	EXPECT_EQ(nr, read_stats(pool).nr_buffers);
	EXPECT_EQ(0, upool_destroy(pool));
}

TEST(every_buffer_is_found)
{
	struct upool *pool = pool_of_cpus(NR, 0);
	void *bufs[NR + 1];

	ASSERT_NE(NULL, pool);
	run_on_cpu(0);
	use(pool, NR);
	run_on_cpu((int)sysconf(_SC_NPROCESSORS_ONLN) - 1);
	EXPECT_EQ(NR, upool_alloc_bulk(pool, BYTES, bufs, NR + 1));
	EXPECT_EQ(NR, upool_free_bulk(pool, bufs, NR));
	EXPECT_EQ(0, upool_destroy(pool));
}

TEST(trimmed)
{
	struct upool *pool = pool_of_cpus(0, 0);

	ASSERT_NE(NULL, pool);
	use(pool, NR);
	EXPECT_LT(0, read_stats(pool).nr_buffers);
	upool_trim(pool, 0);
	EXPECT_EQ(0, read_stats(pool).nr_buffers);
	EXPECT_EQ(0, read_stats(pool).idle_bytes);
	use(pool, NR);
	EXPECT_EQ(0, upool_destroy(pool));
}

TEST(never_more_than_retained)
{
	struct upool *pool = pool_of_cpus(0, 65536);

	ASSERT_NE(NULL, pool);
	use(pool, NR);
	EXPECT_GE(65536, read_stats(pool).idle_bytes);
	EXPECT_EQ(0, upool_destroy(pool));
	pool = pool_of_cpus(0, UPOOL_NOTHING);
	ASSERT_NE(NULL, pool);
	use(pool, NR);
	EXPECT_EQ(0, read_stats(pool).nr_buffers);
	EXPECT_EQ(0, upool_destroy(pool));
}

/* A child has what the parent's CPUs had, and may use it. */
TEST(in_a_child)
{
	struct upool *pool = pool_of_cpus(0, 0);
	uint64_t nr;
	int status;
	pid_t pid;

	ASSERT_NE(NULL, pool);
	run_on_cpu(0);
	use(pool, 50);
	nr = read_stats(pool).nr_buffers;
	pid = fork();
	if (!pid) {
		use(pool, 50);
		_exit(read_stats(pool).nr_buffers != nr || upool_destroy(pool));
	}
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
	EXPECT_EQ(0, upool_destroy(pool));
}

TEST_HARNESS_MAIN
