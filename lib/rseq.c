// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * rseq.c - uses the registration that libc made for every thread.
 * Owns: nothing; the area is libc's, the kernel reads rseq_cs in it.
 * Locks: none.  Entry: rseq.h.
 *
 * A thread has one registration.  Making our own would mean exit hooks in
 * threads that are not ours and a conflict with whoever else wants one.
 */
#include <stddef.h>
#include <string.h>
#include "arch/rseq_ops.h"
#include "rseq.h"
#include "sys.h"

extern const ptrdiff_t __rseq_offset __attribute__((weak));
extern const unsigned int __rseq_size __attribute__((weak));

intptr_t rseq_offset(void)
{
	return &__rseq_offset ? __rseq_offset : 0;
}

const char *rseq_unusable(void)
{
	const char *env;

#ifdef UPOOL_RSEQ_BLIND
	return UPOOL_RSEQ_BLIND;
#endif
	if (!UPOOL_RSEQ_ARCH)
		return "architecture";
	env = sys_env("UPOOL_BACKEND");
	if (env && !strcmp(env, "locked"))
		return "UPOOL_BACKEND=locked";
	env = sys_env("UPOOL_RSEQ");
	if (env && !strcmp(env, "0"))
		return "UPOOL_RSEQ=0";
	if (!&__rseq_offset || !&__rseq_size)
		return "libc without it";
	if (!__rseq_size) {
		env = sys_env("GLIBC_TUNABLES");
		if (!sys_has_rseq())
			return "ENOSYS";
		if (env && strstr(env, "glibc.pthread.rseq=0"))
			return "GLIBC_TUNABLES";
		return "not registered by libc";
	}
	if (rseq_cpu_id(__rseq_offset) < 0)
		return "thread not registered";
	return NULL;
}
