/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * rseq_ops.h - the two operations on a magazine, as pseudocode, and which file
 * implements them here.
 * Owns: enum rseq_outcome.  Locks: none.  Entry: fastpath.h, alloc.c.
 *
 * "self" is the thread's rseq area.  Everything from "load cpu_id" to the
 * commit is one restartable sequence: preemption, migration or a signal in it
 * ends it as ABORTED.  Magazines are memory that members can spoil, hence the
 * checks; each word is loaded once.
 *
 * rseq_mag_pop(m, &idx):
 *   cpu = self.cpu_id;              if (cpu >= m.nr_cpus) return NOCPU
 *   mag = m.mags + cpu * m.stride
 *   state = mag.state;  n = COUNT(state)
 *   if (n == 0) return EMPTY;       if (n > m.cap) return BAD
 *   i = mag.slot[n - 1];            if (i >= m.nr) return BAD
 *   m.tags[i].owner = m.me          not HELD: an abort here leaves "not held"
 *   mag.state = state + MAG_POP     <- commit
 *   idx = i;  return DONE
 *
 * rseq_mag_push(m, idx):
 *   cpu = self.cpu_id;              if (cpu >= m.nr_cpus) return NOCPU
 *   mag = m.mags + cpu * m.stride
 *   state = mag.state;  n = COUNT(state)
 *   if (n == m.cap) return FULL;    if (n > m.cap) return BAD
 *   mag.slot[n] = idx
 *   mag.state = state + MAG_PUSH    <- commit
 *   return DONE
 *
 * The commit is one 64-bit store after all others in program order: readers of
 * the count that acquire it see the slots below it.  Nothing but self.rseq_cs
 * is written in the rseq area.
 *
 * A thread without a registration has cpu_id -1 or -2, which is NOCPU.
 */
#ifndef UPOOL_RSEQ_OPS_H
#define UPOOL_RSEQ_OPS_H

#include "../mags.h"

enum rseq_outcome {
	RSEQ_DONE = 0,
	RSEQ_EMPTY,	/* pop: no slot in use */
	RSEQ_FULL,	/* push: no slot free */
	RSEQ_ABORTED,	/* interrupted before the commit: try again */
	RSEQ_BAD,	/* count or index out of range */
	RSEQ_NOCPU,	/* no usable cpu_id: this thread cannot use magazines */
};

#if defined(__SANITIZE_THREAD__)
#define UPOOL_RSEQ_BLIND "ThreadSanitizer"	/* it does not see into the sequences */
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define UPOOL_RSEQ_BLIND "ThreadSanitizer"
#endif
#endif

#if defined(__x86_64__) && defined(__LP64__)
#include "x86_64.h"
#else
#include "none.h"
#endif

#endif /* UPOOL_RSEQ_OPS_H */
