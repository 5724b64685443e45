/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * private_fixture.h - what tests of private pools share.
 */
#ifndef PRIVATE_FIXTURE_H
#define PRIVATE_FIXTURE_H

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "pool_fixture.h"

#define PRIVATE_OPTIONS { .size = sizeof(struct upool_options), .backing = UPOOL_BACKING_PRIVATE }

static inline struct upool *private_pool(size_t largest, size_t nr, unsigned int flags)
{
	struct upool *pool = NULL;

	return make_pool_on(UPOOL_BACKING_PRIVATE, &pool, largest, nr, flags) ? NULL : pool;
}

/* In another thread, until it ends. */
static inline void *in_thread(void *(*function)(void *), void *arg)
{
	pthread_t thread;
	void *result = NULL;

	if (!pthread_create(&thread, NULL, function, arg))
		pthread_join(thread, &result);
	return result;
}

/* A thread that does its work, then sleeps until it is told to go on. */
struct sleeper {
	pthread_t	thread;
	pthread_barrier_t asleep;
	void		(*work)(void *arg);
	void		(*after)(void *arg);
	void		*arg;
};

static inline void *sleeper_main(void *arg)
{
	struct sleeper *s = arg;

	s->work(s->arg);
	pthread_barrier_wait(&s->asleep);
	pthread_barrier_wait(&s->asleep);
	if (s->after)
		s->after(s->arg);
	return NULL;
}

static inline void sleeper_start(struct sleeper *s, void (*work)(void *), void (*after)(void *),
				 void *arg)
{
	s->work = work;
	s->after = after;
	s->arg = arg;
	pthread_barrier_init(&s->asleep, NULL, 2);
	pthread_create(&s->thread, NULL, sleeper_main, s);
	pthread_barrier_wait(&s->asleep);
}

static inline void sleeper_end(struct sleeper *s)
{
	pthread_barrier_wait(&s->asleep);
	pthread_join(s->thread, NULL);
	pthread_barrier_destroy(&s->asleep);
}

#endif /* PRIVATE_FIXTURE_H */
