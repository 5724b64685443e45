// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * measure.c - runs and times the loops of a case.
 * Owns: nothing.  Locks: none.  Entry: main.c, team.c.
 *
 * Memory of its own is mapped, not allocated: malloc is often what is measured.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#include "worker.h"

#define NS_PER_S	1000000000ull
#define SETTLE_MS	5000u
#define QUICK_SETTLE_MS	200u

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * NS_PER_S + (uint64_t)ts.tv_nsec;
}

static void *map(size_t bytes)
{
	void *mem = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

	if (mem == MAP_FAILED)
		worker_die("cannot map memory");
	return mem;
}

void measure_part(const struct worker *w, unsigned int idx, uint64_t *begin, uint64_t *end)
{
	const struct loops *l = w->s->loops;
	const size_t bytes = w->c->bytes;

	*begin = now_ns();
	switch (w->c->kind) {
	case KIND_PAIR:
		l->pair(bytes, w->n);
		break;
	case KIND_HOLD:
		l->hold(bytes, w->n);
		break;
	case KIND_TOUCH:
		l->touch(bytes, w->n);
		break;
	case KIND_FILL:
		l->fill(bytes, w->n, w->c->nr_live);
		break;
	case KIND_TAKE:
	case KIND_RSS:
		l->take(bytes, w->bufs[idx], w->n);
		break;
	case KIND_PRODCONS:
		if (idx == 0)
			l->produce(bytes, w->ring, w->n);
		else
			l->consume(bytes, w->ring, w->n);
		break;
	}
	*end = now_ns();
}

void measure_rest(const struct worker *w, unsigned int idx)
{
	if (w->bufs)
		w->s->loops->give(w->c->bytes, w->bufs[idx], w->n);
}

/* A disturbance makes a round longer, never shorter. */
static uint64_t shorter_of_two(const struct worker *w)
{
	const uint64_t one = team_round(w), two = team_round(w);

	return one < two ? one : two;
}

/* Finds how many operations make a round, and warms up on the way. */
static void calibrate(struct worker *w)
{
	w->n = 1;
	for (;;) {
		const uint64_t ns = shorter_of_two(w);
		uint64_t grow = w->round_ns / (ns ? ns : 1);

		if (ns >= w->round_ns / 2 || w->n >= (size_t)1 << 40)
			return;
		grow = grow < 2 ? 2 : grow > 16 ? 16 : grow;
		w->n *= grow;
	}
}

void measure_prepare(struct worker *w)
{
	unsigned int i;

	if (w->c->kind == KIND_PRODCONS)
		w->ring = map(sizeof(*w->ring));
	if (w->c->kind == KIND_TAKE || w->c->kind == KIND_RSS) {
		void ***bufs = map(w->c->nr_threads * sizeof(*bufs));

		for (i = 0; i < w->c->nr_threads; i++)
			bufs[i] = map(w->c->nr_live * sizeof(*bufs[i]));
		w->bufs = bufs;
	}
	w->n = case_count(w->c, w->quick);
	if (!w->n)
		calibrate(w);
	if (w->c->kind != KIND_RSS)
		team_round(w);
}

static double resident_mib(void)
{
	char text[128] = "";
	unsigned long total, resident;
	const int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);

	if (fd < 0 || read(fd, text, sizeof(text) - 1) <= 0)
		worker_die("cannot read /proc/self/statm");
	close(fd);
	if (sscanf(text, "%lu %lu", &total, &resident) != 2) /* NOLINT(cert-err34-c): kernel's */
		worker_die("cannot understand /proc/self/statm");
	return (double)resident * (double)sysconf(_SC_PAGESIZE) / (1 << 20);
}

/* After a burst, some seconds, and one more alloc and free: what is still there. */
static double retention(const struct worker *w)
{
	const unsigned int ms = w->quick ? QUICK_SETTLE_MS : SETTLE_MS;
	const struct timespec settle = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000l };
	const struct loops *l = w->s->loops;

	team_round(w);
	nanosleep(&settle, NULL);
	l->pair(w->c->later, 1);
	return resident_mib();
}

double measure_round(const struct worker *w)
{
	double ns;

	if (w->c->kind == KIND_RSS)
		return retention(w);
	ns = (double)team_round(w);
	if (w->c->kind == KIND_FILL || w->c->kind == KIND_TAKE)
		return ns / 1e6;
	if (w->c->kind == KIND_TOUCH)
		return ns / 1e3 / (double)w->n;
	return ns / (double)w->n;
}
