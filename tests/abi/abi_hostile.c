// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * abi_hostile.c - a member spoils all that is shared while another works: the kernel
 * keeps to the documented errors, and the next pool does not notice.
 */
#include <pthread.h>
#include "kselftest_harness.h"
#include "device.h"

#define CAP	16u

FIXTURE(hostile) {
	struct pool_member m, other;
	uint32_t theirs[NR / 2];
	char *data;
};

FIXTURE_SETUP(hostile)
{
	struct upool_create c = valid_create();
	uint32_t i;

	c.cap = CAP;
	ASSERT_EQ(0, member_create(&self->m, c));
	ASSERT_EQ(0, member_create(&self->other, c));
	self->data = map_data(self->other.fd, &self->other.geo);
	ASSERT_NE(MAP_FAILED, self->data);
	memset(self->data, 0x3c, self->other.geo.data_bytes);
	ASSERT_EQ(NR / 2, pop_all(self->other.fd, self->theirs, NR / 2));
	for (i = 0; i < NR / 2; i++)
		self->data[self->theirs[i] * BYTES] = (char)self->theirs[i];
}

/* The other pool is as it was, to the byte. */
FIXTURE_TEARDOWN(hostile)
{
	struct upool_pool_stats st = stats_of(self->other.fd);
	uint32_t i, rest[NR];
	size_t k, bad = 0;

	EXPECT_EQ(NR / 2, st.depot_idle);
	EXPECT_EQ(NR / 2, st.held);
	EXPECT_EQ(0, st.bad_count + st.bad_index + st.bad_push + st.stale_tokens);
	EXPECT_EQ(NR / 2, pop_all(self->other.fd, rest, NR));
	for (i = 0; i < NR / 2; i++)
		bad += self->data[self->theirs[i] * BYTES] != (char)self->theirs[i];
	for (k = 0; k < self->other.geo.data_bytes; k++)
		bad += k % BYTES && self->data[k] != 0x3c;
	EXPECT_EQ(0, bad);
	munmap(self->data, self->other.geo.data_bytes);
	member_leave(&self->other);
	member_leave(&self->m);
}

struct spoiler {
	struct pool_member *m;
	uint64_t seed;
	volatile bool stop;
};

static uint64_t spoiled_word(uint64_t r)
{
	switch (r % 4) {
	case 0:		return 0;
	case 1:		return 0xffff;
	case 2:		return r >> 8;
	default:	return (r >> 8) % (CAP + 1);
	}
}

static void spoil(struct pool_member *m, uint64_t *seed)
{
	const uint32_t half = UPOOL_TAG_HELD | UPOOL_TAG_EXPORTED;
	struct upool_magazine *mag;
	uint64_t r = random_next(seed);
	uint32_t i;

	mag = member_mag(m, (unsigned int)(r >> 40) % m->geo.nr_cpu_ids);
	switch (r % 5) {
	case 0:
		__atomic_store_n(&mag->state, spoiled_word(r >> 4), __ATOMIC_RELAXED);
		break;
	case 1:
		i = (uint32_t)(r >> 8) % CAP;
		__atomic_store_n(&mag->slot[i], (uint32_t)spoiled_word(random_next(seed)) %
				 (r & 64 ? UINT32_MAX : NR), __ATOMIC_RELAXED);
		break;
	case 2:
		__atomic_store_n(&member_tags(m)[(r >> 8) % NR], random_next(seed),
				 __ATOMIC_RELAXED);
		break;
	case 3:		/* a plausible one */
		__atomic_store_n(&member_tags(m)[(r >> 8) % NR],
				 upool_tag((uint32_t)m->id | ((uint32_t)r & half), 0),
				 __ATOMIC_RELAXED);
		break;
	default:
		memset((char *)m->control + r % UPOOL_HEADER_BYTES / 2, (int)(r >> 16), 64);
	}
}

static void *spoil_all(void *arg)
{
	struct spoiler *s = arg;

	while (!s->stop)
		spoil(s->m, &s->seed);
	return NULL;
}

static int one_call(struct pool_member *m, uint64_t *seed)
{
	uint64_t r = random_next(seed);
	uint32_t index = (uint32_t)(r >> 8) % (NR + 2);

	switch (r % 6) {
	case 0:		return batch(m->fd, UPOOL_IOC_REFILL, (uint32_t)(r >> 8) % 32 + 1);
	case 1:		return batch(m->fd, UPOOL_IOC_FLUSH, (uint32_t)(r >> 8) % 32 + 1);
	case 2:		return pop(m->fd, &index);
	case 3:
	case 4:		return push(m->fd, index);
	default:	return adopt(m->fd, upool_token_make(m->geo.check, index,
							     (uint32_t)(r >> 32) % 3), &index);
	}
}

static bool documented(int ret)
{
	return ret >= 0 || ret == -EINVAL || ret == -EALREADY || ret == -ESTALE ||
	       ret == -ENOBUFS || ret == -EAGAIN;
}

TEST_F_TIMEOUT(hostile, member_harms_only_its_own_pool, 1200)
{
	unsigned int n = scaled(1000000, 10000), i, surprises = 0, too_many = 0;
	struct spoiler s = { .m = &self->m, .seed = random_seed() };
	struct upool_pool_stats st;
	uint64_t seed = s.seed + 1;
	pthread_t thread;
	int ret;

	ASSERT_EQ(0, pthread_create(&thread, NULL, spoil_all, &s));
	for (i = 0; i < n; i++) {
		ret = one_call(&self->m, &seed);
		if (!documented(ret) && !surprises++)
			TH_LOG("call %u returned %d", i, ret);
		if (i % 64)
			continue;
		st = stats_of(self->m.fd);
		too_many += st.depot_idle > NR || st.retired > NR ||
			    st.depot_idle + st.retired > NR || st.mag_idle > CAP * self->m.geo.nr_cpu_ids;
	}
	s.stop = true;
	pthread_join(thread, NULL);
	EXPECT_EQ(0, surprises);
	EXPECT_EQ(0, too_many);
	st = stats_of(self->m.fd);
	EXPECT_LT(0, st.bad_count);
	EXPECT_LT(0, st.bad_index);
	EXPECT_LT(0, st.bad_push);
	EXPECT_LT(0, st.stale_tokens);
}

/* The same while members come and go, so that recoveries read what is being spoiled. */
TEST_F_TIMEOUT(hostile, deaths_in_a_spoiled_pool_end, 1200)
{
	unsigned int n = scaled(1000, 10);
	struct spoiler s = { .m = &self->m, .seed = random_seed() };
	struct pool_member brief;
	uint32_t index[NR];
	pthread_t thread;

	ASSERT_EQ(0, pthread_create(&thread, NULL, spoil_all, &s));
	while (n--) {
		ASSERT_EQ(0, member_reopen(&brief, self->m.fd));
		pop_all(brief.fd, index, n % NR);
		member_leave(&brief);
	}
	s.stop = true;
	pthread_join(thread, NULL);
	EXPECT_GE(NR, stats_of(self->m.fd).depot_idle);
}

TEST_F(hostile, counts_out_of_range_are_reset_and_counted)
{
	struct upool_magazine *mag = member_mag(&self->m, 0);

	ASSERT_EQ(0, run_on_cpu(0));
	mag->state = CAP + 1;
	EXPECT_EQ(0, batch(self->m.fd, UPOOL_IOC_FLUSH, 1024));
	EXPECT_EQ(1, stats_of(self->m.fd).bad_count);
	EXPECT_EQ(0, UPOOL_MAG_COUNT(mag->state));
	mag->state = 0xffff;
	EXPECT_EQ(4, batch(self->m.fd, UPOOL_IOC_REFILL, 4));
	EXPECT_EQ(2, stats_of(self->m.fd).bad_count);
	EXPECT_EQ(4, UPOOL_MAG_COUNT(mag->state));
	EXPECT_EQ(NR - 4, stats_of(self->m.fd).depot_idle);
}

TEST_F(hostile, indices_out_of_range_or_twice_are_dropped_and_counted)
{
	struct upool_magazine *mag = member_mag(&self->m, 0);
	uint32_t index[NR];

	ASSERT_EQ(0, run_on_cpu(0));
	mag->slot[0] = NR;
	mag->slot[1] = UINT32_MAX;
	mag->slot[2] = 3;	/* in the depot already */
	mag->state = 3;
	EXPECT_EQ(3, batch(self->m.fd, UPOOL_IOC_FLUSH, 1024));
	EXPECT_EQ(3, stats_of(self->m.fd).bad_index);
	EXPECT_EQ(NR, stats_of(self->m.fd).depot_idle);
	EXPECT_EQ(NR, pop_all(self->m.fd, index, NR));
	mag->slot[0] = index[0];	/* held: its holder keeps it */
	mag->state = 1;
	EXPECT_EQ(1, batch(self->m.fd, UPOOL_IOC_FLUSH, 1024));
	EXPECT_EQ(4, stats_of(self->m.fd).bad_index);
	EXPECT_EQ(0, push_all(self->m.fd, index, NR));
}

TEST_F(hostile, header_is_not_believed)
{
	struct upool_attach a = { .size = sizeof(a) };
	uint32_t index;

	memset(self->m.control, 0xff, sizeof(struct upool_header));
	EXPECT_EQ(0, pop(self->m.fd, &index));
	EXPECT_EQ(0, push(self->m.fd, index));
	EXPECT_EQ(0, call(self->m.fd, UPOOL_IOC_REOPEN, &a));
	EXPECT_EQ(0, memcmp(&a.geo, &self->m.geo, sizeof(a.geo)));
	close(a.fd);
}

TEST_F(hostile, push_takes_only_what_the_caller_holds)
{
	struct pool_member second;
	uint32_t index;

	ASSERT_EQ(0, member_reopen(&second, self->m.fd));
	ASSERT_EQ(0, pop(self->m.fd, &index));
	EXPECT_EQ(-EINVAL, push(second.fd, index));
	EXPECT_EQ(-EINVAL, push(self->m.fd, NR));
	EXPECT_EQ(-EINVAL, push(self->m.fd, UINT32_MAX));
	member_tags(&self->m)[index] = upool_tag(self->m.id, 0);
	EXPECT_EQ(-EALREADY, push(self->m.fd, index));
	member_tags(&self->m)[index] = upool_tag(self->m.id | UPOOL_TAG_HELD, 0);
	EXPECT_EQ(0, push(self->m.fd, index));
	EXPECT_EQ(-EINVAL, push(self->m.fd, index));
	EXPECT_EQ(5, stats_of(self->m.fd).bad_push);
	member_tags(&self->m)[index] = upool_tag(self->m.id | UPOOL_TAG_HELD, 0);
	EXPECT_EQ(-EINVAL, push(self->m.fd, index));	/* whatever its tag says */
	EXPECT_EQ(NR, stats_of(self->m.fd).depot_idle);
	member_leave(&second);
}

TEST_HARNESS_MAIN
