// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * sys_vm.c - address space apart from memory, barriers, locks and ages.
 * Owns: nothing.  Locks: none.  Entry: sys_vm.h.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <linux/membarrier.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include "sys_vm.h"

int sys_reserve(void **p, size_t bytes, size_t align, int readable)
{
	const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
	int prot = readable ? PROT_READ : PROT_NONE, err = errno;
	size_t head;
	char *q;

	q = mmap(NULL, bytes + align, prot, flags, -1, 0);
	errno = err;
	if (q == MAP_FAILED)
		return -ENOMEM;
	head = -(uintptr_t)q & (align - 1);
	if (head)
		munmap(q, head);
	munmap(q + head + bytes, align - head);
	*p = q + head;
	errno = err;
	return 0;
}

int sys_commit(void *p, size_t bytes)
{
	int err = errno, ret = mprotect(p, bytes, PROT_READ | PROT_WRITE) ? -ENOMEM : 0;

	errno = err;
	return ret;
}

int sys_decommit(void *p, size_t bytes)
{
	int err = errno, ret = madvise(p, bytes, MADV_DONTNEED) ? -errno : 0;

	if (ret)
		memset(p, 0, bytes);
	errno = err;
	return ret;
}

static int membarrier(int cmd)
{
	int err = errno, ret = syscall(SYS_membarrier, cmd, 0, 0) < 0 ? -errno : 0;

	errno = err;
	return ret;
}

int sys_barrier_init(void)
{
	return membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED);
}

void sys_barrier(void)
{
	membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED);
}

int sys_barrier_rseq_init(void)
{
	return membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_RSEQ);
}

void sys_barrier_rseq(void)
{
	membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED_RSEQ);
}

void sys_lock_init(pthread_mutex_t *lock)
{
	pthread_mutexattr_t attr;

	pthread_mutexattr_init(&attr);
#ifdef __GLIBC__
	pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_ADAPTIVE_NP);
#endif
	pthread_mutex_init(lock, &attr);
	pthread_mutexattr_destroy(&attr);
}

uint64_t sys_age_ms(void)
{
	struct timespec ts = { 0, 0 };

	clock_gettime(CLOCK_MONOTONIC_COARSE, &ts);	/* cannot fail */
	return (uint64_t)ts.tv_sec * 1000 + (uint64_t)ts.tv_nsec / 1000000;
}
