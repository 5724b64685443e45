/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * progress.h - a line on the terminal while the work goes on.
 * Owns: nothing.  Locks: none.  Entry: run.c.
 */
#ifndef UPOOL_PIPE_PROGRESS_H
#define UPOOL_PIPE_PROGRESS_H

#include "job.h"

#define PROGRESS_MS	200

/**
 * progress_show() - print how far a pass has come, over the last line
 * @job: a pass that runs
 */
void progress_show(const struct job *job);

/**
 * progress_clear() - erase the line
 */
void progress_clear(void);

#endif /* UPOOL_PIPE_PROGRESS_H */
