// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * naive_lockfree_queue.c - a linked queue changed by compare-and-swap (Michael, Scott).
 * Owns: nodes of one class.  Locks: none.  Entry: naive.c.
 *
 * A reference is a node's index and a count against seeing it twice.  Free nodes are
 * on a stack of the same kind.  One class is made: of the size that is asked for.
 */
#include <stdint.h>
#include <sys/mman.h>
#include "naive.h"

#define NODES	(1u << 18)
#define NONE	(NODES)

struct node {
	_Atomic uint64_t	next;	/* [atomic] reference of the next in queue or stack */
	_Atomic(void *)		buf;	/* [atomic] */
};

static struct {
	_Atomic uint64_t head NAIVE_LINE;	/* [atomic] node whose buffer is gone */
	_Atomic uint64_t tail NAIVE_LINE;	/* [atomic] last node, or one before */
	_Atomic uint64_t free NAIVE_LINE;	/* [atomic] stack of nodes */
	struct node	*node NAIVE_LINE;	/* [const] after init */
} queue;

static inline unsigned int ref_index(uint64_t ref)
{
	return (unsigned int)ref;
}

/* A reference to @idx that differs from @old. */
static inline uint64_t ref_after(uint64_t old, unsigned int idx)
{
	return (((old >> 32) + 1) << 32) | idx;
}

static inline int ref_swap(_Atomic uint64_t *at, uint64_t old, unsigned int idx)
{
	return atomic_compare_exchange_strong_explicit(at, &old, ref_after(old, idx),
						       memory_order_acq_rel,
						       memory_order_relaxed);
}

static inline uint64_t ref_load(_Atomic uint64_t *at)
{
	return atomic_load_explicit(at, memory_order_acquire);
}

static inline unsigned int node_pop(void)
{
	uint64_t top;

	do {
		top = ref_load(&queue.free);
		if (ref_index(top) == NONE)
			return NONE;
	} while (!ref_swap(&queue.free, top, ref_index(ref_load(&queue.node[ref_index(top)].next))));
	return ref_index(top);
}

static inline void node_push(unsigned int idx)
{
	uint64_t top, next = ref_load(&queue.node[idx].next);

	do {
		top = ref_load(&queue.free);
		atomic_store_explicit(&queue.node[idx].next, ref_after(next, ref_index(top)),
				      memory_order_relaxed);
	} while (!ref_swap(&queue.free, top, idx));
}

static inline void *lockfree_queue_alloc(size_t bytes)
{
	for (;;) {
		const uint64_t head = ref_load(&queue.head);
		const uint64_t tail = ref_load(&queue.tail);
		const uint64_t next = ref_load(&queue.node[ref_index(head)].next);
		void *buf;

		if (head != ref_load(&queue.head))
			continue;
		if (ref_index(next) == NONE)
			return naive_miss(naive_class(bytes));
		if (ref_index(head) == ref_index(tail)) {
			ref_swap(&queue.tail, tail, ref_index(next));
			continue;
		}
		buf = atomic_load_explicit(&queue.node[ref_index(next)].buf, memory_order_relaxed);
		if (ref_swap(&queue.head, head, ref_index(next))) {
			node_push(ref_index(head));
			return buf;
		}
	}
}

static inline void lockfree_queue_free(void *buf, size_t bytes)
{
	const unsigned int idx = node_pop();
	struct node *n = &queue.node[idx];

	(void)bytes;
	if (idx == NONE) {
		naive_full(buf);
		return;
	}
	atomic_store_explicit(&n->buf, buf, memory_order_relaxed);
	atomic_store_explicit(&n->next, ref_after(ref_load(&n->next), NONE), memory_order_relaxed);
	for (;;) {
		const uint64_t tail = ref_load(&queue.tail);
		_Atomic uint64_t *last = &queue.node[ref_index(tail)].next;
		const uint64_t next = ref_load(last);

		if (tail != ref_load(&queue.tail))
			continue;
		if (ref_index(next) != NONE) {
			ref_swap(&queue.tail, tail, ref_index(next));
		} else if (ref_swap(last, next, idx)) {
			ref_swap(&queue.tail, tail, idx);
			return;
		}
	}
}

#define SUBJECT lockfree_queue
#include "../loops.h"

static const char *lockfree_queue_init(const struct shape *shape)
{
	unsigned int i;

	(void)shape;
	queue.node = mmap(NULL, (NODES + 1) * sizeof(*queue.node), PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (queue.node == MAP_FAILED)
		return "no memory";
	/* Node 0 is the queue's first; the others are free. */
	for (i = 0; i < NODES; i++)
		atomic_init(&queue.node[i].next, i == 0 || i + 1 == NODES ? NONE : i + 1);
	atomic_init(&queue.free, 1);
	return NULL;
}

const struct subject subject_lockfree_queue = {
	.name = "lockfree-queue",
	.init = lockfree_queue_init,
	.loops = &lockfree_queue_loops,
};
