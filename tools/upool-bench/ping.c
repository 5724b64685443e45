// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * ping.c - sends a number back and forth between two pinned threads.
 * Owns: the number.  Locks: none.  Entry: ping_ns().
 */
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>
#include "ping.h"

#define TURNS	20000u
#define SPINS	100000u

struct side {
	int		cpu;
	unsigned int	parity;
};

static atomic_uint ball __attribute__((aligned(128)));	/* [atomic] whose turn it is */

static void *play(void *arg)
{
	const struct side *side = arg;
	unsigned int i, spins = 0;
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(side->cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
	for (i = side->parity; i < TURNS; i += 2) {
		while (atomic_load_explicit(&ball, memory_order_acquire) != i)
			if (++spins % SPINS == 0)
				sched_yield();
		atomic_store_explicit(&ball, i + 1, memory_order_release);
	}
	return NULL;
}

double ping_ns(const char *cpus)
{
	struct timespec t0, t1;
	struct side one, two;
	pthread_t thread[2];
	char *end;

	one = (struct side){ .cpu = (int)strtol(cpus, &end, 10), .parity = 0 };
	if (*end != ',')
		return 0;
	two = (struct side){ .cpu = (int)strtol(end + 1, NULL, 10), .parity = 1 };
	atomic_store(&ball, UINT_MAX);
	if (pthread_create(&thread[0], NULL, play, &one))
		return 0;
	if (pthread_create(&thread[1], NULL, play, &two))
		abort();	/* the other would wait forever */
	clock_gettime(CLOCK_MONOTONIC, &t0);
	atomic_store(&ball, 0);
	pthread_join(thread[0], NULL);
	pthread_join(thread[1], NULL);
	clock_gettime(CLOCK_MONOTONIC, &t1);
	return ((double)(t1.tv_sec - t0.tv_sec) * 1e9 + (double)(t1.tv_nsec - t0.tv_nsec)) / TURNS;
}
