// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * rseq_syscall.c - makes a system call inside a restartable sequence, which a
 * kernel with DEBUG_RSEQ answers with SIGSEGV.  Exit 0 when it survives.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/rseq.h>

struct rseq_cs_entry {
	uint32_t version;
	uint32_t flags;
	uint64_t start_ip;
	uint64_t post_commit_offset;
	uint64_t abort_ip;
} __attribute__((aligned(32)));

int main(void)
{
	struct rseq *rs = (void *)((char *)__builtin_thread_pointer() +
				   __rseq_offset);
	struct rseq_cs_entry cs = { 0 };
	long ret = 39; /* getpid */

	if (!__rseq_size) {
		fprintf(stderr, "the libc has not registered rseq\n");
		return 4;
	}
	__asm__ volatile(
		"leaq 1f(%%rip), %%rdx\n\t"
		"movq %%rdx, 8(%[cs])\n\t"
		"leaq 2f(%%rip), %%rcx\n\t"
		"subq %%rdx, %%rcx\n\t"
		"movq %%rcx, 16(%[cs])\n\t"
		"leaq 3f(%%rip), %%rdx\n\t"
		"movq %%rdx, 24(%[cs])\n\t"
		"movq %[cs], %[slot]\n\t"
		"1:\n\t"
		"syscall\n\t"
		"nop\n\t"
		"2:\n\t"
		"jmp 4f\n\t"
		".byte 0x0f, 0xb9, 0x3d\n\t"
		".long %c[sig]\n\t"
		"3:\n\t"
		"4:\n\t"
		: "+a"(ret), [slot] "=m"(rs->rseq_cs)
		: [cs] "r"(&cs), [sig] "i"(RSEQ_SIG)
		: "rcx", "rdx", "r11", "memory", "cc");
	puts("survived");
	return 0;
}
