/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * planted.h - deliberate bugs, each for one checker of the debug kernel.
 */
#ifndef PLANTED_H
#define PLANTED_H

struct planted_bug {
	const char *name;
	void (*plant)(void);
};

/* Both end with an entry without a name. */
extern const struct planted_bug planted_memory[];
extern const struct planted_bug planted_locking[];

#endif
