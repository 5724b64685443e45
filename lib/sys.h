/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * sys.h - the operating system: every call returns -errno and leaves errno alone.
 * Owns: nothing.  Locks: none.  Entry: all files but the hits.
 */
#ifndef UPOOL_SYS_H
#define UPOOL_SYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#define SYS_CPU_WORDS	1024	/* longs of the largest CPU mask: 65536 CPUs */

/**
 * struct cpu_mask - CPUs a thread may run on
 * @bytes: bytes the kernel filled in
 * @word:  bits
 */
struct cpu_mask {
	size_t		bytes;
	unsigned long	word[SYS_CPU_WORDS];
};

int sys_open(const char *path);
int sys_close(int fd);
int sys_dup(int fd);
int sys_ioctl(int fd, unsigned long cmd, void *arg);
int sys_fstat(int fd, struct stat *st);
int sys_pread(int fd, void *buf, size_t n, uint64_t off);
int sys_pwrite(int fd, const void *buf, size_t n, uint64_t off);
int sys_memfd(const char *name);
int sys_truncate(int fd, uint64_t bytes);
int sys_allocate(int fd, uint64_t off, uint64_t bytes);
int sys_punch(int fd, uint64_t off, uint64_t bytes);
int sys_seal(int fd);
int sys_seals(int fd);

int sys_anon(void **p, size_t bytes);
int sys_map(void **p, int fd, uint64_t off, size_t bytes, size_t align);
void sys_unmap(void *p, size_t bytes);
int sys_wipe_on_fork(void *p, size_t bytes);
int sys_dont_fork(void *p, size_t bytes);
void sys_huge(void *p, size_t bytes);
uint64_t sys_page_bytes(void);
uint64_t sys_resident(const void *p, size_t bytes);

int sys_futex_wait(uint32_t *word, uint32_t seen, unsigned int timeout_ms);
void sys_futex_wake(uint32_t *word);
void sys_yield(void);
int sys_getpid(void);
int sys_affinity_get(struct cpu_mask *mask);
int sys_affinity_set(const struct cpu_mask *mask);
int sys_affinity_one(uint32_t cpu);
int sys_cpu(void);
uint32_t sys_nr_cpu_ids(void);
uint32_t sys_nr_online(void);
uint64_t sys_now_ms(void);
uint32_t sys_boot_seconds(void);
uint32_t sys_random_byte(void);
const char *sys_env(const char *name);
bool sys_has_rseq(void);

#endif /* UPOOL_SYS_H */
