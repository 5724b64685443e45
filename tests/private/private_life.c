// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * private_life.c - threads begin and end, processes fork, pools come and go.
 */
#include <stdbool.h>
#include <sys/wait.h>
#include "kselftest_harness.h"
#include "private_fixture.h"

#define NR 1000

struct work {
	struct upool *pool;
	void *bufs[NR];
	size_t n;
};

static unsigned int scaled(unsigned int full, unsigned int least)
{
	const char *s = getenv("UPOOL_TEST_SCALE");
	unsigned int n = s ? (unsigned int)((uint64_t)full * strtoul(s, NULL, 10) / 100) : full;

	return n < least ? least : n;
}

static void *take(void *arg)
{
	struct work *w = arg;

	w->n = upool_alloc_bulk(w->pool, 1000, w->bufs, NR);
	return NULL;
}

/* The thread that allocated is gone when another frees: nothing stays with it. */
TEST(freed_after_the_thread_ended)
{
	struct work w = { .pool = private_pool(0, 0, 0) };
	struct upool_stats st;

	ASSERT_NE(NULL, w.pool);
	in_thread(take, &w);
	EXPECT_EQ(NR, w.n);
	st = read_stats(w.pool);
	EXPECT_EQ(NR, st.held);
	EXPECT_EQ(0, st.threads);
	EXPECT_EQ(NR, upool_free_bulk(w.pool, w.bufs, NR));
	st = read_stats(w.pool);
	EXPECT_EQ(0, st.held);
	EXPECT_EQ(st.nr_buffers, st.depot_idle + st.mag_idle);
	EXPECT_EQ(0, upool_destroy(w.pool));
}

static void *take_and_give(void *arg)
{
	struct work w = { .pool = arg };

	take(&w);
	upool_free_bulk(w.pool, w.bufs, w.n);
	return NULL;
}

TEST(many_short_threads)
{
	struct upool *pool = private_pool(0, 0, 0);
	unsigned int i, nr = scaled(4000, 100);
	struct upool_stats first, last;

	ASSERT_NE(NULL, pool);
	for (i = 0; i < nr; i++) {
		in_thread(take_and_give, pool);
		if (i == 10)
			first = read_stats(pool);
	}
	last = read_stats(pool);
	EXPECT_EQ(0, last.threads);
	EXPECT_EQ(first.control_bytes, last.control_bytes);
	EXPECT_EQ(0, last.held);
	EXPECT_EQ(0, upool_destroy(pool));
}

static pthread_key_t late_key;
static struct upool *late_pool;
static bool late_worked;

/* Again and again, until libc makes no further round. */
static void late(void *arg)
{
	void *buf = upool_alloc(late_pool, 100);

	late_worked = buf && !upool_free(late_pool, buf) &&
		      upool_free(late_pool, buf) == -EALREADY;
	pthread_setspecific(late_key, arg);
}

static void *end_late(void *arg)
{
	pthread_setspecific(late_key, arg);
	upool_free(late_pool, upool_alloc(late_pool, 100));
	return NULL;
}

TEST(destructors_that_run_late)
{
	ASSERT_EQ(0, pthread_key_create(&late_key, late));
	late_pool = private_pool(0, 0, 0);
	ASSERT_NE(NULL, late_pool);
	in_thread(end_late, &late_key);
	EXPECT_TRUE(late_worked);
	EXPECT_EQ(0, read_stats(late_pool).threads);
	EXPECT_EQ(0, read_stats(late_pool).held);
	EXPECT_EQ(0, upool_destroy(late_pool));
	pthread_key_delete(late_key);
}

/* More pools than there are slots: the later ones work without magazines of threads. */
TEST(very_many_pools)
{
	struct upool *pool[600];
	void *buf;
	int i;

	for (i = 0; i < 600; i++) {
		pool[i] = private_pool(0, 0, 0);
		ASSERT_NE(NULL, pool[i]);
		buf = upool_alloc(pool[i], 100);
		ASSERT_NE(NULL, buf);
		ASSERT_EQ(0, upool_free(pool[i], buf));
		ASSERT_EQ(-EALREADY, upool_free(pool[i], buf));
		if (i)
			ASSERT_EQ(-EINVAL, upool_free(pool[i - 1], buf));
	}
	for (i = 0; i < 600; i++)
		ASSERT_EQ(0, upool_destroy(pool[i]));
}

/* What a pool that ended had is used by the next ones. */
TEST(pools_come_and_go)
{
	unsigned int i, nr = scaled(2000, 50);
	struct upool_stats st = { 0 };
	struct upool *pool;
	uint64_t bytes = 0;
	void *buf;

	for (i = 0; i < nr; i++) {
		pool = private_pool(0, 0, 0);
		ASSERT_NE(NULL, pool);
		in_thread(take_and_give, pool);
		buf = upool_alloc(pool, 3000);
		ASSERT_NE(NULL, buf);
		upool_token(pool, buf);
		st = read_stats(pool);
		if (i == 10)
			bytes = st.control_bytes;
		ASSERT_EQ(0, upool_close(pool));
	}
	EXPECT_EQ(bytes, st.control_bytes);
}

static bool stop;

static void *busy(void *arg)
{
	struct upool *pool = arg;
	unsigned int seed = (unsigned int)(uintptr_t)&seed;
	void *bufs[16];
	size_t n, bytes;

	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		bytes = 16 << rand_r(&seed) % 10;
		n = upool_alloc_bulk(pool, bytes, bufs, rand_r(&seed) % 16);
		upool_free_bulk(pool, bufs, n);
	}
	return NULL;
}

/* 0 when everything in the child is as it should be. */
static int child(struct upool *pool, void *held)
{
	struct upool_stats st;
	void *bufs[100];
	pthread_t thread __attribute__((unused));

	alarm(60);
	if (upool_alloc_bulk(pool, 500, bufs, 100) != 100)
		return 1;
	if (upool_free_bulk(pool, bufs, 100) != 100)
		return 2;
	if (upool_free(pool, held) || upool_free(pool, held) != -EALREADY)
		return 3;
	st = read_stats(pool);
	if (st.threads > 1)
		return 4;
#ifndef __SANITIZE_ADDRESS__	/* whose allocator's locks a fork may leave held */
	if (pthread_create(&thread, NULL, take_and_give, pool) || pthread_join(thread, NULL))
		return 5;
#endif
	upool_trim(pool, 0);
	return 0;
}

FIXTURE(forks)
{
};

FIXTURE_SETUP(forks)
{
}

FIXTURE_TEARDOWN(forks)
{
}

TEST_F_TIMEOUT(forks, while_threads_are_busy, 600)
{
	struct upool *pool = private_pool(0, 0, 0);
	unsigned int i, nr = scaled(300, 20);
	pthread_t thread[8];
	int status;
	void *held;
	pid_t pid;

	ASSERT_NE(NULL, pool);
	held = upool_alloc(pool, 100);
	for (i = 0; i < 8; i++)
		ASSERT_EQ(0, pthread_create(&thread[i], NULL, busy, pool));
	for (i = 0; i < nr; i++) {
		pid = fork();
		if (!pid)
			_exit(child(pool, held));
		ASSERT_EQ(pid, waitpid(pid, &status, 0));
		ASSERT_EQ(0, status) TH_LOG("child %u", i);
	}
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	for (i = 0; i < 8; i++)
		ASSERT_EQ(0, pthread_join(thread[i], NULL));
	EXPECT_EQ(0, upool_free(pool, held));
	EXPECT_EQ(0, read_stats(pool).held);
	EXPECT_EQ(0, upool_destroy(pool));
}

static void cache_all(void *pool)
{
	take_and_give(pool);
}

/* Nothing is lost to a child: what its parent's other threads had cached is idle there. */
TEST_F(forks, with_everything_cached)
{
	struct work w = { .pool = private_pool(1024, NR, 0) };
	struct sleeper sleeper;
	int status;
	pid_t pid;

	ASSERT_NE(NULL, w.pool);
	sleeper_start(&sleeper, cache_all, NULL, w.pool);
	pid = fork();
	if (!pid) {
		take(&w);
		_exit(w.n == NR && upool_free_bulk(w.pool, w.bufs, NR) == NR &&
		      !upool_destroy(w.pool) ? 0 : 1);
	}
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
	sleeper_end(&sleeper);
	EXPECT_EQ(0, upool_destroy(w.pool));
}

TEST_HARNESS_MAIN
