/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * cases.h - what is measured; the driver and the workers share the table.
 * Owns: struct bench_case.  Locks: none.  Entry: everybody.
 */
#ifndef UPOOL_BENCH_CASES_H
#define UPOOL_BENCH_CASES_H

#include <stddef.h>

/* Buffers held by the "hold" cases. */
#define HOLD_BUFFERS	64u

/* Slots of the ring between producer and consumer. */
#define RING_SLOTS	1024u

enum case_kind {
	KIND_PAIR,	/* alloc, free */
	KIND_HOLD,	/* hold 64, replace the oldest */
	KIND_TOUCH,	/* alloc, write a byte per page, free */
	KIND_FILL,	/* alloc, fill, free */
	KIND_TAKE,	/* alloc and fill; given back outside of the time */
	KIND_PRODCONS,	/* one thread allocates, another frees */
	KIND_RSS,	/* memory kept after a burst */
};

#define KINDS_ALL	(~0u)
#define KIND_BIT(k)	(1u << (k))

/**
 * struct bench_case - a row of the table; constant
 * @name:       as on the command line and in the results
 * @unit:       of a result; less is better in all of them
 * @bytes:      size of a buffer
 * @count:      operations per thread in a round; 0 = as many as fill the round's time
 * @later:      KIND_RSS: size of the one buffer that is taken and given back at last
 * @nr_threads: that work at the same time
 * @nr_live:    buffers that one thread holds at most
 * @kind:       what the threads do
 * @layouts:    measured with the code at several alignments
 */
struct bench_case {
	const char	*name;
	const char	*unit;
	size_t		bytes;
	size_t		count;
	size_t		later;
	unsigned int	nr_threads;
	unsigned int	nr_live;
	enum case_kind	kind;
	int		layouts;
};

/* Ends with a case without a name. */
extern const struct bench_case bench_cases[];

/**
 * case_find() - the case of a name
 * @name: its whole name
 * Return: the case, NULL when there is none
 */
const struct bench_case *case_find(const char *name);

/**
 * case_count() - operations per thread, shortened for a smoke run
 * @c:     a case with a count
 * @quick: shorten it
 * Return: the number, at least 1
 */
size_t case_count(const struct bench_case *c, int quick);

#endif /* UPOOL_BENCH_CASES_H */
