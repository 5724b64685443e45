// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * main.c - the benchmark: libupool and its peers in interleaved rounds.
 * Owns: the run.  Locks: none.  Entry: main().
 */
#include <fnmatch.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "options.h"
#include "results.h"
#include "run.h"

static void list(const struct options *opt)
{
	const struct bench_case *c;
	const struct peer *p;

	printf("Cases:\n");
	for (c = bench_cases; c->name; c++)
		if (!fnmatch(opt->cases, c->name, 0))
			printf(" %-16s %s\n", c->name, c->unit);
	printf("Subjects:\n");
	for (p = bench_peers; p->name; p++)
		if (!fnmatch(opt->subjects, p->name, 0))
			printf(" %-16s %s\n", p->name, p->about);
}

static int complain(const char *dir, int ret)
{
	fprintf(stderr, "upool-bench: cannot write to '%s': %s\n", dir, strerror(-ret));
	return 1;
}

static void warn_of_load(void)
{
	double avg;

	if (getloadavg(&avg, 1) == 1 && avg > 0.5)
		fprintf(stderr, "upool-bench: other work is running (load %.1f): do not trust "
			"the figures\n", avg);
}

/* How many cases match, or -1 after an error; failures are counted. */
static int run_all(const struct options *opt, unsigned int *failures)
{
	static struct row row;
	const struct bench_case *c;
	int nr = 0, ret;

	for (c = bench_cases; c->name; c++) {
		if (fnmatch(opt->cases, c->name, 0))
			continue;
		*failures += run_case(&row, c, opt);
		nr += row.nr > 0;
		ret = opt->json && row.nr ? json_write(&row, opt->json) : 0;
		if (ret) {
			complain(opt->json, ret);
			return -1;
		}
		if (row.nr)
			table_print(&row);
	}
	return nr;
}

int main(int argc, char **argv)
{
	struct options opt;
	unsigned int failures = 0;
	int nr, ret;

	options_parse(&opt, argc, argv);
	if (opt.list) {
		list(&opt);
		return fflush(stdout) ? 1 : 0;
	}
	signal(SIGPIPE, SIG_IGN);
	warn_of_load();
	ret = opt.json ? json_begin(opt.json, &opt) : 0;
	if (ret)
		return complain(opt.json, ret);
	nr = run_all(&opt, &failures);
	ret = opt.json ? json_end() : 0;
	if (ret)
		return complain(opt.json, ret);
	if (!nr)
		fputs("upool-bench: no case or subject has such a name, see --list\n", stderr);
	if (!nr)
		return 2;
	return nr < 0 || failures || fflush(stdout) || ferror(stdout) ? 1 : 0;
}
