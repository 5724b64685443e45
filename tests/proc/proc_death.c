// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * proc_death.c - members are killed; the device gets everything back, and nobody waits.
 */
#include <signal.h>
#include <sys/wait.h>
#include "kselftest_harness.h"
#include "pool_fixture.h"

#define NR	128

struct report {
	int		n;
	upool_token_t	kept;
	upool_token_t	given;
};

/* Takes 100 buffers, makes two tokens, reports, and waits to be killed. */
static void hoard(struct upool *parents, int out)
{
	struct report r = { 0 };
	struct upool *pool;
	void *buf[100];

	if (upool_attach(&pool, upool_fd(parents)))
		_exit(1);
	upool_close(parents);
	r.n = upool_alloc_bulk(pool, 1, buf, 100);
	r.kept = upool_token(pool, buf[0]);
	r.given = upool_token(pool, buf[1]);
	if (write(out, &r, sizeof(r)) != sizeof(r))
		_exit(2);
	for (;;)
		pause();
}

TEST(killed_member_loses_nothing)
{
	struct upool *pool;
	void *accepted, *buf[NR];
	struct report r;
	int p[2], status;
	pid_t pid;

	if (backing_under_test() != UPOOL_BACKING_DEVICE)
		return;	/* a memfd pool promises no recovery; the next test has what it promises */
	ASSERT_EQ(0, make_pool(&pool, 4096, NR, 0));
	ASSERT_EQ(0, pipe(p));
	pid = fork();
	if (!pid)
		hoard(pool, p[1]);
	ASSERT_EQ(sizeof(r), read(p[0], &r, sizeof(r)));
	EXPECT_EQ(100, r.n);
	EXPECT_EQ(0, upool_accept(pool, r.given, &accepted));
	kill(pid, SIGKILL);
	ASSERT_EQ(pid, waitpid(pid, &status, 0));

	/* waits for the recovery, and finds all but the one that is ours already */
	EXPECT_EQ(NR - 1, upool_alloc_bulk(pool, 1, buf, NR));
	EXPECT_EQ(99, read_stats(pool).reclaimed_dead);
	EXPECT_EQ(-ESTALE, upool_accept(pool, r.kept, &accepted));
	EXPECT_EQ(0, upool_free(pool, accepted));
	EXPECT_EQ(NR - 1, upool_free_bulk(pool, buf, NR - 1));
	EXPECT_EQ(NR, count_buffers(pool, NR));
	upool_close(pool);
}

static void churn(struct upool *parents)
{
	struct upool *pool;
	void *buf[8];
	size_t n;

	if (upool_attach(&pool, upool_fd(parents)))
		_exit(1);
	for (;;) {
		n = upool_alloc_bulk(pool, 1, buf, 8);
		upool_free_bulk(pool, buf, n);
	}
}

/* Killed anywhere inside allocation and free, the depot's lock included. */
FIXTURE(killed)
{
	struct upool *pool;
};

FIXTURE_SETUP(killed)
{
	ASSERT_EQ(0, make_pool(&self->pool, 4096, NR, 0));
}

FIXTURE_TEARDOWN(killed)
{
	upool_close(self->pool);
}

TEST_F_TIMEOUT(killed, at_any_point_blocks_nobody, 600)
{
	const char *scale = getenv("UPOOL_TEST_SCALE");
	int rounds = scale ? 10 * atoi(scale) : 1000, i, j, status;
	void *buf[8];
	pid_t pid;
	size_t n;

	for (i = 0; i < rounds; i++) {
		pid = fork();
		if (!pid)
			churn(self->pool);
		for (j = 0; j < 50 + i % 50; j++) {
			n = upool_alloc_bulk(self->pool, 1, buf, 8);
			ASSERT_EQ(n, upool_free_bulk(self->pool, buf, n));
		}
		kill(pid, SIGKILL);
		ASSERT_EQ(pid, waitpid(pid, &status, 0));
		if (backing_under_test() == UPOOL_BACKING_DEVICE) {
			ASSERT_EQ(NR, count_buffers(self->pool, NR));
			continue;
		}
		/* what it held is lost to a memfd pool: at most 8, and a batch in motion */
		ASSERT_LE(NR - 8 - 32, count_buffers(self->pool, NR));
		upool_close(self->pool);
		ASSERT_EQ(0, make_pool(&self->pool, 4096, NR, 0));
	}
}

TEST_HARNESS_MAIN
