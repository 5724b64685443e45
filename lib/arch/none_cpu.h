/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * none_cpu.h - an architecture without the sequences of cpu_ops.h.
 * Owns: nothing.  Locks: none.  Entry: cpu_ops.h.
 */
#ifndef UPOOL_ARCH_NONE_CPU_H
#define UPOOL_ARCH_NONE_CPU_H

#define UPOOL_RSEQ_CPU_OPS 0

static inline enum rseq_outcome rseq_cpu_pop(const struct cpu_table *t, unsigned int cls,
					     struct upool__entry *e)
{
	(void)t;
	(void)cls;
	(void)e;
	return RSEQ_NOCPU;
}

static inline enum rseq_outcome rseq_cpu_push(const struct cpu_table *t, unsigned int cls,
					      const struct upool__entry *e)
{
	(void)t;
	(void)cls;
	(void)e;
	return RSEQ_NOCPU;
}

static inline enum rseq_outcome rseq_cpu_swap(const struct cpu_table *t, unsigned int cls,
					      struct magazine **mag)
{
	(void)t;
	(void)cls;
	(void)mag;
	return RSEQ_NOCPU;
}

#endif /* UPOOL_ARCH_NONE_CPU_H */
