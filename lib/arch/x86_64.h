/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * x86_64.h - the operations of rseq_ops.h for 64-bit processes on x86.
 * Owns: sections __rseq_cs and __rseq_failure.  Locks: none.  Entry: rseq_ops.h.
 *
 * Plain asm with a status in a register: asm goto with outputs loses labels in
 * gcc 12, and results through memory cost a store-forward.  A negative result is
 * minus an enum rseq_outcome.  x86 keeps stores in order, so the commit needs no
 * fence.
 */
#ifndef UPOOL_ARCH_X86_64_H
#define UPOOL_ARCH_X86_64_H

#include "../inject.h"

#define UPOOL_RSEQ_ARCH 1

/* Offsets in the kernel's struct rseq. */
#define RSEQ_AREA_CPU_ID	"4"
#define RSEQ_AREA_CS		"8"

/* What the kernel demands in the four bytes before an abort handler. */
#define UPOOL_RSEQ_SIG		"0x53053053"

/*
 * Label 3 is the descriptor: version, flags, start, length, abort handler.
 * Loading it into rseq_cs arms the sequence from label 1 to label 2.
 */
#define RSEQ_ARM(tmp)						\
	".pushsection __rseq_cs, \"aw\"\n\t"			\
	".balign 32\n"						\
	"3:\n\t"						\
	".long 0, 0\n\t"					\
	".quad 1f, 2f - 1f, 4f\n\t"				\
	".popsection\n\t"					\
	"leaq 3b(%%rip), %[" tmp "]\n\t"			\
	"movq %[" tmp "], %%fs:" RSEQ_AREA_CS "(%[off])\n"	\
	"1:\n\t"

/* Magazine of this CPU into out, its state into state; 32-bit results are zero-extended. */
#define RSEQ_THIS_MAG						\
	"movl %%fs:" RSEQ_AREA_CPU_ID "(%[off]), %k[out]\n\t"	\
	RSEQ_INJECT(0)						\
	"cmpl %[nr_cpus], %k[out]\n\t"				\
	"jae 6f\n\t"						\
	"imull %[stride], %k[out]\n\t"				\
	"addq %[mags], %[out]\n\t"				\
	"movq (%[out]), %[state]\n\t"				\
	"movzwl %w[state], %k[n]\n\t"				\
	RSEQ_INJECT(1)

/* The exits that are not taken on a hit; label 5 is the end in line. */
#define RSEQ_FAILURES						\
	".pushsection __rseq_failure, \"ax\"\n\t"		\
	".byte 0x0f, 0xb9, 0x3d\n\t"	/* ud1: falling in traps */	\
	".long " UPOOL_RSEQ_SIG "\n"				\
	"4:\n\t"						\
	"movq %[aborted], %[out]\n\t"				\
	"jmp 5b\n"						\
	"6:\n\t"						\
	"movq %[nocpu], %[out]\n\t"				\
	"jmp 5b\n"

#define RSEQ_OUTCOMES						\
	[aborted] "i" (-(int)RSEQ_ABORTED),			\
	[nocpu] "i" (-(int)RSEQ_NOCPU),				\
	[bad] "i" (-(int)RSEQ_BAD)

/**
 * rseq_cpu_id() - what the kernel last wrote into this thread's area
 * @off: the area, from the thread pointer
 * Return: CPU, or negative when there is no registration
 */
static inline int32_t rseq_cpu_id(intptr_t off)
{
	int32_t cpu;

	__asm__ __volatile__("movl %%fs:" RSEQ_AREA_CPU_ID "(%[off]), %[cpu]"
			     : [cpu] "=r" (cpu) : [off] "r" (off));
	return cpu;
}

/* Why it failed; tells the compiler that a failure is never RSEQ_DONE. */
static inline enum rseq_outcome rseq_failure(int64_t out)
{
	int32_t why = -(int32_t)out;

	if (why == RSEQ_DONE)
		__builtin_unreachable();
	return (enum rseq_outcome)why;
}

/**
 * rseq_mag_pop() - see rseq_ops.h
 * @m:   the magazines
 * @idx: receives the buffer with RSEQ_DONE
 * Return: DONE, EMPTY, ABORTED, BAD, NOCPU
 */
static inline __attribute__((always_inline)) enum rseq_outcome
rseq_mag_pop(const struct mags *m, uint32_t *idx)
{
	uint64_t state, n;
	int64_t out;

	__asm__ __volatile__(
		RSEQ_ARM("out")
		RSEQ_THIS_MAG
		"decl %k[n]\n\t"
		"cmpl %[cap], %k[n]\n\t"
		"jae 7f\n\t"
		"movl %c[slot](%[out], %[n], 4), %k[n]\n\t"
		"cmpl %[nr], %k[n]\n\t"
		"jae 8f\n\t"
		"movl %[me], (%[tags], %[n], 8)\n\t"
		RSEQ_INJECT(2)
		"addq %[pop], %[state]\n\t"
		"movq %[state], (%[out])\n"	/* commit */
		"2:\n\t"
		"movl %k[n], %k[out]\n"
		"5:\n\t"
		RSEQ_FAILURES
		"7:\n\t"
		"cmpl $-1, %k[n]\n\t"
		"movq %[empty], %[out]\n\t"
		"je 5b\n"
		"8:\n\t"
		"movq %[bad], %[out]\n\t"
		"jmp 5b\n\t"
		".popsection\n\t"
		: [out] "=&r" (out), [state] "=&r" (state), [n] "=&r" (n)
		: [off] "r" (m->rseq_off), [mags] "m" (m->mags), [tags] "r" (m->tags),
		  [nr_cpus] "m" (m->nr_cpus), [stride] "m" (m->stride),
		  [cap] "m" (m->cap), [nr] "m" (m->nr), [me] "r" (m->me),
		  [slot] "i" (offsetof(struct upool_magazine, slot)),
		  [pop] "i" (UPOOL_MAG_POP), [empty] "i" (-(int)RSEQ_EMPTY), RSEQ_OUTCOMES
		: "memory", "cc" RSEQ_INJECT_CLOBBER);
	if (__builtin_expect(out < 0, 0))
		return rseq_failure(out);
	*idx = (uint32_t)out;
	return RSEQ_DONE;
}

/**
 * rseq_mag_push() - see rseq_ops.h
 * @m:   the magazines
 * @idx: buffer
 * Return: DONE, FULL, ABORTED, BAD, NOCPU
 */
static inline __attribute__((always_inline)) enum rseq_outcome
rseq_mag_push(const struct mags *m, uint32_t idx)
{
	uint64_t state, n;
	int64_t out;	/* on a hit the magazine's address, which is positive */

	__asm__ __volatile__(
		RSEQ_ARM("out")
		RSEQ_THIS_MAG
		"cmpl %[cap], %k[n]\n\t"
		"jae 7f\n\t"
		"movl %[idx], %c[slot](%[out], %[n], 4)\n\t"
		RSEQ_INJECT(2)
		"addq %[push], %[state]\n\t"
		"movq %[state], (%[out])\n"	/* commit */
		"2:\n"
		"5:\n\t"
		RSEQ_FAILURES
		"7:\n\t"
		"movq %[full], %[out]\n\t"
		"je 5b\n\t"
		"movq %[bad], %[out]\n\t"
		"jmp 5b\n\t"
		".popsection\n\t"
		: [out] "=&r" (out), [state] "=&r" (state), [n] "=&r" (n)
		: [off] "r" (m->rseq_off), [mags] "m" (m->mags),
		  [nr_cpus] "m" (m->nr_cpus), [stride] "m" (m->stride),
		  [cap] "m" (m->cap), [idx] "r" (idx),
		  [slot] "i" (offsetof(struct upool_magazine, slot)),
		  [push] "i" (UPOOL_MAG_PUSH), [full] "i" (-(int)RSEQ_FULL), RSEQ_OUTCOMES
		: "memory", "cc" RSEQ_INJECT_CLOBBER);
	return __builtin_expect(out < 0, 0) ? rseq_failure(out) : RSEQ_DONE;
}

#endif /* UPOOL_ARCH_X86_64_H */
