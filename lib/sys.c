// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * sys.c - files, memory, threads and time of the operating system.
 * Owns: the rule that errno is neither reported through nor clobbered.
 * Locks: none.  Entry: sys.h.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <linux/falloc.h>
#include <linux/futex.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include <upool/upool_layout.h>
#include "sys.h"

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL	0x0008U
#endif
#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK	18
#endif
#ifndef SYS_rseq
#define SYS_rseq	-1
#endif

/* Value of a libc call, or -errno; errno as it was. */
#define RESULT(call)						\
({								\
	int errno_ = errno;					\
	long ret_ = (long)(call);				\
								\
	if (ret_ == -1)						\
		ret_ = -errno;					\
	errno = errno_;						\
	(int)ret_;						\
})

int sys_open(const char *path)
{
	return RESULT(open(path, O_RDWR | O_CLOEXEC));
}

int sys_close(int fd)
{
	return RESULT(close(fd));
}

int sys_dup(int fd)
{
	return RESULT(fcntl(fd, F_DUPFD_CLOEXEC, 3));
}

int sys_ioctl(int fd, unsigned long cmd, void *arg)
{
	return RESULT(ioctl(fd, cmd, arg));
}

int sys_fstat(int fd, struct stat *st)
{
	return RESULT(fstat(fd, st));
}

/* Short transfers cannot happen within a memfd, so they are the file's fault. */
int sys_pread(int fd, void *buf, size_t n, uint64_t off)
{
	int ret = RESULT(pread(fd, buf, n, (off_t)off));

	return ret < 0 ? ret : (size_t)ret == n ? 0 : -EINVAL;
}

int sys_pwrite(int fd, const void *buf, size_t n, uint64_t off)
{
	int ret = RESULT(pwrite(fd, buf, n, (off_t)off));

	return ret < 0 ? ret : (size_t)ret == n ? 0 : -ENOMEM;
}

int sys_memfd(const char *name)
{
	unsigned int flags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
	int fd = RESULT(memfd_create(name, flags | MFD_NOEXEC_SEAL));

	return fd == -EINVAL ? RESULT(memfd_create(name, flags)) : fd;
}

/* Beyond RLIMIT_FSIZE the kernel would send a signal that kills. */
int sys_truncate(int fd, uint64_t bytes)
{
	struct rlimit limit;

	if (!RESULT(getrlimit(RLIMIT_FSIZE, &limit)) && limit.rlim_cur != RLIM_INFINITY &&
	    bytes > limit.rlim_cur)
		return -EOVERFLOW;
	return RESULT(ftruncate(fd, (off_t)bytes));
}

int sys_allocate(int fd, uint64_t off, uint64_t bytes)
{
	int ret;

	do
		ret = RESULT(fallocate(fd, 0, (off_t)off, (off_t)bytes));
	while (ret == -EINTR);
	return ret == -ENOSPC ? -ENOMEM : ret;
}

int sys_punch(int fd, uint64_t off, uint64_t bytes)
{
	return RESULT(fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)off,
				(off_t)bytes));
}

int sys_seal(int fd)
{
	return RESULT(fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL));
}

/* The seals a pool needs and no seal against writing, or an error. */
int sys_seals(int fd)
{
	const int need = F_SEAL_SHRINK | F_SEAL_GROW;
	int seals = RESULT(fcntl(fd, F_GET_SEALS));

	if (seals < 0)
		return seals;
	return (seals & need) == need && !(seals & (F_SEAL_WRITE | F_SEAL_FUTURE_WRITE)) ? 0
											 : -EINVAL;
}

int sys_anon(void **p, size_t bytes)
{
	void *q;
	int ret = 0;
	int err = errno;

	q = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (q == MAP_FAILED)
		ret = -errno;
	else
		*p = q;
	errno = err;
	return ret;
}

/* Place of @bytes at a multiple of @align: reserve more, give the edges back. */
static void *reserve(size_t bytes, size_t align)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), slack, head;
	unsigned char *p;

	if (align <= page)
		return NULL;
	slack = align - page;
	if (bytes > SIZE_MAX - slack)
		return MAP_FAILED;
	p = mmap(NULL, bytes + slack, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
		 0);
	if (p == MAP_FAILED)
		return p;
	head = -(uintptr_t)p & (align - 1);
	if (head)
		munmap(p, head);
	if (slack - head)
		munmap(p + head + bytes, slack - head);
	return p + head;
}

/* Map @fd shared, at a multiple of @align, a power of two. */
int sys_map(void **p, int fd, uint64_t off, size_t bytes, size_t align)
{
	int err = errno, ret = 0;
	void *at = reserve(bytes, align), *q = MAP_FAILED;

	if (at == MAP_FAILED) {
		ret = -ENOMEM;
		goto out;
	}
	q = mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | (at ? MAP_FIXED : 0), fd,
		 (off_t)off);
	if (q == MAP_FAILED) {
		ret = -errno;
		if (at)
			munmap(at, bytes);
		goto out;
	}
	*p = q;
out:
	errno = err;
	return ret;
}

void sys_unmap(void *p, size_t bytes)
{
	if (p)
		(void)RESULT(munmap(p, bytes));
}

/* An emulator that takes any advice, even one that does not exist, promises nothing. */
int sys_wipe_on_fork(void *p, size_t bytes)
{
	if (!RESULT(madvise(p, bytes, -1)))
		return -EOPNOTSUPP;
	return RESULT(madvise(p, bytes, MADV_WIPEONFORK));
}

int sys_dont_fork(void *p, size_t bytes)
{
	return RESULT(madvise(p, bytes, MADV_DONTFORK));
}

void sys_huge(void *p, size_t bytes)
{
	(void)RESULT(madvise(p, bytes, MADV_HUGEPAGE));
}

uint64_t sys_page_bytes(void)
{
	int n = RESULT(sysconf(_SC_PAGESIZE));

	return n > 0 ? (uint64_t)n : 4096;
}

/* Bytes of a mapping that are in memory. */
uint64_t sys_resident(const void *p, size_t bytes)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), off, n, i;
	unsigned char vec[1024];
	uint64_t pages = 0;

	for (off = 0; off < bytes; off += n) {
		n = bytes - off < sizeof(vec) * page ? bytes - off : sizeof(vec) * page;
		if (RESULT(mincore((unsigned char *)p + off, n, vec)))
			break;
		for (i = 0; i < (n + page - 1) / page; i++)
			pages += vec[i] & 1;
	}
	return pages * page;
}

int sys_futex_wait(uint32_t *word, uint32_t seen, unsigned int timeout_ms)
{
	struct timespec ts = { timeout_ms / 1000, timeout_ms % 1000 * 1000000L };

	return RESULT(syscall(SYS_futex, word, FUTEX_WAIT, seen, &ts, NULL, 0));
}

void sys_futex_wake(uint32_t *word)
{
	(void)RESULT(syscall(SYS_futex, word, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0));
}

void sys_yield(void)
{
	(void)RESULT(sched_yield());
}

int sys_getpid(void)
{
	return getpid();
}

int sys_affinity_get(struct cpu_mask *mask)
{
	int ret = RESULT(syscall(SYS_sched_getaffinity, 0, sizeof(mask->word), mask->word));

	if (ret < 0)
		return ret;
	mask->bytes = (size_t)ret;
	return 0;
}

int sys_affinity_set(const struct cpu_mask *mask)
{
	return RESULT(syscall(SYS_sched_setaffinity, 0, mask->bytes, mask->word));
}

int sys_affinity_one(uint32_t cpu)
{
	const uint32_t bits = 8 * sizeof(long);
	unsigned long word[SYS_CPU_WORDS];
	uint32_t i;

	if (cpu / bits >= SYS_CPU_WORDS)
		return -EINVAL;
	for (i = 0; i <= cpu / bits; i++)
		word[i] = 0;
	word[cpu / bits] = 1UL << cpu % bits;
	return RESULT(syscall(SYS_sched_setaffinity, 0, i * sizeof(long), word));
}

int sys_cpu(void)
{
	return RESULT(sched_getcpu());
}

/* Last number in a list like "0-3,8-11", plus one; 0 when there is none. */
static uint32_t list_end(const char *s)
{
	uint32_t last = 0, n = 0;
	int digits = 0;

	for (; *s; s++) {
		if (*s >= '0' && *s <= '9' && n < 65536) {
			n = n * 10 + (uint32_t)(*s - '0');
			last = n;
			digits = 1;
		} else {
			n = 0;
		}
	}
	return digits ? last + 1 : 0;
}

/* CPU ids are below this; without /sys the configured CPUs and our own mask. */
uint32_t sys_nr_cpu_ids(void)
{
	const uint32_t bits = 8 * sizeof(long);
	struct cpu_mask mask;
	uint32_t nr = 0, i;
	char buf[1024];
	int fd, n;

	fd = RESULT(open("/sys/devices/system/cpu/possible", O_RDONLY | O_CLOEXEC));
	if (fd >= 0) {
		n = RESULT(read(fd, buf, sizeof(buf) - 1));
		buf[n > 0 ? n : 0] = '\0';
		nr = list_end(buf);
		sys_close(fd);
	}
	if (!nr) {
		n = RESULT(sysconf(_SC_NPROCESSORS_CONF));
		nr = n > 0 ? (uint32_t)n : 1;
		if (!sys_affinity_get(&mask))
			for (i = 0; i < mask.bytes * 8; i++)
				if (mask.word[i / bits] >> i % bits & 1 && i >= nr)
					nr = i + 1;
	}
	return nr < 65536 ? nr : 65536;
}

uint32_t sys_nr_online(void)
{
	int n = RESULT(sysconf(_SC_NPROCESSORS_ONLN));

	return n > 0 ? (uint32_t)n : 1;
}

uint64_t sys_now_ms(void)
{
	struct timespec ts = { 0, 0 };

	(void)RESULT(clock_gettime(CLOCK_MONOTONIC, &ts));
	return (uint64_t)ts.tv_sec * 1000 + (uint64_t)ts.tv_nsec / 1000000;
}

/* A clock that all processes of this boot share and nobody sets. */
uint32_t sys_boot_seconds(void)
{
	struct timespec ts = { 0, 0 };

	(void)RESULT(clock_gettime(CLOCK_BOOTTIME, &ts));
	return (uint32_t)ts.tv_sec;
}

/* 1 to 255 */
uint32_t sys_random_byte(void)
{
	struct timespec ts = { 0, 0 };
	unsigned char b = 0;

	if (RESULT(syscall(SYS_getrandom, &b, 1, 1 /* GRND_NONBLOCK */)) != 1) {
		(void)RESULT(clock_gettime(CLOCK_MONOTONIC, &ts));
		b = (unsigned char)(ts.tv_nsec / 64);
	}
	return b % 255 + 1;
}

const char *sys_env(const char *name)
{
	return secure_getenv(name);
}

/* Invalid on purpose: never registers anything. */
bool sys_has_rseq(void)
{
	return RESULT(syscall(SYS_rseq, NULL, 0, 0, 0)) != -ENOSYS;
}
