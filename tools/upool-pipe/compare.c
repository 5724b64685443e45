// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * compare.c - the same work by pool and by pipe, in turn.
 * Owns: nothing.  Locks: none.  Entry: compare_run().
 *
 * Both ways run the same reader, workers and writer with the same buffers; only
 * the transport differs.  The pass before has put the files into the page cache,
 * and nothing is written, so that neither pays for what the other got for free.
 */
#include <stdlib.h>
#include "report.h"
#include "summary.h"
#include "transport.h"

#define ROUNDS	3

static int by_value(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(double *values)
{
	qsort(values, ROUNDS, sizeof(*values), by_value);
	return values[ROUNDS / 2];
}

/* Returns false when there is no point in going on; *t says why. */
static bool pass(struct job *job, const struct transport *transport, struct totals *t,
		 double *rate, double *calls)
{
	struct totals now;

	job->transport = transport;
	run_pass(job, &now);
	if (now.status != RUN_OK && now.status != RUN_FILES_FAILED) {
		t->status = now.status;
		t->signal = now.signal;
		return false;
	}
	if (now.checksum != t->checksum) {
		complain("the result by %s differs", transport->name);
		t->status = RUN_BROKEN;
		return false;
	}
	*rate = (double)now.bytes_in / now.seconds;
	*calls = now.nr_chunks ? (double)(now.transport + now.pool) / (double)now.nr_chunks : 0;
	return true;
}

void compare_run(struct job *job, struct totals *t, struct comparison *c)
{
	double pool[ROUNDS], pipe[ROUNDS];
	int i;

	job->out_fd = -1;
	job->quiet = true;
	for (i = 0; i < ROUNDS; i++)
		if (!pass(job, &pipe_transport, t, &pipe[i], &c->pipe_calls) ||
		    !pass(job, &pool_transport, t, &pool[i], &c->pool_calls))
			return;
	c->pool = median(pool);
	c->pipe = median(pipe);
	c->rounds = ROUNDS;
}
