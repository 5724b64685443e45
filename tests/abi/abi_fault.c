// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * abi_fault.c - results that cannot be delivered are undone.
 */
#include "kselftest_harness.h"
#include "device.h"

FIXTURE(fault) { struct pool_member m; char *page; int nr_fds; };

FIXTURE_SETUP(fault)
{
	ASSERT_EQ(0, member_create(&self->m, valid_create()));
	self->page = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, self->page);
	self->nr_fds = count_fds();
}

FIXTURE_TEARDOWN(fault)
{
	struct upool_pool_stats st = stats_of(self->m.fd);

	EXPECT_EQ(NR, st.depot_idle + st.mag_idle + st.held);
	munmap(self->page, 8192);
	member_leave(&self->m);
}

/* The struct can be read, its result not written. */
static int call_read_only(int fd, unsigned long cmd, char *page, const void *arg, size_t bytes)
{
	int ret;

	mprotect(page, 4096, PROT_READ | PROT_WRITE);
	memcpy(page, arg, bytes);
	mprotect(page, 4096, PROT_READ);
	ret = call(fd, cmd, page);
	mprotect(page, 4096, PROT_READ | PROT_WRITE);
	return ret;
}

TEST_F(fault, create_publishes_nothing)
{
	struct upool_create c = valid_create();
	struct upool_attach a = { .size = sizeof(a), .name = "undelivered" };
	struct upool_stat s = { .size = sizeof(s) };
	int fd = device_open();

	strcpy(c.name, "undelivered");
	c.flags = UPOOL_CREATE_F_PERSIST;
	EXPECT_EQ(-EFAULT, call_read_only(fd, UPOOL_IOC_CREATE, self->page, &c, sizeof(c)));
	EXPECT_EQ(-ENXIO, call(fd, UPOOL_IOC_STAT, &s));
	EXPECT_EQ(-ENOENT, call(fd, UPOOL_IOC_ATTACH, &a));
	EXPECT_EQ(0, call(fd, UPOOL_IOC_CREATE, &c));	/* the name and the file are free */
	EXPECT_EQ(0, map_control(fd, &c.geo) == MAP_FAILED);
	EXPECT_EQ(0, destroy(fd, 0));
	close(fd);
}

TEST_F(fault, attach_attaches_nothing)
{
	struct upool_attach a = { .size = sizeof(a), .flags = UPOOL_ATTACH_F_FD, .fd = self->m.fd };
	struct upool_stat s = { .size = sizeof(s) };
	int fd = device_open();

	EXPECT_EQ(-EFAULT, call_read_only(fd, UPOOL_IOC_ATTACH, self->page, &a, sizeof(a)));
	EXPECT_EQ(-ENXIO, call(fd, UPOOL_IOC_STAT, &s));
	EXPECT_EQ(1, stats_of(self->m.fd).nr_attachments);
	EXPECT_EQ(0, call(fd, UPOOL_IOC_ATTACH, &a));
	close(fd);
}

TEST_F(fault, reopen_leaks_no_descriptor)
{
	struct upool_attach a = { .size = sizeof(a) };

	EXPECT_EQ(-EFAULT, call_read_only(self->m.fd, UPOOL_IOC_REOPEN, self->page, &a,
					  sizeof(a)));
	EXPECT_EQ(self->nr_fds, count_fds());
	EXPECT_EQ(1, stats_of(self->m.fd).nr_attachments);
}

TEST_F(fault, pop_gives_the_buffer_back)
{
	struct upool_pop p = { .size = sizeof(p) };
	struct upool_pool_stats st;

	EXPECT_EQ(-EFAULT, call_read_only(self->m.fd, UPOOL_IOC_POP, self->page, &p, sizeof(p)));
	st = stats_of(self->m.fd);
	EXPECT_EQ(NR, st.depot_idle);
	EXPECT_EQ(0, st.pops);
	EXPECT_EQ(0, st.pushes);
}

TEST_F(fault, adopt_loses_no_buffer)
{
	struct upool_adopt a = { .size = sizeof(a) };
	uint32_t index, all[NR];

	ASSERT_EQ(0, pop(self->m.fd, &index));
	a.token = export_token(&self->m, index);
	EXPECT_EQ(-EFAULT, call_read_only(self->m.fd, UPOOL_IOC_ADOPT, self->page, &a, sizeof(a)));
	EXPECT_EQ(-ESTALE, adopt(self->m.fd, a.token, &index));
	EXPECT_EQ(NR, pop_all(self->m.fd, all, NR));
	EXPECT_EQ(0, stats_of(self->m.fd).adopts);
}

TEST_F(fault, batches_and_reports_lose_no_buffer)
{
	struct upool_batch b = { .size = sizeof(b), .nr = 8 };
	struct upool_drain d = { .size = sizeof(d) };
	struct upool_stat s = { .size = sizeof(s) };
	struct upool_query q = { .size = sizeof(q) };
	uint32_t all[NR];
	int fd = self->m.fd;

	EXPECT_EQ(-EFAULT, call_read_only(fd, UPOOL_IOC_REFILL, self->page, &b, sizeof(b)));
	EXPECT_EQ(-EFAULT, call_read_only(fd, UPOOL_IOC_FLUSH, self->page, &b, sizeof(b)));
	EXPECT_EQ(-EFAULT, call_read_only(fd, UPOOL_IOC_DRAIN, self->page, &d, sizeof(d)));
	EXPECT_EQ(-EFAULT, call_read_only(fd, UPOOL_IOC_STAT, self->page, &s, sizeof(s)));
	EXPECT_EQ(-EFAULT, call_read_only(fd, UPOOL_IOC_QUERY, self->page, &q, sizeof(q)));
	EXPECT_EQ(NR, pop_all(fd, all, NR));
}

TEST_HARNESS_MAIN
