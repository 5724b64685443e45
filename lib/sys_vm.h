/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * sys_vm.h - address space, kept apart from memory.
 * Owns: nothing.  Locks: none.  Entry: priv_arena.c, priv_cache.c.
 * errno stays as it was.
 */
#ifndef UPOOL_SYS_VM_H
#define UPOOL_SYS_VM_H

#include <stddef.h>

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

/* Give the memory of pages back; they read as zeroes. */
void sys_decommit(void *p, size_t bytes);

/**
 * sys_barrier_init() - whether sys_barrier() works in this process
 * Return: 0 or -errno
 */
int sys_barrier_init(void);

/* Every thread of the process passes a full memory barrier before this returns. */
void sys_barrier(void);

#endif /* UPOOL_SYS_VM_H */
