// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * urcu.c - free lists of liburcu, malloc behind them: lfstack and wfcqueue.
 * Owns: one list.  Locks: the lists' own, for taking.  Entry: worker/main.c.
 *
 * A buffer that comes straight back could be taken twice without a lock or a grace
 * period: of the ways to take, the blocking one is right here.
 */
#include "../subject.h"

#if __has_include(<urcu/lfstack.h>) && __has_include(<urcu/wfcqueue.h>)
#define _LGPL_SOURCE
#include <stdlib.h>
#include <urcu/lfstack.h>
#include <urcu/wfcqueue.h>

static struct cds_lfs_stack lfs __attribute__((aligned(128)));
static struct cds_wfcq_head wfcq_head __attribute__((aligned(128)));
static struct cds_wfcq_tail wfcq_tail __attribute__((aligned(128)));

static inline void *lfstack_alloc(size_t bytes)
{
	struct cds_lfs_node *node = cds_lfs_pop_blocking(&lfs);

	return node ? (void *)node : malloc(bytes);
}

static inline void lfstack_free(void *buf, size_t bytes)
{
	struct cds_lfs_node *node = buf;

	(void)bytes;
	cds_lfs_node_init(node);
	cds_lfs_push(&lfs, node);
}

#define SUBJECT lfstack
#include "../loops.h"

static inline void *wfcqueue_alloc(size_t bytes)
{
	struct cds_wfcq_node *node = cds_wfcq_dequeue_blocking(&wfcq_head, &wfcq_tail);

	return node ? (void *)node : malloc(bytes);
}

static inline void wfcqueue_free(void *buf, size_t bytes)
{
	struct cds_wfcq_node *node = buf;

	(void)bytes;
	cds_wfcq_node_init(node);
	cds_wfcq_enqueue(&wfcq_head, &wfcq_tail, node);
}

#define SUBJECT wfcqueue
#include "../loops.h"

static const char *urcu_init(const struct shape *shape)
{
	(void)shape;
	cds_lfs_init(&lfs);
	cds_wfcq_init(&wfcq_head, &wfcq_tail);
	return NULL;
}

#define LFSTACK_LOOPS	(&lfstack_loops)
#define WFCQUEUE_LOOPS	(&wfcqueue_loops)
#else
#define LFSTACK_LOOPS	NULL
#define WFCQUEUE_LOOPS	NULL

static const char *urcu_init(const struct shape *shape)
{
	(void)shape;
	return "built without liburcu-dev";
}
#endif

static const struct subject subject_lfstack = {
	.name = "urcu-lfstack",
	.init = urcu_init,
	.loops = LFSTACK_LOOPS,
};

static const struct subject subject_wfcqueue = {
	.name = "urcu-wfcqueue",
	.init = urcu_init,
	.loops = WFCQUEUE_LOOPS,
};

const struct subject *const bench_subjects[] = { &subject_lfstack, &subject_wfcqueue, NULL };
