// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * rseq_migrated.c - a sequence that finds itself on another CPU, at any of its
 * instructions, restarts there: one magazine changes, once.
 *
 * A debugger that steps through a sequence aborts it at its first instruction.  So
 * the instructions are learned from a child without registration, where nothing
 * restarts; then a breakpoint stops one child at each of them, arrived at in one go.
 * There it is moved, and goes on.
 */
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>
#include "kselftest_harness.h"
#include "arch/rseq_ops.h"
#include "pool_fixture.h"
#include "rseq.h"

#define NR	8
#define CAP	4
#define ME	7u
#define OTHER	9u	/* owner of the buffers that idle in magazines */
#define CPUS	64
#define MAX_INSNS 128

/* What the kernel reads; from its documentation. */
struct descriptor {
	uint32_t	version, flags;
	uint64_t	start, bytes, abort;
};

/* One thread's view of two magazines and their tags, seen by child and parent. */
struct scene {
	struct mags	m;
	union tag	tags[NR];
	_Alignas(128) unsigned char mags[128 * CPUS];
	uint32_t	popped, aborts;
	int		outcome;
};

static struct scene *s;

/* One copy of each sequence: everything is about instructions. */
static __attribute__((noinline)) enum rseq_outcome pop_once(uint32_t *idx)
{
	return rseq_mag_pop(&s->m, idx);
}

static __attribute__((noinline)) enum rseq_outcome push_once(uint32_t idx)
{
	return rseq_mag_push(&s->m, idx);
}

extern const struct descriptor __start___rseq_cs[], __stop___rseq_cs[];

/* The descriptor of the sequence inside of a function. */
static const struct descriptor *sequence_in(void *fn)
{
	const struct descriptor *d, *best = NULL;

	for (d = __start___rseq_cs; d < __stop___rseq_cs; d++)
		if (d->start >= (uintptr_t)fn && (!best || d->start < best->start))
			best = d;
	return best;
}

/* Three buffers on every CPU, numbered the same: where the thread is does not matter. */
static void set_scene(void)
{
	struct upool_magazine *mag;
	uint32_t i;

	memset(s, 0, sizeof(*s));
	s->m.rseq_off = rseq_offset();
	s->m.mags = s->mags;
	s->m.tags = s->tags;
	s->m.stride = 128;
	s->m.nr_cpus = CPUS;
	s->m.cap = CAP;
	s->m.nr = NR;
	s->m.me = ME;
	for (i = 0; i < NR; i++)
		s->tags[i].owner = OTHER;
	for (i = 0; i < CPUS; i++) {
		mag = mag_of(&s->m, i);
		mag->state = 3;
		mag->slot[0] = 1;
		mag->slot[1] = 2;
		mag->slot[2] = 3;
	}
}

static void count_abort(enum rseq_outcome out)
{
	if (out == RSEQ_ABORTED)
		s->aborts++;
}

static void pop_until_done(void)
{
	enum rseq_outcome out;

	do {
		out = pop_once(&s->popped);
		count_abort(out);
	} while (out == RSEQ_ABORTED);
	s->outcome = out;
}

static void pop_just_once(void)
{
	s->outcome = pop_once(&s->popped);
}

static void push_until_done(void)
{
	enum rseq_outcome out;

	do {
		out = push_once(5);
		count_abort(out);
	} while (out == RSEQ_ABORTED);
	s->outcome = out;
}

/* From here on this process restarts nothing, and takes itself to be on CPU 0. */
static int unregister(void)
{
	char *area = (char *)__builtin_thread_pointer() + rseq_offset();

	if (syscall(SYS_rseq, area, 32, 1, 0x53053053))
		return -1;
	*(uint32_t *)(area + 4) = 0;
	return 0;
}

/* A child about to call @op, and stopped. */
static pid_t stopped_before(void (*op)(void), bool registered)
{
	pid_t pid = fork();
	int status;

	if (!pid) {
		run_on_cpu(0);
		if (!registered && unregister())
			_exit(1);
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		raise(SIGSTOP);
		op();
		_exit(0);
	}
	return waitpid(pid, &status, 0) == pid && WIFSTOPPED(status) ? pid : -1;
}

/* The instructions from the first of the sequence to the first after it. */
static unsigned int learn(void (*op)(void), const struct descriptor *d, uint64_t *insn)
{
	struct user_regs_struct regs;
	unsigned int nr = 0;
	int status;
	pid_t pid;

	set_scene();
	pid = stopped_before(op, false);
	if (pid < 0)
		return 0;
	for (;;) {
		ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL);
		if (waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status))
			return 0;
		ptrace(PTRACE_GETREGS, pid, NULL, &regs);
		if (regs.rip >= d->start && regs.rip <= d->start + d->bytes)
			insn[nr++] = regs.rip;
		if (regs.rip == d->start + d->bytes || nr == MAX_INSNS)
			break;
	}
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	return nr;
}

/* Let a child run into a breakpoint at @insn; false: it ended without. */
static bool run_to(pid_t pid, uint64_t insn)
{
	struct user_regs_struct regs;
	int status;
	long text;

	text = ptrace(PTRACE_PEEKTEXT, pid, insn, NULL);
	ptrace(PTRACE_POKETEXT, pid, insn, (text & ~0xffL) | 0xcc);
	ptrace(PTRACE_CONT, pid, NULL, NULL);
	if (waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status))
		return false;
	ptrace(PTRACE_GETREGS, pid, NULL, &regs);
	regs.rip = insn;
	ptrace(PTRACE_SETREGS, pid, NULL, &regs);
	ptrace(PTRACE_POKETEXT, pid, insn, text);
	return true;
}

/*
 * Run @op in a child on CPU 0 that is moved to CPU 1 when it is about to execute @insn.
 * One that was preempted on its way, and so did not come there, is no loss.
 */
static bool moved_at(void (*op)(void), uint64_t insn)
{
	cpu_set_t other;
	int status, tries;
	pid_t pid;

	CPU_ZERO(&other);
	CPU_SET(1, &other);
	for (tries = 0; tries < 10; tries++) {
		set_scene();
		pid = stopped_before(op, true);
		if (pid < 0)
			return false;
		if (!run_to(pid, insn))
			continue;
		sched_setaffinity(pid, sizeof(other), &other);
		ptrace(PTRACE_DETACH, pid, NULL, NULL);
		return waitpid(pid, &status, 0) == pid && !status;
	}
	return false;
}

/* One magazine is @state now, and the others are as set_scene() left them. */
static bool only_changed(uint32_t cpu, uint64_t state)
{
	uint32_t i;

	for (i = 0; i < CPUS; i++)
		if (mag_of(&s->m, i)->state != (i == cpu ? state : 3))
			return false;
	return true;
}

FIXTURE(moved)
{
};

FIXTURE_SETUP(moved)
{
	if (rseq_unusable())
		SKIP(return, "%s", rseq_unusable());
	if (sysconf(_SC_NPROCESSORS_ONLN) < 2)
		SKIP(return, "one CPU");
	s = mmap(NULL, sizeof(*s), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, (void *)s);
}

FIXTURE_TEARDOWN(moved)
{
	munmap(s, sizeof(*s));
}

TEST_F_TIMEOUT(moved, pop_takes_one, 300)
{
	const struct descriptor *d = sequence_in(pop_once);
	unsigned int nr, i, last;
	uint64_t insn[MAX_INSNS];

	ASSERT_NE(NULL, d);
	nr = learn(pop_until_done, d, insn);
	ASSERT_LE(10, nr);
	ASSERT_GT(MAX_INSNS, nr);
	for (i = 0; i < nr; i++) {
		ASSERT_TRUE(moved_at(pop_until_done, insn[i]));
		last = i == nr - 1;	/* committed: what is done stays done */
		EXPECT_EQ(RSEQ_DONE, s->outcome);
		EXPECT_EQ(3, s->popped);
		EXPECT_LE(!last, s->aborts);
		EXPECT_TRUE(only_changed(!last, 3 + UPOOL_MAG_POP));
		EXPECT_EQ(ME, s->tags[3].owner);
		EXPECT_EQ(OTHER, s->tags[2].owner);
	}
}

TEST_F_TIMEOUT(moved, push_gives_one, 300)
{
	const struct descriptor *d = sequence_in(push_once);
	unsigned int nr, i, last, cpu;
	uint64_t insn[MAX_INSNS];

	ASSERT_NE(NULL, d);
	nr = learn(push_until_done, d, insn);
	ASSERT_LE(8, nr);
	ASSERT_GT(MAX_INSNS, nr);
	for (i = 0; i < nr; i++) {
		ASSERT_TRUE(moved_at(push_until_done, insn[i]));
		last = i == nr - 1;
		cpu = !last;	/* 1, where it restarted */
		EXPECT_EQ(RSEQ_DONE, s->outcome);
		EXPECT_LE(!last, s->aborts);
		EXPECT_TRUE(only_changed(cpu, 3 + UPOOL_MAG_PUSH));
		EXPECT_EQ(5, mag_of(&s->m, cpu)->slot[3]);
		EXPECT_EQ(OTHER, s->tags[5].owner);
	}
}

/*
 * A pop that is cut off after it wrote the tag leaves its buffer "not held": its owner
 * is the one that was cut off, without the bit that says held.
 */
TEST_F_TIMEOUT(moved, cut_off_pop_holds_nothing, 300)
{
	const struct descriptor *d = sequence_in(pop_once);
	unsigned int nr, i, marked = 0;
	uint64_t insn[MAX_INSNS];

	ASSERT_NE(NULL, d);
	nr = learn(pop_until_done, d, insn);
	ASSERT_LE(10, nr);
	for (i = 0; i < nr - 1; i++) {
		ASSERT_TRUE(moved_at(pop_just_once, insn[i]));
		EXPECT_EQ(RSEQ_ABORTED, s->outcome);
		EXPECT_TRUE(only_changed(CPUS, 0));
		EXPECT_EQ(0, s->tags[3].owner & UPOOL_TAG_HELD);
		marked += s->tags[3].owner == ME;
	}
	EXPECT_LE(1, marked);
	EXPECT_GT(nr - 1, marked);
}

TEST_HARNESS_MAIN
