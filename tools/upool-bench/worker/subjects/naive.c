// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * naive.c - the list of naive pools.
 * Owns: the list.  Locks: none.  Entry: worker/main.c.
 */
#include "naive.h"

const struct subject *const bench_subjects[] = {
	&subject_mutex_stack,
	&subject_spin_arrays,
	&subject_lockfree_stack,
	&subject_lockfree_queue,
	&subject_slot_queue,
	&subject_mpmc_queue,
	&subject_percore_stacks,
	NULL,
};
