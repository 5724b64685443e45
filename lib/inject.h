/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * inject.h - where tests widen race windows; empty in production.
 * Owns: the list of points.  Locks: none.  Entry: slow paths, arch/.
 *
 * With -DUPOOL_TEST (libupool-test.a) the test defines upool_test_inject(),
 * called at the points below, and upool_test_delay[], loops to spin at the
 * places 0 (cpu_id loaded), 1 (state loaded) and 2 (before the commit) of the
 * restartable sequences.
 */
#ifndef UPOOL_INJECT_H
#define UPOOL_INJECT_H

#include <stdint.h>

enum upool_inject {
	UPOOL_INJECT_FREED,		/* free: tag says not held, not pushed yet */
	UPOOL_INJECT_REFILL,		/* batch taken from the depot, in no layer */
	UPOOL_INJECT_FLUSH,		/* batch taken from a magazine, in no layer */
	UPOOL_INJECT_LOCKED,		/* a magazine's lock is held */
	UPOOL_INJECT_DEPOT,		/* the depot's lock is held, list half changed */
	UPOOL_INJECT_STEAL,		/* moved to another CPU */
	UPOOL_INJECT_ACCEPT,		/* tag read, not yet exchanged */
	UPOOL_INJECT_NR,
};

#ifdef UPOOL_TEST

void upool_test_inject(enum upool_inject point);
extern uint32_t upool_test_delay[3];

#define UPOOL_INJECT(point)	upool_test_inject(UPOOL_INJECT_##point)

#define RSEQ_INJECT(place)					\
	"movl upool_test_delay+4*" #place "(%%rip), %%r11d\n"	\
	"99:\n\t"						\
	"subl $1, %%r11d\n\t"					\
	"jns 99b\n\t"
#define RSEQ_INJECT_CLOBBER	, "r11"

#else

#define UPOOL_INJECT(point)	((void)0)
#define RSEQ_INJECT(place)	""
#define RSEQ_INJECT_CLOBBER

#endif

#endif /* UPOOL_INJECT_H */
