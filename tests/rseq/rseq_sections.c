// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * rseq_sections.c - every instruction of the restartable sequences is one before which
 * they can be interrupted, and they are what the kernel demands.
 *
 * The instructions are found by single-stepping, in a child whose registration is given
 * back: the kernel aborts nothing there.  A breakpoint at each, with a registration, is
 * then a signal exactly there.
 */
#include <linux/rseq.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>
#include <upool.h>
#include "kselftest_harness.h"
#include "side.h"

#define SIGNATURE	0x53053053u
#define AREA_BYTES	32
#define TRAP_FLAG	0x100
#define INT3		0xcc

extern struct rseq_cs __start___rseq_cs[], __stop___rseq_cs[];

/* [signal handler] what it found */
static struct {
	uintptr_t	ip[64];		/* instructions of the sequence, in order */
	int		nr;
	struct rseq_cs	cs;
} *trace;
static bool stepping;
static unsigned char *breakpoint, original;
static bool hit, resumed;

static unsigned char *area(void)
{
	return (unsigned char *)__builtin_thread_pointer() + rseq_offset();
}

static enum rseq_outcome __attribute__((noinline)) do_pop(struct side *s, uint32_t *idx)
{
	return rseq_mag_pop(&s->m, idx);
}

static enum rseq_outcome __attribute__((noinline)) do_push(struct side *s, uint32_t *idx)
{
	return rseq_mag_push(&s->m, *idx);
}

/* A path through a sequence: @count buffers are in the magazine. */
static const struct path {
	const char		*name;
	enum rseq_outcome	(*op)(struct side *s, uint32_t *idx);
	unsigned int		count;
	enum rseq_outcome	outcome;
	uint64_t		step;
} paths[] = {
	{ "pop", do_pop, 2, RSEQ_DONE, UPOOL_MAG_POP },
	{ "pop of the last", do_pop, 1, RSEQ_DONE, UPOOL_MAG_POP },
	{ "pop, empty", do_pop, 0, RSEQ_EMPTY, 0 },
	{ "push", do_push, 2, RSEQ_DONE, UPOOL_MAG_PUSH },
	{ "push, full", do_push, CAP, RSEQ_FULL, 0 },
	{ "push, damaged", do_push, CAP + 1, RSEQ_BAD, 0 },
};

static void side_prepare(struct side *s, unsigned int count)
{
	unsigned int i;

	side_init(s, 7);
	mag_of(&s->m, 0)->state = count;
	for (i = 0; i < count && i < CAP; i++)
		mag_of(&s->m, 0)->slot[i] = i + 10;
}

static void on_trap(int sig, siginfo_t *info, void *context)
{
	greg_t *regs = ((ucontext_t *)context)->uc_mcontext.gregs;
	uintptr_t ip = (uintptr_t)regs[REG_RIP];

	if (sig == SIGUSR1) {
		regs[REG_EFL] |= TRAP_FLAG;
	} else if (sig == SIGUSR2) {
		regs[REG_EFL] &= ~TRAP_FLAG;
	} else if (stepping) {
		if (ip - trace->cs.start_ip <= trace->cs.post_commit_offset && trace->nr < 64)
			trace->ip[trace->nr++] = ip;
	} else {
		*breakpoint = original;
		hit = true;
		if (ip == (uintptr_t)breakpoint + 1) {	/* in no sequence */
			regs[REG_RIP]--;
			resumed = true;
		}
	}
}

static void handle_traps(void)
{
	struct sigaction sa = { .sa_sigaction = on_trap, .sa_flags = SA_SIGINFO };

	sigaction(SIGTRAP, &sa, NULL);
	sigaction(SIGUSR1, &sa, NULL);
	sigaction(SIGUSR2, &sa, NULL);
}

static int unregister(int cpu)
{
	if (syscall(SYS_rseq, area(), AREA_BYTES, RSEQ_FLAG_UNREGISTER, SIGNATURE))
		return -1;
	((struct rseq *)area())->cpu_id = (uint32_t)cpu;
	return 0;
}

/* Child: step through the path once, and leave the instructions in the trace. */
static int find_instructions(struct side *s, const struct path *p)
{
	uint32_t idx = 5;

	if (unregister(0))
		return 1;
	side_prepare(s, p->count);
	p->op(s, &idx);
	trace->cs = *(struct rseq_cs *)(uintptr_t)((struct rseq *)area())->rseq_cs;
	side_prepare(s, p->count);
	handle_traps();
	stepping = true;
	raise(SIGUSR1);
	p->op(s, &idx);
	raise(SIGUSR2);
	return 0;
}

static int in_child(int (*fn)(struct side *s, const struct path *p), struct side *s,
		    const struct path *p)
{
	pid_t pid = fork();
	int status;

	if (!pid)
		_exit(fn(s, p));
	return waitpid(pid, &status, 0) == pid && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

FIXTURE(section)
{
	struct side *side;
};

FIXTURE_SETUP(section)
{
	if (rseq_unusable())
		SKIP(return, "%s", rseq_unusable());
	on_one_cpu(0);
	self->side = side_new(7);
	trace = mmap(NULL, sizeof(*trace), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		     -1, 0);
	ASSERT_NE(MAP_FAILED, (void *)trace);
}

FIXTURE_TEARDOWN(section)
{
	munmap(trace, sizeof(*trace));
	free(self->side);
}

static int make_writable(uintptr_t ip)
{
	uintptr_t page = ip & ~4095ul;

	return mprotect((void *)page, 8192, PROT_READ | PROT_WRITE | PROT_EXEC);
}

/* Take the path with a breakpoint at an instruction, until it is reached. */
static enum rseq_outcome interrupted_at(struct side *s, const struct path *p, uintptr_t ip,
					uint32_t *idx)
{
	enum rseq_outcome out;

	breakpoint = (unsigned char *)ip;
	original = *breakpoint;
	hit = resumed = false;
	do {
		side_prepare(s, p->count);
		*idx = 5;
		*breakpoint = INT3;
		out = p->op(s, idx);
	} while (!hit);
	return out;
}

static bool holds_nothing(const struct side *s)
{
	int i;

	for (i = 0; i < NR; i++)
		if (s->tags[i].word && s->tags[i].word != upool_tag(7, 0))
			return false;
	return true;
}

static void check_path(struct __test_metadata *_metadata, struct side *s, const struct path *p)
{
	enum rseq_outcome out;
	uint32_t idx;
	int i;

	ASSERT_EQ(0, in_child(find_instructions, s, p));
	ASSERT_LT(6, trace->nr);
	ASSERT_GT(64, trace->nr);
	ASSERT_EQ(0, make_writable(trace->cs.start_ip));
	handle_traps();
	for (i = 0; i < trace->nr; i++) {
		bool inside = trace->ip[i] - trace->cs.start_ip < trace->cs.post_commit_offset;

		out = interrupted_at(s, p, trace->ip[i], &idx);
		ASSERT_EQ(inside, !resumed) {
			TH_LOG("%s, instruction %d of %d", p->name, i, trace->nr);
		}
		ASSERT_EQ(inside ? RSEQ_ABORTED : p->outcome, out) {
			TH_LOG("%s, instruction %d of %d", p->name, i, trace->nr);
		}
		ASSERT_EQ(p->count + (inside ? 0 : p->step), mag_of(&s->m, 0)->state);
		ASSERT_TRUE(holds_nothing(s));
		while (out == RSEQ_ABORTED)
			out = p->op(s, &idx);
		ASSERT_EQ(p->outcome, out);
		ASSERT_EQ(p->count + p->step, mag_of(&s->m, 0)->state);
		if (p->op == do_pop && !out)
			ASSERT_EQ(p->count + 9, idx);
		if (p->op == do_push && !out)
			ASSERT_EQ(5, mag_of(&s->m, 0)->slot[p->count]);
	}
}

TEST_F(section, commits_once_wherever_it_is_interrupted)
{
	unsigned int i;

	for (i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		trace->nr = 0;
		check_path(_metadata, self->side, &paths[i]);
	}
}

/* Child: which byte beside rseq_cs a path wrote in the area, or 0. */
static int bytes_written(struct side *s, const struct path *p)
{
	unsigned char before[AREA_BYTES];
	uint32_t idx = 5;
	int i;

	if (unregister(0))
		return 100;
	for (i = 16; i < AREA_BYTES; i++)
		area()[i] = (unsigned char)(0x5a + i);
	((struct rseq *)area())->cpu_id_start = 0x12345678;
	memcpy(before, area(), AREA_BYTES);
	side_prepare(s, p->count);
	if (p->op(s, &idx) != p->outcome)
		return 101;
	if (!memcmp(before + 8, area() + 8, 8))
		return 102;	/* never armed */
	for (i = 0; i < AREA_BYTES; i++)
		if ((i < 8 || i > 15) && before[i] != area()[i])
			return i + 1;
	return 0;
}

TEST_F(section, writes_nothing_but_rseq_cs_in_the_area)
{
	const struct path *p;

	for (p = paths; p < paths + sizeof(paths) / sizeof(paths[0]); p++) {
		EXPECT_EQ(0, in_child(bytes_written, self->side, p)) {
			TH_LOG("path %d", (int)(p - paths));
		}
	}
}

TEST(descriptors_are_what_the_kernel_demands)
{
	const struct rseq_cs *cs;
	uint32_t signature;

	EXPECT_EQ(0, upool_close(NULL));	/* links the library's */
	EXPECT_NE(NULL, (void *)upool_alloc);
	EXPECT_LE(4, __stop___rseq_cs - __start___rseq_cs);
	for (cs = __start___rseq_cs; cs < __stop___rseq_cs; cs++) {
		EXPECT_EQ(0, (uintptr_t)cs % 32);
		EXPECT_EQ(0, cs->version);
		EXPECT_EQ(0, cs->flags);
		EXPECT_LT(0, cs->post_commit_offset);
		EXPECT_GT(256, cs->post_commit_offset);
		EXPECT_LE(cs->post_commit_offset, cs->abort_ip - cs->start_ip);
		memcpy(&signature, (void *)(uintptr_t)(cs->abort_ip - 4), 4);
		EXPECT_EQ(SIGNATURE, signature);
	}
}

TEST_HARNESS_MAIN
