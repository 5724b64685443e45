/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * files.h - the list of input files.
 * Owns: nothing.  Locks: none.  Entry: options.c, main.c.
 */
#ifndef UPOOL_PIPE_FILES_H
#define UPOOL_PIPE_FILES_H

#include <sys/stat.h>
#include "job.h"

/**
 * files_from() - read names that end in NUL
 * @opt:  its list is set
 * @from: a file, or "-" for standard input
 * Return: 0, or -1 after a message
 */
int files_from(struct options *opt, const char *from);

/**
 * files_contain() - is a file among the inputs?
 * @opt: the list
 * @st:  the file
 * Return: its name in the list, or NULL
 */
const char *files_contain(const struct options *opt, const struct stat *st);

#endif /* UPOOL_PIPE_FILES_H */
