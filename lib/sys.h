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

/**
 * sys_open() - open a file for reading and writing, O_CLOEXEC
 * @path: its path
 * Return: descriptor or -errno
 */
int sys_open(const char *path);

/**
 * sys_close() - close a descriptor
 * @fd: ours
 * Return: 0 or -errno
 */
int sys_close(int fd);

/**
 * sys_dup() - duplicate a descriptor, O_CLOEXEC
 * @fd: any
 * Return: descriptor or -errno
 */
int sys_dup(int fd);

/**
 * sys_ioctl() - make a call to a device
 * @fd:  its file
 * @cmd: command
 * @arg: struct of the command
 * Return: 0 or -errno
 */
int sys_ioctl(int fd, unsigned long cmd, void *arg);

/**
 * sys_fstat() - what a descriptor refers to
 * @fd: any
 * @st: receives it
 * Return: 0 or -errno
 */
int sys_fstat(int fd, struct stat *st);

/**
 * sys_pread() - read all or nothing
 * @fd:  a file
 * @buf: receives the bytes
 * @n:   how many
 * @off: from where
 * Return: 0 or -errno; -EINVAL when the file is shorter
 */
int sys_pread(int fd, void *buf, size_t n, uint64_t off);

/**
 * sys_pwrite() - write all or nothing
 * @fd:  a file
 * @buf: the bytes
 * @n:   how many
 * @off: to where
 * Return: 0 or -errno
 */
int sys_pwrite(int fd, const void *buf, size_t n, uint64_t off);

/**
 * sys_memfd() - make a memfd that can be sealed, O_CLOEXEC
 * @name: shown in /proc
 * Return: descriptor or -errno
 */
int sys_memfd(const char *name);

/**
 * sys_truncate() - set a file's size
 * @fd:    a file
 * @bytes: size
 * Return: 0 or -errno; -EOVERFLOW above RLIMIT_FSIZE
 */
int sys_truncate(int fd, uint64_t bytes);

/**
 * sys_allocate() - allocate pages of a file now
 * @fd:    a file
 * @off:   from where
 * @bytes: how many
 * Return: 0 or -errno; -ENOMEM when there are not enough
 */
int sys_allocate(int fd, uint64_t off, uint64_t bytes);

/**
 * sys_punch() - give pages of a file back
 * @fd:    a file
 * @off:   from where
 * @bytes: how many
 * Return: 0 or -errno
 */
int sys_punch(int fd, uint64_t off, uint64_t bytes);

/**
 * sys_seal() - seal a memfd's size
 * @fd: a memfd
 * Return: 0 or -errno
 */
int sys_seal(int fd);

/**
 * sys_seals() - whether a memfd's size is sealed and its content is not
 * @fd: any
 * Return: 0 or -errno
 */
int sys_seals(int fd);

/**
 * sys_anon() - zeroed private memory of whole pages
 * @p:     receives its address
 * @bytes: how many
 * Return: 0, -ENOMEM
 */
int sys_anon(void **p, size_t bytes);

/**
 * sys_map() - map a file shared
 * @p:     receives the address
 * @fd:    a file
 * @off:   from where
 * @bytes: how many
 * @align: power of two the address is a multiple of
 * Return: 0 or -errno
 */
int sys_map(void **p, int fd, uint64_t off, size_t bytes, size_t align);

/**
 * sys_unmap() - unmap memory
 * @p:     its address; NULL is allowed
 * @bytes: how many
 */
void sys_unmap(void *p, size_t bytes);

/**
 * sys_wipe_on_fork() - have private memory zeroed in children
 * @p:     its address
 * @bytes: how many
 * Return: 0, or -errno when that is not certain
 */
int sys_wipe_on_fork(void *p, size_t bytes);

/**
 * sys_dont_fork() - have memory absent in children
 * @p:     its address
 * @bytes: how many
 * Return: 0 or -errno
 */
int sys_dont_fork(void *p, size_t bytes);

/**
 * sys_huge() - ask for huge pages
 * @p:     address of memory
 * @bytes: how many
 */
void sys_huge(void *p, size_t bytes);

/**
 * sys_page_bytes() - bytes of a page
 * Return: a power of two
 */
uint64_t sys_page_bytes(void);

/**
 * sys_resident() - how much of a mapping is in memory
 * @p:     its address
 * @bytes: its size
 * Return: bytes
 */
uint64_t sys_resident(const void *p, size_t bytes);

/**
 * sys_futex_wait() - sleep until a shared word is woken
 * @word:       in a shared mapping
 * @seen:       do not sleep if it has another value
 * @timeout_ms: at most so long
 * Return: 0 or -errno
 */
int sys_futex_wait(uint32_t *word, uint32_t seen, unsigned int timeout_ms);

/**
 * sys_futex_wake() - wake everybody who sleeps on a shared word
 * @word: in a shared mapping
 */
void sys_futex_wake(uint32_t *word);

/**
 * sys_yield() - let other threads run
 */
void sys_yield(void);

/**
 * sys_getpid() - this process
 * Return: its pid
 */
int sys_getpid(void);

/**
 * sys_affinity_get() - CPUs this thread may run on
 * @mask: receives them
 * Return: 0 or -errno
 */
int sys_affinity_get(struct cpu_mask *mask);

/**
 * sys_affinity_set() - choose the CPUs this thread may run on
 * @mask: from sys_affinity_get()
 * Return: 0 or -errno
 */
int sys_affinity_set(const struct cpu_mask *mask);

/**
 * sys_affinity_one() - move this thread to a CPU
 * @cpu: which
 * Return: 0 or -errno; returns there
 */
int sys_affinity_one(uint32_t cpu);

/**
 * sys_cpu() - the CPU this thread was on a moment ago
 * Return: CPU or -errno
 */
int sys_cpu(void);

/**
 * sys_nr_cpu_ids() - bound of CPU ids
 * Return: 1 to 65536
 */
uint32_t sys_nr_cpu_ids(void);

/**
 * sys_nr_online() - CPUs online now
 * Return: at least 1
 */
uint32_t sys_nr_online(void);

/**
 * sys_now_ms() - a clock for time-outs
 * Return: milliseconds
 */
uint64_t sys_now_ms(void);

/**
 * sys_boot_seconds() - a clock that processes share
 * Return: seconds since boot
 */
uint32_t sys_boot_seconds(void);

/**
 * sys_random_byte() - a random byte that is not 0
 * Return: 1 to 255
 */
uint32_t sys_random_byte(void);

/**
 * sys_env() - a variable of the environment
 * @name: which
 * Return: its value; NULL when unset or when privileges were gained
 */
const char *sys_env(const char *name);

/**
 * sys_has_rseq() - whether the kernel knows the rseq system call
 * Return: whether it does
 */
bool sys_has_rseq(void);

#endif /* UPOOL_SYS_H */
