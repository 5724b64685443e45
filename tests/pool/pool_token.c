// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * pool_token.c - a token claims its buffer once, and never another tenancy.
 */
#include <sys/mman.h>
#include <upool/upool.h>
#include "kselftest_harness.h"
#include "pool_fixture.h"

#define NR	8

FIXTURE(token)
{
	struct upool *pool;
	void *buf;
	upool_token_t token;
};

FIXTURE_SETUP(token)
{
	ASSERT_EQ(0, make_pool(&self->pool, 64, NR, 0));
	self->buf = upool_alloc(self->pool, 1);
	ASSERT_NE(NULL, self->buf);
	self->token = upool_token(self->pool, self->buf);
	ASSERT_NE(0, self->token);
}

FIXTURE_TEARDOWN(token)
{
	EXPECT_EQ(NR, count_buffers(self->pool, NR));
	upool_close(self->pool);
}

TEST_F(token, works_once)
{
	void *buf = NULL, *again = NULL;

	EXPECT_EQ(0, upool_accept(self->pool, self->token, &buf));
	EXPECT_EQ(self->buf, buf);
	EXPECT_EQ(-ESTALE, upool_accept(self->pool, self->token, &again));
	EXPECT_EQ(NULL, again);
	EXPECT_EQ(-ESTALE, upool_free_token(self->pool, self->token));
	EXPECT_EQ(2, read_stats(self->pool).stale);
	EXPECT_EQ(0, upool_free(self->pool, buf));
}

TEST_F(token, ends_with_a_free)
{
	void *again;

	EXPECT_EQ(0, upool_free(self->pool, self->buf));
	EXPECT_EQ(-ESTALE, upool_accept(self->pool, self->token, &again));
	EXPECT_EQ(-ESTALE, upool_free_token(self->pool, self->token));
}

TEST_F(token, does_not_reach_the_next_tenancy)
{
	void *bufs[NR], *again;
	size_t n;

	EXPECT_EQ(0, upool_free(self->pool, self->buf));
	n = upool_alloc_bulk(self->pool, 1, bufs, NR);
	EXPECT_EQ(NR, n);
	EXPECT_EQ(-ESTALE, upool_free_token(self->pool, self->token));
	EXPECT_EQ(-ESTALE, upool_accept(self->pool, self->token, &again));
	EXPECT_EQ(n, upool_free_bulk(self->pool, bufs, n));
}

TEST_F(token, frees_its_buffer)
{
	EXPECT_EQ(0, upool_free_token(self->pool, self->token));
	EXPECT_EQ(-EALREADY, upool_free(self->pool, self->buf));
}

TEST_F(token, is_the_same_while_its_tenancy_lasts)
{
	EXPECT_EQ(self->token, upool_token(self->pool, self->buf));
	EXPECT_EQ(0, upool_free(self->pool, self->buf));
	EXPECT_EQ(0, upool_token(self->pool, self->buf));
}

TEST_F(token, forged_ones_are_refused)
{
	void *out = NULL;
	unsigned int i;

	for (i = 0; i < 32; i++)	/* generation */
		EXPECT_EQ(-ESTALE, upool_accept(self->pool, self->token ^ 1ULL << i, &out));
	for (i = 35; i < 64; i++)	/* index, but for the bits in use; check */
		EXPECT_EQ(-EINVAL, upool_accept(self->pool, self->token ^ 1ULL << i, &out));
	EXPECT_EQ(-EINVAL, upool_accept(self->pool, 0, &out));
	EXPECT_EQ(NULL, out);
	EXPECT_EQ(0, upool_free(self->pool, self->buf));
}

TEST_F(token, of_a_buffer_not_held_there_is_none)
{
	int local;

	EXPECT_EQ(0, upool_token(self->pool, &local));
	EXPECT_EQ(0, upool_token(self->pool, (char *)self->buf + 1));
	EXPECT_EQ(0, upool_free(self->pool, self->buf));
	EXPECT_EQ(0, upool_token(self->pool, self->buf));
}

/* A second look at the control area, as a member that spoils it has. */
static struct upool_header *control(struct upool *pool, struct upool_geometry *geo)
{
	struct upool_header *h;

	if (backing_under_test() == UPOOL_BACKING_DEVICE) {
		/* control maps whole: its size follows from the arguments */
		memset(geo, 0, sizeof(*geo));
		if (upool_geometry_init(geo, 64, NR, NR, upool_default_cap(NR, sysconf(_SC_NPROCESSORS_ONLN)),
					sysconf(_SC_NPROCESSORS_CONF)))
			return MAP_FAILED;
		return mmap(NULL, geo->control_bytes, PROT_READ | PROT_WRITE, MAP_SHARED,
			    upool_fd(pool), 0);
	}
	h = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, upool_fd(pool), 0);
	if (h == MAP_FAILED)
		return h;
	*geo = h->geo;
	munmap(h, 4096);
	return mmap(NULL, geo->control_bytes, PROT_READ | PROT_WRITE, MAP_SHARED,
		    upool_fd(pool), 0);
}

TEST_F(token, worn_buffers_are_parked)
{
	uint32_t index = upool_token_index(self->token);
	struct upool_geometry geo;
	struct upool_header *h = control(self->pool, &geo);
	void *buf, *again;
	uint64_t *tags;
	upool_token_t last;

	ASSERT_NE(MAP_FAILED, h);
	geo = h->geo;
	tags = (uint64_t *)((char *)h + geo.tag_off);
	tags[index] = upool_tag(upool_tag_owner(tags[index]), UPOOL_GEN_RETIRE - 1);
	EXPECT_EQ(-ESTALE, upool_accept(self->pool, self->token, &again));
	last = upool_token(self->pool, self->buf);
	EXPECT_EQ(UPOOL_GEN_RETIRE - 1, upool_token_gen(last));
	EXPECT_EQ(0, upool_accept(self->pool, last, &buf));
	EXPECT_EQ(0, upool_free(self->pool, buf));
	EXPECT_EQ(1, read_stats(self->pool).retired);
	EXPECT_EQ(-ESTALE, upool_accept(self->pool, last, &again));
	EXPECT_EQ(NR - 1, count_buffers(self->pool, NR));

	/* no token of the last generation */
	buf = upool_alloc(self->pool, 1);
	index = upool_token_index(upool_token(self->pool, buf));
	tags[index] = upool_tag(upool_tag_owner(tags[index]), UPOOL_GEN_MAX);
	EXPECT_EQ(0, upool_token(self->pool, buf));
	EXPECT_EQ(0, upool_free(self->pool, buf));
	EXPECT_EQ(2, read_stats(self->pool).retired);
	munmap(h, geo.control_bytes);

	/* the teardown wants a whole pool */
	upool_close(self->pool);
	ASSERT_EQ(0, make_pool(&self->pool, 64, NR, 0));
}

TEST(worn_buffers_come_back_with_generation_0)
{
	struct upool_options o = UPOOL_OPTIONS_INIT;
	struct upool_geometry geo;
	struct upool_header *h;
	struct upool *pool;
	uint64_t *tags;
	void *buf;
	uint32_t index;

	o.backing = backing_under_test();
	o.buffer_bytes = 64;
	o.nr_buffers = NR;
	o.token_ttl_s = 1;
	ASSERT_EQ(0, upool_create(&pool, &o));
	h = control(pool, &geo);
	ASSERT_NE(MAP_FAILED, h);
	tags = (uint64_t *)((char *)h + h->geo.tag_off);
	buf = upool_alloc(pool, 1);
	index = upool_token_index(upool_token(pool, buf));
	tags[index] = upool_tag(upool_tag_owner(tags[index]), UPOOL_GEN_RETIRE);
	EXPECT_EQ(0, upool_free(pool, buf));
	EXPECT_EQ(1, read_stats(pool).retired);
	while (count_buffers(pool, NR) < NR)
		sched_yield();
	EXPECT_EQ(0, upool_tag_gen(tags[index]));
	EXPECT_EQ(0, read_stats(pool).retired);
	munmap(h, geo.control_bytes);
	upool_close(pool);
}

TEST_HARNESS_MAIN
