// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * main.c - measures one case of one subject, a round whenever it is asked to.
 * Owns: the protocol with the driver.  Locks: none.  Entry: main().
 *
 * Writes "ready <what>" once warm, or "skip <reason>"; then, for each line that it
 * reads, the result of one round.  Ends at the end of its input.
 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <signal.h>
#include <unistd.h>
#include "worker.h"

void worker_die(const char *why)
{
	dprintf(STDERR_FILENO, "%s: %s\n", program_invocation_short_name, why);
	_exit(1);
}

/* Of at most a line; stdio would allocate. */
static void say(const char *word, const char *text)
{
	if (dprintf(STDOUT_FILENO, "%s %s\n", word, text) < 0)
		_exit(1);
}

static void usage(void) __attribute__((noreturn));
static void usage(void)
{
	const struct subject *const *s;

	fprintf(stderr, "Usage: %s --case <name> --subject <name> [--cpus <n,...>] "
		"[--round-ms <n>] [--quick]\nSubjects:", program_invocation_short_name);
	for (s = bench_subjects; *s; s++)
		fprintf(stderr, " %s", (*s)->name);
	fputc('\n', stderr);
	exit(2);
}

static const struct subject *subject_find(const char *name)
{
	const struct subject *const *s;

	for (s = bench_subjects; *s; s++)
		if (!strcmp((*s)->name, name))
			return *s;
	return NULL;
}

static void parse_cpus(struct worker *w, const char *text)
{
	char *end;

	w->nr_cpus = 0;
	do {
		if (w->nr_cpus == WORKER_MAX_CPUS)
			usage();
		w->cpus[w->nr_cpus++] = (int)strtol(text, &end, 10);
		if (end == text || (*end && *end != ','))
			usage();
		text = end + 1;
	} while (*end);
}

static void parse(struct worker *w, int argc, char **argv)
{
	static const struct option longopts[] = {
		{ "case", required_argument, NULL, 'c' },
		{ "cpus", required_argument, NULL, 'u' },
		{ "quick", no_argument, NULL, 'q' },
		{ "round-ms", required_argument, NULL, 'r' },
		{ "subject", required_argument, NULL, 's' },
		{ NULL, 0, NULL, 0 },
	};
	int c;

	w->nr_cpus = 1;
	w->round_ns = 20000000;
	while ((c = getopt_long(argc, argv, "", longopts, NULL)) != -1) {
		switch (c) {
		case 'c':
			w->c = case_find(optarg);
			break;
		case 's':
			w->s = subject_find(optarg);
			break;
		case 'u':
			parse_cpus(w, optarg);
			break;
		case 'r':
			w->round_ns = strtoull(optarg, NULL, 10) * 1000000;
			break;
		case 'q':
			w->quick = 1;
			break;
		default:
			usage();
		}
	}
	if (!w->c || !w->s || optind != argc)
		usage();
}

static void serve(const struct worker *w)
{
	char number[64];
	char c;

	while (read(STDIN_FILENO, &c, 1) == 1) {
		if (c != '\n')
			continue;
		snprintf(number, sizeof(number), "%.6g", measure_round(w));
		say("result", number);
	}
}

int main(int argc, char **argv)
{
	static struct worker w;
	struct shape shape;
	const char *skip;
	size_t count;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	parse(&w, argc, argv);
	count = case_count(w.c, w.quick);
	shape = (struct shape){
		.bytes = w.c->bytes,
		.nr_threads = w.c->nr_threads,
		.nr_live = count && count < w.c->nr_live ? (unsigned int)count : w.c->nr_live,
	};
	skip = w.s->init ? w.s->init(&shape) : NULL;
	if (skip) {
		say("skip", skip);
		return 0;
	}
	team_start(&w);
	measure_prepare(&w);
	say("ready", w.s->about ? w.s->about() : "");
	serve(&w);
	return 0;
}
