// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * abi_tokens.c - ADOPT, and buffers whose generations are used up.
 */
#include "kselftest_harness.h"
#include "device.h"

FIXTURE(token) { struct pool_member a, b; uint32_t index; };

FIXTURE_SETUP(token)
{
	struct upool_create c = valid_create();

	c.token_ttl_s = 1;
	ASSERT_EQ(0, member_create(&self->a, c));
	ASSERT_EQ(0, member_reopen(&self->b, self->a.fd));
	ASSERT_EQ(0, pop(self->a.fd, &self->index));
}

FIXTURE_TEARDOWN(token)
{
	member_leave(&self->b);
	member_leave(&self->a);
}

static uint64_t tag_of(struct pool_member *m, uint32_t index)
{
	return __atomic_load_n(&member_tags(m)[index], __ATOMIC_ACQUIRE);
}

TEST_F(token, claims_once)
{
	uint64_t token = export_token(&self->a, self->index);
	uint32_t index;

	EXPECT_EQ(0, adopt(self->b.fd, token, &index));
	EXPECT_EQ(self->index, index);
	EXPECT_EQ(upool_tag(self->b.id | UPOOL_TAG_HELD, 1), tag_of(&self->a, index));
	EXPECT_EQ(-ESTALE, adopt(self->b.fd, token, &index));
	EXPECT_EQ(-ESTALE, adopt(self->a.fd, token, &index));
	EXPECT_EQ(-EINVAL, push(self->a.fd, self->index));
	EXPECT_EQ(0, push(self->b.fd, self->index));
	EXPECT_EQ(1, stats_of(self->a.fd).adopts);
}

TEST_F(token, ends_with_its_tenancy)
{
	uint64_t token = export_token(&self->a, self->index);
	uint32_t index;

	EXPECT_EQ(0, push(self->a.fd, self->index));
	EXPECT_EQ(-ESTALE, adopt(self->b.fd, token, &index));
	EXPECT_EQ(0, pop(self->a.fd, &index));
	EXPECT_EQ(self->index, index);
	EXPECT_EQ(-ESTALE, adopt(self->b.fd, token, &index));
	export_token(&self->a, self->index);
	EXPECT_EQ(-ESTALE, adopt(self->b.fd, token, &index));	/* the one before */
}

TEST_F(token, rejects_what_is_none)
{
	uint64_t token = upool_token_make(self->a.geo.check, self->index, 0);
	uint32_t index, check;

	EXPECT_EQ(-ESTALE, adopt(self->b.fd, token, &index));	/* not exported */
	token = export_token(&self->a, self->index);
	EXPECT_EQ(-EINVAL, adopt(self->b.fd, 0, &index));
	for (check = 0; check < 256; check++)
		if (check != self->a.geo.check)
			EXPECT_EQ(-EINVAL, adopt(self->b.fd,
						 upool_token_make(check, self->index, 0), &index));
	check = self->a.geo.check;
	EXPECT_EQ(-EINVAL, adopt(self->b.fd, upool_token_make(check, NR, 0), &index));
	EXPECT_EQ(-EINVAL, adopt(self->b.fd, upool_token_make(check, 0xffffff, 0), &index));
	EXPECT_EQ(-ESTALE, adopt(self->b.fd, token + 1, &index));
	EXPECT_EQ(-ESTALE, adopt(self->b.fd, token | UPOOL_GEN_MAX, &index));
	EXPECT_EQ(0, adopt(self->b.fd, token, &index));
}

TEST_F(token, of_an_idle_buffer_is_stale)
{
	uint64_t token = export_token(&self->a, self->index);
	uint32_t index;

	member_tags(&self->a)[self->index] = upool_tag(self->a.id | UPOOL_TAG_EXPORTED, 0);
	EXPECT_EQ(-ESTALE, adopt(self->b.fd, token, &index));
}

TEST_F(token, worn_buffer_rests_and_comes_back_new)
{
	uint32_t owner = self->a.id | UPOOL_TAG_HELD | UPOOL_TAG_EXPORTED, index, got[NR];
	uint64_t token = upool_token_make(self->a.geo.check, self->index, UPOOL_GEN_RETIRE - 2);

	member_tags(&self->a)[self->index] = upool_tag(owner, UPOOL_GEN_RETIRE - 2);
	EXPECT_EQ(0, adopt(self->b.fd, token, &index));
	EXPECT_EQ(upool_tag(self->b.id | UPOOL_TAG_HELD, UPOOL_GEN_RETIRE - 1),
		  tag_of(&self->a, index));
	token = export_token(&self->b, index);
	EXPECT_EQ(0, adopt(self->a.fd, token, &index));
	/* its free has to look at the generation */
	EXPECT_EQ(upool_tag(owner, UPOOL_GEN_RETIRE), tag_of(&self->a, index));
	EXPECT_EQ(0, push(self->a.fd, index));
	EXPECT_EQ(1, stats_of(self->a.fd).retired);
	EXPECT_EQ(NR - 1, stats_of(self->a.fd).depot_idle);
	EXPECT_EQ(NR - 1, pop_all(self->a.fd, got, NR));
	EXPECT_EQ(-ESTALE, adopt(self->b.fd, token, &index));
	EXPECT_EQ(0, pop_wait(self->b.fd, &index, -1));	/* until its time is over */
	EXPECT_EQ(self->index, index);
	EXPECT_EQ(0, upool_tag_gen(tag_of(&self->a, index)));
	EXPECT_EQ(0, stats_of(self->a.fd).retired);
	EXPECT_EQ(-ESTALE, adopt(self->a.fd, token, &index));
}

TEST_F(token, last_generation_has_none)
{
	uint32_t owner = self->a.id | UPOOL_TAG_HELD | UPOOL_TAG_EXPORTED, index;
	uint64_t token = upool_token_make(self->a.geo.check, self->index, UPOOL_GEN_MAX);

	member_tags(&self->a)[self->index] = upool_tag(owner, UPOOL_GEN_MAX);
	EXPECT_EQ(-ESTALE, adopt(self->b.fd, token, &index));
	member_tags(&self->a)[self->index] = upool_tag(owner, UPOOL_GEN_MAX - 1);
	EXPECT_EQ(0, adopt(self->b.fd, token - 1, &index));
	EXPECT_EQ(upool_tag(self->b.id | UPOOL_TAG_HELD | UPOOL_TAG_EXPORTED, UPOOL_GEN_MAX),
		  tag_of(&self->a, index));
	EXPECT_EQ(-ESTALE, adopt(self->a.fd, token, &index));
	EXPECT_EQ(0, push(self->b.fd, index));
	EXPECT_EQ(1, stats_of(self->a.fd).retired);
}

TEST_F(token, worn_orphan_rests_too)
{
	uint32_t owner = self->b.id | UPOOL_TAG_HELD | UPOOL_TAG_EXPORTED, index, got[NR];

	ASSERT_EQ(0, pop(self->b.fd, &index));
	member_tags(&self->a)[index] = upool_tag(owner, UPOOL_GEN_MAX);
	munmap(self->b.control, self->b.geo.control_bytes);
	EXPECT_EQ(NR - 2, pop_all(self->a.fd, got, NR));
	EXPECT_EQ(0, pop_wait(self->a.fd, &got[0], -1));
	EXPECT_EQ(index, got[0]);
	EXPECT_EQ(0, upool_tag_gen(tag_of(&self->a, index)));
}

TEST(worn_buffer_rests_for_good_without_a_time)
{
	struct pool_member m;
	uint32_t index, got[NR];

	ASSERT_EQ(0, member_create(&m, valid_create()));
	ASSERT_EQ(0, pop(m.fd, &index));
	member_tags(&m)[index] = upool_tag(m.id | UPOOL_TAG_HELD | UPOOL_TAG_EXPORTED,
					   UPOOL_GEN_MAX);
	EXPECT_EQ(0, push(m.fd, index));
	EXPECT_EQ(NR - 1, pop_all(m.fd, got, NR));
	EXPECT_EQ(-ETIMEDOUT, pop_wait(m.fd, &index, 20));
	EXPECT_EQ(1, stats_of(m.fd).retired);
	member_leave(&m);
}

TEST_HARNESS_MAIN
