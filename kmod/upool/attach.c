// SPDX-License-Identifier: GPL-2.0-only
/*
 * attach.c - begin and end of an address space's membership in a pool.
 * Owns: struct attachment.  Locks: depot->lock.  Entry: dev.c, mmap.c.
 */
#include <linux/sched.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include "internal.h"
#include "trace.h"

/**
 * attachment_create() - join the calling address space to a pool
 * @pool: the reference moves to the attachment, on success
 * Context: process; may sleep.
 * Return: the attachment; ERR_PTR -ENOMEM, -ENOSPC ids used up, -ESTALE destroyed
 * or ended
 */
struct attachment *attachment_create(struct pool *pool)
{
	struct attachment *att = kzalloc(sizeof(*att), GFP_KERNEL_ACCOUNT);
	int ret = 0;

	if (!att)
		return ERR_PTR(-ENOMEM);
	kref_init(&att->ref);
	atomic_set(&att->nr_maps, 0);
	INIT_LIST_HEAD(&att->dead);

	spin_lock(&pool->depot.lock);
	if (pool->destroyed || (pool->last_id && !pool->nr_attachments &&
				!READ_ONCE(pool->persist)))
		ret = -ESTALE;	/* I9 */
	else if (pool->last_id == UPOOL_MAX_ID)
		ret = -ENOSPC;
	else
		att->id = ++pool->last_id;	/* I8 */
	if (!ret)
		WRITE_ONCE(pool->nr_attachments, pool->nr_attachments + 1);
	spin_unlock(&pool->depot.lock);
	if (ret) {
		kfree(att);
		return ERR_PTR(ret);
	}
	att->pool = pool;
	att->mm = current->mm;
	mmgrab(att->mm);
	trace_poolmod_attach(pool->id, att->id);
	return att;
}

/**
 * attachment_end() - no buffer goes there any more; what it holds is taken back
 * @att: an attachment; ending it twice is one end
 * Context: process, under mmap_lock too; does not sleep.
 */
void attachment_end(struct attachment *att)
{
	struct pool *pool = att->pool;
	bool first;

	spin_lock(&pool->depot.lock);
	first = !att->ended;
	if (first) {
		WRITE_ONCE(att->ended, true);	/* I9 */
		kref_get(&att->ref);	/* recovery's */
		list_add_tail(&att->dead, &pool->dead);
		WRITE_ONCE(pool->nr_dead, pool->nr_dead + 1);
		WRITE_ONCE(pool->nr_attachments, pool->nr_attachments - 1);
	}
	spin_unlock(&pool->depot.lock);
	if (!first)
		return;
	trace_poolmod_detach(pool->id, att->id);
	queue_work(upool_wq, &pool->recover_work);
}

static void attachment_free(struct kref *ref)
{
	struct attachment *att = container_of(ref, struct attachment, ref);

	mmdrop(att->mm);
	pool_put(att->pool);
	kfree(att);
}

/**
 * attachment_put() - drop a reference
 * @att: an attachment
 * Context: any that may run mmdrop(); the pool's last put goes to a work item.
 */
void attachment_put(struct attachment *att)
{
	kref_put(&att->ref, attachment_free);
}
