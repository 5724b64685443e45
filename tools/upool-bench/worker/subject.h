/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * subject.h - what a worker can measure.
 * Owns: struct subject, struct loops.  Locks: none.  Entry: main.c, subjects.
 *
 * A subject's file defines <subject>_alloc(bytes) and <subject>_free(buf, bytes),
 * static inline, and includes loops.h: the measured loops are compiled with them
 * inside and call through no pointer.
 */
#ifndef UPOOL_BENCH_SUBJECT_H
#define UPOOL_BENCH_SUBJECT_H

#include <stddef.h>
#include "ring.h"

/**
 * struct shape - what a case is going to ask for; constant
 * @bytes:      size of every buffer
 * @nr_threads: that use the subject
 * @nr_live:    buffers that one thread holds at most
 */
struct shape {
	size_t		bytes;
	unsigned int	nr_threads;
	unsigned int	nr_live;
};

/**
 * struct loops - the measured loops of a subject; constant, made by loops.h
 * @pair:    @n times alloc and free
 * @hold:    hold 64, @n times replace the oldest
 * @touch:   @n times alloc, write a byte per page, free
 * @fill:    @n times alloc, fill and free @nr_bufs (1 or 2)
 * @take:    alloc and fill @n
 * @give:    free @n
 * @produce: alloc @n and send them
 * @consume: receive @n and free them
 */
struct loops {
	void (*pair)(size_t bytes, size_t n);
	void (*hold)(size_t bytes, size_t n);
	void (*touch)(size_t bytes, size_t n);
	void (*fill)(size_t bytes, size_t n, unsigned int nr_bufs);
	void (*take)(size_t bytes, void **bufs, size_t n);
	void (*give)(size_t bytes, void **bufs, size_t n);
	void (*produce)(size_t bytes, struct ring *ring, size_t n);
	void (*consume)(size_t bytes, struct ring *ring, size_t n);
};

/**
 * struct subject - one way to have buffers; constant
 * @name:        as on the command line
 * @init:        make it for a shape; NULL = nothing to do.  Returns NULL, or the
 *               reason why it cannot be measured here
 * @thread_init: in each thread that uses it, before the first loop; NULL = nothing
 * @about:       a word on what is really measured, after init; NULL = nothing
 * @loops:       the loops
 */
struct subject {
	const char		*name;
	const char		*(*init)(const struct shape *shape);
	void			(*thread_init)(void);
	const char		*(*about)(void);
	const struct loops	*loops;
};

/* The subjects of this worker, NULL at the end. */
extern const struct subject *const bench_subjects[];

#endif /* UPOOL_BENCH_SUBJECT_H */
