/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * sys_vm.h - what only private pools ask of the system: address space apart from
 * memory, barriers in other threads, locks and ages that cost little.
 * Owns: nothing.  Locks: none.  Entry: priv_*.c.
 * errno stays as it was.
 */
#ifndef UPOOL_SYS_VM_H
#define UPOOL_SYS_VM_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

/**
 * sys_reserve() - address space without memory
 * @p:        receives its address
 * @bytes:    how many
 * @align:    power of two, at least a page
 * @readable: as zeroes; else not accessible
 * Return: 0 or -ENOMEM
 */
int sys_reserve(void **p, size_t bytes, size_t align, int readable);

/* Make reserved pages usable: 0 or -ENOMEM. */
int sys_commit(void *p, size_t bytes);

/**
 * sys_decommit() - give the memory of pages back; they read as zeroes
 * @p:     first page
 * @bytes: whole pages
 * Return: 0, or -errno when the memory stays, as where pages are locked
 */
int sys_decommit(void *p, size_t bytes);

/**
 * sys_barrier_init() - whether sys_barrier() works in this process
 * Return: 0 or -errno
 */
int sys_barrier_init(void);

/* Every thread of the process passes a full memory barrier before this returns. */
void sys_barrier(void);

/* The same for sys_barrier_rseq(), which also restarts the sequences under way. */
int sys_barrier_rseq_init(void);
void sys_barrier_rseq(void);

#ifdef PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP
#define SYS_LOCK_INIT	PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP
#else
#define SYS_LOCK_INIT	PTHREAD_MUTEX_INITIALIZER
#endif

/* A lock that is held for less time than a sleep takes: who waits spins first. */
void sys_lock_init(pthread_mutex_t *lock);

/**
 * sys_age_ms() - a clock for ages, exact to a timer tick
 * Return: milliseconds
 */
uint64_t sys_age_ms(void);

#endif /* UPOOL_SYS_VM_H */
