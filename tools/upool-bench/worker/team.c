// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * team.c - the threads of a worker, pinned, started together round after round.
 * Owns: the threads.  Locks: three barriers.  Entry: main.c, measure.c.
 *
 * The threads live as long as the process, so that their caches stay warm.
 */
#include <pthread.h>
#include <sched.h>
#include <unistd.h>
#include "worker.h"

#define MAX_THREADS	64u

struct member {
	const struct worker	*w;	/* [const] */
	unsigned int		idx;	/* [const] */
	uint64_t		begin;	/* [barrier] */
	uint64_t		end;	/* [barrier] */
};

static struct member members[MAX_THREADS];
static pthread_barrier_t all_begin;	/* the members and the main thread */
static pthread_barrier_t work_ended;	/* the members */
static pthread_barrier_t all_ended;	/* the members and the main thread */

static void pin(const struct worker *w, unsigned int idx)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(w->cpus[idx % w->nr_cpus], &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		worker_die("cannot pin a thread to its CPU");
}

static void *sleeper(void *arg)
{
	(void)arg;
	for (;;)
		pause();
	return NULL;
}

static void *member_main(void *arg)
{
	struct member *m = arg;

	pin(m->w, m->idx);
	if (m->w->s->thread_init)
		m->w->s->thread_init();
	for (;;) {
		pthread_barrier_wait(&all_begin);
		measure_part(m->w, m->idx, &m->begin, &m->end);
		pthread_barrier_wait(&work_ended);
		measure_rest(m->w, m->idx);
		pthread_barrier_wait(&all_ended);
	}
	return NULL;
}

static void start(void *(*fn)(void *), void *arg)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, fn, arg) || pthread_detach(thread))
		worker_die("cannot make a thread");
}

void team_start(struct worker *w)
{
	const unsigned int n = w->c->nr_threads;
	unsigned int i;

	start(sleeper, NULL);
	if (n > MAX_THREADS)
		worker_die("too many threads");
	if (n == 1) {
		pin(w, 0);
		if (w->s->thread_init)
			w->s->thread_init();
		return;
	}
	if (pthread_barrier_init(&all_begin, NULL, n + 1) ||
	    pthread_barrier_init(&work_ended, NULL, n) ||
	    pthread_barrier_init(&all_ended, NULL, n + 1))
		worker_die("cannot make a barrier");
	for (i = 0; i < n; i++) {
		members[i] = (struct member){ .w = w, .idx = i };
		start(member_main, &members[i]);
	}
}

uint64_t team_round(const struct worker *w)
{
	uint64_t begin = UINT64_MAX, end = 0;
	unsigned int i;

	if (w->c->nr_threads == 1) {
		measure_part(w, 0, &begin, &end);
		measure_rest(w, 0);
		return end - begin;
	}
	pthread_barrier_wait(&all_begin);
	pthread_barrier_wait(&all_ended);
	for (i = 0; i < w->c->nr_threads; i++) {
		if (members[i].begin < begin)
			begin = members[i].begin;
		if (members[i].end > end)
			end = members[i].end;
	}
	return end - begin;
}
