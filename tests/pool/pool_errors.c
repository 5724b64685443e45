// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * pool_errors.c - errors that the manual pages promise and that need a special state:
 * descriptors that lack something, the device in another's hands, forks.
 */
#include <fcntl.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include "kselftest_harness.h"
#include "pool_fixture.h"

static struct upool *const untouched = (struct upool *)1;

static bool on_device(void)
{
	return backing_under_test() == UPOOL_BACKING_DEVICE;
}

/* Another open file of what @fd is of. */
static int reopened(int fd, int flags)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return open(path, flags);
}

TEST(attach_refuses_a_file_that_cannot_be_written)
{
	struct upool *a, *b = untouched;
	int fd;

	ASSERT_EQ(0, make_pool(&a, 4096, 4, 0));
	fd = reopened(upool_fd(a), O_RDONLY);
	ASSERT_LE(0, fd);
	EXPECT_EQ(-EACCES, upool_attach(&b, fd));
	EXPECT_EQ(untouched, b);
	close(fd);
	upool_close(a);
}

/* The device opened anew is in no pool; a memfd is the pool. */
TEST(attach_refuses_a_file_of_the_device_that_is_in_no_pool)
{
	struct upool *a, *b = untouched;
	int fd;

	ASSERT_EQ(0, make_pool(&a, 4096, 4, 0));
	fd = reopened(upool_fd(a), O_RDWR);
	ASSERT_LE(0, fd);
	EXPECT_EQ(on_device() ? -ENXIO : 0, upool_attach(&b, fd));
	if (b != untouched)
		upool_close(b);
	close(fd);
	upool_close(a);
}

TEST(clearing_is_a_members_own)
{
	struct upool *a, *b;
	char *buf;

	ASSERT_EQ(0, make_pool(&a, 4096, 1, UPOOL_F_CLEAR));
	ASSERT_EQ(0, upool_attach(&b, upool_fd(a)));
	buf = upool_alloc(b, 1);
	ASSERT_NE(NULL, buf);
	buf[4095] = 1;
	EXPECT_EQ(0, upool_free(b, buf));
	buf = upool_alloc(b, 1);
	ASSERT_NE(NULL, buf);
	EXPECT_EQ(1, buf[4095]);
	EXPECT_EQ(0, upool_free(b, buf));
	buf = upool_alloc(a, 1);
	ASSERT_NE(NULL, buf);
	EXPECT_EQ(0, buf[4095]);
	EXPECT_EQ(0, upool_free(a, buf));
	upool_close(a);
	upool_close(b);
}

TEST(destroying_twice_is_refused_on_the_device)
{
	struct upool *a, *b;
	int ret;

	ASSERT_EQ(0, make_pool(&a, 64, 4, 0));
	ASSERT_EQ(0, upool_attach(&b, upool_fd(a)));
	EXPECT_EQ(0, upool_destroy(a));
	ret = upool_destroy(b);
	EXPECT_EQ(on_device() ? -ESTALE : 0, ret);
	if (!ret)
		return;
	EXPECT_EQ(4, count_buffers(b, 4));
	EXPECT_EQ(0, upool_close(b));
}

TEST(open_refuses_what_cannot_have_a_name)
{
	struct upool_options o = UPOOL_OPTIONS_INIT;
	struct upool *pool = untouched;

	EXPECT_EQ(-EINVAL, upool_open(&pool, NULL, &o));
	EXPECT_EQ(-EINVAL, upool_open(&pool, "", &o));
	EXPECT_EQ(-EINVAL, upool_open(&pool, ".hidden", &o));
	EXPECT_EQ(-EINVAL, upool_open(&pool, ":name", &o));
	EXPECT_EQ(-EINVAL, upool_open(&pool, "x:name", &o));
	EXPECT_EQ(-EINVAL, upool_open(&pool, "0:", &o));
	o.backing = UPOOL_BACKING_MEMFD;
	EXPECT_EQ(-EOPNOTSUPP, upool_open(&pool, "name", &o));
	o.backing = UPOOL_BACKING_PRIVATE;
	EXPECT_EQ(-EOPNOTSUPP, upool_open(&pool, "name", &o));
	EXPECT_EQ(untouched, pool);
}

TEST(open_makes_no_pool_of_another_user)
{
	struct upool_options o = UPOOL_OPTIONS_INIT;
	struct upool *pool = untouched;
	int none = on_device() ? -ENOENT : -ENODEV;

	if (!on_device())
		setenv("UPOOL_DEVICE", "/nonexistent/upool", 1);
	EXPECT_EQ(none, upool_open(&pool, "name", NULL));
	EXPECT_EQ(none, upool_open(&pool, "4242:name", &o));
	EXPECT_EQ(untouched, pool);
}

TEST(device_that_is_none_or_not_allowed)
{
	struct upool_options o = UPOOL_OPTIONS_INIT;
	char path[] = "/tmp/pool_errors.XXXXXX";
	struct upool *pool = untouched;
	int fd;

	o.backing = UPOOL_BACKING_DEVICE;
	setenv("UPOOL_DEVICE", "/dev/null", 1);
	EXPECT_EQ(-ENODEV, upool_create(&pool, &o));
	fd = mkstemp(path);
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, fchmod(fd, 0));
	close(fd);
	setenv("UPOOL_DEVICE", path, 1);
	if (!getuid())
		ASSERT_EQ(0, seteuid(65534));
	EXPECT_EQ(-EACCES, upool_create(&pool, &o));
	EXPECT_EQ(-EACCES, upool_open(&pool, "name", &o));
	EXPECT_EQ(untouched, pool);
	o.backing = UPOOL_BACKING_AUTO;
	EXPECT_EQ(0, upool_create(&pool, &o));
	if (pool != untouched) {
		EXPECT_EQ(0, strncmp("memfd: ", upool_mode(pool), 7));
		upool_close(pool);
	}
	if (!getuid())
		ASSERT_EQ(0, seteuid(0));
	unlink(path);
}

TEST(create_respects_the_limit_on_files)
{
	struct rlimit limit = { 65536, 65536 };
	struct upool *pool = untouched;

	ASSERT_EQ(0, setrlimit(RLIMIT_FSIZE, &limit));
	EXPECT_EQ(-EOVERFLOW, make_pool_on(UPOOL_BACKING_MEMFD, &pool, 65536, 64, 0));
	EXPECT_EQ(untouched, pool);
}

TEST(reserve_refuses_what_cannot_be)
{
	struct upool_reservation *r = (struct upool_reservation *)untouched;
	struct upool *pool;

	ASSERT_EQ(0, make_pool(&pool, 4096, 4, 0));
	EXPECT_EQ(-EINVAL, upool_reserve(pool, 1, 0, &r));
	EXPECT_EQ(-EINVAL, upool_reserve(pool, 1, (1 << 24) + 1, &r));
	EXPECT_EQ(-EINVAL, upool_reserve(pool, 4097, 1, &r));
	EXPECT_EQ(-ENOBUFS, upool_reserve(pool, 1, 5, &r));
	EXPECT_EQ((struct upool_reservation *)untouched, r);
	EXPECT_EQ(4, count_buffers(pool, 4));
	upool_close(pool);
}

/* Which call misbehaved in a child, or 0: those that give a count or a text. */
static int count_inherited(struct upool *pool, struct upool_reservation *r, void *held)
{
	struct upool_stats st = { .size = sizeof(st) };
	void *bufs[1];

	if (upool_alloc_reserved(r))
		return 1;
	if (upool_alloc_bulk(pool, 1, bufs, 1))
		return 2;
	bufs[0] = held;
	if (upool_free_bulk(pool, bufs, 1))
		return 3;
	if (upool_usable_size(pool, held))
		return 4;
	if (upool_trim(pool, 0))
		return 5;
	if (upool_stats_read(pool, &st) != -EPERM)
		return 6;
	if (!strstr(upool_mode(pool), ": "))
		return 7;
	upool_unreserve(r);
	return upool_fd(pool) < 0 ? 8 : 0;
}

TEST(inherited_handle_counts_nothing)
{
	struct upool_reservation *r;
	struct upool *pool;
	int status;
	void *held;
	pid_t pid;

	ASSERT_EQ(0, make_pool(&pool, 4096, 4, 0));
	held = upool_alloc(pool, 1);
	ASSERT_EQ(0, upool_reserve(pool, 1, 2, &r));
	pid = fork();
	if (!pid)
		_exit(count_inherited(pool, r, held));
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
	EXPECT_EQ(0, upool_free(pool, held));
	upool_unreserve(r);
	EXPECT_EQ(4, count_buffers(pool, 4));
	upool_close(pool);
}

TEST_HARNESS_MAIN
