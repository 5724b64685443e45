/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * options.h - reads the command line.
 * Owns: struct options.  Locks: none.  Entry: main.c.
 */
#ifndef UPOOL_BENCH_OPTIONS_H
#define UPOOL_BENCH_OPTIONS_H

#include <stdbool.h>

/**
 * struct options - what to measure and how
 * @cases:    pattern of case names
 * @subjects: pattern of subject names
 * @json:     folder for the results, NULL = none
 * @cpus:     CPUs to use, separated by commas
 * @rounds:   of each row
 * @round_ms: how long a round takes where the case has no fixed count
 * @quick:    a smoke run: the figures mean nothing
 * @list:     print what there is, measure nothing
 */
struct options {
	const char	*cases;
	const char	*subjects;
	const char	*json;
	const char	*cpus;
	unsigned int	rounds;
	unsigned int	round_ms;
	bool		quick;
	bool		list;
};

/**
 * options_parse() - read the command line
 * @opt:  receives it
 * @argc: of main()
 * @argv: of main(); part of it is kept
 *
 * Ends the process after -h, -V, and with status 2 on a mistake.
 */
void options_parse(struct options *opt, int argc, char **argv);

#endif /* UPOOL_BENCH_OPTIONS_H */
