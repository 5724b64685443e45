// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * bare.c - floors: buffers that are kept, and the least a thread can do to pool them.
 * Owns: thread-local state.  Locks: none.  Entry: worker/main.c.
 *
 * bare-fill takes kept buffers in turn.  tls-stack pushes and pops addresses of one
 * size in thread-local storage: no check, no class, no other thread.
 */
#include <stdlib.h>
#include "../subject.h"
#include "../worker.h"

#define STACK_SLOTS	8192u

static struct shape shape;	/* [const] after init */

static __thread struct {
	char	*mem;
	size_t	next;
	size_t	mask;
} kept;

static inline void *bare_alloc(size_t bytes)
{
	return kept.mem + (kept.next++ & kept.mask) * bytes;
}

static inline void bare_free(void *buf, size_t bytes)
{
	(void)buf;
	(void)bytes;
}

#define SUBJECT bare
#include "../loops.h"

static const char *bare_init(const struct shape *s)
{
	shape = *s;
	if (s->nr_live & (s->nr_live - 1))
		return "needs a power of two of buffers";
	return NULL;
}

static void bare_thread_init(void)
{
	kept.mem = aligned_alloc(4096, shape.nr_live * ((shape.bytes + 4095) & ~(size_t)4095));
	if (!kept.mem)
		worker_die("no memory");
	kept.mask = shape.nr_live - 1;
}

static const struct subject subject_bare = {
	.name = "bare-fill",
	.init = bare_init,
	.thread_init = bare_thread_init,
	.loops = &bare_loops,
};

static __thread struct {
	size_t	nr;
	void	*slot[STACK_SLOTS];
} stack;

static __attribute__((noinline)) void *tls_miss(size_t bytes)
{
	return malloc(bytes);
}

static __attribute__((noinline)) void tls_full(void *buf)
{
	free(buf);
}

static inline void *tls_alloc(size_t bytes)
{
	if (__builtin_expect(!stack.nr, 0))
		return tls_miss(bytes);
	return stack.slot[--stack.nr];
}

static inline void tls_free(void *buf, size_t bytes)
{
	(void)bytes;
	if (__builtin_expect(stack.nr == STACK_SLOTS, 0))
		tls_full(buf);
	else
		stack.slot[stack.nr++] = buf;
}

#define SUBJECT tls
#include "../loops.h"

static const struct subject subject_tls = {
	.name = "tls-stack",
	.loops = &tls_loops,
};

const struct subject *const bench_subjects[] = { &subject_bare, &subject_tls, NULL };
