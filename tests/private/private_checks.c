// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * private_checks.c - what a private pool refuses, and that nothing is lost by it.
 */
#include <sys/mman.h>
#include "kselftest_harness.h"
#include "private_fixture.h"

FIXTURE(checks)
{
	struct upool *pool;
};

FIXTURE_VARIANT(checks)
{
	unsigned int flags;
};

FIXTURE_VARIANT_ADD(checks, plain) { 0 };
FIXTURE_VARIANT_ADD(checks, strict) { UPOOL_F_STRICT };
FIXTURE_VARIANT_ADD(checks, powers_of_two) { UPOOL_F_POW2 };

FIXTURE_SETUP(checks)
{
	self->pool = private_pool(0, 0, variant->flags);
	ASSERT_NE(NULL, self->pool);
}

FIXTURE_TEARDOWN(checks)
{
	EXPECT_EQ(0, upool_destroy(self->pool));
}

TEST_F(checks, second_free)
{
	void *a = upool_alloc(self->pool, 100), *b, *c, *others[4];

	/* room in the magazine: else a wrong hit would miss */
	ASSERT_EQ(4, upool_alloc_bulk(self->pool, 100, others, 4));
	EXPECT_EQ(0, upool_free(self->pool, a));
	EXPECT_EQ(-EALREADY, upool_free(self->pool, a));
	EXPECT_EQ(1, read_stats(self->pool).double_free);
	b = upool_alloc(self->pool, 100);
	c = upool_alloc(self->pool, 100);
	EXPECT_NE(b, c);
	EXPECT_EQ(0, upool_free(self->pool, b));
	EXPECT_EQ(0, upool_free(self->pool, c));
	EXPECT_EQ(4, upool_free_bulk(self->pool, others, 4));
}

struct second {
	struct upool *pool;
	void *buf;
};

static void alloc_and_free(void *arg)
{
	struct second *s = arg;

	s->buf = upool_alloc(s->pool, 100);
	if (upool_free(s->pool, s->buf))
		s->buf = NULL;
}

/* It idles in the magazine of a thread that sleeps. */
TEST_F(checks, second_free_by_another_thread)
{
	struct second s = { self->pool, NULL };
	struct sleeper sleeper;

	sleeper_start(&sleeper, alloc_and_free, NULL, &s);
	ASSERT_NE(NULL, s.buf);
	EXPECT_EQ(-EALREADY, upool_free(self->pool, s.buf));
	sleeper_end(&sleeper);
	EXPECT_EQ(-EALREADY, upool_free(self->pool, s.buf));
	upool_trim(self->pool, 0);
	/* its span is gone */
	EXPECT_EQ(-EINVAL, upool_free(self->pool, s.buf));
}

TEST_F(checks, what_is_no_buffer)
{
	struct upool *other = private_pool(0, 0, variant->flags);
	size_t bytes, i, size;
	void *heap = malloc(100), *page, *foreign;
	char *buf;

	ASSERT_NE(NULL, other);
	page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	EXPECT_EQ(-EINVAL, upool_free(self->pool, heap));
	EXPECT_EQ(-EINVAL, upool_free(self->pool, page));
	EXPECT_EQ(-EINVAL, upool_free(self->pool, &buf));
	EXPECT_EQ(-EINVAL, upool_free(self->pool, (void *)1));
	EXPECT_EQ(-EINVAL, upool_free(self->pool, (void *)UINTPTR_MAX));
	EXPECT_EQ(-EINVAL, upool_free(self->pool, (void *)(UINTPTR_MAX / 2 + 1)));
	for (bytes = 16; bytes < 4 << 20; bytes = bytes * 5 / 3) {
		buf = upool_alloc(self->pool, bytes);
		size = upool_usable_size(self->pool, buf);
		for (i = 1; i < size; i += i < 128 ? 1 : size / 13 + 1)
			ASSERT_GT(0, upool_free(self->pool, buf + i));
		foreign = upool_alloc(other, bytes);
		ASSERT_EQ(-EINVAL, upool_free(self->pool, foreign));
		ASSERT_EQ(0, upool_usable_size(self->pool, foreign));
		ASSERT_EQ(0, upool_token(self->pool, foreign));
		ASSERT_EQ(0, upool_free(other, foreign));
		ASSERT_EQ(0, upool_free(self->pool, buf));
	}
	EXPECT_EQ(0, upool_destroy(other));
	free(heap);
	munmap(page, 4096);
}

TEST_F(checks, stays_unharmed)
{
	struct upool_stats before, after;
	void *bufs[64];
	size_t i;

	ASSERT_EQ(64, upool_alloc_bulk(self->pool, 1000, bufs, 64));
	before = read_stats(self->pool);
	for (i = 0; i < 64; i++) {
		upool_free(self->pool, (char *)bufs[i] + 1);
		upool_free(self->pool, &before);
	}
	after = read_stats(self->pool);
	EXPECT_EQ(before.held, after.held);
	EXPECT_EQ(before.nr_buffers, after.nr_buffers);
	EXPECT_EQ(before.foreign_free + 128, after.foreign_free);
	EXPECT_EQ(64, upool_free_bulk(self->pool, bufs, 64));
}

TEST_F(checks, tokens_work_once)
{
	void *buf = upool_alloc(self->pool, 100), *got = NULL, *other;
	upool_token_t token = upool_token(self->pool, buf), next;

	ASSERT_NE(0, token);
	EXPECT_EQ(token, upool_token(self->pool, buf));
	EXPECT_EQ(0, upool_accept(self->pool, token, &got));
	EXPECT_EQ(buf, got);
	other = NULL;
	EXPECT_EQ(-ESTALE, upool_accept(self->pool, token, &other));
	EXPECT_EQ(NULL, other);
	EXPECT_EQ(-ESTALE, upool_free_token(self->pool, token));
	next = upool_token(self->pool, buf);
	EXPECT_NE(token, next);
	/* freed by its holder, given out again: the token is over */
	EXPECT_EQ(0, upool_free(self->pool, buf));
	EXPECT_EQ(0, upool_token(self->pool, buf));
	EXPECT_EQ(buf, upool_alloc(self->pool, 100));
	EXPECT_EQ(-ESTALE, upool_accept(self->pool, next, &other));
	EXPECT_EQ(-ESTALE, upool_free_token(self->pool, next));
	next = upool_token(self->pool, buf);
	EXPECT_EQ(0, upool_free_token(self->pool, next));
	EXPECT_EQ(-EALREADY, upool_free(self->pool, buf));
	EXPECT_EQ(5, read_stats(self->pool).stale + 1);
}

TEST_F(checks, forged_tokens)
{
	void *buf = upool_alloc(self->pool, 100), *got = NULL;
	upool_token_t token = upool_token(self->pool, buf);
	unsigned int bit;

	EXPECT_EQ(-EINVAL, upool_accept(self->pool, 0, &got));
	for (bit = 0; bit < 64; bit++)
		EXPECT_GT(0, upool_accept(self->pool, token ^ 1ULL << bit, &got));
	EXPECT_EQ(NULL, got);
	EXPECT_EQ(0, upool_free_token(self->pool, token));
}

/* Many at a time: none is mistaken for another. */
TEST_F(checks, many_tokens)
{
	static upool_token_t token[20000];
	static void *bufs[20000];
	size_t i;
	void *got;

	ASSERT_EQ(20000, upool_alloc_bulk(self->pool, 64, bufs, 20000));
	for (i = 0; i < 20000; i++)
		token[i] = upool_token(self->pool, bufs[i]);
	for (i = 0; i < 20000; i += 2)
		ASSERT_EQ(0, upool_free(self->pool, bufs[i]));
	for (i = 0; i < 20000; i++) {
		if (i % 2 == 0) {
			ASSERT_EQ(-ESTALE, upool_accept(self->pool, token[i], &got));
			continue;
		}
		ASSERT_EQ(0, upool_accept(self->pool, token[i], &got));
		ASSERT_EQ(bufs[i], got);
		ASSERT_EQ(0, upool_free(self->pool, got));
	}
}

TEST(options_out_of_range)
{
	struct upool_options o = PRIVATE_OPTIONS;
	struct upool *pool = NULL;

	o.flags = UPOOL_F_PERSIST;
	EXPECT_EQ(-EOPNOTSUPP, upool_create(&pool, &o));
	o.flags = 1u << 31;
	EXPECT_EQ(-EINVAL, upool_create(&pool, &o));
	o.flags = 0;
	o.name = "name";
	EXPECT_EQ(-EINVAL, upool_create(&pool, &o));
	o.name = NULL;
	o.buffer_bytes = ((size_t)1 << 30) + 1;
	EXPECT_EQ(-EINVAL, upool_create(&pool, &o));
	o.buffer_bytes = 0;
	o.__resv[7] = 1;
	EXPECT_EQ(-EINVAL, upool_create(&pool, &o));
	EXPECT_EQ(NULL, pool);
}

TEST(other_calls)
{
	struct upool *pool = private_pool(0, 0, 0);

	ASSERT_NE(NULL, pool);
	EXPECT_EQ(-EOPNOTSUPP, upool_fd(pool));
	EXPECT_EQ(0, strncmp(upool_mode(pool), "private: ", 9));
	EXPECT_EQ(0, upool_close(pool));
	EXPECT_EQ(upool_shared(), upool_shared());
	EXPECT_EQ(-EPERM, upool_close(upool_shared()));
	EXPECT_EQ(-EPERM, upool_destroy(upool_shared()));
}

TEST_HARNESS_MAIN
