/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * results.h - what was measured, and what is made of it: files and a table.
 * Owns: struct result, struct row.  Locks: none.  Entry: run.c, main.c.
 */
#ifndef UPOOL_BENCH_RESULTS_H
#define UPOOL_BENCH_RESULTS_H

#include "cases.h"
#include "options.h"
#include "subjects.h"

#define MAX_ROUNDS_ROW	1000u

/**
 * struct series - values of one thing
 * @nr:     how many
 * @value:  in the order of rounds
 * @median: of them, after series_sum_up()
 * @min:    of them
 * @max:    of them
 */
struct series {
	unsigned int	nr;
	double		value[MAX_ROUNDS_ROW];
	double		median;
	double		min;
	double		max;
};

/**
 * struct result - a subject's place in a row
 * @peer:  the subject
 * @s:     a value per round
 * @skip:  why there is none, "" = there is
 * @about: what the worker said of itself
 */
struct result {
	const struct peer	*peer;
	struct series		s;
	char			skip[288];
	char			about[256];
};

/**
 * struct row - a case and its subjects
 * @c:      the case
 * @nr:     how many subjects
 * @result: of each
 * @ping:   ns from one core to the other and back, halved, before each round and after
 *          the last; only with two threads
 */
struct row {
	const struct bench_case	*c;
	unsigned int		nr;
	struct result		result[MAX_PEERS];
	struct series		ping;
};

/**
 * series_add() - one value more
 * @s:     not full
 * @value: the value
 */
void series_add(struct series *s, double value);

/**
 * series_sum_up() - fill median, min and max
 * @s: with one value at least
 */
void series_sum_up(struct series *s);

/**
 * table_print() - a row on stdout, sorted, with ratios to the best packaged peers
 * @row: summed up; its results are sorted
 */
void table_print(struct row *row);

/**
 * json_write() - <dir>/<case>.json, and the single rounds as <dir>/raw/<case>.tsv
 * @row: summed up
 * @dir: an existing folder
 * Return: 0 or -errno
 */
int json_write(const struct row *row, const char *dir);

/**
 * json_begin() - make the folders and begin <dir>/raw/meta.json
 * @dir: folder, made if it is not there
 * @opt: the options
 * Return: 0 or -errno
 */
int json_begin(const char *dir, const struct options *opt);

/**
 * json_end() - end <dir>/raw/meta.json
 * Return: 0 or -errno
 */
int json_end(void);

#endif /* UPOOL_BENCH_RESULTS_H */
