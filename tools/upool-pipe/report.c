// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * report.c - messages to the user, one write each so that processes do not mix.
 * Owns: whether a progress line is shown.  Locks: none.  Entry: everywhere.
 */
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>
#include "report.h"

static bool over_progress;	/* set before the processes are forked */

static void report(const char *fmt, va_list ap)
{
	char text[4608];	/* PATH_MAX and some words */
	const size_t room = sizeof(text) - 1;
	size_t len;
	int n;

	n = snprintf(text, room, "%supool-pipe: ", over_progress ? "\033[K" : "");
	len = n;
	n = vsnprintf(text + len, room - len, fmt, ap);	/* NOLINT(clang-analyzer-valist.Uninitialized) */
	len += n < 0 ? 0 : (size_t)n;
	if (len > room - 1)
		len = room - 1;
	text[len] = '\n';
	if (write(STDERR_FILENO, text, len + 1) < 0)
		return;		/* nobody left to tell */
}

void report_over_progress(bool on)
{
	over_progress = on;
}

void complain(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	report(fmt, ap);
	va_end(ap);
}

void die(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	report(fmt, ap);
	va_end(ap);
	_exit(1);
}
