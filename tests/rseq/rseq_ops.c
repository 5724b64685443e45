// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * rseq_ops.c - the restartable sequences do what the reference under a lock does, and
 * an abort at any instruction leaves the magazine as it was.
 */
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>
#include "kselftest_harness.h"
#include "arch/generic.h"
#include "rseq.h"

#define NR	64
#define CAP	16

struct side {
	struct mags		m;
	union tag		tags[NR];
	_Alignas(128) unsigned char mags[128 * 64];
};

static void side_init(struct side *s, uint32_t me)
{
	memset(s, 0, sizeof(*s));
	s->m.rseq_off = rseq_offset();
	s->m.mags = s->mags;
	s->m.tags = s->tags;
	s->m.stride = 128;
	s->m.nr_cpus = 64;
	s->m.cap = CAP;
	s->m.nr = NR;
	s->m.me = me;
}

static void on_one_cpu(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

FIXTURE(ops)
{
	struct side *fast, *ref;
	struct upool_magazine *fast_mag, *ref_mag;
};

FIXTURE_SETUP(ops)
{
	if (rseq_unusable())
		SKIP(return, "%s", rseq_unusable());
	on_one_cpu(0);
	self->fast = aligned_alloc(128, sizeof(struct side));
	self->ref = aligned_alloc(128, sizeof(struct side));
	side_init(self->fast, 7);
	side_init(self->ref, 7);
	self->fast_mag = mag_of(&self->fast->m, 0);
	self->ref_mag = mag_of(&self->ref->m, 0);
}

FIXTURE_TEARDOWN(ops)
{
	free(self->fast);
	free(self->ref);
}

static enum rseq_outcome pop(struct side *s, uint32_t *idx)
{
	enum rseq_outcome out;

	do
		out = rseq_mag_pop(&s->m, idx);
	while (out == RSEQ_ABORTED);
	return out;
}

static enum rseq_outcome push(struct side *s, uint32_t idx)
{
	enum rseq_outcome out;

	do
		out = rseq_mag_push(&s->m, idx);
	while (out == RSEQ_ABORTED);
	return out;
}

TEST_F(ops, equal_the_reference)
{
	unsigned int seed = 1, i;
	uint32_t a = 0, b = 0, idx;

	for (i = 0; i < 1000000; i++) {
		idx = rand_r(&seed) % NR;
		if (i % 4096 == 0)	/* damage, the same on both sides */
			self->fast_mag->state = self->ref_mag->state =
				(uint64_t)rand_r(&seed) % 65536;
		if (i % 4096 == 1)
			self->fast_mag->state = self->ref_mag->state = 0;
		if (i % 512 == 2)
			self->fast_mag->slot[idx % CAP] = self->ref_mag->slot[idx % CAP] = NR + idx;
		if (i % 512 == 40)
			self->fast_mag->state = self->ref_mag->state = 0;
		if (rand_r(&seed) % 2) {
			ASSERT_EQ(generic_mag_push(&self->ref->m, self->ref_mag, idx),
				  push(self->fast, idx));
		} else {
			ASSERT_EQ(generic_mag_pop(&self->ref->m, self->ref_mag, &a),
				  pop(self->fast, &b));
			ASSERT_EQ(a, b);
		}
		ASSERT_EQ(0, memcmp(self->ref_mag, self->fast_mag, 128));
	}
	EXPECT_EQ(0, memcmp(self->ref->tags, self->fast->tags, sizeof(self->ref->tags)));
}

TEST_F(ops, refuse_a_cpu_beyond_the_magazines)
{
	uint32_t idx;

	self->fast->m.nr_cpus = 0;
	EXPECT_EQ(RSEQ_NOCPU, pop(self->fast, &idx));
	EXPECT_EQ(RSEQ_NOCPU, push(self->fast, 1));
}

/* One operation of each kind, with a trap before and after. */
static int stepped(struct side *s)
{
	enum rseq_outcome out;
	uint32_t idx = 99;

	raise(SIGSTOP);
	out = rseq_mag_push(&s->m, 5);
	if (out == RSEQ_ABORTED) {
		if (s->m.mags[0] != 1)
			return 1;
	} else if (out != RSEQ_DONE || mag_of(&s->m, 0)->state != 2 ||
		   mag_of(&s->m, 0)->slot[1] != 5) {
		return 2;
	}
	mag_of(&s->m, 0)->state = 1;
	out = rseq_mag_pop(&s->m, &idx);
	if (out == RSEQ_ABORTED)
		return mag_of(&s->m, 0)->state == 1 ? 0 : 3;
	return out == RSEQ_DONE && idx == 3 && mag_of(&s->m, 0)->state == UPOOL_MAG_POP + 1 ? 0 : 4;
}

static void on_signal(int sig)
{
}

/* Step @steps instructions, then a signal: the sequence aborts there if it is in one. */
static int with_signal_after(struct side *s, int steps, bool *ended)
{
	int status, i;
	pid_t pid = fork();

	if (!pid) {
		signal(SIGUSR1, on_signal);
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		_exit(stepped(s));
	}
	waitpid(pid, &status, 0);	/* SIGSTOP */
	for (i = 0; i < steps && !WIFEXITED(status); i++) {
		ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL);
		waitpid(pid, &status, 0);
	}
	*ended = WIFEXITED(status);
	if (!*ended) {
		ptrace(PTRACE_DETACH, pid, NULL, (void *)SIGUSR1);
		waitpid(pid, &status, 0);
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1000;
}

TEST_F_TIMEOUT(ops, survive_a_signal_at_any_instruction, 300)
{
	const char *scale = getenv("UPOOL_TEST_SCALE");
	int steps, stride = scale && atoi(scale) < 10 ? 9 : 1;	/* slow kernels: some */
	bool ended = false;

	self->fast_mag->state = 1;
	self->fast_mag->slot[0] = 3;
	for (steps = 1; steps < 400 && !ended; steps += stride)
		ASSERT_EQ(0, with_signal_after(self->fast, steps, &ended)) {
			TH_LOG("after %d instructions", steps);
		}
}

TEST_HARNESS_MAIN
