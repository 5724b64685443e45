// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * abi_kill.c - members of the library are killed anywhere in alloc and free; survivors
 * finish, and everything comes back.
 */
#include <upool.h>
#include "kselftest_harness.h"
#include "device.h"

enum { WORKERS = 4, HELD = 8 };

FIXTURE(kill) {
	struct upool *pool;
	volatile uint64_t *rounds;	/* per worker: how often it came around */
	pid_t pid[WORKERS];
	uint64_t seed;
};

static void work(struct upool *parents, volatile uint64_t *rounds)
{
	void *buf[HELD];
	struct upool *pool;
	int n, i;

	if (upool_attach(&pool, upool_fd(parents)))
		_exit(1);
	for (;;) {
		for (n = 0; n < HELD; n++) {
			buf[n] = upool_alloc(pool, BYTES);
			if (!buf[n])
				break;
			*(uint32_t *)buf[n] = (uint32_t)getpid();
		}
		for (i = 0; i < n; i++)
			if (*(uint32_t *)buf[i] != (uint32_t)getpid())
				_exit(2);
		while (n)
			if (upool_free(pool, buf[--n]))
				_exit(3);
		++*rounds;
	}
}

static pid_t start(struct upool *pool, volatile uint64_t *rounds)
{
	pid_t pid = fork();

	if (!pid)
		work(pool, rounds);
	return pid;
}

FIXTURE_SETUP(kill)
{
	struct upool_options o = UPOOL_OPTIONS_INIT;
	int i;

	o.backing = UPOOL_BACKING_DEVICE;
	o.buffer_bytes = BYTES;
	o.nr_buffers = NR;
	ASSERT_EQ(0, upool_create(&self->pool, &o));
	self->rounds = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, (void *)self->rounds);
	for (i = 0; i < WORKERS; i++)
		self->pid[i] = start(self->pool, &self->rounds[i]);
	self->seed = random_seed();
}

FIXTURE_TEARDOWN(kill)
{
	upool_close(self->pool);
}

/* Every worker came around since: nobody waits for the dead. */
static bool all_go_on(volatile uint64_t *rounds, pid_t *pid)
{
	uint64_t before[WORKERS];
	int i;

	for (i = 0; i < WORKERS; i++)
		before[i] = rounds[i];
	for (i = 0; i < WORKERS; i++)
		while (rounds[i] == before[i]) {
			if (waitpid(pid[i], NULL, WNOHANG))
				return false;
			sched_yield();
		}
	return true;
}

TEST_F_TIMEOUT(kill, anywhere_loses_nothing_and_stops_nobody, 1800)
{
	unsigned int n = scaled(1000, 20), i;
	struct timespec t = { 0 };
	struct upool_stats st = { .size = sizeof(st) };
	void *buf[NR + 1];

	while (n--) {
		t.tv_nsec = (long)(random_next(&self->seed) % 2000000);
		nanosleep(&t, NULL);	/* the point is chosen by chance */
		i = (unsigned int)random_next(&self->seed) % WORKERS;
		ASSERT_EQ(0, kill(self->pid[i], SIGKILL));
		ASSERT_EQ(-SIGKILL, child_status(self->pid[i]));
		self->pid[i] = start(self->pool, &self->rounds[i]);
		if (n % 8 == 0)
			ASSERT_TRUE(all_go_on(self->rounds, self->pid));
	}
	for (i = 0; i < WORKERS; i++) {
		kill(self->pid[i], SIGKILL);
		EXPECT_EQ(-SIGKILL, child_status(self->pid[i]));
	}
	EXPECT_EQ(NR, upool_alloc_bulk(self->pool, BYTES, buf, NR + 1));
	ASSERT_EQ(0, upool_stats_read(self->pool, &st));
	EXPECT_EQ(0, st.bad_count);
	EXPECT_EQ(0, st.bad_index);
	EXPECT_EQ(NR, upool_free_bulk(self->pool, buf, NR));
}

TEST_HARNESS_MAIN
