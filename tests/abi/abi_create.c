// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * abi_create.c - sizes, quotas and what CREATE charges.
 */
#include "kselftest_harness.h"
#include "device.h"

static int create(struct upool_create c, struct upool_limit *limit)
{
	int fd = device_open(), ret = call(fd, UPOOL_IOC_CREATE, &c);

	if (limit)
		*limit = c.limit;
	close(fd);
	return ret;
}

static uint64_t bytes_left(void)
{
	struct upool_query q = { .size = sizeof(q) };
	int fd = device_open();

	if (call(fd, UPOOL_IOC_QUERY, &q))
		q.max_pool_bytes = ~0ULL;
	close(fd);
	return q.max_pool_bytes;
}

FIXTURE(create) { int nr_fds; uint64_t left; unsigned long long user, total, control, pools; };

FIXTURE_SETUP(create)
{
	self->user = read_number(PARAMS "max_user_bytes");
	self->total = read_number(PARAMS "max_total_bytes");
	self->control = read_number(PARAMS "max_control_bytes");
	self->pools = read_number(PARAMS "max_user_pools");
	self->nr_fds = count_fds();
	self->left = bytes_left();
}

FIXTURE_TEARDOWN(create)
{
	write_number(PARAMS "max_user_bytes", self->user);
	write_number(PARAMS "max_total_bytes", self->total);
	write_number(PARAMS "max_control_bytes", self->control);
	write_number(PARAMS "max_user_pools", self->pools);
	EXPECT_EQ(self->nr_fds, count_fds());
}

TEST_F(create, rejects_sizes_out_of_range_and_charges_nothing)
{
	static const struct { uint64_t bytes; uint32_t nr, max_nr; int ret; } bad[] = {
		{ 0, 64, 0, -EINVAL },
		{ 64, 0, 0, -EINVAL },
		{ 0, 0, 0, -EINVAL },
		{ 4, 0x40000001, 0, -EINVAL },
		{ UINT32_MAX, UINT32_MAX, 0, -EINVAL },
		{ 63, 64, 0, -EINVAL },
		{ 65, 64, 0, -EINVAL },
		{ 32, 64, 0, -EINVAL },
		{ (1ULL << 30) + 64, 1, 0, -EINVAL },
		{ UINT64_MAX, 1, 0, -EINVAL },
		{ UINT64_MAX - 63, 1, 0, -EINVAL },
		{ 1ULL << 63, 2, 0, -EINVAL },
		{ 64, (1u << 24) + 1, 0, -EINVAL },
		{ 64, 64, 63, -EINVAL },
		{ 64, 64, (1u << 24) + 1, -EINVAL },
		{ 64, 64, UINT32_MAX, -EINVAL },
		{ 1ULL << 30, 1u << 13, 0, -EOVERFLOW },
		{ 1ULL << 30, 1, 1u << 24, -EOVERFLOW },
		{ 1ULL << 19, 1u << 24, 0, -EOVERFLOW },
	};
	unsigned int i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct upool_create c = valid_create();
		int ret;

		c.buf_bytes = bad[i].bytes;
		c.nr = bad[i].nr;
		c.max_nr = bad[i].max_nr;
		ret = create(c, NULL);
		EXPECT_TRUE(ret == bad[i].ret || (bad[i].ret == -EINVAL && ret == -EOVERFLOW)) {
			TH_LOG("%llu bytes, %u of %u: %d", (unsigned long long)bad[i].bytes,
			       bad[i].nr, bad[i].max_nr, ret);
		}
	}
	EXPECT_EQ(self->left, bytes_left());
}

TEST_F(create, rejects_other_fields_out_of_range)
{
	struct upool_create c = valid_create();

	c.cap = UPOOL_MAX_CAP + 1;
	EXPECT_EQ(-EINVAL, create(c, NULL));
	c.cap = UINT32_MAX;
	EXPECT_EQ(-EINVAL, create(c, NULL));
	c = valid_create();
	c.mode = 0700;
	EXPECT_EQ(-EINVAL, create(c, NULL));
	c.mode = 01000;
	EXPECT_EQ(-EINVAL, create(c, NULL));
	c = valid_create();
	c.token_ttl_s = UPOOL_MAX_TOKEN_TTL_S + 1;
	EXPECT_EQ(-EINVAL, create(c, NULL));
	EXPECT_EQ(self->left, bytes_left());
}

TEST_F(create, accepts_the_ends_of_the_ranges)
{
	struct upool_create c = valid_create();
	struct pool_member m;

	c.buf_bytes = UPOOL_MIN_BUF_BYTES;
	c.nr = 1;
	c.max_nr = 1u << 20;
	c.cap = UPOOL_MAX_CAP;
	ASSERT_EQ(0, member_create(&m, c));
	EXPECT_EQ(1, m.geo.nr_classes);
	EXPECT_EQ(1, m.geo.classes[0].nr);
	EXPECT_EQ(1u << 20, m.geo.max_count);
	EXPECT_NE(0, m.geo.check);
	EXPECT_EQ(0, m.geo.control_bytes % UPOOL_MAP_ALIGN);
	EXPECT_EQ(0, m.geo.data_bytes % UPOOL_MAP_ALIGN);
	member_leave(&m);
	c = valid_create();
	c.buf_bytes = UPOOL_MAX_BUF_BYTES;
	c.nr = 1;
	write_number(PARAMS "max_user_bytes", 4ULL << 30);
	write_number(PARAMS "max_total_bytes", 4ULL << 30);
	ASSERT_EQ(0, member_create(&m, c));
	member_leave(&m);
}

TEST_F(create, warns_when_magazines_can_hold_everything)
{
	struct upool_create c = valid_create(), d = valid_create();
	int fd = device_open(), fd2 = device_open();

	c.cap = NR;
	EXPECT_EQ(0, call(fd, UPOOL_IOC_CREATE, &c));
	EXPECT_EQ(UPOOL_WARN_CAP, c.warnings);
	d.nr = 4096;
	d.cap = 1;
	EXPECT_EQ(0, call(fd2, UPOOL_IOC_CREATE, &d));
	EXPECT_EQ(0, d.warnings);
	close(fd);
	close(fd2);
}

TEST_F(create, attaches_a_file_once)
{
	struct upool_create c = valid_create(), again = valid_create();
	struct upool_attach a = { .size = sizeof(a), .name = "any" };
	int fd = device_open();

	ASSERT_EQ(0, call(fd, UPOOL_IOC_CREATE, &c));
	EXPECT_EQ(-EBUSY, call(fd, UPOOL_IOC_CREATE, &again));
	EXPECT_EQ(-EBUSY, call(fd, UPOOL_IOC_ATTACH, &a));
	close(fd);
}

TEST_F(create, refusal_names_the_limit_of_the_user)
{
	struct upool_limit l;
	struct pool_member m;

	ASSERT_EQ(0, member_create(&m, valid_create()));
	write_number(PARAMS "max_user_bytes", m.geo.control_bytes + NR * BYTES + 1000);
	EXPECT_EQ(-EDQUOT, create(valid_create(), &l));
	EXPECT_EQ(UPOOL_LIMIT_USER_BYTES, l.which);
	EXPECT_EQ(2 * (m.geo.control_bytes + NR * BYTES), l.needed);
	EXPECT_EQ(m.geo.control_bytes + NR * BYTES + 1000, l.limit);
	EXPECT_EQ(1000, bytes_left());
	member_leave(&m);
}

TEST_F(create, refusal_names_the_limit_of_all_users)
{
	struct upool_limit l;

	write_number(PARAMS "max_total_bytes", 1000);
	EXPECT_EQ(-EDQUOT, create(valid_create(), &l));
	EXPECT_EQ(UPOOL_LIMIT_TOTAL_BYTES, l.which);
	EXPECT_LT(NR * BYTES, l.needed);
	EXPECT_EQ(1000, l.limit);
}

TEST_F(create, refusal_names_the_limit_of_a_control_area)
{
	struct upool_limit l;

	write_number(PARAMS "max_control_bytes", 4096);
	EXPECT_EQ(-EDQUOT, create(valid_create(), &l));
	EXPECT_EQ(UPOOL_LIMIT_CONTROL, l.which);
	EXPECT_LE(UPOOL_MAP_ALIGN, l.needed);
	EXPECT_EQ(4096, l.limit);
	EXPECT_EQ(self->left, bytes_left());
}

TEST_F(create, refusal_names_the_number_of_pools)
{
	struct upool_limit l;
	struct pool_member m;

	ASSERT_EQ(0, member_create(&m, valid_create()));
	write_number(PARAMS "max_user_pools", 1);
	EXPECT_EQ(-EDQUOT, create(valid_create(), &l));
	EXPECT_EQ(UPOOL_LIMIT_USER_POOLS, l.which);
	EXPECT_EQ(2, l.needed);
	EXPECT_EQ(1, l.limit);
	EXPECT_EQ(0, bytes_left());
	member_leave(&m);
}

/* An ended pool is out of the way before the next is refused. */
TEST_F_TIMEOUT(create, at_the_whole_allowance_is_never_refused, 600)
{
	unsigned int n = scaled(10000, 100), refused = 0;
	struct upool_create c = valid_create();
	struct pool_member m;

	strcpy(c.name, "allowance");
	ASSERT_EQ(0, member_create(&m, c));
	write_number(PARAMS "max_user_bytes", m.geo.control_bytes + NR * BYTES);
	write_number(PARAMS "max_user_pools", 1);
	member_leave(&m);
	while (n--) {
		refused += member_create(&m, c) != 0;
		if (n % 2)
			destroy(m.fd, 0);
		member_leave(&m);
	}
	EXPECT_EQ(0, refused);
}

/* Nor does a child that had our file keep anything. */
TEST_F(create, charge_is_back_after_fork_and_exit)
{
	struct pool_member m;
	pid_t pid;

	ASSERT_EQ(0, member_create(&m, valid_create()));
	pid = fork();
	if (!pid)
		_exit(0);
	EXPECT_EQ(0, child_status(pid));
	member_leave(&m);
	write_number(PARAMS "max_user_pools", 1);
	ASSERT_EQ(0, member_create(&m, valid_create()));
	member_leave(&m);
}

TEST_HARNESS_MAIN
