/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * run.h - one pass: forks the processes, watches them, adds up what they did.
 * Owns: struct totals.  Locks: none.  Entry: main.c, compare.c.
 */
#ifndef UPOOL_PIPE_RUN_H
#define UPOOL_PIPE_RUN_H

#include "shared.h"

/* How a pass ended. */
enum run_status {
	RUN_OK,
	RUN_FILES_FAILED,	/* some file could not be read; the others are done */
	RUN_BROKEN,		/* a process failed or died; the output is not complete */
	RUN_INTERRUPTED,	/* a signal, in totals.signal */
};

/**
 * struct totals - what a pass did
 * @status:     how it ended
 * @signal:     with RUN_INTERRUPTED
 * @seconds:    from the first fork to the last exit
 * @bytes_in:   read
 * @bytes_out:  written
 * @nr_files:   read to the end
 * @nr_chunks:  buffers filled
 * @allocs:     buffers allocated
 * @transport, @file_io, @pool: system calls
 * @checksum:   of what was written, if a comparison was asked for
 * @share:      bytes per worker
 * @before, @after: statistics of the pool
 */
struct totals {
	enum run_status status;
	int signal;
	double seconds;
	uint64_t bytes_in, bytes_out;
	uint64_t nr_files, nr_chunks, allocs;
	uint64_t transport, file_io, pool;
	uint64_t checksum;
	uint64_t share[MAX_WORKERS];
	struct upool_stats before, after;
};

/**
 * run_pass() - do the work once
 * @job: complete but for @shared
 * @t:   receives what was done
 *
 * Context: SIGINT, SIGTERM, SIGHUP and SIGCHLD are blocked, and stay so.
 * No process is left when it returns.
 */
void run_pass(struct job *job, struct totals *t);

#endif /* UPOOL_PIPE_RUN_H */
