/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * atomic.h - the memory accesses that other threads and members can see.
 * Owns: nothing.  Locks: none.  Entry: every file that touches shared words.
 *
 * Plain loads and stores of shared words are written relaxed, never bare, so
 * that compilers keep them whole and TSan knows they are meant.
 */
#ifndef UPOOL_ATOMIC_H
#define UPOOL_ATOMIC_H

#include <stdbool.h>
#include <stdint.h>

#define likely(x)	__builtin_expect(!!(x), 1)
#define unlikely(x)	__builtin_expect(!!(x), 0)

#define load_relaxed(p)		__atomic_load_n(p, __ATOMIC_RELAXED)
#define load_acquire(p)		__atomic_load_n(p, __ATOMIC_ACQUIRE)
#define store_relaxed(p, v)	__atomic_store_n(p, v, __ATOMIC_RELAXED)
#define store_release(p, v)	__atomic_store_n(p, v, __ATOMIC_RELEASE)
#define add_relaxed(p, v)	__atomic_fetch_add(p, v, __ATOMIC_RELAXED)
#define sub_relaxed(p, v)	__atomic_fetch_sub(p, v, __ATOMIC_RELAXED)
#define add_seq_cst(p, v)	__atomic_fetch_add(p, v, __ATOMIC_SEQ_CST)
#define load_seq_cst(p)		__atomic_load_n(p, __ATOMIC_SEQ_CST)

/**
 * cas32() - replace *@p by @to if it is @from
 * @p:    the word
 * @from: expected; receives what was found
 * @to:   new value
 * Return: whether it was replaced; acquire and release then
 */
static inline bool cas32(uint32_t *p, uint32_t *from, uint32_t to)
{
	return __atomic_compare_exchange_n(p, from, to, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

/**
 * cas64() - replace *@p by @to if it is @from
 * @p:    the word
 * @from: expected
 * @to:   new value
 * Return: whether it was replaced; acquire and release then
 */
static inline bool cas64(uint64_t *p, uint64_t from, uint64_t to)
{
	return __atomic_compare_exchange_n(p, &from, to, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

#endif /* UPOOL_ATOMIC_H */
