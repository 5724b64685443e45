/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * x86_64_cpu.h - the operations of cpu_ops.h for 64-bit processes on x86.
 * Owns: nothing.  Locks: none.  Entry: cpu_ops.h.
 *
 * Built from the parts of x86_64.h, and with its conventions.
 */
#ifndef UPOOL_ARCH_X86_64_CPU_H
#define UPOOL_ARCH_X86_64_CPU_H

#define UPOOL_RSEQ_CPU_OPS 1

/* What this CPU has into mag; out is left to the caller. */
#define RSEQ_THIS_SLOTS						\
	"movl %%fs:" RSEQ_AREA_CPU_ID "(%[off]), %k[out]\n\t"	\
	RSEQ_INJECT(0)						\
	"cmpl %[nr_cpus], %k[out]\n\t"				\
	"jae 6f\n\t"						\
	"movq (%[slots],%[out],8), %[mag]\n\t"

/* Its magazine of the class into mag, the count of that into n. */
#define RSEQ_THIS_CLASS						\
	"movq (%[mag],%[cls],8), %[mag]\n\t"			\
	"testq %[mag], %[mag]\n\t"				\
	"jz 7f\n\t"						\
	"movl %c[nr](%[mag]), %k[n]\n\t"			\
	RSEQ_INJECT(1)

/* One more exit than RSEQ_FAILURES. */
#define RSEQ_MORE_FAILURES					\
	RSEQ_FAILURES						\
	"7:\n\t"						\
	"movq %[miss], %[out]\n\t"				\
	"jmp 5b\n\t"						\
	".popsection\n\t"

#define RSEQ_CPU_INPUTS(t)					\
	[off] "r" ((t)->rseq_off), [slots] "r" ((t)->slots),	\
	[nr_cpus] "m" ((t)->nr_cpus), [cls] "r" ((uint64_t)cls),	\
	[nr] "i" (offsetof(struct magazine, nr)),		\
	[cap] "i" (offsetof(struct magazine, cap)),		\
	[ent] "i" (offsetof(struct magazine, e)),		\
	RSEQ_OUTCOMES

static inline enum rseq_outcome rseq_cpu_pop(const struct cpu_table *t, unsigned int cls,
					     struct upool__entry *e)
{
	unsigned char *state;
	uint64_t mag, n;
	int64_t out;
	void *buf;

	__asm__ __volatile__(
		RSEQ_ARM("out")
		RSEQ_THIS_SLOTS
		RSEQ_THIS_CLASS
		"subl $1, %k[n]\n\t"
		"jb 7f\n\t"
		"movl %k[n], %k[out]\n\t"
		"shlq $4, %[out]\n\t"
		"movq %c[ent](%[mag],%[out]), %[buf]\n\t"
		"movq %c[ent]+8(%[mag],%[out]), %[state]\n\t"
		RSEQ_INJECT(2)
		"movl %k[n], %c[nr](%[mag])\n"	/* commit */
		"2:\n\t"
		"xorl %k[out], %k[out]\n"
		"5:\n\t"
		RSEQ_MORE_FAILURES
		: [out] "=&r" (out), [mag] "=&r" (mag), [n] "=&r" (n), [buf] "=&r" (buf),
		  [state] "=&r" (state)
		: RSEQ_CPU_INPUTS(t), [miss] "i" (-(int)RSEQ_EMPTY)
		: "memory", "cc" RSEQ_INJECT_CLOBBER);
	if (out)
		return rseq_failure(out);
	e->buf = buf;
	e->state = state;
	return RSEQ_DONE;
}

static inline enum rseq_outcome rseq_cpu_push(const struct cpu_table *t, unsigned int cls,
					      const struct upool__entry *e)
{
	uint64_t mag, n;
	int64_t out;

	__asm__ __volatile__(
		RSEQ_ARM("out")
		RSEQ_THIS_SLOTS
		RSEQ_THIS_CLASS
		"cmpl %c[cap](%[mag]), %k[n]\n\t"
		"jae 7f\n\t"
		"movl %k[n], %k[out]\n\t"
		"shlq $4, %[out]\n\t"
		"movq %[buf], %c[ent](%[mag],%[out])\n\t"
		"movq %[state], %c[ent]+8(%[mag],%[out])\n\t"
		"addl $1, %k[n]\n\t"
		RSEQ_INJECT(2)
		"movl %k[n], %c[nr](%[mag])\n"	/* commit */
		"2:\n\t"
		"xorl %k[out], %k[out]\n"
		"5:\n\t"
		RSEQ_MORE_FAILURES
		: [out] "=&r" (out), [mag] "=&r" (mag), [n] "=&r" (n)
		: RSEQ_CPU_INPUTS(t), [buf] "r" (e->buf), [state] "r" (e->state),
		  [miss] "i" (-(int)RSEQ_FULL)
		: "memory", "cc" RSEQ_INJECT_CLOBBER);
	return out ? rseq_failure(out) : RSEQ_DONE;
}

static inline enum rseq_outcome rseq_cpu_swap(const struct cpu_table *t, unsigned int cls,
					      struct magazine **new)
{
	struct magazine *old;
	uint64_t mag;
	int64_t out;

	__asm__ __volatile__(
		RSEQ_ARM("out")
		RSEQ_THIS_SLOTS
		"cmpq %[stopped], %[mag]\n\t"
		"je 7f\n\t"
		"movq (%[mag],%[cls],8), %[old]\n\t"
		RSEQ_INJECT(2)
		"movq %[new], (%[mag],%[cls],8)\n"	/* commit */
		"2:\n\t"
		"xorl %k[out], %k[out]\n"
		"5:\n\t"
		RSEQ_MORE_FAILURES
		: [out] "=&r" (out), [mag] "=&r" (mag), [old] "=&r" (old)
		: RSEQ_CPU_INPUTS(t), [stopped] "r" (t->stopped), [new] "r" (*new),
		  [miss] "i" (-(int)RSEQ_EMPTY)
		: "memory", "cc" RSEQ_INJECT_CLOBBER);
	if (out)
		return rseq_failure(out);
	*new = old;
	return RSEQ_DONE;
}

#endif /* UPOOL_ARCH_X86_64_CPU_H */
