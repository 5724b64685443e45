// SPDX-License-Identifier: GPL-2.0-only
/*
 * pool.c - lifetime, names and permissions of pools.
 * Owns: struct pool, the list of pools.  Locks: pools_mutex, depot->lock.  Entry: dev.c.
 */
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/falloc.h>
#include <linux/mm.h>
#include <linux/random.h>
#include <linux/shmem_fs.h>
#include <linux/slab.h>
#include <linux/user_namespace.h>
#include <linux/vmalloc.h>
#include "compat.h"
#include "internal.h"
#include "trace.h"

static DEFINE_MUTEX(pools_mutex);
static LIST_HEAD(pools);		/* [pools_mutex] */
static u64 last_pool_id;		/* [pools_mutex] */

static void pool_free(struct pool *pool)
{
	steals_destroy(pool);
	if (pool->data)
		fput(pool->data);
	vfree(pool->control);
	depot_destroy(&pool->depot);
	kvfree(pool->found);
	put_user_ns(pool->user_ns);
	kfree(pool);
}

static void pool_free_work(struct work_struct *work)
{
	struct pool *pool = container_of(work, struct pool, free_work);
	struct pool_dir *dir;

	mutex_lock(&pools_mutex);
	list_del(&pool->node);
	quota_uncharge(pool->quota, pool->charged);
	dir = pool->dir;
	mutex_unlock(&pools_mutex);

	trace_poolmod_pool_free(pool->id, pool->charged);
	pool_dir_remove(dir);
	cancel_work_sync(&pool->recover_work);
	cancel_delayed_work_sync(&pool->unpark_work);
	pool_free(pool);
}

static void pool_release(struct kref *ref)
{
	struct pool *pool = container_of(ref, struct pool, ref);

	queue_work(upool_wq, &pool->free_work);
}

/**
 * pool_put() - drop a reference
 * @pool: a pool
 * Context: any; the end of the pool is a work item.
 */
void pool_put(struct pool *pool)
{
	kref_put(&pool->ref, pool_release);
}

static int pool_data_create(struct pool *pool)
{
	struct file *data = compat_shmem_file_setup("upool", pool->geo.data_bytes);

	if (IS_ERR(data))
		return PTR_ERR(data);
	pool->data = data;
	/* Nobody, root through /proc included, can pull pages from under a member. */
	SHMEM_I(file_inode(data))->seals |= F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;
	if (!(pool->flags & UPOOL_CREATE_F_RESERVE))
		return 0;
	return vfs_fallocate(data, FALLOC_FL_KEEP_SIZE, 0, pool->buf_bytes * pool->nr);
}

static int pool_memory_create(struct pool *pool)
{
	struct upool_header *h;
	int ret;

	pool->control = __vmalloc(pool->geo.control_bytes, GFP_KERNEL_ACCOUNT | __GFP_ZERO);
	pool->found = kvcalloc(BITS_TO_LONGS(pool->nr), sizeof(long), GFP_KERNEL_ACCOUNT);
	if (!pool->control || !pool->found)
		return -ENOMEM;
	pool->tags = pool->control + pool->geo.tag_off;
	h = pool->control;
	h->magic = UPOOL_MAGIC;
	h->layout_id = UPOOL_LAYOUT_ID;
	h->mode = UPOOL_MODE_RSEQ;
	h->geo = pool->geo;

	ret = depot_init(&pool->depot, pool->nr, pool->geo.max_count);
	if (!ret)
		ret = steals_init(pool);
	return ret ? ret : pool_data_create(pool);
}

/* -EINVAL, -EOVERFLOW */
static int pool_geometry(struct pool *pool, const struct upool_create *arg)
{
	u32 max_nr = arg->max_nr ? arg->max_nr : arg->nr;
	u32 cap = arg->cap ? arg->cap : upool_default_cap(arg->nr, num_online_cpus());

	if (upool_geometry_init(&pool->geo, arg->buf_bytes, arg->nr, max_nr, cap, nr_cpu_ids))
		return max_nr && arg->buf_bytes > UPOOL_MAX_DATA_BYTES / max_nr ?
		       -EOVERFLOW : -EINVAL;
	pool->geo.check = get_random_u32() % 255 + 1;
	pool->geo.features = UPOOL_FEAT_RECOVERY | UPOOL_FEAT_STEAL | UPOOL_FEAT_WAIT |
			     UPOOL_FEAT_ZERO_ORPHANS;
	if (arg->flags & UPOOL_CREATE_F_STRICT)
		pool->geo.features |= UPOOL_FEAT_STRICT;
	pool->buf_bytes = arg->buf_bytes;
	pool->nr = arg->nr;
	pool->cap = cap;
	return 0;
}

static void pool_init(struct pool *pool, const struct upool_create *arg)
{
	kref_init(&pool->ref);
	INIT_LIST_HEAD(&pool->dead);
	INIT_WORK(&pool->recover_work, recover_work);
	INIT_DELAYED_WORK(&pool->unpark_work, depot_unpark);
	INIT_WORK(&pool->free_work, pool_free_work);
	mutex_init(&pool->offline_mutex);
	init_waitqueue_head(&pool->wait);
	memcpy(pool->name, arg->name, sizeof(pool->name));
	pool->uid = current_euid();
	pool->gid = current_egid();
	pool->user_ns = get_user_ns(current_user_ns());
	pool->mode = arg->mode ? arg->mode : 0600;
	pool->flags = arg->flags;
	pool->token_ttl_s = arg->token_ttl_s;
}

static int pool_charge(struct pool *pool, struct upool_limit *limit)
{
	u64 bytes = pool->geo.control_bytes + pool->buf_bytes * pool->nr;
	int ret = quota_check_control(pool->geo.control_bytes, limit);

	if (ret)
		return ret;
	mutex_lock(&pools_mutex);
	ret = quota_charge(pool->uid, bytes, &pool->quota, limit);
	if (ret == -EDQUOT) {
		/* Pools that have ended may not be freed yet. */
		mutex_unlock(&pools_mutex);
		flush_workqueue(upool_wq);
		flush_workqueue(upool_wq);	/* recoveries first, final puts next */
		mutex_lock(&pools_mutex);
		ret = quota_charge(pool->uid, bytes, &pool->quota, limit);
	}
	mutex_unlock(&pools_mutex);
	if (!ret)
		pool->charged = bytes;
	return ret;
}

/**
 * pool_alloc() - make a pool nobody can find yet
 * @arg:   flags, name, mode and reserved fields checked already
 * @limit: filled with -EDQUOT
 * Context: process; may sleep.
 * Return: the pool with one reference; ERR_PTR -EINVAL, -EOVERFLOW, -EDQUOT, -ENOMEM
 */
struct pool *pool_alloc(const struct upool_create *arg, struct upool_limit *limit)
{
	struct pool *pool = kzalloc(sizeof(*pool), GFP_KERNEL_ACCOUNT);
	int ret;

	if (!pool)
		return ERR_PTR(-ENOMEM);
	pool_init(pool, arg);
	ret = pool_geometry(pool, arg);
	if (!ret)
		ret = pool_charge(pool, limit);
	if (ret)
		goto free;
	ret = pool_memory_create(pool);
	if (ret)
		goto uncharge;

	mutex_lock(&pools_mutex);
	pool->id = ++last_pool_id;
	list_add_tail(&pool->node, &pools);
	mutex_unlock(&pools_mutex);
	trace_poolmod_pool_create(pool->id, pool->nr);
	return pool;

uncharge:
	mutex_lock(&pools_mutex);
	quota_uncharge(pool->quota, pool->charged);
	mutex_unlock(&pools_mutex);
free:
	pool_free(pool);
	return ERR_PTR(ret);
}

/* A pool ends with its last attachment, even before it is freed. */
static bool pool_alive(const struct pool *pool)
{
	return pool->persist || atomic_read(&pool->nr_attachments);
}

/* Named, or about to be. */
static struct pool *__pool_find(kuid_t uid, const char *name)
{
	struct pool *pool;

	lockdep_assert_held(&pools_mutex);
	list_for_each_entry(pool, &pools, node)
		if (pool->name[0] && !pool->destroyed && uid_eq(pool->uid, uid) &&
		    !strcmp(pool->name, name) && pool_alive(pool))
			return pool;
	return NULL;
}

/**
 * pool_publish() - give the pool its name and its statistics directory
 * @pool: attached, its result copied out
 * Context: process; may sleep.
 * Return: 0; -EEXIST the name is taken; -ENOMEM
 */
int pool_publish(struct pool *pool)
{
	struct pool_dir *dir = pool_dir_create(pool);
	struct pool *other = NULL;

	if (IS_ERR(dir))
		return PTR_ERR(dir);
	mutex_lock(&pools_mutex);
	if (pool->name[0])
		other = __pool_find(pool->uid, pool->name);
	if (!other || other == pool) {
		pool->named = true;
		pool->dir = dir;
		if (pool->flags & UPOOL_CREATE_F_PERSIST) {
			pool->persist = true;
			kref_get(&pool->ref);
		}
	}
	mutex_unlock(&pools_mutex);
	if (!other || other == pool)
		return 0;
	pool_dir_remove(dir);
	return -EEXIST;
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
	pool = __pool_find(uid, name);
	if (pool && (!pool->named || !kref_get_unless_zero(&pool->ref)))
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
 * pool_unlink() - take the pool's name, directory and persistence away
 * @pool: referenced by the caller; unlinking it twice is one unlinking
 * Context: process; may sleep.
 */
void pool_unlink(struct pool *pool)
{
	struct pool_dir *dir;
	bool persist;

	mutex_lock(&pools_mutex);
	pool->named = false;
	persist = pool->persist;
	pool->persist = false;
	dir = pool->dir;
	pool->dir = NULL;
	mutex_unlock(&pools_mutex);

	pool_dir_remove(dir);
	if (persist)
		pool_put(pool);
}

/**
 * pool_destroy() - remove name and statistics, refuse new attachments
 * @pool:  a pool
 * @flags: UPOOL_DESTROY_F_*
 * Context: process; may sleep.
 * Return: 0; -EPERM, -EBUSY, -ESTALE
 */
int pool_destroy(struct pool *pool, u32 flags)
{
	int ret = 0;

	if (!uid_eq(current_euid(), pool->uid) && !ns_capable(pool->user_ns, CAP_SYS_ADMIN))
		return -EPERM;

	mutex_lock(&pools_mutex);
	spin_lock(&pool->depot.lock);
	if (pool->destroyed)
		ret = -ESTALE;
	else if (flags & UPOOL_DESTROY_F_IDLE && atomic_read(&pool->nr_attachments) > 1)
		ret = -EBUSY;
	else
		WRITE_ONCE(pool->destroyed, true);
	spin_unlock(&pool->depot.lock);
	mutex_unlock(&pools_mutex);
	if (ret)
		return ret;
	trace_poolmod_pool_destroy(pool->id, atomic_read(&pool->nr_attachments));
	pool_unlink(pool);
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
		pool->persist = false;
		pool_put(pool);		/* free_work waits for pools_mutex */
	}
	mutex_unlock(&pools_mutex);
	flush_workqueue(upool_wq);	/* recoveries queue final puts */
	flush_workqueue(upool_wq);
}
