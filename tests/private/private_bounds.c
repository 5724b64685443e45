// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * private_bounds.c - bounds are exact, what is idle is found, what is too old goes.
 */
#include <time.h>
#include <upool_inline.h>
#include "kselftest_harness.h"
#include "private_fixture.h"

#define NR	127
#define MIB	((size_t)1 << 20)

static struct upool *bounded(size_t largest, size_t nr, size_t max_bytes)
{
	struct upool_options o = PRIVATE_OPTIONS;
	struct upool *pool = NULL;

	o.buffer_bytes = largest;
	o.nr_buffers = nr;
	o.max_bytes = max_bytes;
	return upool_create(&pool, &o) ? NULL : pool;
}

TEST(number_of_buffers)
{
	struct upool *pool = bounded(1024, NR, 0);
	void *bufs[2 * NR];

	ASSERT_NE(NULL, pool);
	EXPECT_EQ(NR, upool_alloc_bulk(pool, 1024, bufs, 2 * NR));
	EXPECT_EQ(1, read_stats(pool).exhausted);
	EXPECT_EQ(-EBUSY, upool_destroy(pool));
	EXPECT_EQ(NR, upool_free_bulk(pool, bufs, NR));
	EXPECT_EQ(NR, upool_alloc_bulk(pool, 1024, bufs, 2 * NR));
	EXPECT_EQ(NR, upool_free_bulk(pool, bufs, NR));
	EXPECT_EQ(0, upool_destroy(pool));
}

/* 640 and 768 follow 512; 1024 and more do not help. */
TEST(next_classes)
{
	struct upool *pool = bounded(1024, 10, 0);
	void *bufs[100];

	ASSERT_NE(NULL, pool);
	EXPECT_EQ(30, upool_alloc_bulk(pool, 512, bufs, 100));
	EXPECT_EQ(768, upool_usable_size(pool, bufs[29]));
	EXPECT_EQ(10, upool_alloc_bulk(pool, 1024, bufs + 30, 50));
	EXPECT_EQ(40, upool_free_bulk(pool, bufs, 40));
	EXPECT_EQ(0, upool_destroy(pool));
}

TEST(bytes)
{
	struct upool *pool = bounded(0, 0, 10 * MIB);
	void *bufs[100], *huge;
	size_t n;

	ASSERT_NE(NULL, pool);
	n = upool_alloc_bulk(pool, MIB, bufs, 100);
	EXPECT_EQ(10, n);
	EXPECT_EQ(NULL, upool_alloc(pool, 2 * MIB));
	EXPECT_EQ(0, upool_free(pool, bufs[--n]));
	upool_trim(pool, 0);
	EXPECT_NE(NULL, (bufs[n++] = upool_alloc(pool, 1000)));
	EXPECT_EQ(n, upool_free_bulk(pool, bufs, n));
	upool_trim(pool, 0);
	huge = upool_alloc(pool, 10 * MIB + 1);
	EXPECT_EQ(NULL, huge);
	EXPECT_EQ(0, upool_destroy(pool));
}

struct hoard {
	struct upool *pool;
	void *bufs[NR];
	size_t n;
};

static void cache_some(void *arg)
{
	struct hoard *h = arg;

	h->n = upool_alloc_bulk(h->pool, 1024, h->bufs, 64);
	upool_free_bulk(h->pool, h->bufs, h->n);
}

/* One thread has cached them and sleeps: another one gets every one of them. */
TEST(cached_by_a_sleeper)
{
	struct hoard h = { .pool = bounded(1024, NR, 0) };
	struct sleeper sleeper;
	void *bufs[NR + 1];

	ASSERT_NE(NULL, h.pool);
	sleeper_start(&sleeper, cache_some, cache_some, &h);
	EXPECT_EQ(64, h.n);
	EXPECT_EQ(NR, upool_alloc_bulk(h.pool, 1024, bufs, NR + 1));
	EXPECT_EQ(NR, upool_free_bulk(h.pool, bufs, NR));
	sleeper_end(&sleeper);
	EXPECT_EQ(64, h.n);
	EXPECT_EQ(0, upool_destroy(h.pool));
}

static void cache_and_begin(void *arg)
{
	cache_some(arg);
	__atomic_store_n(&upool__self_1->busy, 1, __ATOMIC_RELAXED);
}

static void end_hit(void *arg)
{
	__atomic_store_n(&upool__self_1->busy, 0, __ATOMIC_RELEASE);
	cache_some(arg);
}

/* Stopped inside of a hit: what it has cached is left alone until the hit is over. */
TEST(cached_by_one_in_a_hit)
{
	struct hoard h = { .pool = bounded(1024, NR, 0) };
	struct sleeper sleeper;
	void *bufs[NR + 1];
	size_t n;

	ASSERT_NE(NULL, h.pool);
	sleeper_start(&sleeper, cache_and_begin, end_hit, &h);
	EXPECT_EQ(64, h.n);
	n = upool_alloc_bulk(h.pool, 1024, bufs, NR + 1);
	EXPECT_GE(NR - 64, n);
	EXPECT_EQ(n, upool_free_bulk(h.pool, bufs, n));
	sleeper_end(&sleeper);
	EXPECT_EQ(NR, upool_alloc_bulk(h.pool, 1024, bufs, NR + 1));
	EXPECT_EQ(NR, upool_free_bulk(h.pool, bufs, NR));
	EXPECT_EQ(0, upool_destroy(h.pool));
}

static void *wait_for_one(void *arg)
{
	void *buf = upool_alloc_wait(arg, 1024, -1);

	return buf && !upool_free(arg, buf) ? arg : NULL;
}

static void until_waiting(struct upool *pool, uint64_t nr)
{
	while (read_stats(pool).waits < nr)
		sched_yield();
}

TEST(waiting)
{
	struct upool *pool = bounded(1024, 1, 0);
	pthread_t thread[8];
	void *buf, *result;
	size_t i;

	ASSERT_NE(NULL, pool);
	EXPECT_NE(NULL, (buf = upool_alloc_wait(pool, 1024, 0)));
	EXPECT_EQ(NULL, upool_alloc_wait(pool, 1024, 0));
	EXPECT_EQ(NULL, upool_alloc_wait(pool, 1024, 5));
	for (i = 0; i < 8; i++)
		ASSERT_EQ(0, pthread_create(&thread[i], NULL, wait_for_one, pool));
	until_waiting(pool, 9);
	EXPECT_EQ(0, upool_free(pool, buf));
	for (i = 0; i < 8; i++) {
		ASSERT_EQ(0, pthread_join(thread[i], &result));
		EXPECT_EQ(pool, result);
	}
	EXPECT_EQ(0, upool_destroy(pool));
}

/* After a wait hits are used again. */
TEST(hits_come_back)
{
	struct upool *pool = bounded(1024, 10, 0);
	struct upool_stats st;
	void *bufs[10];
	int i;

	ASSERT_NE(NULL, pool);
	ASSERT_EQ(10, upool_alloc_bulk(pool, 1024, bufs, 10));
	EXPECT_EQ(NULL, upool_alloc_wait(pool, 1024, 1));
	EXPECT_EQ(10, upool_free_bulk(pool, bufs, 10));
	for (i = 0; i < 100; i++)
		upool_free(pool, upool_alloc(pool, 1024));
	st = read_stats(pool);
	EXPECT_NE(0, st.mag_idle);
	EXPECT_EQ(0, upool_destroy(pool));
}

static void burst(struct upool *pool, size_t bytes, size_t nr)
{
	void **bufs = malloc(nr * sizeof(*bufs));
	size_t i, n = upool_alloc_bulk(pool, bytes, bufs, nr);

	for (i = 0; i < n; i++)
		memset(bufs[i], 1, bytes < 4096 ? bytes : 4096);
	upool_free_bulk(pool, bufs, n);
	free(bufs);
}

TEST(never_more_than_the_cap)
{
	struct upool_options o = PRIVATE_OPTIONS;
	struct upool_stats st;
	struct upool *pool;

	o.retain_bytes = 4 * MIB;
	o.thread_bytes = 1 * MIB;
	o.trim_age_ms = -1u;
	ASSERT_EQ(0, upool_create(&pool, &o));
	burst(pool, 1000, 100000);
	st = read_stats(pool);
	EXPECT_GE(5 * MIB, st.idle_bytes);
	EXPECT_NE(0, st.dropped_full);
	EXPECT_EQ(0, st.held);
	/* what is never kept goes at once, and does not push out the rest */
	burst(pool, 3 * MIB, 10);
	st = read_stats(pool);
	EXPECT_EQ(10, st.dropped_oversize);
	EXPECT_GE(5 * MIB, st.idle_bytes);
	EXPECT_LE(2 * MIB, st.idle_bytes);
	EXPECT_EQ(0, upool_destroy(pool));
}

TEST(nothing_is_nothing)
{
	struct upool_options o = PRIVATE_OPTIONS;
	struct upool_stats st;
	struct upool *pool;

	o.retain_bytes = UPOOL_NOTHING;
	o.thread_bytes = UPOOL_NOTHING;
	ASSERT_EQ(0, upool_create(&pool, &o));
	burst(pool, 1000, 10000);
	burst(pool, MIB, 100);
	st = read_stats(pool);
	EXPECT_EQ(0, st.idle_bytes);
	EXPECT_EQ(0, st.nr_buffers);
	EXPECT_EQ(0, st.data_bytes);
	EXPECT_EQ(0, upool_destroy(pool));
}

TEST(trim_gives_all_back)
{
	struct upool *pool = private_pool(0, 0, 0);
	struct upool_stats st;

	ASSERT_NE(NULL, pool);
	burst(pool, 64, 10000);
	burst(pool, 5000, 1000);
	burst(pool, MIB, 100);
	EXPECT_LE(100 * MIB, upool_trim(pool, 0));
	st = read_stats(pool);
	EXPECT_EQ(0, st.idle_bytes);
	EXPECT_EQ(0, st.data_bytes);
	burst(pool, 64, 10000);
	EXPECT_EQ(0, upool_destroy(pool));
}

static uint64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000 + (uint64_t)ts.tv_nsec / 1000000;
}

/* One later call is enough; magazines of a thread that sleeps go as well. */
TEST(old_ones_go)
{
	struct hoard h = { 0 };
	struct upool_options o = PRIVATE_OPTIONS;
	struct sleeper sleeper;
	struct upool_stats st;
	uint64_t start;
	size_t bytes;

	o.trim_age_ms = 20;
	o.idle_floor_bytes = UPOOL_NOTHING;
	ASSERT_EQ(0, upool_create(&h.pool, &o));
	sleeper_start(&sleeper, cache_some, NULL, &h);
	burst(h.pool, MIB, 100);
	EXPECT_LE(64 * MIB, read_stats(h.pool).idle_bytes);
	/* ages are a matter of time: calls go on until they have passed, and a bound */
	for (start = now_ms(), bytes = 4096; now_ms() - start < 20000; bytes = bytes * 5 / 4) {
		bytes = bytes > MIB / 2 ? 4096 : bytes;
		upool_free(h.pool, upool_alloc(h.pool, 2 * ((size_t)1 << 30)));
		st = read_stats(h.pool);
		if (!st.idle_bytes)
			break;
	}
	EXPECT_EQ(0, st.idle_bytes);
	EXPECT_LE(164, st.dropped_age);
	sleeper_end(&sleeper);
	EXPECT_EQ(0, upool_destroy(h.pool));
}

TEST(the_environment)
{
	static const char *const bad[] = { "", "-1", "abc", "1k", "0x10", "1e9", " 1", "1.5" };
	static const char *const setting[] = {
		"UPOOL_RETAIN_BYTES", "UPOOL_THREAD_BYTES", "UPOOL_IDLE_FLOOR_BYTES",
		"UPOOL_SHARDS", "UPOOL_TRIM_AGE_MS",
	};
	struct upool_options o = PRIVATE_OPTIONS;
	struct upool *pool;
	size_t i, j;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		for (j = 0; j < sizeof(setting) / sizeof(setting[0]); j++)
			setenv(setting[j], bad[i], 1);
		ASSERT_EQ(0, upool_create(&pool, &o));
		EXPECT_EQ(j, read_stats(pool).bad_settings);
		burst(pool, 1000, 1000);
		EXPECT_LE(500 * 1000, read_stats(pool).idle_bytes);
		EXPECT_EQ(0, upool_destroy(pool));
	}
	unsetenv("UPOOL_IDLE_FLOOR_BYTES");
	setenv("UPOOL_RETAIN_BYTES", "0", 1);
	setenv("UPOOL_THREAD_BYTES", "0", 1);
	setenv("UPOOL_SHARDS", "99999999999999999999999999", 1);
	setenv("UPOOL_TRIM_AGE_MS", "1000000000", 1);
	ASSERT_EQ(0, upool_create(&pool, &o));
	burst(pool, 1000, 1000);
	EXPECT_EQ(0, read_stats(pool).idle_bytes);
	EXPECT_EQ(0, read_stats(pool).bad_settings);
	EXPECT_EQ(0, upool_destroy(pool));
	/* an option comes before the environment */
	o.retain_bytes = UPOOL_UNLIMITED;
	ASSERT_EQ(0, upool_create(&pool, &o));
	burst(pool, 1000, 1000);
	EXPECT_LE(1000 * 1000, read_stats(pool).idle_bytes);
	EXPECT_EQ(0, upool_destroy(pool));
	unsetenv("UPOOL_RETAIN_BYTES");
	unsetenv("UPOOL_THREAD_BYTES");
	unsetenv("UPOOL_SHARDS");
	unsetenv("UPOOL_TRIM_AGE_MS");
}

TEST_HARNESS_MAIN
