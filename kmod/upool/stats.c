// SPDX-License-Identifier: GPL-2.0-only
/*
 * stats.c - the statistics of a pool, counted from where they are.
 * Owns: nothing.  Locks: none; values are of about the same time.  Entry: dev.c, sysfs.c.
 */
#include <linux/pagemap.h>
#include "internal.h"

/**
 * pool_stats() - read them
 * @pool: a pool
 * @st:   receives them
 * Context: any.
 */
void pool_stats(struct pool *pool, struct upool_pool_stats *st)
{
	u64 idle = 0, pops = 0, away, state;
	unsigned int cpu;

	for (cpu = 0; cpu < pool->geo.nr_cpu_ids; cpu++) {
		state = READ_ONCE(pool_mag(pool, cpu)->state);
		idle += min(UPOOL_MAG_COUNT(state), pool->cap);
		pops += UPOOL_MAG_POPS(state);
	}
#define COUNTER(name)	st->name = atomic64_read(&pool->counters.name);
	POOL_COUNTERS(COUNTER)
#undef COUNTER
	st->nr_buffers = pool->nr;
	st->buffer_bytes = pool->buf_bytes;
	st->data_bytes = pool->geo.data_bytes;
	st->resident_bytes = (u64)READ_ONCE(pool->data->f_mapping->nrpages) << PAGE_SHIFT;
	st->control_bytes = pool->geo.control_bytes;
	st->nr_attachments = READ_ONCE(pool->nr_attachments);
	st->depot_idle = READ_ONCE(pool->depot.nr_idle);
	st->mag_idle = idle;
	st->mag_pops = pops;
	st->retired = READ_ONCE(pool->depot.nr_parked);
	away = st->depot_idle + st->mag_idle + st->retired;
	st->held = away < pool->nr ? pool->nr - away : 0;
}
