/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * worker.h - one process that measures one case of one subject.
 * Owns: struct worker.  Locks: none.  Entry: main.c, team.c, measure.c.
 */
#ifndef UPOOL_BENCH_WORKER_H
#define UPOOL_BENCH_WORKER_H

#include <stddef.h>
#include <stdint.h>
#include "../cases.h"
#include "subject.h"

#define WORKER_MAX_CPUS	64u

/**
 * struct worker - what this process measures
 * @c:         the case
 * @s:         the subject
 * @n:         operations per thread in a round
 * @round_ns:  how long a round of a case without a count should take
 * @cpus:      thread i runs on cpus[i % nr_cpus]
 * @nr_cpus:   at least 1
 * @quick:     a smoke run
 * @ring:      between producer and consumer
 * @bufs:      per thread: nr_live buffers, for KIND_TAKE and KIND_RSS
 */
struct worker {
	const struct bench_case	*c;
	const struct subject	*s;
	size_t			n;
	uint64_t		round_ns;
	int			cpus[WORKER_MAX_CPUS];
	unsigned int		nr_cpus;
	int			quick;
	struct ring		*ring;
	void			***bufs;
};

/**
 * worker_die() - say why on stderr and end the process with status 1
 * @why: the reason
 */
void worker_die(const char *why) __attribute__((noreturn, cold));

/**
 * team_start() - make the threads, pinned, and one that only sleeps
 * @w: complete but for n
 *
 * With one thread that is the calling one; the sleeper keeps libc from leaving out
 * the locks of a process with a single thread.
 */
void team_start(struct worker *w);

/**
 * team_round() - let all threads do their part of a round at the same time
 * @w: team_start() was called
 * Return: ns from the first that began to the last that ended
 */
uint64_t team_round(const struct worker *w);

/**
 * measure_part() - one thread's part of a round
 * @w:     the worker
 * @idx:   of the thread
 * @begin: receives when it began, ns
 * @end:   receives when it ended, ns
 */
void measure_part(const struct worker *w, unsigned int idx, uint64_t *begin, uint64_t *end);

/**
 * measure_rest() - what a thread does outside of the time, when all have ended
 * @w:   the worker
 * @idx: of the thread
 */
void measure_rest(const struct worker *w, unsigned int idx);

/**
 * measure_prepare() - memory for the case; then find n and warm up
 * @w: team_start() was called
 */
void measure_prepare(struct worker *w);

/**
 * measure_round() - one round
 * @w: prepared
 * Return: the result, in the case's unit
 */
double measure_round(const struct worker *w);

#endif /* UPOOL_BENCH_WORKER_H */
