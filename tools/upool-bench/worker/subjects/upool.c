// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * upool.c - the process's private pool: by calls into the library, and inline.
 * Owns: nothing.  Locks: the library's.  Entry: worker/main.c.
 */
#include "../subject.h"

#if __has_include(<upool_inline.h>)
#include <upool.h>
#include <upool_inline.h>
#include "../worker.h"

static struct upool *pool;	/* [const] after init */

static const char *upool_init(const struct shape *shape)
{
	(void)shape;
	pool = upool_shared();
	return pool ? NULL : "there is no memory for a pool";
}

static const char *upool_about(void)
{
	return upool_mode(pool);
}

static inline void *called_alloc(size_t bytes)
{
	return upool_alloc(pool, bytes);
}

static inline void called_free(void *buf, size_t bytes)
{
	(void)bytes;
	if (__builtin_expect(upool_free(pool, buf), 0))
		worker_die("a free was refused");
}

#define SUBJECT called
#include "../loops.h"

static inline void *inlined_alloc(size_t bytes)
{
	return upool_alloc_inline(pool, bytes);
}

static inline void inlined_free(void *buf, size_t bytes)
{
	(void)bytes;
	if (__builtin_expect(upool_free_inline(pool, buf), 0))
		worker_die("a free was refused");
}

#define SUBJECT inlined
#include "../loops.h"

#define CALLED_LOOPS	(&called_loops)
#define INLINED_LOOPS	(&inlined_loops)
#define UPOOL_ABOUT	upool_about
#else
#define CALLED_LOOPS	NULL
#define INLINED_LOOPS	NULL
#define UPOOL_ABOUT	NULL

static const char *upool_init(const struct shape *shape)
{
	(void)shape;
	return "built without private pools (upool_inline.h)";
}
#endif

static const struct subject subject_upool = {
	.name = "upool",
	.init = upool_init,
	.about = UPOOL_ABOUT,
	.loops = CALLED_LOOPS,
};

static const struct subject subject_inline = {
	.name = "upool-inline",
	.init = upool_init,
	.about = UPOOL_ABOUT,
	.loops = INLINED_LOOPS,
};

const struct subject *const bench_subjects[] = { &subject_upool, &subject_inline, NULL };
