// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * options.c - reads the command line.
 * Owns: defaults and limits.  Locks: none.  Entry: options_parse().
 */
#include <errno.h>
#include <getopt.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "options.h"

#ifndef UPOOL_BENCH_VERSION
#define UPOOL_BENCH_VERSION "unknown"
#endif

#define MAX_ROUNDS	999ul
#define DEFAULT_ROUNDS	15u
#define QUICK_ROUNDS	3u
#define DEFAULT_MS	20u
#define QUICK_MS	1u

static const struct option longopts[] = {
	{ "case", required_argument, NULL, 'c' },
	{ "cpus", required_argument, NULL, 'C' },
	{ "help", no_argument, NULL, 'h' },
	{ "json", required_argument, NULL, 'j' },
	{ "list", no_argument, NULL, 'l' },
	{ "quick", no_argument, NULL, 'q' },
	{ "rounds", required_argument, NULL, 'r' },
	{ "subject", required_argument, NULL, 's' },
	{ "version", no_argument, NULL, 'V' },
	{ NULL, 0, NULL, 0 },
};

static void help(void) __attribute__((noreturn));
static void help(void)
{
	fputs("\n"
	      "Usage:\n"
	      " upool-bench [options]\n"
	      "\n"
	      "Compare libupool with other allocators and pools, in interleaved rounds.\n"
	      "\n"
	      "Options:\n"
	      " -c, --case <glob>     only these cases\n"
	      " -s, --subject <glob>  only these subjects\n"
	      " -r, --rounds <num>    rounds of each row (default: 15)\n"
	      "     --cpus <n,...>    CPUs to run on (default: those that are allowed)\n"
	      " -j, --json <dir>      write the results there, a file per case\n"
	      " -q, --quick           a smoke run: few, short rounds\n"
	      " -l, --list            list cases and subjects\n"
	      "\n"
	      " -h, --help            display this help\n"
	      " -V, --version         display version\n"
	      "\n"
	      "For more details see upool-bench(1).\n",
	      stdout);
	exit(fflush(stdout) ? 1 : 0);
}

static void mistake(const char *what, const char *text) __attribute__((noreturn));
static void mistake(const char *what, const char *text)
{
	fprintf(stderr, "upool-bench: %s '%s'\nTry 'upool-bench --help' for more information.\n",
		what, text);
	exit(2);
}

static unsigned int rounds(const char *text)
{
	unsigned long n;
	char *end;

	errno = 0;
	n = strtoul(text, &end, 10);
	if (errno || end == text || *end || text[0] == '-' || n < 1 || n > MAX_ROUNDS)
		mistake("bad number of rounds", text);
	return (unsigned int)n;
}

/* "0,1,5": each a CPU that this process may use. */
static void check_cpus(const char *text)
{
	const char *p = text;
	cpu_set_t set;
	char *end;

	if (sched_getaffinity(0, sizeof(set), &set))
		CPU_ZERO(&set);
	for (;;) {
		const unsigned long cpu = strtoul(p, &end, 10);

		if (end == p || (*end && *end != ',') || cpu >= CPU_SETSIZE ||
		    !CPU_ISSET(cpu, &set))
			mistake("not CPUs that can be used:", text);
		if (!*end)
			return;
		p = end + 1;
	}
}

static const char *allowed_cpus(void)
{
	static char text[1024];
	size_t len = 0;
	cpu_set_t set;
	int cpu, nr = 0;

	if (sched_getaffinity(0, sizeof(set), &set))
		return "0";
	for (cpu = 0; cpu < CPU_SETSIZE && nr < 64; cpu++)
		if (CPU_ISSET(cpu, &set))
			len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%d",
						nr++ ? "," : "", cpu);
	return text;
}

void options_parse(struct options *opt, int argc, char **argv)
{
	int c;

	*opt = (struct options){ .cases = "*", .subjects = "*" };
	while ((c = getopt_long(argc, argv, "c:s:r:j:qlhV", longopts, NULL)) != -1) {
		switch (c) {
		case 'c':
			opt->cases = optarg;
			break;
		case 's':
			opt->subjects = optarg;
			break;
		case 'r':
			opt->rounds = rounds(optarg);
			break;
		case 'C':
			check_cpus(optarg);
			opt->cpus = optarg;
			break;
		case 'j':
			opt->json = optarg;
			break;
		case 'q':
			opt->quick = true;
			break;
		case 'l':
			opt->list = true;
			break;
		case 'V':
			puts("upool-bench from libupool " UPOOL_BENCH_VERSION);
			exit(fflush(stdout) ? 1 : 0);
		case 'h':
			help();
		default:	/* getopt_long has said what is wrong */
			fputs("Try 'upool-bench --help' for more information.\n", stderr);
			exit(2);
		}
	}
	if (optind < argc)
		mistake("not an option:", argv[optind]);
	if (!opt->cpus)
		opt->cpus = allowed_cpus();
	if (!opt->rounds)
		opt->rounds = opt->quick ? QUICK_ROUNDS : DEFAULT_ROUNDS;
	opt->round_ms = opt->quick ? QUICK_MS : DEFAULT_MS;
}
