// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * run.c - measures a row: one round of each subject after the other, again and again.
 * Owns: the workers of a row.  Locks: none.  Entry: run_case().
 *
 * All workers of a row are alive and warm at the same time, one of them runs.  What
 * disturbs the machine for a while disturbs a round of every subject.
 */
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "ping.h"
#include "proc.h"
#include "run.h"

#define LAYOUTS		3u
#define MAX_BATCH	8u
#define MAX_RSS_ROUNDS	9u

static struct proc procs[MAX_PEERS][LAYOUTS];

static void progress(const struct row *row, const char *what, unsigned int done, unsigned int all)
{
	static const char clear[] = "\033[K";

	if (isatty(STDERR_FILENO))
		fprintf(stderr, "\r%s: %s %u/%u%s%s", row->c->name, what, done, all, clear,
			done == all ? "\r\033[K" : "");
	else if (done == all)
		fprintf(stderr, "%s: %s %u\n", row->c->name, what, all);
}

static void drop(struct result *r, struct proc *p, enum proc_state state, unsigned int *failures)
{
	snprintf(r->skip, sizeof(r->skip), "%s%s", state == PROC_FAILED ? "failed: " : "", p->text);
	if (state == PROC_FAILED) {
		fprintf(stderr, "upool-bench: %s: %s\n", r->peer->name, p->text);
		++*failures;
	}
	r->s.nr = 0;
}

static void start_all(struct row *row, unsigned int layouts, const struct options *opt,
		      unsigned int *failures)
{
	unsigned int i, l;

	for (i = 0; i < row->nr; i++) {
		struct result *r = &row->result[i];

		for (l = 0; l < layouts && !*r->skip; l++) {
			struct proc *p = &procs[i][l];
			const enum proc_state state = proc_start(p, r->peer, row->c, l, opt);

			if (state != PROC_READY)
				drop(r, p, state, failures);
			else
				snprintf(r->about, sizeof(r->about), "%s", p->text);
		}
		progress(row, "warm", i + 1, row->nr);
	}
}

static void one_value(struct result *r, struct proc *p, unsigned int *failures)
{
	double value;
	const enum proc_state state = proc_answer(p, &value);

	if (state == PROC_READY)
		series_add(&r->s, value);
	else
		drop(r, p, state, failures);
}

/* Every round begins with another subject, so that none always follows the same. */
static void interleaved(struct row *row, const struct options *opt, unsigned int *failures)
{
	const unsigned int layouts = row->c->layouts ? LAYOUTS : 1;
	const int two_cores = row->c->nr_threads > 1;
	unsigned int round, i, l;

	start_all(row, layouts, opt, failures);
	for (round = 0; round < opt->rounds; round++) {
		if (two_cores)
			series_add(&row->ping, ping_ns(opt->cpus));
		for (i = 0; i < row->nr; i++) {
			const unsigned int who = (i + round) % row->nr;

			if (*row->result[who].skip)
				continue;
			proc_ask(&procs[who][round % layouts]);
			one_value(&row->result[who], &procs[who][round % layouts], failures);
		}
		progress(row, "rounds", round + 1, opt->rounds);
	}
	if (two_cores)
		series_add(&row->ping, ping_ns(opt->cpus));
	for (i = 0; i < row->nr; i++)
		for (l = 0; l < layouts; l++)
			proc_stop(&procs[i][l]);
}

/* As many workers as have a GiB each. */
static unsigned int batch_size(void)
{
	const long pages = sysconf(_SC_AVPHYS_PAGES), bytes = sysconf(_SC_PAGESIZE);
	const unsigned long gib = (unsigned long)(pages * (double)bytes) >> 30;

	return gib < 1 ? 1 : gib > MAX_BATCH ? MAX_BATCH : (unsigned int)gib;
}

/* Most of a round is waiting: several do it together, each process once. */
static void retained(struct row *row, const struct options *opt, unsigned int *failures)
{
	const unsigned int rounds = opt->rounds < MAX_RSS_ROUNDS ? opt->rounds : MAX_RSS_ROUNDS;
	const unsigned int batch = batch_size();
	unsigned int round, first, i;

	for (round = 0; round < rounds; round++) {
		for (first = 0; first < row->nr; first += batch) {
			const unsigned int end = first + batch < row->nr ? first + batch : row->nr;

			for (i = first; i < end; i++) {
				struct result *r = &row->result[i];
				enum proc_state state;

				if (*r->skip)
					continue;
				state = proc_start(&procs[i][0], r->peer, row->c, 0, opt);
				if (state == PROC_READY)
					proc_ask(&procs[i][0]);
				else
					drop(r, &procs[i][0], state, failures);
			}
			for (i = first; i < end; i++) {
				if (!*row->result[i].skip)
					one_value(&row->result[i], &procs[i][0], failures);
				proc_stop(&procs[i][0]);
			}
		}
		progress(row, "rounds", round + 1, rounds);
	}
}

unsigned int run_case(struct row *row, const struct bench_case *c, const struct options *opt)
{
	const struct peer *peer;
	unsigned int i, failures = 0;

	memset(row, 0, sizeof(*row));
	row->c = c;
	for (peer = bench_peers; peer->name; peer++)
		if (peer->kinds & KIND_BIT(c->kind) && !fnmatch(opt->subjects, peer->name, 0))
			row->result[row->nr++].peer = peer;
	if (c->kind == KIND_RSS)
		retained(row, opt, &failures);
	else
		interleaved(row, opt, &failures);
	for (i = 0; i < row->nr; i++)
		series_sum_up(&row->result[i].s);
	series_sum_up(&row->ping);
	return failures;
}
