// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * shared.c - makes the memory that the processes of one pass have in common.
 * Owns: nothing.  Locks: none.  Entry: run.c.
 */
#include <errno.h>
#include <sys/mman.h>
#include "shared.h"

static uint64_t power_of_two(uint64_t at_least)
{
	uint64_t n = 1;

	while (n < at_least)
		n *= 2;
	return n;
}

int shared_map(struct job *job)
{
	uint64_t cap = power_of_two((uint64_t)job->credits + job->window + 1);	/* S1 */
	size_t slots = (size_t)job->window * sizeof(struct slot);
	size_t ring = cap * sizeof(struct chunk);
	size_t bytes = sizeof(struct shared) + slots + ring * job->nr_workers;
	struct shared *s;
	char *at;
	unsigned int i;

	/* inherited at the same address, so pointers into it are good everywhere */
	s = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE,
		 -1, 0);
	if (s == MAP_FAILED)
		return -errno;
	s->map_bytes = bytes;
	s->ring_cap = cap;
	s->slot = (struct slot *)(s + 1);
	at = (char *)s->slot + slots;
	for (i = 0; i < job->nr_workers; i++, at += ring)
		s->ring[i].entry = (struct chunk *)at;
	job->shared = s;
	return 0;
}

void shared_unmap(struct job *job)
{
	munmap(job->shared, job->shared->map_bytes);
	job->shared = NULL;
}
