// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * progress.c - a line on the terminal while the work goes on.
 * Owns: nothing.  Locks: none.  Entry: run.c.
 *
 * The cursor is left at the start of the line: a message overwrites it.
 */
#include "progress.h"
#include "transport.h"

void progress_show(const struct job *job)
{
	const struct shared *s = job->shared;

	fprintf(stderr, "%s by %s: %.1f MB in, %.1f MB out, %llu of %zu files\033[K\r",
		job->op->name, job->transport->name, (double)stat_read(&s->reader.bytes) / 1e6,
		(double)stat_read(&s->writer.bytes) / 1e6,
		(unsigned long long)stat_read(&s->reader.units), job->opt->nr_files);
	fflush(stderr);
}

void progress_clear(void)
{
	fputs("\033[K", stderr);
	fflush(stderr);
}
