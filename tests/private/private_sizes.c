// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * private_sizes.c - which buffer a size gets: class, alignment, contents, bulk.
 */
#include <upool_inline.h>
#include "kselftest_harness.h"
#include "private_fixture.h"

#define GIB ((size_t)1 << 30)

FIXTURE(sizes)
{
	struct upool *pool;
};

FIXTURE_SETUP(sizes)
{
	self->pool = private_pool(0, 0, 0);
	ASSERT_NE(NULL, self->pool);
}

FIXTURE_TEARDOWN(sizes)
{
	EXPECT_EQ(0, upool_destroy(self->pool));
}

static size_t usable(struct upool *pool, size_t bytes)
{
	void *buf = upool_alloc(pool, bytes);
	size_t n = upool_usable_size(pool, buf);

	return buf && !upool_free(pool, buf) ? n : 0;
}

/* At most 25 per cent apart above 64 bytes, 16-byte steps below. */
TEST_F(sizes, classes_are_close)
{
	size_t bytes, got, before = 0;
	double waste = 0;
	unsigned int n = 0;

	for (bytes = 1; bytes <= GIB; bytes += bytes < 4096 ? 1 : bytes / 97) {
		got = usable(self->pool, bytes);
		ASSERT_LE(bytes, got) TH_LOG("%zu bytes", bytes);
		ASSERT_LE(before, got);
		if (bytes <= 64) {
			ASSERT_EQ((bytes + 15) / 16 * 16, got);
		} else {
			ASSERT_LE(4 * got, 5 * (bytes + 3)) TH_LOG("%zu of %zu", bytes, got);
		}
		if (bytes >= 4096) {
			waste += (double)(got - bytes) / (double)got;
			n++;
		}
		before = got;
	}
	EXPECT_GT(0.12, waste / n);
	EXPECT_EQ(GIB, usable(self->pool, GIB));
}

TEST_F(sizes, powers_of_two_on_request)
{
	struct upool *pool = private_pool(0, 0, UPOOL_F_POW2);
	size_t bytes, got;

	ASSERT_NE(NULL, pool);
	for (bytes = 1; bytes <= 1 << 20; bytes += bytes / 3 + 1) {
		got = usable(pool, bytes);
		EXPECT_LE(bytes, got);
		EXPECT_EQ(0, got & (got - 1));
	}
	EXPECT_EQ(0, upool_destroy(pool));
}

TEST_F(sizes, nothing_is_a_unique_buffer)
{
	void *a = upool_alloc(self->pool, 0), *b = upool_alloc(self->pool, 0);

	ASSERT_NE(NULL, a);
	ASSERT_NE(NULL, b);
	EXPECT_NE(a, b);
	EXPECT_EQ(16, upool_usable_size(self->pool, a));
	EXPECT_EQ(0, upool_free(self->pool, a));
	EXPECT_EQ(0, upool_free(self->pool, b));
	EXPECT_EQ(0, upool_free(self->pool, NULL));
}

/* Aligned to the largest power of two that divides the size of the class. */
TEST_F(sizes, alignment_is_that_of_the_class)
{
	size_t bytes, size, align, i;
	void *buf[40];

	for (bytes = 1; bytes <= 64 << 20; bytes += bytes / 5 + 1) {
		for (i = 0; i < 40 && (i < 3 || bytes < 100000); i++) {
			buf[i] = upool_alloc(self->pool, bytes);
			ASSERT_NE(NULL, buf[i]);
			size = upool_usable_size(self->pool, buf[i]);
			align = size & -size;
			align = align > 2 << 20 ? 2 << 20 : align;
			ASSERT_EQ(0, (uintptr_t)buf[i] & (align - 1)) TH_LOG("%zu", bytes);
		}
		ASSERT_EQ(i, upool_free_bulk(self->pool, buf, i));
	}
}

TEST_F(sizes, whole_pages_are_page_aligned)
{
	size_t pages;
	void *buf;

	for (pages = 1; pages < 600; pages++) {
		buf = upool_alloc(self->pool, pages * 4096);
		ASSERT_NE(NULL, buf);
		EXPECT_EQ(0, (uintptr_t)buf & 4095);
		EXPECT_EQ(0, upool_free(self->pool, buf));
	}
}

TEST_F(sizes, aligned_on_request)
{
	size_t align, bytes;
	void *buf;

	for (align = 1; align <= 2 << 20; align *= 2)
		for (bytes = 0; bytes < 3 << 20; bytes += bytes / 2 + 1) {
			buf = upool_alloc_aligned(self->pool, bytes, align);
			ASSERT_NE(NULL, buf) TH_LOG("%zu at %zu", bytes, align);
			EXPECT_EQ(0, (uintptr_t)buf & (align - 1));
			EXPECT_LE(bytes, upool_usable_size(self->pool, buf));
			EXPECT_EQ(0, upool_free(self->pool, buf));
		}
	EXPECT_EQ(NULL, upool_alloc_aligned(self->pool, 1, 0));
	EXPECT_EQ(NULL, upool_alloc_aligned(self->pool, 1, 3));
	EXPECT_EQ(NULL, upool_alloc_aligned(self->pool, 1, 4 << 20));
	EXPECT_EQ(NULL, upool_alloc_aligned(self->pool, SIZE_MAX, 64));
}

TEST_F(sizes, larger_ones_have_pages_of_their_own)
{
	unsigned char *buf = upool_alloc(self->pool, 2 * GIB);
	size_t i;

	ASSERT_NE(NULL, buf);
	EXPECT_LE(2 * GIB, upool_usable_size(self->pool, buf));
	for (i = 0; i < 2 * GIB; i += GIB / 2)
		EXPECT_EQ(0, buf[i]++);
	EXPECT_EQ(-EINVAL, upool_free(self->pool, buf + 65536));
	EXPECT_EQ(0, upool_free(self->pool, buf));
	EXPECT_NE(0, upool_free(self->pool, buf));
	buf = upool_alloc(self->pool, 2 * GIB);
	ASSERT_NE(NULL, buf);
	EXPECT_EQ(0, buf[0]);
	EXPECT_EQ(0, upool_free(self->pool, buf));
	EXPECT_EQ(2, read_stats(self->pool).too_big);
	EXPECT_EQ(NULL, upool_alloc(self->pool, SIZE_MAX));
	EXPECT_EQ(NULL, upool_alloc(self->pool, SIZE_MAX / 2));
	EXPECT_EQ(2, read_stats(self->pool).exhausted);
}

TEST_F(sizes, zeroed_when_asked)
{
	struct upool *clear = private_pool(0, 0, UPOOL_F_CLEAR);
	static const unsigned char zero[70000];
	size_t bytes;
	void *buf;

	ASSERT_NE(NULL, clear);
	for (bytes = 1; bytes < sizeof(zero); bytes += bytes / 2 + 7) {
		buf = upool_alloc(self->pool, bytes);
		memset(buf, 0xa5, bytes);
		ASSERT_EQ(0, upool_free(self->pool, buf));
		buf = upool_zalloc(self->pool, bytes);
		EXPECT_EQ(0, memcmp(buf, zero, bytes));
		ASSERT_EQ(0, upool_free(self->pool, buf));
		buf = upool_alloc(clear, bytes);
		memset(buf, 0xa5, bytes);
		ASSERT_EQ(0, upool_free(clear, buf));
		buf = upool_alloc_inline(clear, bytes);
		EXPECT_EQ(0, memcmp(buf, zero, bytes));
		ASSERT_EQ(0, upool_free_inline(clear, buf));
	}
	EXPECT_EQ(0, upool_destroy(clear));
}

TEST_F(sizes, many_at_once)
{
	static void *bufs[5000];
	size_t bytes, i;

	for (bytes = 8; bytes <= 65536; bytes *= 8) {
		ASSERT_EQ(5000, upool_alloc_bulk(self->pool, bytes, bufs, 5000));
		for (i = 0; i < 5000; i++)
			*(size_t *)bufs[i] = i;
		for (i = 0; i < 5000; i++)
			ASSERT_EQ(i, *(size_t *)bufs[i]);
		EXPECT_EQ(5000, read_stats(self->pool).held);
		EXPECT_EQ(5000, upool_free_bulk(self->pool, bufs, 5000));
		/* again: refused ones come to the front */
		EXPECT_EQ(0, upool_free_bulk(self->pool, bufs, 5000));
		EXPECT_EQ(0, read_stats(self->pool).held);
	}
}

TEST_F(sizes, put_aside)
{
	struct upool_reservation *r;
	void *buf[100];
	size_t i;

	ASSERT_EQ(0, upool_reserve(self->pool, 500, 100, &r));
	for (i = 0; i < 100; i++) {
		buf[i] = upool_alloc_reserved(r);
		ASSERT_NE(NULL, buf[i]);
	}
	EXPECT_EQ(NULL, upool_alloc_reserved(r));
	EXPECT_EQ(100, upool_free_bulk(self->pool, buf, 100));
	upool_unreserve(r);
	EXPECT_EQ(-EINVAL, upool_reserve(self->pool, 500, 0, &r));
	EXPECT_EQ(-EINVAL, upool_reserve(self->pool, 500, SIZE_MAX, &r));
}

/* The inline functions are the exported ones. */
TEST_F(sizes, inline_as_well)
{
	void *buf, *others[4];
	size_t bytes;

	for (bytes = 0; bytes < 100000; bytes += bytes / 9 + 1) {
		/* room in the magazine: else a wrong hit would miss */
		ASSERT_EQ(4, upool_alloc_bulk(self->pool, bytes, others, 4));
		buf = upool_alloc_inline(self->pool, bytes);
		ASSERT_NE(NULL, buf);
		EXPECT_EQ(0, upool_free(self->pool, buf));
		EXPECT_EQ(buf, upool_alloc(self->pool, bytes));
		EXPECT_EQ(-EINVAL, upool_free_inline(self->pool, (char *)buf + 8));
		EXPECT_EQ(0, upool_free_inline(self->pool, buf));
		EXPECT_EQ(-EALREADY, upool_free_inline(self->pool, buf));
		EXPECT_EQ(4, upool_free_bulk(self->pool, others, 4));
	}
}

TEST_HARNESS_MAIN
