/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * cpu_ops.h - the three operations on the magazine that a CPU has of a size class of a
 * private pool, as pseudocode, and which file implements them here.
 * Owns: nothing.  Locks: none.  Entry: priv_cpu.c.
 *
 * As in rseq_ops.h, everything from "load cpu_id" to the commit is one restartable
 * sequence, and a commit is one store after all others.
 *
 * rseq_cpu_pop(t, cls, &e):
 *   cpu = self.cpu_id;              if (cpu >= t.nr_cpus) return NOCPU
 *   mag = t.slots[cpu].mag[cls];    if (!mag || !mag.nr) return EMPTY
 *   e = mag.e[mag.nr - 1]
 *   mag.nr = mag.nr - 1             <- commit
 *   return DONE
 *
 * rseq_cpu_push(t, cls, e):
 *   cpu = self.cpu_id;              if (cpu >= t.nr_cpus) return NOCPU
 *   mag = t.slots[cpu].mag[cls];    if (!mag || mag.nr == mag.cap) return FULL
 *   mag.e[mag.nr] = e
 *   mag.nr = mag.nr + 1             <- commit
 *   return DONE
 *
 * rseq_cpu_swap(t, cls, &mag):
 *   cpu = self.cpu_id;              if (cpu >= t.nr_cpus) return NOCPU
 *   s = t.slots[cpu];               if (s == t.stopped) return EMPTY
 *   old = s.mag[cls]
 *   s.mag[cls] = mag                <- commit
 *   mag = old;  return DONE
 */
#ifndef UPOOL_CPU_OPS_H
#define UPOOL_CPU_OPS_H

#include "../priv.h"
#include "rseq_ops.h"

#if defined(__x86_64__) && defined(__LP64__)
#include "x86_64_cpu.h"
#else
#include "none_cpu.h"
#endif

#endif /* UPOOL_CPU_OPS_H */
