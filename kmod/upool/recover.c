// SPDX-License-Identifier: GPL-2.0-only
/*
 * recover.c - takes back what attachments held when they ended.
 * Owns: pool->found.  Locks: depot->lock, in chunks.  Entry: recover_work, queued by attach.c.
 *
 * A buffer is an orphan when its tag has the dead id and it is in no magazine and
 * not in the depot.  Magazines are only read (I5), so a real-time task that owns a
 * CPU delays nothing.  Buffers move meanwhile, but whoever moves one writes
 * another owner first (members their id, the kernel 0: I6): a candidate that was
 * missed by the snapshot because it moved fails the second look at its tag.
 */
#include <linux/bitmap.h>
#include <linux/sched.h>
#include <linux/shmem_fs.h>
#include "internal.h"
#include "trace.h"

#define TAGS_PER_BREAK	1024

/* Everything that idles in magazines now. */
static void snapshot(struct pool *pool)
{
	struct upool_magazine *mag;
	unsigned int cpu;
	u32 n, i, v;

	bitmap_zero(pool->found, pool->nr);
	for (cpu = 0; cpu < pool->geo.nr_cpu_ids; cpu++) {
		mag = pool_mag(pool, cpu);
		/* [M2] Count before slots; pairs with [M1], [M3] and members' commits. */
		n = min(UPOOL_MAG_COUNT(smp_load_acquire(&mag->state)), pool->cap);
		for (i = 0; i < n; i++) {
			v = READ_ONCE(mag->slot[i]);
			if (v < pool->nr)
				__set_bit(v, pool->found);
		}
		cond_resched();
	}
}

/* Second look, then the whole tag at once.  Owner 0 and in no layer if it returns true. */
static bool claim(struct pool *pool, u32 idx, u32 id, bool *worn)
{
	u64 tag;
	u32 gen;

	lockdep_assert_held(&pool->depot.lock);
	if (test_bit(idx, pool->depot.present))
		return false;
	tag = READ_ONCE(pool->tags[idx]);
	if ((upool_tag_owner(tag) & UPOOL_TAG_ID_MASK) != id)
		return false;
	gen = upool_tag_gen(tag);
	*worn = gen >= UPOOL_GEN_RETIRE - 1;
	return cmpxchg64(&pool->tags[idx], tag, upool_tag(0, *worn ? gen : gen + 1)) == tag;
}

static bool take_orphan(struct pool *pool, u32 idx, u32 id)
{
	struct depot *d = &pool->depot;
	bool zero = pool->flags & UPOOL_CREATE_F_ZERO_ORPHANS, worn = false, orphan;
	loff_t off = pool->buf_bytes * idx;

	spin_lock(&d->lock);
	orphan = claim(pool, idx, id, &worn);
	if (orphan && zero) {
		/* Owner 0 and in no layer: ours, unless a hostile member flushes its index. */
		spin_unlock(&d->lock);
		shmem_truncate_range(file_inode(pool->data), off, off + pool->buf_bytes - 1);
		spin_lock(&d->lock);
		orphan = !test_bit(idx, d->present);
	}
	if (orphan && worn)
		__depot_park(pool, idx);
	else if (orphan)
		__depot_put(pool, idx, numa_node_id());
	spin_unlock(&d->lock);
	return orphan;
}

static void recover(struct pool *pool, u32 id)
{
	u32 idx, owner, n = 0;

	snapshot(pool);
	for (idx = 0; idx < pool->nr; idx++) {
		if (idx % TAGS_PER_BREAK == 0)
			cond_resched();
		owner = READ_ONCE(*pool_owner(pool, idx));
		if ((owner & UPOOL_TAG_ID_MASK) == id && !test_bit(idx, pool->found))
			n += take_orphan(pool, idx, id);
	}
	pool_count(pool, recoveries, 1);
	pool_count(pool, reclaimed_dead, n);
	trace_poolmod_recover(pool->id, n);
}

/**
 * recover_work() - recover every attachment on pool->dead, one after the other
 * @work: pool->recover_work
 * Context: process; may sleep.
 */
void recover_work(struct work_struct *work)
{
	struct pool *pool = container_of(work, struct pool, recover_work);
	struct depot *d = &pool->depot;
	struct attachment *att;

	for (;;) {
		spin_lock(&d->lock);
		att = list_first_entry_or_null(&pool->dead, struct attachment, dead);
		if (att)
			list_del_init(&att->dead);
		spin_unlock(&d->lock);
		if (!att)
			return;

		recover(pool, att->id);

		spin_lock(&d->lock);
		WRITE_ONCE(pool->nr_dead, pool->nr_dead - 1);
		spin_unlock(&d->lock);
		wake_up_all(&pool->wait);
		attachment_put(att);	/* maybe the pool's last; free_work waits for us */
	}
}

/**
 * recover_wait() - wait until no recovery is due, or there is a buffer
 * @pool: the pool
 * Context: process; sleeps.
 * Return: 0, -EINTR when killed
 */
int recover_wait(struct pool *pool)
{
	int ret;

	if (!READ_ONCE(pool->nr_dead))
		return 0;
	ret = wait_event_killable(pool->wait, !READ_ONCE(pool->nr_dead) ||
				  READ_ONCE(pool->depot.nr_idle));
	return ret ? -EINTR : 0;
}
