// SPDX-License-Identifier: GPL-2.0-only
/*
 * quota.c - bytes and pools per user id and in total.
 * Owns: struct quota, the totals.  Locks: the caller's pools_mutex.  Entry: pool.c.
 *
 * What is charged is what a pool can come to, not what is resident: control area
 * and buffers.  Pages themselves are charged to cgroups by the kernel.
 */
#include <linux/list.h>
#include <linux/slab.h>
#include "internal.h"

/**
 * struct quota - what one user id has	[pools_mutex]
 * @node:     in quotas
 * @uid:      whose
 * @bytes:    of all its pools
 * @nr_pools: its pools
 */
struct quota {
	struct list_head	node;
	kuid_t			uid;
	u64			bytes;
	unsigned int		nr_pools;
};

static LIST_HEAD(quotas);	/* [pools_mutex] */
static u64 total_bytes;		/* [pools_mutex] */

static struct quota *quota_find(kuid_t uid)
{
	struct quota *q;

	list_for_each_entry(q, &quotas, node)
		if (uid_eq(q->uid, uid))
			return q;
	return NULL;
}

static int refuse(struct upool_limit *limit, u32 which, u64 needed, u64 value)
{
	limit->which = which;
	limit->needed = needed;
	limit->limit = value;
	return -EDQUOT;
}

/**
 * quota_check_control() - whether a control area is not too large
 * @bytes: of it
 * @limit: filled with -EDQUOT
 * Return: 0 or -EDQUOT
 */
int quota_check_control(u64 bytes, struct upool_limit *limit)
{
	u64 max = READ_ONCE(max_control_bytes);

	return bytes > max ? refuse(limit, UPOOL_LIMIT_CONTROL, bytes, max) : 0;
}

/**
 * quota_charge() - charge a new pool
 * @uid:   to whom
 * @bytes: how much
 * @q:     receives the entry to uncharge
 * @limit: filled with -EDQUOT
 * Return: 0, -EDQUOT, -ENOMEM
 */
int quota_charge(kuid_t uid, u64 bytes, struct quota **q, struct upool_limit *limit)
{
	u64 user_max = READ_ONCE(max_user_bytes), total_max = READ_ONCE(max_total_bytes);
	unsigned int pools_max = READ_ONCE(max_user_pools), nr;
	struct quota *mine = quota_find(uid);
	u64 have = mine ? mine->bytes : 0;

	nr = mine ? mine->nr_pools : 0;
	if (nr >= pools_max)
		return refuse(limit, UPOOL_LIMIT_USER_POOLS, nr + 1, pools_max);
	if (have + bytes > user_max)
		return refuse(limit, UPOOL_LIMIT_USER_BYTES, have + bytes, user_max);
	if (total_bytes + bytes > total_max)
		return refuse(limit, UPOOL_LIMIT_TOTAL_BYTES, total_bytes + bytes, total_max);

	if (!mine) {
		mine = kzalloc(sizeof(*mine), GFP_KERNEL_ACCOUNT);
		if (!mine)
			return -ENOMEM;
		mine->uid = uid;
		list_add(&mine->node, &quotas);
	}
	mine->bytes += bytes;
	mine->nr_pools++;
	total_bytes += bytes;
	*q = mine;
	return 0;
}

/**
 * quota_uncharge() - a pool is gone
 * @q:     from quota_charge()
 * @bytes: as charged
 */
void quota_uncharge(struct quota *q, u64 bytes)
{
	total_bytes -= bytes;
	q->bytes -= bytes;
	if (--q->nr_pools)
		return;
	list_del(&q->node);
	kfree(q);
}

/**
 * quota_left() - what a user id can still be charged
 * @uid: who
 * Return: bytes
 */
u64 quota_left(kuid_t uid)
{
	u64 user_max = READ_ONCE(max_user_bytes), total_max = READ_ONCE(max_total_bytes);
	struct quota *mine = quota_find(uid);
	u64 have = mine ? mine->bytes : 0;

	if (mine && mine->nr_pools >= READ_ONCE(max_user_pools))
		return 0;
	user_max -= min(user_max, have);
	total_max -= min(total_max, total_bytes);
	return min(user_max, total_max);
}
