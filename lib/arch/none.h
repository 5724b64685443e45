/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * none.h - an architecture without restartable sequences of ours.
 * Owns: nothing.  Locks: none.  Entry: rseq_ops.h.
 */
#ifndef UPOOL_ARCH_NONE_H
#define UPOOL_ARCH_NONE_H

#define UPOOL_RSEQ_ARCH 0

static inline int32_t rseq_cpu_id(intptr_t off)
{
	(void)off;
	return -1;
}

static inline enum rseq_outcome rseq_mag_pop(const struct mags *m, uint32_t *idx)
{
	(void)m;
	(void)idx;
	return RSEQ_NOCPU;
}

static inline enum rseq_outcome rseq_mag_push(const struct mags *m, uint32_t idx)
{
	(void)m;
	(void)idx;
	return RSEQ_NOCPU;
}

#endif /* UPOOL_ARCH_NONE_H */
