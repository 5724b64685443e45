// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * rseq_ops.c - the restartable sequences do what the reference under a lock does.
 */
#include "kselftest_harness.h"
#include "arch/generic.h"
#include "side.h"

FIXTURE(ops)
{
	struct side *fast, *ref;
	struct upool_magazine *fast_mag, *ref_mag;
};

FIXTURE_SETUP(ops)
{
	if (rseq_unusable())
		SKIP(return, "%s", rseq_unusable());
	on_one_cpu(0);
	self->fast = side_new(7);
	self->ref = side_new(7);
	self->fast_mag = mag_of(&self->fast->m, 0);
	self->ref_mag = mag_of(&self->ref->m, 0);
}

FIXTURE_TEARDOWN(ops)
{
	free(self->fast);
	free(self->ref);
}

static enum rseq_outcome pop(struct side *s, uint32_t *idx)
{
	enum rseq_outcome out;

	do
		out = rseq_mag_pop(&s->m, idx);
	while (out == RSEQ_ABORTED);
	return out;
}

static enum rseq_outcome push(struct side *s, uint32_t idx)
{
	enum rseq_outcome out;

	do
		out = rseq_mag_push(&s->m, idx);
	while (out == RSEQ_ABORTED);
	return out;
}

TEST_F(ops, equal_the_reference)
{
	unsigned int seed = 1, i;
	uint32_t a = 0, b = 0, idx;

	for (i = 0; i < 1000000; i++) {
		idx = rand_r(&seed) % NR;
		if (i % 4096 == 0)	/* damage, the same on both sides */
			self->fast_mag->state = self->ref_mag->state =
				(uint64_t)rand_r(&seed) % 65536;
		if (i % 4096 == 1)
			self->fast_mag->state = self->ref_mag->state = 0;
		if (i % 512 == 2)
			self->fast_mag->slot[idx % CAP] = self->ref_mag->slot[idx % CAP] = NR + idx;
		if (i % 512 == 40)
			self->fast_mag->state = self->ref_mag->state = 0;
		if (rand_r(&seed) % 2) {
			ASSERT_EQ(generic_mag_push(&self->ref->m, self->ref_mag, idx),
				  push(self->fast, idx));
		} else {
			ASSERT_EQ(generic_mag_pop(&self->ref->m, self->ref_mag, &a),
				  pop(self->fast, &b));
			ASSERT_EQ(a, b);
		}
		ASSERT_EQ(0, memcmp(self->ref_mag, self->fast_mag, 128));
	}
	EXPECT_EQ(0, memcmp(self->ref->tags, self->fast->tags, sizeof(self->ref->tags)));
}

TEST_F(ops, refuse_a_cpu_beyond_the_magazines)
{
	uint32_t idx;

	self->fast->m.nr_cpus = 0;
	EXPECT_EQ(RSEQ_NOCPU, pop(self->fast, &idx));
	EXPECT_EQ(RSEQ_NOCPU, push(self->fast, 1));
}

TEST_HARNESS_MAIN
