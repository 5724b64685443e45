// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * naive_percore_stacks.c - per class and core, a locked stack of 32; neighbours help.
 * Owns: the stacks.  Locks: a spin lock each, one at a time.  Entry: naive.c.
 */
#include <unistd.h>
#include "naive.h"

#define MAX_CORES	64u
#define SLOTS		32u

struct NAIVE_LINE core_stack {
	struct spin	lock;
	unsigned int	nr;		/* [lock] */
	void		*slot[SLOTS];	/* [lock] */
};

static struct core_stack stacks[NAIVE_CLASSES][MAX_CORES];
static unsigned int nr_cores;		/* [const] after init */

static inline unsigned int this_core(void)
{
	return (unsigned int)sched_getcpu() % nr_cores;
}

static inline void *percore_stacks_alloc(size_t bytes)
{
	const unsigned int cls = naive_class(bytes);
	unsigned int core = this_core();
	unsigned int i;
	void *buf = NULL;

	for (i = 0; i < nr_cores && !buf; i++) {
		struct core_stack *s = &stacks[cls][core];

		if (s->nr) {	/* a hint; decided under the lock */
			spin_lock(&s->lock);
			if (s->nr)
				buf = s->slot[--s->nr];
			spin_unlock(&s->lock);
		}
		core = core + 1 == nr_cores ? 0 : core + 1;
	}
	return buf ? buf : naive_miss(cls);
}

static inline void percore_stacks_free(void *buf, size_t bytes)
{
	const unsigned int cls = naive_class(bytes);
	unsigned int core = this_core();
	unsigned int i;

	for (i = 0; i < nr_cores && buf; i++) {
		struct core_stack *s = &stacks[cls][core];

		spin_lock(&s->lock);
		if (s->nr < SLOTS) {
			s->slot[s->nr++] = buf;
			buf = NULL;
		}
		spin_unlock(&s->lock);
		core = core + 1 == nr_cores ? 0 : core + 1;
	}
	if (buf)
		naive_full(buf);
}

#define SUBJECT percore_stacks
#include "../loops.h"

static const char *percore_stacks_init(const struct shape *shape)
{
	const long n = sysconf(_SC_NPROCESSORS_CONF);

	(void)shape;
	nr_cores = n < 1 ? 1 : n > (long)MAX_CORES ? MAX_CORES : (unsigned int)n;
	return NULL;
}

const struct subject subject_percore_stacks = {
	.name = "percore-stacks",
	.init = percore_stacks_init,
	.loops = &percore_stacks_loops,
};
