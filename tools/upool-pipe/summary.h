/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * summary.h - says what a pass did, to people and to programs.
 * Owns: struct comparison.  Locks: none.  Entry: main.c.
 */
#ifndef UPOOL_PIPE_SUMMARY_H
#define UPOOL_PIPE_SUMMARY_H

#include "run.h"

/**
 * struct comparison - medians of several passes each way
 * @pool, @pipe: bytes per second
 * @pool_calls, @pipe_calls: transport and pool system calls per buffer
 * @rounds: passes each way; 0 = there is no comparison
 */
struct comparison {
	double pool, pipe;
	double pool_calls, pipe_calls;
	unsigned int rounds;
};

/**
 * summary_print() - print to standard error
 * @job: the pass
 * @t:   what it did
 * @c:   the comparison
 */
void summary_print(const struct job *job, const struct totals *t, const struct comparison *c);

/**
 * compare_run() - do the work by pool and by pipe in turn, results discarded
 * @job: as for the pass before
 * @t:   what that did; its status becomes RUN_BROKEN when results differ
 * @c:   receives the rates
 */
void compare_run(struct job *job, struct totals *t, struct comparison *c);

#endif /* UPOOL_PIPE_SUMMARY_H */
