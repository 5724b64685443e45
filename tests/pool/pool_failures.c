// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * pool_failures.c - whichever call to the system fails, the library says so, leaves the
 * caller's handle and errno alone, and leaks nothing.
 *
 * The linker puts the functions below between the library and its boundary to the
 * system, sys.h; each call counts, and the Nth one fails.
 */
#include <dirent.h>
#include <stdio.h>
#include "kselftest_harness.h"
#include "pool_fixture.h"
#include "sys.h"

static struct upool *const untouched = (struct upool *)1;
static int countdown, failed;	/* calls until one fails; whether it has */

static bool fails(void)
{
	if (!countdown || --countdown)
		return false;
	failed = true;
	return true;
}

#define FAILING(name, error, parameters, arguments)	\
	int __real_##name parameters;			\
	int __wrap_##name parameters;			\
	int __wrap_##name parameters			\
	{						\
		return fails() ? error : __real_##name arguments; \
	}

FAILING(sys_open, -EMFILE, (const char *path), (path))
FAILING(sys_dup, -EMFILE, (int fd), (fd))
FAILING(sys_ioctl, -ENOMEM, (int fd, unsigned long cmd, void *arg), (fd, cmd, arg))
FAILING(sys_fstat, -EOVERFLOW, (int fd, struct stat *st), (fd, st))
FAILING(sys_pread, -EIO, (int fd, void *p, size_t n, uint64_t off), (fd, p, n, off))
FAILING(sys_pwrite, -ENOMEM, (int fd, const void *p, size_t n, uint64_t off), (fd, p, n, off))
FAILING(sys_memfd, -EMFILE, (const char *name), (name))
FAILING(sys_truncate, -EINVAL, (int fd, uint64_t bytes), (fd, bytes))
FAILING(sys_allocate, -ENOMEM, (int fd, uint64_t off, uint64_t bytes), (fd, off, bytes))
FAILING(sys_seal, -EPERM, (int fd), (fd))
FAILING(sys_seals, -EINVAL, (int fd), (fd))
FAILING(sys_wipe_on_fork, -EINVAL, (void *p, size_t bytes), (p, bytes))
FAILING(sys_dont_fork, -EINVAL, (void *p, size_t bytes), (p, bytes))

int __real_sys_anon(void **p, size_t bytes);
int __wrap_sys_anon(void **p, size_t bytes);
int __real_sys_map(void **p, int fd, uint64_t off, size_t bytes, size_t align);
int __wrap_sys_map(void **p, int fd, uint64_t off, size_t bytes, size_t align);
void __real_sys_unmap(void *p, size_t bytes);
void __wrap_sys_unmap(void *p, size_t bytes);
void *__real_malloc(size_t bytes);
void *__wrap_malloc(size_t bytes);

static long long mapped;	/* bytes, by the library */

int __wrap_sys_anon(void **p, size_t bytes)
{
	int ret = fails() ? -ENOMEM : __real_sys_anon(p, bytes);

	mapped += ret ? 0 : (long long)bytes;
	return ret;
}

int __wrap_sys_map(void **p, int fd, uint64_t off, size_t bytes, size_t align)
{
	int ret = fails() ? -ENOMEM : __real_sys_map(p, fd, off, bytes, align);

	mapped += ret ? 0 : (long long)bytes;
	return ret;
}

void __wrap_sys_unmap(void *p, size_t bytes)
{
	__real_sys_unmap(p, bytes);
	mapped -= p ? (long long)bytes : 0;
}

void *__wrap_malloc(size_t bytes)
{
	if (!fails())
		return __real_malloc(bytes);
	errno = ENOMEM;
	return NULL;
}

static int nr_fds(void)
{
	DIR *dir = opendir("/proc/self/fd");
	int n = 0;

	while (readdir(dir))
		n++;
	closedir(dir);
	return n;
}

/* Mappings of a pool's file. */
static int nr_maps(void)
{
	FILE *f = fopen("/proc/self/maps", "re");
	char line[512];
	int n = 0;

	while (fgets(line, sizeof(line), f))
		n += strstr(line, "upool") && !strstr(line, "pool_failures");
	fclose(f);
	return n;
}

struct usage {
	int		fds, maps;
	long long	mapped;
};

static struct usage usage_now(void)
{
	struct usage u = { nr_fds(), nr_maps(), mapped };

	return u;
}

enum way { CREATE, CREATE_POPULATED, ATTACH };

static int make(enum way way, struct upool **pool, struct upool *other)
{
	struct upool_options o = UPOOL_OPTIONS_INIT;

	o.backing = backing_under_test();
	o.buffer_bytes = 4096;
	o.nr_buffers = 8;
	o.flags = way == CREATE_POPULATED ? UPOOL_F_POPULATE : 0;
	return way == ATTACH ? upool_attach(pool, upool_fd(other)) : upool_create(pool, &o);
}

/* Fail the first call, then the second, until none is left to fail. */
static void fail_each(struct __test_metadata *_metadata, enum way way, struct upool *other)
{
	struct usage before, after;
	struct upool *pool;
	int n = 0, ret;

	do {
		n++;
		pool = untouched;
		failed = false;
		before = usage_now();
		errno = 4711;
		countdown = n;
		ret = make(way, &pool, other);
		countdown = 0;
		EXPECT_EQ(4711, errno);
		if (ret) {
			EXPECT_TRUE(failed);
			EXPECT_GT(0, ret);
			EXPECT_EQ(untouched, pool);
		} else {
			EXPECT_EQ(8, count_buffers(pool, 8));
			upool_close(pool);
		}
		after = usage_now();
		EXPECT_EQ(before.fds, after.fds);
		EXPECT_EQ(before.maps, after.maps);
		EXPECT_EQ(before.mapped, after.mapped) {
			TH_LOG("call %d gave %d", n, ret);
		}
	} while (failed);
	EXPECT_EQ(0, ret);
	EXPECT_LT(4, n);
}

TEST(create_undoes_what_it_did)
{
	fail_each(_metadata, CREATE, NULL);
	fail_each(_metadata, CREATE_POPULATED, NULL);
}

TEST(attach_undoes_what_it_did)
{
	struct upool *pool;

	ASSERT_EQ(0, make_pool(&pool, 4096, 8, 0));
	fail_each(_metadata, ATTACH, pool);
	EXPECT_EQ(8, count_buffers(pool, 8));
	upool_close(pool);
}

TEST(reserve_keeps_no_buffer_without_memory)
{
	struct upool_reservation *const none = (struct upool_reservation *)1, *r = none;
	struct upool *pool;

	ASSERT_EQ(0, make_pool(&pool, 4096, 8, 0));
	errno = 4711;
	countdown = 1;
	EXPECT_EQ(-ENOMEM, upool_reserve(pool, 1, 4, &r));
	EXPECT_TRUE(failed);
	EXPECT_EQ(4711, errno);
	EXPECT_EQ(none, r);
	EXPECT_EQ(8, count_buffers(pool, 8));
	upool_close(pool);
}

/* A refill that fails once is an allocation that fails once. */
TEST(allocation_that_failed_works_again)
{
	struct upool *pool;
	int n = 0, least = backing_under_test() == UPOOL_BACKING_DEVICE;
	void *buf;

	do {
		n++;
		ASSERT_EQ(0, make_pool(&pool, 4096, 8, 0));
		failed = false;
		countdown = n;
		buf = upool_alloc(pool, 1);
		countdown = 0;
		EXPECT_EQ(failed, !buf);
		EXPECT_EQ(0, upool_free(pool, buf));
		EXPECT_EQ(8, count_buffers(pool, 8));
		upool_close(pool);
	} while (failed);
	EXPECT_LT(least, n);
}

TEST_HARNESS_MAIN
