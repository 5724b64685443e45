/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * run.h - measures a row.
 * Owns: nothing.  Locks: none.  Entry: main.c.
 */
#ifndef UPOOL_BENCH_RUN_H
#define UPOOL_BENCH_RUN_H

#include "results.h"

/**
 * run_case() - measure a case with all subjects that it has, round by round
 * @row: receives the results
 * @c:   the case
 * @opt: the options
 *
 * Return: how many subjects failed; skips are none
 */
unsigned int run_case(struct row *row, const struct bench_case *c, const struct options *opt);

#endif /* UPOOL_BENCH_RUN_H */
