/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * rseq.h - whether this process can use restartable sequences.
 * Owns: nothing.  Locks: none.  Entry: lifetime of pools.
 */
#ifndef UPOOL_RSEQ_H
#define UPOOL_RSEQ_H

#include <stdint.h>

/**
 * rseq_unusable() - why there are no restartable sequences here
 * Return: NULL when there are, else a few words
 */
const char *rseq_unusable(void);

/**
 * rseq_offset() - where libc keeps its area
 * Return: offset from the thread pointer; 0 when rseq_unusable()
 */
intptr_t rseq_offset(void);

#endif /* UPOOL_RSEQ_H */
