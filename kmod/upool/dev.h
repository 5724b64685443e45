/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * dev.h - one call of a command, between dev.c and join.c.
 * Owns: struct call.  Locks: none.  Entry: dev.c.
 */
#ifndef POOLMOD_UPOOL_DEV_H
#define POOLMOD_UPOOL_DEV_H

#include "internal.h"

/**
 * struct call - a command under way
 * @file:   it came through
 * @member: of @file
 * @att:    of @member, or NULL
 * @uarg:   the caller's struct
 * @arg:    our copy
 * @usize:  size of the caller's
 * @size:   size of ours
 */
struct call {
	struct file		*file;
	struct member		*member;
	struct attachment	*att;
	void __user		*uarg;
	void			*arg;
	u32			usize;
	u32			size;
};

int call_reply(struct call *c);

/* join.c */
int do_query(struct call *c);
int do_create(struct call *c);
int do_attach(struct call *c);
int do_reopen(struct call *c);

#endif /* POOLMOD_UPOOL_DEV_H */
