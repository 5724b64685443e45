// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * pool_api.c - allocation and free keep the contract of upool.h, on either backing.
 */
#include <stdint.h>
#include "kselftest_harness.h"
#include "pool_fixture.h"

#define NR	64
#define BYTES	4096

FIXTURE(pool)
{
	struct upool *pool;
	void *buf[NR + 1];
};

FIXTURE_SETUP(pool)
{
	ASSERT_EQ(0, make_pool(&self->pool, BYTES, NR, 0));
}

FIXTURE_TEARDOWN(pool)
{
	EXPECT_EQ(0, upool_close(self->pool));
}

TEST_F(pool, gives_out_every_buffer_once)
{
	int i, j;

	for (i = 0; i < NR; i++) {
		self->buf[i] = upool_alloc(self->pool, BYTES);
		ASSERT_NE(NULL, self->buf[i]);
		memset(self->buf[i], i, BYTES);
	}
	EXPECT_EQ(NULL, upool_alloc(self->pool, 1));
	for (i = 0; i < NR; i++) {
		for (j = 0; j < BYTES; j++)
			ASSERT_EQ(i, ((unsigned char *)self->buf[i])[j]);
		EXPECT_EQ(0, upool_free(self->pool, self->buf[i]));
	}
	EXPECT_EQ(NR, count_buffers(self->pool, NR));
	EXPECT_LE(1, read_stats(self->pool).exhausted);
}

TEST_F(pool, statistics_add_up)
{
	struct upool_stats st;
	int i;

	for (i = 0; i < NR / 2; i++)
		self->buf[i] = upool_alloc(self->pool, 1);
	st = read_stats(self->pool);
	EXPECT_EQ(NR, st.nr_buffers);
	EXPECT_EQ(BYTES, st.buffer_bytes);
	EXPECT_EQ(NR / 2, st.held);
	EXPECT_EQ(NR, st.held + st.depot_idle + st.mag_idle + st.retired);
	EXPECT_EQ(NR / 2, upool_free_bulk(self->pool, self->buf, NR / 2));
	st = read_stats(self->pool);
	EXPECT_EQ(0, st.held);
	EXPECT_EQ(NR, st.depot_idle + st.mag_idle);
}

TEST_F(pool, refuses_a_second_free)
{
	void *a = upool_alloc(self->pool, 1), *b;

	EXPECT_EQ(0, upool_free(self->pool, a));
	EXPECT_EQ(-EALREADY, upool_free(self->pool, a));
	EXPECT_EQ(1, read_stats(self->pool).double_free);
	a = upool_alloc(self->pool, 1);
	b = upool_alloc(self->pool, 1);
	EXPECT_NE(a, b);
	EXPECT_EQ(0, upool_free(self->pool, a));
	EXPECT_EQ(0, upool_free(self->pool, b));
	EXPECT_EQ(NR, count_buffers(self->pool, NR));
}

TEST_F(pool, refuses_what_is_not_its_buffer)
{
	char *buf = upool_alloc(self->pool, 1);
	struct upool *other;
	void *foreign;
	int local;

	ASSERT_EQ(0, make_pool(&other, BYTES, NR, 0));
	foreign = upool_alloc(other, 1);
	EXPECT_EQ(0, upool_free(self->pool, NULL));
	EXPECT_EQ(-EINVAL, upool_free(self->pool, buf + 1));
	EXPECT_EQ(-EINVAL, upool_free(self->pool, buf + 64));
	EXPECT_EQ(-EINVAL, upool_free(self->pool, buf - BYTES * (NR + 1)));
	EXPECT_EQ(-EINVAL, upool_free(self->pool, &local));
	EXPECT_EQ(-EINVAL, upool_free(self->pool, (void *)16));
	EXPECT_EQ(-EINVAL, upool_free(self->pool, (void *)(UINTPTR_MAX - 63)));
	EXPECT_EQ(-EINVAL, upool_free(self->pool, foreign));
	EXPECT_EQ(7, read_stats(self->pool).foreign_free);
	EXPECT_EQ(0, upool_free(other, foreign));
	EXPECT_EQ(0, upool_free(self->pool, buf));
	EXPECT_EQ(NR, count_buffers(self->pool, NR));
	upool_close(other);
}

TEST_F(pool, serves_sizes_up_to_the_buffer)
{
	void *zero = upool_alloc(self->pool, 0), *full = upool_alloc(self->pool, BYTES);

	EXPECT_NE(NULL, zero);
	EXPECT_NE(NULL, full);
	EXPECT_NE(zero, full);
	EXPECT_EQ(NULL, upool_alloc(self->pool, BYTES + 1));
	EXPECT_EQ(NULL, upool_alloc(self->pool, SIZE_MAX));
	EXPECT_EQ(2, read_stats(self->pool).too_big);
	EXPECT_EQ(BYTES, upool_usable_size(self->pool, full));
	EXPECT_EQ(0, upool_usable_size(self->pool, (char *)full + 1));
	EXPECT_EQ(0, upool_free(self->pool, zero));
	EXPECT_EQ(0, upool_free(self->pool, full));
}

TEST_F(pool, zeroes_on_request)
{
	char *buf;
	int i, j;

	for (i = 0; i < NR; i++)
		memset(self->buf[i] = upool_alloc(self->pool, BYTES), 0xa5, BYTES);
	EXPECT_EQ(NR, upool_free_bulk(self->pool, self->buf, NR));
	buf = upool_zalloc(self->pool, BYTES);
	ASSERT_NE(NULL, buf);
	for (j = 0; j < BYTES; j++)
		ASSERT_EQ(0, buf[j]);
	EXPECT_EQ(0, upool_free(self->pool, buf));
}

TEST_F(pool, aligns)
{
	void *buf = upool_alloc_aligned(self->pool, 1, BYTES);

	ASSERT_NE(NULL, buf);
	EXPECT_EQ(0, (uintptr_t)buf % BYTES);
	EXPECT_EQ(NULL, upool_alloc_aligned(self->pool, 1, BYTES * 2));
	EXPECT_EQ(NULL, upool_alloc_aligned(self->pool, 1, 3));
	EXPECT_EQ(NULL, upool_alloc_aligned(self->pool, 1, 0));
	EXPECT_EQ(0, upool_free(self->pool, buf));
}

TEST_F(pool, bulk_free_returns_what_it_refused)
{
	void *bufs[4];

	EXPECT_EQ(3, upool_alloc_bulk(self->pool, 1, bufs, 3));
	bufs[3] = &bufs;
	EXPECT_EQ(3, upool_free_bulk(self->pool, bufs, 4));
	EXPECT_EQ((void *)&bufs, bufs[0]);
	EXPECT_EQ(NR, upool_alloc_bulk(self->pool, 1, self->buf, NR + 1));
	EXPECT_EQ(NR, upool_free_bulk(self->pool, self->buf, NR));
}

TEST_F(pool, reservation_cannot_fail)
{
	struct upool_reservation *r = NULL;
	void *taken[3];
	size_t n;

	EXPECT_EQ(-ENOBUFS, upool_reserve(self->pool, 1, NR + 1, &r));
	EXPECT_EQ(-EINVAL, upool_reserve(self->pool, 1, 0, &r));
	EXPECT_EQ(-EINVAL, upool_reserve(self->pool, BYTES + 1, 1, &r));
	EXPECT_EQ(NULL, r);
	ASSERT_EQ(0, upool_reserve(self->pool, 1, 3, &r));
	n = upool_alloc_bulk(self->pool, 1, self->buf, NR + 1);
	EXPECT_EQ(NR - 3, n);
	taken[0] = upool_alloc_reserved(r);
	taken[1] = upool_alloc_reserved(r);
	EXPECT_NE(NULL, taken[0]);
	EXPECT_NE(NULL, taken[1]);
	upool_unreserve(r);
	EXPECT_EQ(2, upool_free_bulk(self->pool, taken, 2));
	EXPECT_EQ(n, upool_free_bulk(self->pool, self->buf, n));
	EXPECT_EQ(NR, count_buffers(self->pool, NR));

	ASSERT_EQ(0, upool_reserve(self->pool, 1, 1, &r));
	taken[0] = upool_alloc_reserved(r);
	EXPECT_EQ(NULL, upool_alloc_reserved(r));
	upool_unreserve(r);
	EXPECT_EQ(0, upool_free(self->pool, taken[0]));
}

TEST_F(pool, reaches_buffers_idle_on_another_cpu)
{
	size_t n;

	if (sysconf(_SC_NPROCESSORS_ONLN) < 2)
		SKIP(return, "one CPU");
	ASSERT_EQ(0, run_on_cpu(1));
	EXPECT_EQ(NR, upool_alloc_bulk(self->pool, 1, self->buf, NR));
	EXPECT_EQ(NR, upool_free_bulk(self->pool, self->buf, NR));
	ASSERT_EQ(0, run_on_cpu(0));
	n = upool_alloc_bulk(self->pool, 1, self->buf, NR + 1);
	EXPECT_EQ(NR, n);
	EXPECT_EQ(n, upool_free_bulk(self->pool, self->buf, n));
}

TEST_F(pool, wait_times_out_when_all_are_held)
{
	EXPECT_EQ(NR, upool_alloc_bulk(self->pool, 1, self->buf, NR));
	EXPECT_EQ(NULL, upool_alloc_wait(self->pool, 1, 5));
	EXPECT_EQ(NULL, upool_alloc_wait(self->pool, 1, 0));
	EXPECT_EQ(0, upool_free(self->pool, self->buf[0]));
	EXPECT_EQ(self->buf[0], upool_alloc_wait(self->pool, 1, -1));
	EXPECT_EQ(NR, upool_free_bulk(self->pool, self->buf, NR));
}

TEST(odd_sizes_are_exact)
{
	static const size_t sizes[] = { 1, 64, 65, 4095, 4097, 4096 + 64, (1 << 20) + 64 };
	struct upool *pool;
	size_t i, bytes, n;
	char *a[8];

	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		bytes = (sizes[i] + 63) / 64 * 64;
		ASSERT_EQ(0, make_pool(&pool, sizes[i], 8, 0));
		n = upool_alloc_bulk(pool, sizes[i], (void **)a, 8);
		EXPECT_EQ(8, n);
		EXPECT_EQ(bytes, upool_usable_size(pool, a[0]));
		a[0][bytes - 1] = 1;
		EXPECT_EQ(-EINVAL, upool_free(pool, a[3] + 64 * (bytes > 64)  + (bytes == 64)));
		EXPECT_EQ(8, upool_free_bulk(pool, (void **)a, 8));
		EXPECT_EQ(8, count_buffers(pool, 8));
		upool_close(pool);
	}
}

TEST(strict_pool_sees_double_frees)
{
	struct upool *pool;
	void *a;

	ASSERT_EQ(0, make_pool(&pool, 64, 4, UPOOL_F_STRICT));
	a = upool_alloc(pool, 1);
	EXPECT_EQ(0, upool_free(pool, a));
	EXPECT_EQ(-EALREADY, upool_free(pool, a));
	EXPECT_EQ(4, count_buffers(pool, 4));
	upool_close(pool);
}

TEST(clearing_pool_never_shows_old_contents)
{
	struct upool *pool;
	char *a;
	int i;

	ASSERT_EQ(0, make_pool(&pool, 64, 1, UPOOL_F_CLEAR));
	a = upool_alloc(pool, 64);
	memset(a, 7, 64);
	EXPECT_EQ(0, upool_free(pool, a));
	a = upool_alloc(pool, 1);
	for (i = 0; i < 64; i++)
		EXPECT_EQ(0, a[i]);
	upool_free(pool, a);
	upool_close(pool);
}

TEST_HARNESS_MAIN
