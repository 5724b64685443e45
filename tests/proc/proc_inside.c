// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * proc_inside.c - a member dies at a chosen place inside of the library: in the depot's
 * lock, in a magazine's lock, with buffers between two layers.  The others go on.
 *
 * Linked with the library that has injection points, see inject.h.
 */
#include <signal.h>
#include <sys/wait.h>
#include "kselftest_harness.h"
#include "pool_fixture.h"
#include "inject.h"

#define NR	64
#define CAP	8

uint32_t upool_test_delay[3];

static enum upool_inject dies_at = UPOOL_INJECT_NR;
static unsigned int passes;	/* times it gets past the place before */

void upool_test_inject(enum upool_inject point)
{
	if (point == dies_at && !passes--)
		kill(getpid(), SIGKILL);
}

/*
 * Goes through every place: refill and flush, tokens, other CPUs' magazines.  The
 * last only when the depot is empty; else half of the buffers stay for others.
 */
static void wander(struct upool *parents)
{
	struct upool *pool;
	upool_token_t token;
	void *bufs[NR];
	size_t most = dies_at == UPOOL_INJECT_STEAL ? NR : NR / 2, n, i;

	if (upool_attach(&pool, upool_fd(parents)))
		_exit(1);
	for (i = 0; i < 100; i++) {
		run_on_cpu((int)i % 2);
		n = upool_alloc_bulk(pool, 1, bufs, most);
		token = n ? upool_token(pool, bufs[0]) : 0;
		if (token && upool_accept(pool, token, &bufs[0]))
			_exit(2);
		while (n > most - 3)
			if (upool_free(pool, bufs[--n]))
				_exit(3);
		if (upool_free_bulk(pool, bufs, n) != n)
			_exit(4);
	}
	_exit(0);
}

static int new_pool(struct upool **pool, const char *backend)
{
	struct upool_options o = UPOOL_OPTIONS_INIT;

	setenv("UPOOL_BACKEND", backend, 1);
	o.backing = backing_under_test();
	o.buffer_bytes = 64;
	o.nr_buffers = NR;
	o.magazine = CAP;
	return upool_create(pool, &o);
}

FIXTURE(dies)
{
	struct upool *pool;
};

FIXTURE_VARIANT(dies)
{
	const char	*backend;
	enum upool_inject at;
	int kernels;	/* the device's kernel does it: user space never gets there */
};

#define DIES(name, backend, at, kernels) \
	FIXTURE_VARIANT_ADD(dies, name) { backend, UPOOL_INJECT_##at, kernels }

DIES(freed, "locked", FREED, 0);
DIES(refilling, "", REFILL, 0);
DIES(flushing, "", FLUSH, 0);
DIES(in_depot_lock, "", DEPOT, 1);
DIES(stealing, "", STEAL, 1);
DIES(accepting, "", ACCEPT, 0);
DIES(in_magazine_lock, "locked", LOCKED, 1);
DIES(locked_refilling, "locked", REFILL, 1);
DIES(locked_in_depot_lock, "locked", DEPOT, 1);

FIXTURE_SETUP(dies)
{
	ASSERT_EQ(0, new_pool(&self->pool, variant->backend));
}

FIXTURE_TEARDOWN(dies)
{
	upool_close(self->pool);
}

/* What is left can be allocated, all of it differs, and it can be given back. */
static size_t left(struct upool *pool)
{
	char seen[NR] = { 0 };
	void *bufs[NR + 1], *low;
	size_t n = upool_alloc_bulk(pool, 1, bufs, NR + 1), i;

	for (low = n ? bufs[0] : NULL, i = 0; i < n; i++)
		low = bufs[i] < low ? bufs[i] : low;
	for (i = 0; i < n; i++) {
		size_t at = (size_t)((char *)bufs[i] - (char *)low) / 64;

		if (at >= NR || seen[at]++)
			return 0;
	}
	return upool_free_bulk(pool, bufs, n) == n ? n : 0;
}

TEST_F_TIMEOUT(dies, without_blocking_others, 300)
{
	const char *scale = getenv("UPOOL_TEST_SCALE");
	unsigned int rounds = scale && atoi(scale) < 10 ? 6 : 24, pass, killed = 0;
	size_t least = NR, n;
	int status;
	pid_t pid;

	for (pass = 0; pass < rounds; pass++) {
		pid = fork();
		if (!pid) {
			dies_at = variant->at;
			passes = pass * pass;
			wander(self->pool);
		}
		ASSERT_EQ(pid, waitpid(pid, &status, 0));
		if (!WIFSIGNALED(status)) {
			ASSERT_EQ(0, status);
			continue;
		}
		ASSERT_EQ(SIGKILL, WTERMSIG(status));
		killed++;
		n = left(self->pool);
		EXPECT_LT(0, n);
		if (backing_under_test() == UPOOL_BACKING_DEVICE)
			EXPECT_EQ(NR, n);
		least = n < least ? n : least;
		/* what it held is lost to a memfd pool: a new one */
		upool_close(self->pool);
		ASSERT_EQ(0, new_pool(&self->pool, variant->backend));
	}
	TH_LOG("killed %u times, at least %zu of %u left", killed, least, NR);
	if (variant->kernels && backing_under_test() == UPOOL_BACKING_DEVICE) {
		EXPECT_EQ(0, killed);
	} else {
		EXPECT_LE(1, killed);
	}
}

TEST_HARNESS_MAIN
