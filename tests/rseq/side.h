/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * side.h - magazines and tags in private memory, for the sequences to work on.
 */
#ifndef RSEQ_SIDE_H
#define RSEQ_SIDE_H

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include "arch/rseq_ops.h"
#include "rseq.h"

#define NR	64
#define CAP	16

struct side {
	struct mags		m;
	union tag		tags[NR];
	_Alignas(128) unsigned char mags[128 * 64];
};

static inline void side_init(struct side *s, uint32_t me)
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

static inline struct side *side_new(uint32_t me)
{
	struct side *s = aligned_alloc(128, sizeof(struct side));

	if (s)
		side_init(s, me);
	return s;
}

static inline void on_one_cpu(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

#endif /* RSEQ_SIDE_H */
