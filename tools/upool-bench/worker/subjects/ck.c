// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * ck.c - a stack of Concurrency Kit as a free list, malloc behind it.
 * Owns: one stack.  Locks: none.  Entry: worker/main.c.
 */
#include "../subject.h"

#if __has_include(<ck_stack.h>)
#include <stdlib.h>
#include <ck_stack.h>
#endif

#ifdef CK_F_STACK_POP_MPMC
static ck_stack_t stack __attribute__((aligned(128)));

static inline void *ck_alloc(size_t bytes)
{
	ck_stack_entry_t *entry = ck_stack_pop_mpmc(&stack);

	return entry ? (void *)entry : malloc(bytes);
}

static inline void ck_free(void *buf, size_t bytes)
{
	(void)bytes;
	ck_stack_push_mpmc(&stack, buf);
}

#define SUBJECT ck
#include "../loops.h"

static const char *ck_init(const struct shape *shape)
{
	(void)shape;
	ck_stack_init(&stack);
	return NULL;
}

#define CK_LOOPS	(&ck_loops)
#else
#define CK_LOOPS	NULL

static const char *ck_init(const struct shape *shape)
{
	(void)shape;
	return "built without libck-dev, or it has no such stack here";
}
#endif

static const struct subject subject_ck = {
	.name = "ck-stack",
	.init = ck_init,
	.loops = CK_LOOPS,
};

const struct subject *const bench_subjects[] = { &subject_ck, NULL };
