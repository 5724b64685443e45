// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * abi_death.c - members are killed, stopped, or leave: everything comes back, nobody waits.
 */
#include "kselftest_harness.h"
#include "device.h"

#define ALL	128u

struct report {
	uint32_t n, ids[ALL];
	uint64_t token[2];
};

FIXTURE(death) { struct pool_member m; uint32_t got[ALL]; };

FIXTURE_SETUP(death)
{
	struct upool_create c = valid_create();

	c.nr = ALL;
	ASSERT_EQ(0, member_create(&self->m, c));
}

FIXTURE_TEARDOWN(death)
{
	struct upool_pool_stats st = stats_of(self->m.fd);

	EXPECT_EQ(ALL, st.depot_idle + st.mag_idle + st.held + st.retired);
	member_leave(&self->m);
}

/* A child takes @n buffers, exports the first two, reports, and waits. */
static pid_t hoarder(struct pool_member *parents, uint32_t n, struct report *r, bool stop)
{
	struct pool_member m;
	int p[2];
	pid_t pid;

	if (pipe(p))
		return -1;
	pid = fork();
	if (!pid) {
		memset(r, 0, sizeof(*r));
		if (member_reopen(&m, parents->fd))
			_exit(1);
		close(parents->fd);
		r->n = pop_all(m.fd, r->ids, n);
		if (n >= 2) {
			r->token[0] = export_token(&m, r->ids[0]);
			r->token[1] = export_token(&m, r->ids[1]);
		}
		if (write(p[1], r, sizeof(*r)) != sizeof(*r))
			_exit(2);
		if (stop)
			raise(SIGSTOP);
		for (;;)
			pause();
	}
	close(p[1]);
	if (read(p[0], r, sizeof(*r)) != sizeof(*r))
		r->n = 0;
	close(p[0]);
	return pid;
}

static void kill_and_wait(pid_t pid)
{
	kill(pid, SIGKILL);
	child_status(pid);
}

TEST_F(death, killed_member_loses_nothing)
{
	struct report r;
	pid_t pid = hoarder(&self->m, 100, &r, false);
	uint32_t index;

	ASSERT_EQ(100, r.n);
	EXPECT_EQ(28, pop_all(self->m.fd, self->got, ALL));
	EXPECT_EQ(-ENOBUFS, pop(self->m.fd, &index));
	EXPECT_EQ(0, push_all(self->m.fd, self->got, 28));
	kill_and_wait(pid);
	EXPECT_EQ(ALL, pop_all(self->m.fd, self->got, ALL));	/* waits for the recovery */
	EXPECT_EQ(100, stats_of(self->m.fd).reclaimed_dead);
	EXPECT_EQ(-ESTALE, adopt(self->m.fd, r.token[0], &index));
	EXPECT_EQ(-ESTALE, adopt(self->m.fd, r.token[1], &index));
	EXPECT_EQ(1, stats_of(self->m.fd).nr_attachments);
}

TEST_F(death, adopted_buffer_stays_with_its_new_owner)
{
	uint32_t index = UINT32_MAX, n, i;
	struct report r;
	pid_t pid = hoarder(&self->m, 100, &r, false);

	ASSERT_EQ(100, r.n);
	EXPECT_EQ(0, adopt(self->m.fd, r.token[0], &index));
	EXPECT_EQ(r.ids[0], index);
	kill_and_wait(pid);
	n = pop_all(self->m.fd, self->got, ALL);
	EXPECT_EQ(ALL - 1, n);
	for (i = 0; i < n; i++)
		EXPECT_NE(index, self->got[i]);
	EXPECT_EQ(99, stats_of(self->m.fd).reclaimed_dead);
	EXPECT_EQ(0, push(self->m.fd, index));
}

TEST_F(death, pop_that_waits_gets_what_a_death_frees)
{
	struct report r;
	pid_t pid = hoarder(&self->m, ALL, &r, false), killer;
	uint32_t index;

	ASSERT_EQ(ALL, r.n);
	killer = fork();
	if (!killer)
		_exit(kill(pid, SIGKILL) != 0);
	EXPECT_EQ(0, pop_wait(self->m.fd, &index, -1));
	child_status(killer);
	child_status(pid);
}

TEST_F(death, pop_that_waits_gets_what_is_pushed)
{
	uint32_t index, n = pop_all(self->m.fd, self->got, ALL);
	struct pool_member other;
	int p[2];
	pid_t pid;
	char c;

	ASSERT_EQ(ALL, n);
	ASSERT_EQ(0, pipe(p));
	pid = fork();
	if (!pid) {
		if (member_reopen(&other, self->m.fd) || write(p[1], "r", 1) != 1)
			_exit(1);
		_exit(-pop_wait(other.fd, &index, -1));
	}
	ASSERT_EQ(1, read(p[0], &c, 1));
	EXPECT_EQ(0, push(self->m.fd, self->got[0]));
	EXPECT_EQ(0, child_status(pid));
	EXPECT_EQ(1, pop_all(self->m.fd, self->got, ALL));
	close(p[0]);
	close(p[1]);
}

static void nothing(int sig) { }

TEST_F(death, signal_ends_a_wait)
{
	struct sigaction sa = { .sa_handler = nothing };
	struct pool_member other;
	uint32_t index;
	pid_t pid;

	ASSERT_EQ(ALL, pop_all(self->m.fd, self->got, ALL));
	pid = fork();
	if (!pid) {
		sigaction(SIGALRM, &sa, NULL);
		if (member_reopen(&other, self->m.fd))
			_exit(1);
		alarm(1);
		_exit(-pop_wait(other.fd, &index, -1));
	}
	EXPECT_EQ(EINTR, child_status(pid));
	EXPECT_EQ(-ETIMEDOUT, pop_wait(self->m.fd, &index, 1));
}

TEST_F(death, stopped_member_blocks_nobody)
{
	struct report r;
	pid_t pid = hoarder(&self->m, 100, &r, true);
	struct upool_drain d = { .size = sizeof(d) };
	struct pool_member other;

	ASSERT_EQ(100, r.n);
	waitpid(pid, NULL, WUNTRACED);
	EXPECT_EQ(28, pop_all(self->m.fd, self->got, ALL));
	EXPECT_EQ(0, call(self->m.fd, UPOOL_IOC_DRAIN, &d));
	EXPECT_EQ(0, push_all(self->m.fd, self->got, 28));
	EXPECT_EQ(0, member_reopen(&other, self->m.fd));
	member_leave(&other);
	EXPECT_EQ(28, pop_all(self->m.fd, self->got, ALL));
	kill_and_wait(pid);
	EXPECT_EQ(100, pop_all(self->m.fd, self->got, ALL));
}

TEST_F(death, unmapping_ends_an_attachment_though_its_file_is_open)
{
	struct pool_member other;
	uint32_t theirs[40];

	ASSERT_EQ(0, member_reopen(&other, self->m.fd));
	ASSERT_EQ(40, pop_all(other.fd, theirs, 40));
	munmap(other.control, other.geo.control_bytes);
	EXPECT_EQ(ALL, pop_all(self->m.fd, self->got, ALL));
	EXPECT_EQ(40, stats_of(self->m.fd).reclaimed_dead);
	EXPECT_EQ(-EINVAL, push(other.fd, theirs[0]));
	close(other.fd);
}

/* Ids go up, so what a dead member's tags say means nobody else. */
TEST_F(death, ids_are_not_used_again)
{
	uint32_t id = self->m.id, n;
	struct pool_member other;

	for (n = 0; n < 100; n++) {
		ASSERT_EQ(0, member_reopen(&other, self->m.fd));
		EXPECT_LT(id, other.id);
		id = other.id;
		member_leave(&other);
	}
}

TEST(orphans_of_a_zeroing_pool_come_back_zeroed)
{
	struct upool_create c = valid_create();
	struct pool_member m, other;
	uint32_t mine, theirs;
	char *data;
	size_t i, bad = 0;

	c.flags = UPOOL_CREATE_F_ZERO_ORPHANS;
	c.nr = 2;
	ASSERT_EQ(0, member_create(&m, c));
	data = map_data(m.fd, &m.geo);
	ASSERT_NE(MAP_FAILED, data);
	ASSERT_EQ(0, pop(m.fd, &mine));
	ASSERT_EQ(0, member_reopen(&other, m.fd));
	ASSERT_EQ(0, pop(other.fd, &theirs));
	memset(data, 0x77, 2 * BYTES);
	member_leave(&other);
	ASSERT_EQ(0, pop(m.fd, &theirs));
	for (i = 0; i < BYTES; i++)
		bad += data[theirs * BYTES + i] != 0 || data[mine * BYTES + i] != 0x77;
	EXPECT_EQ(0, bad);
	munmap(data, m.geo.data_bytes);
	member_leave(&m);
}

TEST_HARNESS_MAIN
