/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * ping.h - how far one core is from the other.
 * Owns: nothing.  Locks: none.  Entry: run.c.
 */
#ifndef UPOOL_BENCH_PING_H
#define UPOOL_BENCH_PING_H

/**
 * ping_ns() - time that a cache line takes from one core to another
 * @cpus: numbers separated by commas; the first two are taken
 *
 * Virtual machines are moved, and cores change their distance: rows that were measured
 * at different distances are not to be compared.
 *
 * Return: ns one way; 0 when there are no two CPUs
 */
double ping_ns(const char *cpus);

#endif /* UPOOL_BENCH_PING_H */
