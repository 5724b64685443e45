/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * report.h - messages to the user, one write each so that processes do not mix.
 * Owns: nothing.  Locks: none.  Entry: everywhere.
 */
#ifndef UPOOL_PIPE_REPORT_H
#define UPOOL_PIPE_REPORT_H

#include <stdbool.h>

/**
 * complain() - print "upool-pipe: message" to standard error
 * @fmt: as for printf
 */
void complain(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/**
 * die() - complain and end this process with status 1
 * @fmt: as for printf
 *
 * Buffered output is not flushed: a child must not write its parent's.
 */
void die(const char *fmt, ...) __attribute__((format(printf, 1, 2), noreturn));

/**
 * report_over_progress() - messages come while a progress line is shown
 * @on: erase the rest of the line that a message overwrites
 */
void report_over_progress(bool on);

#endif /* UPOOL_PIPE_REPORT_H */
