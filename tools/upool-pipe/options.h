/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * options.h - reads the command line.
 * Owns: nothing.  Locks: none.  Entry: main.c.
 */
#ifndef UPOOL_PIPE_OPTIONS_H
#define UPOOL_PIPE_OPTIONS_H

#include "job.h"

/**
 * options_parse() - read the command line
 * @opt:  receives it
 * @argc: of main()
 * @argv: of main(); part of it is kept
 *
 * Ends the process after -h, -V, and with status 2 on a mistake.
 * Return: 0, or 1 when the list of files cannot be read
 */
int options_parse(struct options *opt, int argc, char **argv);

#endif /* UPOOL_PIPE_OPTIONS_H */
