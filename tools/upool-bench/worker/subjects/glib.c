// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * glib.c - GLib's slices; from GLib 2.76 on they are malloc.
 * Owns: nothing.  Locks: GLib's own.  Entry: worker/main.c.
 */
#include "../subject.h"

#if __has_include(<glib.h>)
#include <glib.h>

static inline void *slice_alloc(size_t bytes)
{
	return g_slice_alloc(bytes);
}

static inline void slice_free(void *buf, size_t bytes)
{
	g_slice_free1(bytes, buf);
}

#define SUBJECT slice
#include "../loops.h"

static const char *slice_init(const struct shape *shape)
{
	(void)shape;
	return glib_check_version(2, 76, 0) ? NULL : "GLib has no slice allocator any more";
}

#define SLICE_LOOPS	(&slice_loops)
#else
#define SLICE_LOOPS	NULL

static const char *slice_init(const struct shape *shape)
{
	(void)shape;
	return "built without libglib2.0-dev";
}
#endif

static const struct subject subject_slice = {
	.name = "gslice",
	.init = slice_init,
	.loops = SLICE_LOOPS,
};

const struct subject *const bench_subjects[] = { &subject_slice, NULL };
