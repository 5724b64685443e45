// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * rseq_cpu.c - magazines of CPUs are taken away from threads that are in the middle of
 * a sequence: delays inside of them, threads that move, others that trim and count.
 *
 * A buffer carries its holder from the allocation to the free.  One that two threads
 * were given, or that was lost, shows.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include <upool.h>
#include "inject.h"
#include "kselftest.h"
#include "pool_fixture.h"

#define THREADS	6
#define HOLD	16
#define BYTES	512
#define OPS	40000	/* of each thread */

uint32_t upool_test_delay[3] = { 100, 3000, 3000 };

void upool_test_inject(enum upool_inject point)
{
	(void)point;
}

static struct upool *pool;
static uint64_t wrong;
static uint32_t running = THREADS;
static unsigned int seed;

static void take(uint64_t **held, uint64_t me)
{
	uint64_t *buf = upool_alloc(pool, BYTES);

	if (!buf || __atomic_exchange_n(buf, me, __ATOMIC_RELAXED))
		__atomic_fetch_add(&wrong, 1, __ATOMIC_RELAXED);
	*held = buf;
}

static void give(uint64_t *buf, uint64_t me)
{
	if (__atomic_exchange_n(buf, 0, __ATOMIC_RELAXED) != me || upool_free(pool, buf))
		__atomic_fetch_add(&wrong, 1, __ATOMIC_RELAXED);
}

static void *work(void *arg)
{
	uint64_t me = (uintptr_t)arg, *held[HOLD] = { NULL };
	unsigned int state = seed + (unsigned int)me, i, n;

	for (i = 0; i < OPS && !__atomic_load_n(&wrong, __ATOMIC_RELAXED); i++) {
		n = (unsigned int)rand_r(&state);
		if (n / HOLD % 64 == 0)
			run_on_cpu((int)(n / 4096 % (unsigned int)sysconf(_SC_NPROCESSORS_ONLN)));
		if (held[n % HOLD]) {
			give(held[n % HOLD], me);
			held[n % HOLD] = NULL;
		} else {
			take(&held[n % HOLD], me);
		}
	}
	for (i = 0; i < HOLD; i++)
		if (held[i])
			give(held[i], me);
	__atomic_fetch_sub(&running, 1, __ATOMIC_RELEASE);
	return NULL;
}

int main(int argc, char **argv)
{
	struct upool_options o = UPOOL_OPTIONS_INIT;
	unsigned long trims = 0;
	pthread_t thread[THREADS];
	uintptr_t i;

	seed = argc > 1 ? (unsigned int)atoi(argv[1]) : (unsigned int)time(NULL);
	ksft_print_header();
	ksft_set_plan(3);
	o.backing = UPOOL_BACKING_PRIVATE;
	o.thread_bytes = UPOOL_NOTHING;
	if (upool_create(&pool, &o))
		ksft_exit_fail_msg("no pool\n");
	ksft_print_msg("%s, seed %u\n", upool_mode(pool), seed);
	for (i = 0; i < THREADS; i++)
		if (pthread_create(&thread[i], NULL, work, (void *)(i + 1)))
			ksft_exit_fail_msg("no thread\n");
	for (; __atomic_load_n(&running, __ATOMIC_ACQUIRE); trims++) {
		if (trims % 2)
			upool_trim(pool, trims % 16 == 1 ? 0 : SIZE_MAX);
		else
			read_stats(pool);
	}
	for (i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	ksft_print_msg("%lu trims\n", trims);
	ksft_test_result(!wrong, "every buffer had one holder\n");
	ksft_test_result(!read_stats(pool).held, "every buffer is idle\n");
	ksft_test_result(!upool_destroy(pool), "none is missing\n");
	ksft_finished();
}
