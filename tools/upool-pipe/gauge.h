/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * gauge.h - a count that only grows, and one process that sleeps until it has
 * come far enough.
 * Owns: struct gauge.  Locks: none.  Entry: ring.h, the transports.
 *
 * The sleeper says how far it wants the count to come, so that one wake-up pays
 * for a batch: that is what keeps system calls per buffer few.
 */
#ifndef UPOOL_PIPE_GAUGE_H
#define UPOOL_PIPE_GAUGE_H

#include <stdalign.h>
#include <stdatomic.h>
#include <stdint.h>

#define GAUGE_FOREVER	(-1)

/**
 * struct gauge - in memory that processes share
 * @value:    [atomic] the count
 * @target:   [atomic] wake the sleeper at this value; written by the sleeper only
 * @sleeping: [atomic] futex word: 1 = somebody sleeps or is about to
 */
struct gauge {
	alignas(64) _Atomic uint64_t value;
	_Atomic uint64_t target;
	_Atomic uint32_t sleeping;
};

/**
 * gauge_read() - the count
 * @g: a gauge
 * Return: the count; what was written before it was raised is visible
 */
static inline uint64_t gauge_read(struct gauge *g)
{
	/* [G1] pairs with [G2]: no reader of the count sees older contents */
	return atomic_load_explicit(&g->value, memory_order_acquire);
}

/**
 * gauge_add() - raise the count, wake the sleeper if that was enough
 * @g:     a gauge
 * @n:     by how much
 * @calls: where system calls are counted
 */
void gauge_add(struct gauge *g, uint64_t n, _Atomic uint64_t *calls);

/**
 * gauge_kick() - wake the sleeper if there is anything for it
 * @g:     a gauge
 * @seen:  value up to which the sleeper has seen everything
 * @calls: where system calls are counted
 */
void gauge_kick(struct gauge *g, uint64_t seen, _Atomic uint64_t *calls);

/**
 * gauge_wait() - sleep until the count reaches a target
 * @g:          a gauge; one process at a time may wait for it
 * @target:     value to wait for
 * @timeout_ms: or this long, GAUGE_FOREVER
 * @calls:      where system calls are counted
 *
 * Also returns early, for instance after gauge_kick(): the caller looks again.
 */
void gauge_wait(struct gauge *g, uint64_t target, int timeout_ms, _Atomic uint64_t *calls);

#endif /* UPOOL_PIPE_GAUGE_H */
