/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * loops.h - the measured loops, compiled into each subject.
 * Owns: nothing.  Locks: none.  Entry: a subject's file, which includes it for each
 * of its subjects, with SUBJECT defined to the prefix of its functions.
 *
 * Gives: static const struct loops <subject>_loops.
 */
#include <string.h>
#include "subject.h"
#include "worker.h"

#ifndef UPOOL_BENCH_LOOPS_ONCE
#define UPOOL_BENCH_LOOPS_ONCE

#define LOOP_PASTE(a, b)	a##b
#define LOOP_JOIN(a, b)		LOOP_PASTE(a, b)
#define LOOP_NAME(verb)		LOOP_JOIN(SUBJECT, verb)
#define LOOP_FUNC		static __attribute__((noinline, aligned(64))) void

/* Instructions before a loop: the layouts of one row differ in them only. */
#ifndef BENCH_LAYOUT
#define BENCH_LAYOUT	0
#endif
#define LOOP_TEXT2(x)	#x
#define LOOP_TEXT(x)	LOOP_TEXT2(x)
#define LOOP_SHIFT() \
	__asm__ __volatile__(".rept " LOOP_TEXT(BENCH_LAYOUT) "\n\tnop\n\t.endr" : : : "memory")

/* The buffer escapes: neither the pair nor its stores can be optimised away. */
static inline void loop_use(void *buf)
{
	__asm__ __volatile__("" : : "r"(buf) : "memory");
}

static inline void *loop_must(void *buf)
{
	if (__builtin_expect(!buf, 0))
		worker_die("the subject has no buffer left");
	loop_use(buf);
	return buf;
}
#endif

LOOP_FUNC LOOP_NAME(_pair)(size_t bytes, size_t n)
{
	LOOP_SHIFT();
	while (n--)
		LOOP_NAME(_free)(loop_must(LOOP_NAME(_alloc)(bytes)), bytes);
}

LOOP_FUNC LOOP_NAME(_hold)(size_t bytes, size_t n)
{
	void *held[HOLD_BUFFERS];
	size_t i;

	for (i = 0; i < HOLD_BUFFERS; i++)
		held[i] = loop_must(LOOP_NAME(_alloc)(bytes));
	LOOP_SHIFT();
	for (i = 0; i < n; i++) {
		void **oldest = &held[i % HOLD_BUFFERS];

		LOOP_NAME(_free)(*oldest, bytes);
		*oldest = loop_must(LOOP_NAME(_alloc)(bytes));
	}
	for (i = 0; i < HOLD_BUFFERS; i++)
		LOOP_NAME(_free)(held[i], bytes);
}

LOOP_FUNC LOOP_NAME(_touch)(size_t bytes, size_t n)
{
	size_t off;

	while (n--) {
		char *buf = loop_must(LOOP_NAME(_alloc)(bytes));

		for (off = 0; off < bytes; off += 4096)
			*(volatile char *)(buf + off) = 1;
		LOOP_NAME(_free)(buf, bytes);
	}
}

LOOP_FUNC LOOP_NAME(_fill)(size_t bytes, size_t n, unsigned int nr_bufs)
{
	while (n--) {
		void *a = loop_must(LOOP_NAME(_alloc)(bytes));
		void *b = nr_bufs > 1 ? loop_must(LOOP_NAME(_alloc)(bytes)) : NULL;

		memset(a, (int)n, bytes);
		loop_use(a);
		if (b) {
			memset(b, (int)n, bytes);
			loop_use(b);
			LOOP_NAME(_free)(b, bytes);
		}
		LOOP_NAME(_free)(a, bytes);
	}
}

LOOP_FUNC LOOP_NAME(_take)(size_t bytes, void **bufs, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		bufs[i] = loop_must(LOOP_NAME(_alloc)(bytes));
		memset(bufs[i], (int)i, bytes);
	}
}

LOOP_FUNC LOOP_NAME(_give)(size_t bytes, void **bufs, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		LOOP_NAME(_free)(bufs[i], bytes);
}

LOOP_FUNC LOOP_NAME(_produce)(size_t bytes, struct ring *ring, size_t n)
{
	unsigned int spins = 0;

	while (n--) {
		void *buf = LOOP_NAME(_alloc)(bytes);

		/* Only a subject of fixed size: all are on their way. */
		while (__builtin_expect(!buf, 0)) {
			ring_publish(ring);
			ring_wait(&spins);
			buf = LOOP_NAME(_alloc)(bytes);
		}
		loop_use(buf);
		ring_send(ring, buf);
	}
	ring_publish(ring);
}

LOOP_FUNC LOOP_NAME(_consume)(size_t bytes, struct ring *ring, size_t n)
{
	while (n--) {
		void *buf = ring_receive(ring);

		loop_use(buf);
		LOOP_NAME(_free)(buf, bytes);
	}
}

static const struct loops LOOP_NAME(_loops) = {
	.pair = LOOP_NAME(_pair),
	.hold = LOOP_NAME(_hold),
	.touch = LOOP_NAME(_touch),
	.fill = LOOP_NAME(_fill),
	.take = LOOP_NAME(_take),
	.give = LOOP_NAME(_give),
	.produce = LOOP_NAME(_produce),
	.consume = LOOP_NAME(_consume),
};

#undef SUBJECT
