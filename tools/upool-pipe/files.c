// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * files.c - the list of input files.
 * Owns: the list; it lives until the process ends.  Locks: none.  Entry: files.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "files.h"
#include "report.h"

static int append(struct options *opt, size_t *room, const char *name)
{
	char **files;

	if (opt->nr_files == *room) {
		*room = *room ? *room * 2 : 1024;
		files = reallocarray(opt->files, *room, sizeof(*files));
		if (!files)
			return -1;
		opt->files = files;
	}
	opt->files[opt->nr_files] = strdup(name);
	return opt->files[opt->nr_files++] ? 0 : -1;
}

int files_from(struct options *opt, const char *from)
{
	FILE *f = is_stdin(from) ? stdin : fopen(from, "re");
	size_t room = 0, bytes = 0;
	char *name = NULL;
	int ret = 0;

	if (!f) {
		complain("%s: %s", from, strerror(errno));
		return -1;
	}
	opt->files = NULL;
	opt->nr_files = 0;
	while (!ret && getdelim(&name, &bytes, '\0', f) > 0) {
		if (!name[0]) {
			complain("%s: a name is empty", from);
			ret = -1;
		} else if (append(opt, &room, name)) {
			complain("out of memory");
			ret = -1;
		}
	}
	if (!ret && ferror(f)) {
		complain("%s: %s", from, strerror(errno));
		ret = -1;
	}
	free(name);
	if (f != stdin)
		fclose(f);
	return ret;
}

const char *files_contain(const struct options *opt, const struct stat *st)
{
	struct stat in;
	size_t i;

	for (i = 0; i < opt->nr_files; i++) {
		int ret = is_stdin(opt->files[i]) ? fstat(0, &in) : stat(opt->files[i], &in);

		if (!ret && in.st_dev == st->st_dev && in.st_ino == st->st_ino)
			return opt->files[i];
	}
	return NULL;
}
