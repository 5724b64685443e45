// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * device.c - pools of /dev/upool: the operations, each one system call.
 * Owns: nothing; the depot is the kernel's.  Locks: none.  Entry: struct backing.
 */
#include <string.h>
#include "device.h"
#include "sys.h"

/* Every struct starts with its size. */
#define CALL(p, cmd, arg)	((arg)->size = sizeof(*(arg)), sys_ioctl((p)->fd, cmd, arg))

static uint32_t half(const struct upool *p)
{
	return p->hot.cap / 2 ? p->hot.cap / 2 : 1;
}

static int device_refill(struct upool *p, uint32_t *idx)
{
	struct upool_batch b = { .nr = half(p) };

	(void)idx;
	local_add(p, LOCAL_syscalls, 1);
	UPOOL_INJECT(REFILL);
	return CALL(p, UPOOL_IOC_REFILL, &b);
}

static int device_flush(struct upool *p)
{
	struct upool_batch b = { .nr = half(p) };

	local_add(p, LOCAL_syscalls, 1);
	UPOOL_INJECT(FLUSH);
	return CALL(p, UPOOL_IOC_FLUSH, &b);
}

static int pop_once(struct upool *p, uint32_t *idx, int timeout_ms)
{
	struct upool_pop b = { .timeout_ms = timeout_ms };
	int ret;

	local_add(p, LOCAL_syscalls, 1);
	ret = CALL(p, UPOOL_IOC_POP, &b);
	if (ret)
		return ret;
	if (b.index >= p->hot.nr)
		return -EPROTO;
	*idx = b.index;
	return 0;
}

/* A signal handler's return does not end the wait; that others were quicker neither. */
static int device_take(struct upool *p, uint32_t *idx, int timeout_ms)
{
	uint64_t end = timeout_ms > 0 ? sys_now_ms() + (uint64_t)timeout_ms : 0, now;
	int ret, round;

	if (!timeout_ms) {
		for (round = 0; round < UPOOL_MAX_ROUNDS; round++) {
			ret = pop_once(p, idx, 0);
			if (ret != -EAGAIN)
				break;
		}
		return ret;
	}
	for (;;) {
		ret = pop_once(p, idx, timeout_ms);
		if (ret != -EINTR && ret != -EAGAIN)
			return ret;
		if (timeout_ms < 0)
			continue;
		now = sys_now_ms();
		if (now >= end)
			return -ETIMEDOUT;
		timeout_ms = (int)(end - now);
	}
}

static int device_put(struct upool *p, uint32_t idx)
{
	struct upool_push b = { .index = idx };

	local_add(p, LOCAL_syscalls, 1);
	return CALL(p, UPOOL_IOC_PUSH, &b);
}

static int device_stats(const struct upool *p, struct upool_pool_stats *st)
{
	struct upool_stat b;
	int ret;

	memset(&b, 0, sizeof(b));
	ret = CALL(p, UPOOL_IOC_STAT, &b);
	if (!ret)
		*st = b.stats;
	return ret;
}

static int device_destroy(struct upool *p)
{
	struct upool_destroy b = { .flags = 0 };

	return CALL(p, UPOOL_IOC_DESTROY, &b);
}

static size_t device_trim(struct upool *p, size_t keep_bytes)
{
	struct upool_trim b = { .keep_bytes = keep_bytes };

	return CALL(p, UPOOL_IOC_TRIM, &b) ? 0 : (size_t)b.nr_trimmed_bytes;
}

/* The attachment ends with the mapping of the control area. */
static void device_detach(struct upool *p)
{
	(void)p;
}

const struct backing device_backing = {
	.refill = device_refill,
	.take = device_take,
	.flush = device_flush,
	.put = device_put,
	.stats = device_stats,
	.destroy = device_destroy,
	.trim = device_trim,
	.detach = device_detach,
};
