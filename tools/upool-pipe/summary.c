// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * summary.c - says what a pass did, to people and to programs.
 * Owns: nothing.  Locks: none.  Entry: summary_print().
 */
#include "summary.h"

/**
 * struct layers - allocations by the layer that served them
 * @magazine: this CPU's magazine
 * @depot:    a refill, or a single buffer, from the depot
 * @stolen:   the same, after asking other CPUs' magazines
 */
struct layers {
	uint64_t magazine, depot, stolen;
};

static uint64_t delta(uint64_t before, uint64_t after)
{
	return after > before ? after - before : 0;
}

#define DELTA(t, name)	delta((t)->before.name, (t)->after.name)

/*
 * The pool counts refills, not who caused them: with other programs in it the
 * layers are theirs, too.
 */
static struct layers layers_of(const struct totals *t)
{
	struct layers l = {
		.depot = DELTA(t, refills) + DELTA(t, pops),
		.stolen = DELTA(t, steals),
	};

	if (l.depot > t->allocs)
		l.depot = t->allocs;
	l.magazine = t->allocs - l.depot;
	if (l.stolen > l.depot)
		l.stolen = l.depot;
	l.depot -= l.stolen;
	return l;
}

static double per(uint64_t n, uint64_t of)
{
	return of ? (double)n / (double)of : 0;
}

static double percent(uint64_t n, uint64_t of)
{
	return 100 * per(n, of);
}

static double rate(const struct totals *t)
{
	return t->seconds > 0 ? (double)t->bytes_in / t->seconds : 0;
}

static void print_text(const struct job *job, const struct totals *t,
		       const struct comparison *c)
{
	const struct layers l = layers_of(t);
	unsigned int i;

	fprintf(stderr, "%s: %llu files, %.1f MB in, %.1f MB out, %.2f s, %.1f MB/s\n",
		job->op->name, (unsigned long long)t->nr_files, (double)t->bytes_in / 1e6,
		(double)t->bytes_out / 1e6, t->seconds, rate(t) / 1e6);
	fprintf(stderr, "pool:     %s; %llu buffers of %llu bytes, %llu held\n",
		upool_mode(job->pool), (unsigned long long)t->after.nr_buffers,
		(unsigned long long)t->after.buffer_bytes, (unsigned long long)t->after.held);
	fprintf(stderr,
		"buffers:  %llu filled; %llu allocated: CPU magazine %.1f %%, depot refill %.1f %%, "
		"stolen %.1f %%\n",
		(unsigned long long)t->nr_chunks, (unsigned long long)t->allocs,
		percent(l.magazine, t->allocs), percent(l.depot, t->allocs),
		percent(l.stolen, t->allocs));
	fprintf(stderr, "syscalls: transport %.3f, pool %.3f, file I/O %.3f a buffer\n",
		per(t->transport, t->nr_chunks), per(t->pool, t->nr_chunks),
		per(t->file_io, t->nr_chunks));
	fprintf(stderr, "workers: ");
	for (i = 0; i < job->nr_workers; i++)
		fprintf(stderr, " %.1f %%", percent(t->share[i], t->bytes_in));
	fputc('\n', stderr);
	if (c->rounds)
		fprintf(stderr,
			"compare:  pool %.1f MB/s, %.3f syscalls a buffer; pipe %.1f MB/s, %.3f; "
			"ratio %.2f (medians of %u)\n",
			c->pool / 1e6, c->pool_calls, c->pipe / 1e6, c->pipe_calls,
			c->pool / c->pipe, c->rounds);
}

/* The mode is text of ours; escaped all the same. */
static void json_string(const char *key, const char *value)
{
	fprintf(stderr, "   \"%s\": \"", key);
	for (; *value; value++)
		if (*value == '"' || *value == '\\')
			fprintf(stderr, "\\%c", *value);
		else if ((unsigned char)*value >= ' ')
			fputc(*value, stderr);
	fputs("\",\n", stderr);
}

static void json_integer(const char *key, uint64_t value)
{
	fprintf(stderr, "   \"%s\": %llu,\n", key, (unsigned long long)value);
}

static void print_json(const struct job *job, const struct totals *t,
		       const struct comparison *c)
{
	const struct layers l = layers_of(t);
	unsigned int i;

	fputs("{\n", stderr);
	json_string("operation", job->op->name);
	json_string("mode", upool_mode(job->pool));
	json_integer("files", t->nr_files);
	json_integer("bytes_in", t->bytes_in);
	json_integer("bytes_out", t->bytes_out);
	fprintf(stderr, "   \"seconds\": %.6f,\n", t->seconds);
	fprintf(stderr, "   \"bytes_per_second\": %.0f,\n", rate(t));
	json_integer("pool_buffers", t->after.nr_buffers);
	json_integer("buffer_bytes", t->after.buffer_bytes);
	json_integer("buffers_held", t->after.held);
	json_integer("buffers_filled", t->nr_chunks);
	json_integer("allocations", t->allocs);
	json_integer("allocations_magazine", l.magazine);
	json_integer("allocations_depot", l.depot);
	json_integer("allocations_stolen", l.stolen);
	json_integer("syscalls_transport", t->transport);
	json_integer("syscalls_pool", t->pool);
	json_integer("syscalls_file_io", t->file_io);
	if (c->rounds) {
		json_integer("compare_rounds", c->rounds);
		fprintf(stderr, "   \"compare_pool_bytes_per_second\": %.0f,\n", c->pool);
		fprintf(stderr, "   \"compare_pipe_bytes_per_second\": %.0f,\n", c->pipe);
		fprintf(stderr, "   \"compare_pool_syscalls_per_buffer\": %.6f,\n", c->pool_calls);
		fprintf(stderr, "   \"compare_pipe_syscalls_per_buffer\": %.6f,\n", c->pipe_calls);
	}
	fputs("   \"worker_bytes\": [", stderr);
	for (i = 0; i < job->nr_workers; i++)
		fprintf(stderr, "%s%llu", i ? ", " : "", (unsigned long long)t->share[i]);
	fputs("]\n}\n", stderr);
}

void summary_print(const struct job *job, const struct totals *t, const struct comparison *c)
{
	if (job->opt->json)
		print_json(job, t, c);
	else
		print_text(job, t, c);
}
