// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * malloc.c - malloc, whichever is loaded: libc's, or a preloaded one.
 * Owns: nothing.  Locks: none.  Entry: worker/main.c.
 */
#include <dlfcn.h>
#include <stdlib.h>
#include "../subject.h"

static inline void *malloc_alloc(size_t bytes)
{
	return malloc(bytes);
}

static inline void malloc_free(void *buf, size_t bytes)
{
	(void)bytes;
	free(buf);
}

#define SUBJECT malloc
#include "../loops.h"

/* The driver compares this with what it wanted to be loaded. */
static const char *malloc_about(void)
{
	Dl_info info;

	if (!dladdr(dlsym(RTLD_DEFAULT, "malloc"), &info) || !info.dli_fname)
		return "unknown";
	return info.dli_fname;
}

static const struct subject subject_malloc = {
	.name = "malloc",
	.about = malloc_about,
	.loops = &malloc_loops,
};

const struct subject *const bench_subjects[] = { &subject_malloc, NULL };
