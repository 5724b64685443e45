// SPDX-License-Identifier: GPL-2.0-only
/*
 * pool.c - memory and lifetime of pools.
 * Owns: struct pool.  Locks: none.  Entry: join.c, attach.c.
 */
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

static void pool_memory_free(struct pool *pool)
{
	steals_destroy(pool);
	if (pool->data) {
		fput(pool->data);
		flush_delayed_fput();	/* its pages go now, not some time later */
	}
	vfree(pool->control);
	depot_destroy(&pool->depot);
	kvfree(pool->found);
}

/* Its memory first: whoever waits for its share can then have the memory too. */
static void pool_free(struct pool *pool)
{
	pool_unlink(pool, POOL_FREEING);
	cancel_work_sync(&pool->recover_work);
	cancel_delayed_work_sync(&pool->unpark_work);
	pool_memory_free(pool);
	table_leave(pool);
	put_user_ns(pool->user_ns);
	kfree(pool);
}

static void pool_free_work(struct work_struct *work)
{
	struct pool *pool = container_of(work, struct pool, free_work);

	trace_poolmod_pool_free(pool->id, pool->charged);
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
	h = pool->control;	/* nobody has it yet */
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
	pool->charged = pool->geo.control_bytes + pool->buf_bytes * pool->nr;
	return 0;
}

static void pool_init(struct pool *pool, const struct upool_create *arg)
{
	kref_init(&pool->ref);
	INIT_LIST_HEAD(&pool->node);
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

/**
 * pool_alloc() - make a pool nobody can find yet; its name is reserved
 * @arg:   flags, name, mode and reserved fields checked already
 * @limit: filled with -EDQUOT
 * Context: process; may sleep.
 * Return: the pool with one reference; ERR_PTR -EINVAL, -EOVERFLOW, -EEXIST, -EDQUOT,
 * -ENOMEM, -EINTR
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
		ret = quota_check_control(pool->geo.control_bytes, limit);
	if (!ret)
		ret = table_enter(pool, limit);
	if (ret) {
		put_user_ns(pool->user_ns);
		kfree(pool);
		return ERR_PTR(ret);
	}
	ret = pool_memory_create(pool);
	if (ret) {
		pool_free(pool);
		return ERR_PTR(ret);
	}
	trace_poolmod_pool_create(pool->id, pool->nr);
	return pool;
}
