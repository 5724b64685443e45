// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * unit_faults.c - the operating system refuses, once, at every place where it can: the
 * call gives that error and leaves nothing behind, or does without.
 *
 * The library's undefined symbols are wrapped at link time.  Of the calls that reach one
 * of them the Nth fails, for N = 1, 2, ... until an operation needs fewer.
 */
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include "kselftest_harness.h"
#include "pool_fixture.h"

#define NR	16

static int fail_after = -1;	/* calls that succeed before the one that fails; -1 = all */
static int injected;		/* the error that was given, or 0 */
static int expected[2];		/* what the library may make of it */

static int fault_seen_as(int err, int seen, int or_seen)
{
	if (fail_after < 0 || fail_after-- > 0)
		return 0;
	injected = err;
	expected[0] = -seen;
	expected[1] = -or_seen;
	errno = err;
	return 1;
}

static int fault(int err)
{
	return fault_seen_as(err, err, err);
}

void *__real_malloc(size_t n);
void *__wrap_malloc(size_t n);
void *__wrap_malloc(size_t n)
{
	return fault(ENOMEM) ? NULL : __real_malloc(n);
}

void *__real_mmap64(void *at, size_t n, int prot, int flags, int fd, off_t off);
void *__wrap_mmap64(void *at, size_t n, int prot, int flags, int fd, off_t off);
void *__wrap_mmap64(void *at, size_t n, int prot, int flags, int fd, off_t off)
{
	return fault(ENOMEM) ? MAP_FAILED : __real_mmap64(at, n, prot, flags, fd, off);
}

int __real_memfd_create(const char *name, unsigned int flags);
int __wrap_memfd_create(const char *name, unsigned int flags);
int __wrap_memfd_create(const char *name, unsigned int flags)
{
	return fault(EMFILE) ? -1 : __real_memfd_create(name, flags);
}

int __real_ftruncate64(int fd, off_t n);
int __wrap_ftruncate64(int fd, off_t n);
int __wrap_ftruncate64(int fd, off_t n)
{
	return fault(ENOMEM) ? -1 : __real_ftruncate64(fd, n);
}

int __real_fallocate64(int fd, int mode, off_t off, off_t n);
int __wrap_fallocate64(int fd, int mode, off_t off, off_t n);
int __wrap_fallocate64(int fd, int mode, off_t off, off_t n)
{
	return fault_seen_as(ENOSPC, ENOMEM, ENOMEM) ? -1 : __real_fallocate64(fd, mode, off, n);
}

int __real_fcntl64(int fd, int cmd, ...);
int __wrap_fcntl64(int fd, int cmd, ...);
int __wrap_fcntl64(int fd, int cmd, ...)
{
	va_list ap;
	long arg;

	va_start(ap, cmd);
	arg = va_arg(ap, long);
	va_end(ap);
	if (cmd == F_GET_SEALS ? fault(EINVAL) : fault(EMFILE))
		return -1;
	return __real_fcntl64(fd, cmd, arg);
}

int __real_fstat64(int fd, struct stat *sb);
int __wrap_fstat64(int fd, struct stat *sb);
int __wrap_fstat64(int fd, struct stat *sb)
{
	return fault(EOVERFLOW) ? -1 : __real_fstat64(fd, sb);
}

ssize_t __real_pread64(int fd, void *buf, size_t n, off_t off);
ssize_t __wrap_pread64(int fd, void *buf, size_t n, off_t off);
ssize_t __wrap_pread64(int fd, void *buf, size_t n, off_t off)
{
	return fault_seen_as(EIO, EINVAL, EINVAL) ? -1 : __real_pread64(fd, buf, n, off);
}

ssize_t __real_pwrite64(int fd, const void *buf, size_t n, off_t off);
ssize_t __wrap_pwrite64(int fd, const void *buf, size_t n, off_t off);
ssize_t __wrap_pwrite64(int fd, const void *buf, size_t n, off_t off)
{
	return fault(ENOMEM) ? -1 : __real_pwrite64(fd, buf, n, off);
}

int __real_madvise(void *at, size_t n, int advice);
int __wrap_madvise(void *at, size_t n, int advice);
int __wrap_madvise(void *at, size_t n, int advice)
{
	return fault(EINVAL) ? -1 : __real_madvise(at, n, advice);
}

int __real_pthread_mutex_init(pthread_mutex_t *m, const pthread_mutexattr_t *attr);
int __wrap_pthread_mutex_init(pthread_mutex_t *m, const pthread_mutexattr_t *attr);
int __wrap_pthread_mutex_init(pthread_mutex_t *m, const pthread_mutexattr_t *attr)
{
	return fault_seen_as(ENOTSUP, EOPNOTSUPP, EPROTO) ? ENOTSUP : __real_pthread_mutex_init(m, attr);
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

/* Mapped pages of shared memory: the pools'. */
static int nr_pool_mappings(void)
{
	FILE *f = fopen("/proc/self/maps", "r");
	char line[512];
	int n = 0;

	while (fgets(line, sizeof(line), f))
		n += !!strstr(line, "/memfd:");
	fclose(f);
	return n;
}

static struct upool *parent;	/* what attach joins */

static int create_plain(struct upool **pool)
{
	return make_pool_on(UPOOL_BACKING_MEMFD, pool, 4096, NR, 0);
}

static int create_populated(struct upool **pool)
{
	return make_pool_on(UPOOL_BACKING_MEMFD, pool, 4096, NR, UPOOL_F_POPULATE | UPOOL_F_HUGE);
}

static int create_locked(struct upool **pool)
{
	int ret;

	setenv("UPOOL_BACKEND", "locked", 1);
	ret = create_plain(pool);
	unsetenv("UPOOL_BACKEND");
	return ret;
}

static int attach(struct upool **pool)
{
	return upool_attach(pool, upool_fd(parent));
}

FIXTURE(fault)
{
};

FIXTURE_VARIANT(fault)
{
	int	(*make)(struct upool **pool);
	int	least;		/* faults that there are at least */
};

FIXTURE_VARIANT_ADD(fault, create) { create_plain, 6 };
FIXTURE_VARIANT_ADD(fault, create_populated) { create_populated, 7 };
FIXTURE_VARIANT_ADD(fault, create_locked) { create_locked, 8 };
FIXTURE_VARIANT_ADD(fault, attach) { attach, 6 };

FIXTURE_SETUP(fault)
{
	ASSERT_EQ(0, create_plain(&parent));
}

FIXTURE_TEARDOWN(fault)
{
	EXPECT_EQ(NR, count_buffers(parent, NR));
	upool_close(parent);
}

TEST_F(fault, is_an_error_or_done_without)
{
	struct upool *const untouched = (struct upool *)1, *pool;
	int n, ret, refusals = 0, fds = nr_fds(), mappings = nr_pool_mappings();

	for (n = 0; n < 1000; n++) {
		pool = untouched;
		injected = 0;
		fail_after = n;
		ret = variant->make(&pool);
		fail_after = -1;
		if (ret) {
			EXPECT_TRUE(ret == expected[0] || ret == expected[1]) {
				TH_LOG("call %d: %d became %d", n, injected, ret);
			}
			EXPECT_EQ(untouched, pool);
			refusals++;
		} else {
			EXPECT_EQ(NR, count_buffers(pool, NR)) { TH_LOG("call %d", n); }
			upool_close(pool);
		}
		ASSERT_EQ(fds, nr_fds()) { TH_LOG("call %d", n); }
		ASSERT_EQ(mappings, nr_pool_mappings()) { TH_LOG("call %d", n); }
		if (!injected)
			break;
	}
	EXPECT_EQ(0, ret);
	EXPECT_LE(variant->least, refusals);
	TH_LOG("%d calls that can fail, %d of them must not", n, refusals);
}

TEST_F(fault, of_a_reservation_keeps_no_buffer)
{
	struct upool_reservation *const untouched = (struct upool_reservation *)1, *r = untouched;
	struct upool *pool;

	ASSERT_EQ(0, variant->make(&pool));
	fail_after = 0;
	EXPECT_EQ(-ENOMEM, upool_reserve(pool, 1, 3, &r));
	fail_after = -1;
	EXPECT_EQ(untouched, r);
	EXPECT_EQ(NR, count_buffers(pool, NR));
	upool_close(pool);
}

TEST_HARNESS_MAIN
