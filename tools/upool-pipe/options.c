// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * options.c - reads the command line.
 * Owns: defaults and limits.  Locks: none.  Entry: options_parse().
 */
#include <errno.h>
#include <getopt.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>
#include "files.h"
#include "options.h"
#include "report.h"

#define MIN_BUFFER_BYTES	4096u
#define MAX_BUFFER_BYTES	(1u << 30)
#define MAX_BUFFERS		(1u << 24)

static const struct op *const ops[] = { &op_sha256, &op_xxh3, &op_xxh128, &op_zstd };

enum {
	OPT_BACKING = 256,
	OPT_NAME,
	OPT_PERSIST,
	OPT_FROM,
	OPT_COMPARE,
	OPT_PROGRESS,
	OPT_NO_PROGRESS,
	OPT_SUMMARY,
	OPT_NO_SUMMARY,
};

static const struct option longopts[] = {
	{ "backing", required_argument, NULL, OPT_BACKING },
	{ "buffer-size", required_argument, NULL, 'b' },
	{ "buffers", required_argument, NULL, 'n' },
	{ "compare", required_argument, NULL, OPT_COMPARE },
	{ "files0-from", required_argument, NULL, OPT_FROM },
	{ "help", no_argument, NULL, 'h' },
	{ "json", no_argument, NULL, 'J' },
	{ "level", required_argument, NULL, 'l' },
	{ "name", required_argument, NULL, OPT_NAME },
	{ "no-progress", no_argument, NULL, OPT_NO_PROGRESS },
	{ "no-summary", no_argument, NULL, OPT_NO_SUMMARY },
	{ "output", required_argument, NULL, 'o' },
	{ "persist", no_argument, NULL, OPT_PERSIST },
	{ "progress", no_argument, NULL, OPT_PROGRESS },
	{ "summary", no_argument, NULL, OPT_SUMMARY },
	{ "version", no_argument, NULL, 'V' },
	{ "workers", required_argument, NULL, 'w' },
	{ NULL, 0, NULL, 0 },
};

static void help(void)
{
	fputs("\n"
	      "Usage:\n"
	      " upool-pipe [options] sha256|xxh3|xxh128|zstd [<file>...]\n"
	      "\n"
	      "Digest or compress files with several processes over one pool of buffers,\n"
	      "without copying. Standard input when there is no <file>, or for \"-\".\n"
	      "\n"
	      "Options:\n"
	      " -w, --workers <num>       worker processes (default: CPUs, at least 2)\n"
	      " -b, --buffer-size <size>  bytes of a buffer (default: 64K, zstd 256K)\n"
	      " -n, --buffers <num>       buffers of the pool (default: 256, zstd 64)\n"
	      "     --backing <where>     auto, memfd or device (default: auto)\n"
	      "     --name <name>         name of the pool on the device; joined if it exists\n"
	      "     --persist             leave the named pool behind\n"
	      "     --files0-from <file>  read names that end in NUL from <file>, or from \"-\"\n"
	      " -o, --output <file>       write there instead of standard output\n"
	      " -l, --level <num>         compression level (default: 3)\n"
	      "     --compare pipe        do it again through pipes, show both rates\n"
	      "     --progress            show progress (default: on a terminal)\n"
	      "     --no-progress         do not\n"
	      "     --summary             print a summary to stderr (default: on a terminal)\n"
	      "     --no-summary          do not\n"
	      " -J, --json                the summary in JSON\n"
	      "\n"
	      " -h, --help                display this help\n"
	      " -V, --version             display version\n"
	      "\n"
	      "For more details see upool-pipe(1).\n",
	      stdout);
	exit(fflush(stdout) ? 1 : 0);
}

static void mistake(const char *fmt, const char *what) __attribute__((noreturn));
static void mistake(const char *fmt, const char *what)
{
	fputs("upool-pipe: ", stderr);
	/* every caller passes a literal with one %s */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	fprintf(stderr, fmt, what);
#pragma GCC diagnostic pop
	fputs("\nTry 'upool-pipe --help' for more information.\n", stderr);
	exit(2);
}

/* A number with K, M or G (or KiB, ...), between @min and @max. */
static size_t number(const char *text, size_t min, size_t max, const char *what)
{
	static const char units[] = "KMG";
	unsigned long long n;
	const char *unit;
	char *end;
	int shift = 0;

	errno = 0;
	n = strtoull(text, &end, 10);
	if (end == text || errno || text[0] < '0' || text[0] > '9')
		mistake(what, text);
	unit = *end ? strchr(units, *end) : NULL;
	if (unit) {
		shift = 10 * (int)(unit - units + 1);
		end += strcmp(end + 1, "iB") ? 1 : 3;
	}
	if (*end || n > max >> shift || n << shift < min)
		mistake(what, text);
	return (size_t)n << shift;
}

static unsigned int backing(const char *text)
{
	if (!strcmp(text, "auto"))
		return UPOOL_BACKING_AUTO;
	if (!strcmp(text, "memfd"))
		return UPOOL_BACKING_MEMFD;
	if (!strcmp(text, "device"))
		return UPOOL_BACKING_DEVICE;
	mistake("unknown backing '%s'", text);
}

static unsigned int default_workers(void)
{
	cpu_set_t set;
	int n = sched_getaffinity(0, sizeof(set), &set) ? 2 : CPU_COUNT(&set);

	return n < 2 ? 2 : n > (int)MAX_WORKERS ? MAX_WORKERS : (unsigned int)n;
}

static void parse_one(struct options *opt, int c, const char *arg, const char **from)
{
	switch (c) {
	case 'b':
		opt->buffer_bytes = number(arg, MIN_BUFFER_BYTES, MAX_BUFFER_BYTES,
					   "bad buffer size '%s' (4K to 1G)");
		break;
	case 'n':
		opt->nr_buffers = number(arg, 1, MAX_BUFFERS, "bad number of buffers '%s'");
		break;
	case 'w':
		opt->nr_workers = number(arg, 1, MAX_WORKERS,
					 "bad number of workers '%s' (1 to 256)");
		break;
	case 'l':
		opt->level = (int)number(arg, 1, (size_t)ZSTD_maxCLevel(), "bad level '%s'");
		break;
	case 'o':
		opt->output = arg;
		break;
	case 'J':
		opt->json = opt->summary = true;
		break;
	case OPT_BACKING:
		opt->backing = backing(arg);
		break;
	case OPT_NAME:
		opt->name = arg;
		break;
	case OPT_PERSIST:
		opt->persist = true;
		break;
	case OPT_FROM:
		*from = arg;
		break;
	case OPT_COMPARE:
		if (strcmp(arg, "pipe") != 0)
			mistake("cannot compare with '%s'", arg);
		opt->compare = opt->summary = true;
		break;
	case OPT_PROGRESS:
	case OPT_NO_PROGRESS:
		opt->progress = c == OPT_PROGRESS;
		break;
	case OPT_SUMMARY:
	case OPT_NO_SUMMARY:
		opt->summary = c == OPT_SUMMARY;
		break;
	case 'V':
		puts("upool-pipe from libupool " UPOOL_PIPE_VERSION);
		exit(fflush(stdout) ? 1 : 0);
	case 'h':
		help();
		break;
	default:	/* getopt_long has said what is wrong */
		fputs("Try 'upool-pipe --help' for more information.\n", stderr);
		exit(2);
	}
}

static const struct op *find_op(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(ops) / sizeof(ops[0]); i++)
		if (!strcmp(ops[i]->name, name))
			return ops[i];
	mistake("unknown operation '%s'", name);
}

static void check(const struct options *opt)
{
	size_t i;

	if (opt->op->frames && opt->nr_buffers == 1)
		mistake("%s needs two buffers at least", opt->op->name);
	if (opt->level && !opt->op->frames)
		mistake("%s has no level", opt->op->name);
	if (opt->persist && !opt->name)
		mistake("%s needs a name", "--persist");
	if (opt->name && opt->backing == UPOOL_BACKING_MEMFD)
		mistake("a memfd pool has no name ('%s')", opt->name);
	for (i = 0; opt->compare && i < opt->nr_files; i++)
		if (is_stdin(opt->files[i]))
			mistake("standard input cannot be read twice, for %s", "--compare");
}

int options_parse(struct options *opt, int argc, char **argv)
{
	static char dash[] = "-";
	static char *only_stdin[] = { dash, NULL };
	const bool terminal = isatty(STDERR_FILENO);
	const char *from = NULL;
	int c;

	*opt = (struct options){ .progress = terminal, .summary = terminal };
	while ((c = getopt_long(argc, argv, "w:b:n:o:l:JhV", longopts, NULL)) != -1)
		parse_one(opt, c, optarg, &from);
	if (optind == argc)
		mistake("say what to do: %s", "sha256, xxh3, xxh128 or zstd");
	opt->op = find_op(argv[optind++]);
	opt->files = argv + optind;
	opt->nr_files = (size_t)(argc - optind);
	if (from && opt->nr_files)
		mistake("'%s' is too much: the files are named by --files0-from", argv[optind]);
	if (from && files_from(opt, from))
		return 1;
	if (!from && !opt->nr_files) {
		opt->files = only_stdin;
		opt->nr_files = 1;
	}
	check(opt);
	if (!opt->nr_workers)
		opt->nr_workers = default_workers();
	if (!opt->buffer_bytes)
		opt->buffer_bytes = (opt->op->frames ? 256u : 64u) << 10;
	if (!opt->nr_buffers)
		opt->nr_buffers = opt->op->frames ? 64 : 256;
	if (!opt->level)
		opt->level = 3;
	return 0;
}
