// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * writer.c - writes the outcomes in the order of the units.
 * Owns: struct writer.  Locks: none.  Entry: writer_run().
 *
 * Lines are gathered, and written when there is nothing else to do; frames go
 * from the pool's buffer to the output as they are.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>
#include "report.h"
#include "transport.h"

#define LINES_BYTES	(64 * 1024)

/**
 * struct writer - its state
 * @m:        the process
 * @lines:    stream into @text
 * @text:     lines not yet written
 * @checksum: of everything written, when a comparison wants it
 */
struct writer {
	struct member *m;
	FILE *lines;
	char *text;
	size_t text_bytes;
	XXH3_state_t *checksum;
};

static void write_out(struct writer *w, const char *data, size_t len)
{
	const struct job *job = w->m->job;

	stat_add(&w->m->stats->bytes, len);
	if (w->checksum)
		XXH3_64bits_update(w->checksum, data, len);
	while (len && job->out_fd >= 0) {
		ssize_t n = write(job->out_fd, data, len);

		stat_add(&w->m->stats->file_io, 1);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			die("%s: %s", job->opt->output ? job->opt->output : "standard output",
			    strerror(errno));
		data += n;
		len -= n;
	}
}

static void write_lines(void *arg)
{
	struct writer *w = arg;

	if (fflush(w->lines))
		die("out of memory");
	write_out(w, w->text, w->text_bytes);
	rewind(w->lines);
}

static void print_line(struct writer *w, const struct outcome *o)
{
	const struct job *job = w->m->job;
	const char *name = job->opt->files[o->unit];

	if (o->failed)
		return;
	job->op->print(w->lines, o->digest, is_stdin(name) ? job->op->stdin_name : name);
	if (ftell(w->lines) >= LINES_BYTES)
		write_lines(w);
}

static void close_output(const struct job *job)
{
	/* some file systems say only now that there was no room */
	if (job->out_fd >= 0 && close(job->out_fd))
		die("%s: %s", job->opt->output ? job->opt->output : "standard output",
		    strerror(errno));
}

void writer_run(struct member *m)
{
	const struct job *job = m->job;
	struct writer w = { .m = m };
	struct outcome o;
	uint64_t unit;

	w.lines = open_memstream(&w.text, &w.text_bytes);
	w.checksum = job->opt->compare ? XXH3_createState() : NULL;
	if (!w.lines || (job->opt->compare && !w.checksum))
		die("out of memory");
	if (w.checksum)
		XXH3_64bits_reset(w.checksum);
	for (unit = 0; job->transport->collect(m, unit, &o, write_lines, &w); unit++) {
		if (job->op->frames)
			write_out(&w, o.data, o.len);
		else
			print_line(&w, &o);
		job->transport->done(m, &o);
		stat_add(&m->stats->units, 1);
		stat_add(&m->stats->chunks, 1);
	}
	write_lines(&w);
	close_output(job);
	if (w.checksum)
		atomic_store(&job->shared->checksum, XXH3_64bits_digest(w.checksum));
}
