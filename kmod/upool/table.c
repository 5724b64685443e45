// SPDX-License-Identifier: GPL-2.0-only
/*
 * table.c - every pool there is: names, permissions, publication, destruction.
 * Owns: the list of pools and their states.  Locks: pools_mutex, depot->lock.
 * Entry: pool.c, join.c, dev.c, main.c.
 */
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/jiffies.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/string.h>
#include "internal.h"
#include "trace.h"

#define BUILD_WAIT	(10 * HZ)	/* for another call that is making a pool of our name */

static DEFINE_MUTEX(pools_mutex);
static LIST_HEAD(pools);		/* [pools_mutex] */
static u64 last_pool_id;		/* [pools_mutex] */
static atomic_t nr_changes;		/* pools that left POOL_BUILDING */
static DECLARE_WAIT_QUEUE_HEAD(changes_wait);

/* A pool ends with its last attachment, even before it is freed. */
static bool pool_alive(const struct pool *pool)
{
	return READ_ONCE(pool->persist) || READ_ONCE(pool->nr_attachments);
}

static bool pool_ended(const struct pool *pool)
{
	return pool->state != POOL_BUILDING && !pool_alive(pool);
}

/* The pool that has the name, or is about to. */
static struct pool *name_holder(kuid_t uid, const char *name)
{
	struct pool *pool;

	lockdep_assert_held(&pools_mutex);
	list_for_each_entry(pool, &pools, node) {
		if (!uid_eq(pool->uid, uid) || strcmp(pool->name, name))
			continue;
		if (pool->state == POOL_BUILDING)
			return pool;
		if (pool->state == POOL_PUBLISHED && !READ_ONCE(pool->destroyed) &&
		    pool_alive(pool))
			return pool;
	}
	return NULL;
}

static bool user_has_ended_pools(kuid_t uid)
{
	struct pool *pool;

	list_for_each_entry(pool, &pools, node)
		if (uid_eq(pool->uid, uid) && pool_ended(pool))
			return true;
	return false;
}

/* -EINPROGRESS: somebody else is making a pool of that name. */
static int enter_locked(struct pool *pool, struct upool_limit *limit)
{
	struct pool *holder = pool->name[0] ? name_holder(pool->uid, pool->name) : NULL;
	int ret;

	if (holder)
		return holder->state == POOL_BUILDING ? -EINPROGRESS : -EEXIST;
	ret = quota_charge(pool->uid, pool->charged, &pool->quota, limit);
	if (ret)
		return ret;
	pool->id = ++last_pool_id;
	list_add_tail(&pool->node, &pools);
	return 0;
}

/**
 * table_enter() - charge a pool and reserve its name, before it takes any memory
 * @pool:  in POOL_BUILDING, @charged set
 * @limit: filled with -EDQUOT
 *
 * Pools that have ended give their share back only when they are freed: that is
 * waited for, so that a user can end a pool and make the next at the limit.
 *
 * Context: process; sleeps.
 * Return: 0; -EEXIST, -EDQUOT, -ENOMEM; -EINTR killed while waiting for another
 * call that is making a pool of that name
 */
int table_enter(struct pool *pool, struct upool_limit *limit)
{
	bool settled = false, settle;
	long left = BUILD_WAIT;
	int ret, seen;

	for (;;) {
		seen = atomic_read(&nr_changes);
		mutex_lock(&pools_mutex);
		settle = !settled && user_has_ended_pools(pool->uid);
		ret = settle ? 0 : enter_locked(pool, limit);
		mutex_unlock(&pools_mutex);
		if (settle || (ret == -EDQUOT && !settled)) {
			memset(limit, 0, sizeof(*limit));
			flush_workqueue(upool_wq);
			flush_workqueue(upool_wq);	/* recoveries first, final puts next */
			settled = true;
			continue;
		}
		if (ret != -EINPROGRESS)
			return ret;
		left = wait_event_killable_timeout(changes_wait, atomic_read(&nr_changes) != seen,
						   left);
		if (left <= 0)
			return left ? -EINTR : -EEXIST;
	}
}

static void note_change(void)
{
	atomic_inc(&nr_changes);
	wake_up_all(&changes_wait);
}

/**
 * table_leave() - give a pool's share back, once its memory is gone
 * @pool: in POOL_FREEING
 * Context: process; may sleep.
 */
void table_leave(struct pool *pool)
{
	mutex_lock(&pools_mutex);
	list_del(&pool->node);
	quota_uncharge(pool->quota, pool->charged);
	mutex_unlock(&pools_mutex);
	note_change();
}

/**
 * pool_publish() - let others find the pool, and its statistics
 * @pool: attached, its result copied out
 * Context: process; may sleep.
 * Return: 0 or -ENOMEM
 */
int pool_publish(struct pool *pool)
{
	struct pool_dir *dir = pool_dir_create(pool);

	if (IS_ERR(dir))
		return PTR_ERR(dir);
	mutex_lock(&pools_mutex);
	pool->state = POOL_PUBLISHED;
	pool->dir = dir;
	if (pool->flags & UPOOL_CREATE_F_PERSIST) {
		kref_get(&pool->ref);
		WRITE_ONCE(pool->persist, true);
	}
	mutex_unlock(&pools_mutex);
	note_change();
	return 0;
}

/**
 * pool_unlink() - take the pool's name, directory and persistence away
 * @pool: referenced by the caller, or being freed
 * @next: POOL_UNLINKED or POOL_FREEING
 * Context: process; may sleep.
 */
void pool_unlink(struct pool *pool, enum pool_state next)
{
	struct pool_dir *dir;
	bool persist;

	mutex_lock(&pools_mutex);
	pool->state = next;
	persist = pool->persist;
	WRITE_ONCE(pool->persist, false);
	dir = pool->dir;
	pool->dir = NULL;
	mutex_unlock(&pools_mutex);

	note_change();
	pool_dir_remove(dir);
	if (persist)
		pool_put(pool);
}

/**
 * pool_find() - look a name up
 * @uid:  creator
 * @name: zero-terminated
 * Context: process; may sleep.
 * Return: the pool, referenced, or NULL
 */
struct pool *pool_find(kuid_t uid, const char *name)
{
	struct pool *pool;

	mutex_lock(&pools_mutex);
	pool = name_holder(uid, name);
	if (pool && (pool->state != POOL_PUBLISHED || !kref_get_unless_zero(&pool->ref)))
		pool = NULL;
	mutex_unlock(&pools_mutex);
	return pool;
}

/**
 * pool_may_attach() - whether the pool's mode admits the caller
 * @pool: a pool found by name
 * Return: whether it does
 */
bool pool_may_attach(const struct pool *pool)
{
	umode_t need = 0006;

	if (uid_eq(current_euid(), pool->uid))
		need = 0600;
	else if (in_egroup_p(pool->gid))
		need = 0060;
	return (pool->mode & need) == need || ns_capable(pool->user_ns, CAP_DAC_OVERRIDE);
}

/**
 * pool_destroy() - remove name and statistics, refuse new attachments
 * @att:   the caller's attachment
 * @flags: UPOOL_DESTROY_F_*
 * Context: process; may sleep.
 * Return: 0; -EPERM, -EBUSY, -ESTALE
 */
int pool_destroy(struct attachment *att, u32 flags)
{
	struct pool *pool = att->pool;
	u32 others;
	int ret = 0;

	if (!uid_eq(current_euid(), pool->uid) && !ns_capable(pool->user_ns, CAP_SYS_ADMIN))
		return -EPERM;

	spin_lock(&pool->depot.lock);
	others = pool->nr_attachments - !att->ended;
	if (pool->destroyed)
		ret = -ESTALE;
	else if (flags & UPOOL_DESTROY_F_IDLE && others)
		ret = -EBUSY;
	else
		WRITE_ONCE(pool->destroyed, true);
	spin_unlock(&pool->depot.lock);
	if (ret)
		return ret;
	trace_poolmod_pool_destroy(pool->id, others);
	pool_unlink(pool, POOL_UNLINKED);
	return 0;
}

/**
 * pool_bytes_left() - how large a pool the caller could make
 * Return: bytes
 */
u64 pool_bytes_left(void)
{
	u64 left;

	mutex_lock(&pools_mutex);
	left = quota_left(current_euid());
	mutex_unlock(&pools_mutex);
	return left;
}

/**
 * pools_drain_cpu() - a CPU is gone: empty its magazines
 * @cpu: kept offline by the caller
 * Context: process; may sleep.
 */
void pools_drain_cpu(unsigned int cpu)
{
	struct pool *pool;

	mutex_lock(&pools_mutex);
	list_for_each_entry(pool, &pools, node) {
		if (pool->state != POOL_PUBLISHED && pool->state != POOL_UNLINKED)
			continue;	/* nothing there yet, or any more */
		mutex_lock(&pool->offline_mutex);
		pool_count(pool, stolen, magazine_drain_offline(pool, cpu));
		mutex_unlock(&pool->offline_mutex);
	}
	mutex_unlock(&pools_mutex);
}

/**
 * pools_exit() - end the pools that only their persistence keeps
 * Context: process; may sleep.  No file is open.
 */
void pools_exit(void)
{
	struct pool *pool;

	mutex_lock(&pools_mutex);
	list_for_each_entry(pool, &pools, node) {
		if (!pool->persist)
			continue;
		WRITE_ONCE(pool->persist, false);
		pool_put(pool);		/* free_work waits for pools_mutex */
	}
	mutex_unlock(&pools_mutex);
	flush_workqueue(upool_wq);	/* recoveries queue final puts */
	flush_workqueue(upool_wq);
}
