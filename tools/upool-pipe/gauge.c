// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * gauge.c - a count that only grows, and one process that sleeps until it has
 * come far enough.
 * Owns: nothing.  Locks: none; a process that dies here blocks nobody.
 * Entry: the transports.
 */
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include "gauge.h"

static void count_call(_Atomic uint64_t *calls)
{
	atomic_fetch_add_explicit(calls, 1, memory_order_relaxed);
}

static void wake(struct gauge *g, _Atomic uint64_t *calls)
{
	if (atomic_exchange(&g->sleeping, 0) == 0)
		return;		/* somebody else wakes it */
	count_call(calls);
	syscall(SYS_futex, &g->sleeping, FUTEX_WAKE, 1, NULL, NULL, 0);
}

void gauge_add(struct gauge *g, uint64_t n, _Atomic uint64_t *calls)
{
	/*
	 * [G2] Release: pairs with [G1].  Sequentially consistent: pairs with
	 * [G3]; either the sleeper sees the new value, or we see it sleeping.
	 */
	uint64_t now = atomic_fetch_add(&g->value, n) + n;

	if (atomic_load(&g->sleeping) && now >= atomic_load(&g->target))
		wake(g, calls);
}

void gauge_kick(struct gauge *g, uint64_t seen, _Atomic uint64_t *calls)
{
	if (atomic_load(&g->sleeping) && atomic_load(&g->value) > seen)
		wake(g, calls);
}

void gauge_wait(struct gauge *g, uint64_t target, int timeout_ms, _Atomic uint64_t *calls)
{
	struct timespec ts = {
		.tv_sec = timeout_ms / 1000,
		.tv_nsec = timeout_ms % 1000 * 1000000L,
	};

	if (gauge_read(g) >= target)
		return;
	atomic_store(&g->target, target);
	atomic_store(&g->sleeping, 1);
	/* [G3] pairs with [G2]: else a value raised just now would wake nobody */
	if (atomic_load(&g->value) < target) {
		count_call(calls);
		syscall(SYS_futex, &g->sleeping, FUTEX_WAIT, 1,
			timeout_ms == GAUGE_FOREVER ? NULL : &ts, NULL, 0);
	}
	atomic_store(&g->sleeping, 0);
}
