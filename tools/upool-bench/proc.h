/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * proc.h - a worker process: started, asked for rounds, ended.
 * Owns: struct proc.  Locks: none.  Entry: run.c.
 */
#ifndef UPOOL_BENCH_PROC_H
#define UPOOL_BENCH_PROC_H

#include <stdio.h>
#include <sys/types.h>
#include "cases.h"
#include "options.h"
#include "subjects.h"

/**
 * struct proc - a worker process
 * @pid: 0 = none
 * @to:  it reads
 * @from: it writes
 * @text: what it said last, without the first word
 */
struct proc {
	pid_t	pid;
	int	to;
	int	from;
	char	text[256];
};

enum proc_state {
	PROC_READY,
	PROC_SKIPPED,	/* text says why */
	PROC_FAILED,	/* text says how; it is gone */
};

/**
 * proc_start() - start a worker and wait until it is warm
 * @p:      receives it
 * @peer:   what it measures
 * @c:      the case
 * @layout: number of the layout
 * @opt:    the options
 * Return: how it went; without PROC_READY there is nothing to stop
 */
enum proc_state proc_start(struct proc *p, const struct peer *peer, const struct bench_case *c,
			   unsigned int layout, const struct options *opt);

/**
 * proc_ask() - have it begin a round
 * @p: ready, not asked
 */
void proc_ask(struct proc *p);

/**
 * proc_answer() - wait for the end of the round
 * @p:     was asked
 * @value: receives the result
 * Return: PROC_READY or PROC_FAILED
 */
enum proc_state proc_answer(struct proc *p, double *value);

/**
 * proc_stop() - end it
 * @p: a process, or one that has ended or never was
 */
void proc_stop(struct proc *p);

#endif /* UPOOL_BENCH_PROC_H */
