// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * naive_mutex_stack.c - per class, a linked stack under a mutex; without a bound.
 * Owns: classes.  Locks: a mutex per class.  Entry: naive.c.
 */
#include <pthread.h>
#include "naive.h"

static struct NAIVE_LINE {
	pthread_mutex_t	lock;
	void		*top;	/* [lock] a free buffer begins with the next one's address */
} classes[NAIVE_CLASSES];

static inline void *mutex_stack_alloc(size_t bytes)
{
	const unsigned int cls = naive_class(bytes);
	void *buf;

	pthread_mutex_lock(&classes[cls].lock);
	buf = classes[cls].top;
	if (buf)
		classes[cls].top = *(void **)buf;
	pthread_mutex_unlock(&classes[cls].lock);
	return buf ? buf : naive_miss(cls);
}

static inline void mutex_stack_free(void *buf, size_t bytes)
{
	const unsigned int cls = naive_class(bytes);

	pthread_mutex_lock(&classes[cls].lock);
	*(void **)buf = classes[cls].top;
	classes[cls].top = buf;
	pthread_mutex_unlock(&classes[cls].lock);
}

#define SUBJECT mutex_stack
#include "../loops.h"

static const char *mutex_stack_init(const struct shape *shape)
{
	unsigned int i;

	(void)shape;
	for (i = 0; i < NAIVE_CLASSES; i++)
		pthread_mutex_init(&classes[i].lock, NULL);
	return NULL;
}

const struct subject subject_mutex_stack = {
	.name = "mutex-stack",
	.init = mutex_stack_init,
	.loops = &mutex_stack_loops,
};
