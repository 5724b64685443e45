// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * abi_cpus.c - what idles in magazines: REFILL, FLUSH, DRAIN, stealing, CPUs that go.
 */
#include "kselftest_harness.h"
#include "device.h"

#define CPU1	"/sys/devices/system/cpu/cpu1/online"

FIXTURE(cpus) { struct pool_member m; uint32_t got[NR]; bool two; };

FIXTURE_SETUP(cpus)
{
	struct upool_create c = valid_create();

	c.cap = NR;
	ASSERT_EQ(0, member_create(&self->m, c));
	self->two = !run_on_cpu(1) && sysconf(_SC_NPROCESSORS_ONLN) > 1;
	ASSERT_EQ(0, run_on_cpu(0));
}

FIXTURE_TEARDOWN(cpus)
{
	struct upool_pool_stats st = stats_of(self->m.fd);

	EXPECT_EQ(NR, st.depot_idle + st.mag_idle + st.held);
	member_leave(&self->m);
}

#define NEED_TWO_CPUS()								\
do {										\
	if (!self->two)								\
		SKIP(return, "one CPU only");					\
} while (0)

TEST_F(cpus, refill_fills_the_magazine_of_this_cpu)
{
	struct upool_batch b = { .size = sizeof(b), .nr = 10 };
	struct upool_magazine *mag = member_mag(&self->m, 0);
	uint32_t i;

	EXPECT_EQ(0, call(self->m.fd, UPOOL_IOC_REFILL, &b));
	EXPECT_EQ(10, b.done);
	EXPECT_EQ(0, b.cpu);
	EXPECT_EQ(10, UPOOL_MAG_COUNT(mag->state));
	EXPECT_EQ(0, UPOOL_MAG_POPS(mag->state));
	for (i = 0; i < 10; i++) {
		EXPECT_GT(NR, mag->slot[i]);
		EXPECT_EQ(0, upool_tag_owner(member_tags(&self->m)[mag->slot[i]]));
	}
	EXPECT_EQ(10, stats_of(self->m.fd).mag_idle);
	EXPECT_EQ(NR - 10, stats_of(self->m.fd).depot_idle);
}

TEST_F(cpus, batch_rejects_what_is_out_of_range)
{
	static const struct { uint32_t class_idx, nr; } bad[] = {
		{ 0, 0 }, { 0, UPOOL_MAX_CAP + 1 }, { 0, UINT32_MAX }, { 1, 1 }, { UINT32_MAX, 1 },
	};
	struct upool_pop p = { .size = sizeof(p), .class_idx = 1 };
	struct upool_drain d = { .size = sizeof(d), .timeout_ms = 60001 };
	unsigned int i;

	for (i = 0; i < 5; i++) {
		struct upool_batch b = { .size = sizeof(b), .class_idx = bad[i].class_idx,
					 .nr = bad[i].nr };

		EXPECT_EQ(-EINVAL, call(self->m.fd, UPOOL_IOC_REFILL, &b));
		EXPECT_EQ(-EINVAL, call(self->m.fd, UPOOL_IOC_FLUSH, &b));
	}
	EXPECT_EQ(-EINVAL, call(self->m.fd, UPOOL_IOC_POP, &p));
	p.class_idx = 0;
	p.timeout_ms = -2;
	EXPECT_EQ(-EINVAL, call(self->m.fd, UPOOL_IOC_POP, &p));
	EXPECT_EQ(-EINVAL, call(self->m.fd, UPOOL_IOC_DRAIN, &d));
	EXPECT_EQ(NR, stats_of(self->m.fd).depot_idle);
}

TEST_F(cpus, refill_and_flush_are_bounded)
{
	EXPECT_EQ(NR, batch(self->m.fd, UPOOL_IOC_REFILL, 1024));	/* all there is */
	EXPECT_EQ(1, batch(self->m.fd, UPOOL_IOC_REFILL, 1));	/* its own, by way of the depot */
	EXPECT_EQ(NR, stats_of(self->m.fd).mag_idle + stats_of(self->m.fd).depot_idle);
	batch(self->m.fd, UPOOL_IOC_FLUSH, 1024);
	EXPECT_EQ(0, stats_of(self->m.fd).mag_idle);
	EXPECT_EQ(0, batch(self->m.fd, UPOOL_IOC_FLUSH, 1024));
	EXPECT_EQ(NR, stats_of(self->m.fd).depot_idle);
}

TEST_F(cpus, buffers_idle_on_another_cpu_are_reachable)
{
	NEED_TWO_CPUS();
	ASSERT_EQ(0, run_on_cpu(1));
	EXPECT_EQ(NR, batch(self->m.fd, UPOOL_IOC_REFILL, NR));
	ASSERT_EQ(0, run_on_cpu(0));
	EXPECT_EQ(0, stats_of(self->m.fd).depot_idle);
	EXPECT_EQ(NR, pop_all(self->m.fd, self->got, NR));
	EXPECT_LE(1, stats_of(self->m.fd).steals);
	EXPECT_EQ(NR, stats_of(self->m.fd).stolen);
	EXPECT_EQ(-ENOBUFS, batch(self->m.fd, UPOOL_IOC_REFILL, 1));
}

TEST_F(cpus, drain_empties_every_magazine)
{
	struct upool_drain d = { .size = sizeof(d), .timeout_ms = 60000 };
	uint32_t want = 20;

	EXPECT_EQ(20, batch(self->m.fd, UPOOL_IOC_REFILL, 20));
	if (self->two) {
		ASSERT_EQ(0, run_on_cpu(1));
		EXPECT_EQ(20, batch(self->m.fd, UPOOL_IOC_REFILL, 20));
		ASSERT_EQ(0, run_on_cpu(0));
		want += 20;
	}
	EXPECT_EQ(0, call(self->m.fd, UPOOL_IOC_DRAIN, &d));
	EXPECT_EQ(want, d.nr_drained);
	EXPECT_EQ(0, d.nr_missed);
	EXPECT_EQ(0, stats_of(self->m.fd).mag_idle);
	EXPECT_EQ(NR, stats_of(self->m.fd).depot_idle);
}

TEST_F(cpus, dead_member_loses_nothing_from_magazines)
{
	struct pool_member other;
	pid_t pid = fork();

	if (!pid) {
		if (member_reopen(&other, self->m.fd))
			_exit(1);
		_exit(batch(other.fd, UPOOL_IOC_REFILL, 30) != 30);
	}
	EXPECT_EQ(0, child_status(pid));
	EXPECT_EQ(30, stats_of(self->m.fd).mag_idle);
	EXPECT_EQ(NR, pop_all(self->m.fd, self->got, NR));
	EXPECT_EQ(0, stats_of(self->m.fd).reclaimed_dead);
}

TEST_F_TIMEOUT(cpus, magazine_of_a_cpu_that_goes_is_emptied, 600)
{
	unsigned int n = scaled(50, 2), have;

	NEED_TWO_CPUS();
	if (access(CPU1, W_OK))
		SKIP(return, "CPU 1 cannot go offline");
	while (n--) {
		ASSERT_EQ(0, run_on_cpu(1));
		have = batch(self->m.fd, UPOOL_IOC_REFILL, 40);
		EXPECT_EQ(40, have);
		ASSERT_EQ(0, run_on_cpu(0));
		ASSERT_EQ(0, write_text(CPU1, "0"));
		EXPECT_EQ(0, stats_of(self->m.fd).mag_idle);
		EXPECT_EQ(NR, stats_of(self->m.fd).depot_idle);
		ASSERT_EQ(0, write_text(CPU1, "1"));
	}
}

/* Written there while it was away, by a member that should not. */
TEST_F(cpus, magazine_of_an_offline_cpu_is_reachable)
{
	struct upool_magazine *mag = member_mag(&self->m, 1);
	uint32_t i;

	NEED_TWO_CPUS();
	if (access(CPU1, W_OK))
		SKIP(return, "CPU 1 cannot go offline");
	ASSERT_EQ(0, write_text(CPU1, "0"));
	ASSERT_EQ(NR, pop_all(self->m.fd, self->got, NR));
	for (i = 0; i < 10; i++) {
		member_tags(&self->m)[self->got[i]] = upool_tag(self->m.id, 0);
		mag->slot[i] = self->got[i];
	}
	mag->state = 10;
	EXPECT_EQ(10, pop_all(self->m.fd, self->got, NR));
	EXPECT_EQ(0, write_text(CPU1, "1"));
}

TEST_HARNESS_MAIN
