// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * rseq_stepped.c - a thread that is interrupted at every instruction, as under a
 * debugger, never gets through a restartable sequence: the library goes around it.
 */
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>
#include "kselftest_harness.h"
#include "pool_fixture.h"
#include "rseq.h"

#define NR	8

/* Child: what went wrong in a life of single steps, or 0. */
static int stepped(void)
{
	struct upool *pool;
	upool_token_t token;
	void *a, *b, *c;

	if (make_pool(&pool, 64, NR, 0))
		return 1;
	if (count_buffers(pool, NR) != NR)	/* magazines are in use */
		return 2;
	ptrace(PTRACE_TRACEME, 0, NULL, NULL);
	raise(SIGSTOP);
	a = upool_alloc(pool, 1);
	b = upool_alloc(pool, 1);
	if (!a || !b || a == b)
		return 3;
	token = upool_token(pool, b);
	if (upool_accept(pool, token, &c) || c != b)
		return 4;
	if (upool_free(pool, a) || upool_free(pool, b))
		return 5;
	if (upool_free(pool, a) != -EALREADY)
		return 6;
	raise(SIGSTOP);
	if (read_stats(pool).fallbacks != 4)
		return 7;
	if (read_stats(pool).aborts < 4 * 16)
		return 8;
	if (count_buffers(pool, NR) != NR)
		return 9;
	upool_close(pool);
	return 0;
}

/* Let the child run a step at a time until it stops itself again; how many steps. */
static unsigned long step_until_stop(pid_t pid)
{
	unsigned long steps = 0;
	int status;

	do {
		if (ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL))
			return 0;
		if (waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status))
			return 0;
		steps++;
	} while (WSTOPSIG(status) != SIGSTOP);
	return steps;
}

TEST(sequence_that_cannot_complete_is_gone_around)
{
	int status;
	pid_t pid;

	if (rseq_unusable())
		SKIP(return, "%s", rseq_unusable());
	pid = fork();
	if (!pid)
		_exit(stepped());
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	ASSERT_TRUE(WIFSTOPPED(status));
	EXPECT_LT(1000, step_until_stop(pid));
	EXPECT_EQ(0, ptrace(PTRACE_DETACH, pid, NULL, NULL));
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, WEXITSTATUS(status));
	EXPECT_TRUE(WIFEXITED(status));
}

TEST_HARNESS_MAIN
