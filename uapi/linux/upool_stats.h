/* SPDX-License-Identifier: ((GPL-2.0-only WITH Linux-syscall-note) OR MIT) */
/*
 * upool_stats.h - the statistics of a shared pool: one list makes the structs,
 * the sysfs files, the tools' columns and the documentation.
 */
#ifndef _UAPI_LINUX_UPOOL_STATS_H
#define _UAPI_LINUX_UPOOL_STATS_H

#include <linux/types.h>

/*
 * Statistics of a pool, in the order of struct upool_pool_stats: append only.
 * The same list makes the files under /sys/kernel/poolmod/pools/<name>.<id>/.
 * Gauges first, then counters since creation.  mag_* come from memory that
 * members can write; they are range-checked, not proven.
 */
#define UPOOL_POOL_STATS(X)							\
	X(nr_buffers,		"buffers of the pool")				\
	X(buffer_bytes,		"bytes of a buffer")				\
	X(data_bytes,		"bytes of the data area")			\
	X(resident_bytes,	"bytes of data pages in memory")		\
	X(control_bytes,	"bytes of the control area")			\
	X(nr_attachments,	"attachments that have not ended")		\
	X(depot_idle,		"buffers idle in the depot")			\
	X(mag_idle,		"buffers idle in magazines")			\
	X(held,			"buffers held by members")			\
	X(retired,		"buffers parked with used-up generations")	\
	X(mag_pops,		"allocations served by a magazine")		\
	X(refills,		"REFILL calls that moved buffers")		\
	X(refilled,		"buffers moved from depot to magazines")	\
	X(flushes,		"FLUSH calls that moved buffers")		\
	X(flushed,		"buffers moved from magazines to depot")	\
	X(pops,			"buffers handed out by POP")			\
	X(pushes,		"buffers taken back by PUSH")			\
	X(adopts,		"tokens claimed by ADOPT, not in user space")	\
	X(empty,		"REFILL and POP calls that found nothing")	\
	X(steals,		"times other CPUs' magazines were asked for buffers") \
	X(stolen,		"buffers taken from other CPUs' magazines")	\
	X(steal_timeouts,	"CPUs that could not be asked in time")		\
	X(recoveries,		"ended attachments whose buffers were looked for") \
	X(reclaimed_dead,	"buffers taken back from ended attachments")	\
	X(bad_count,		"magazine counts out of range, reset")		\
	X(bad_index,		"magazine indices out of range or already in the depot, dropped") \
	X(bad_push,		"PUSH calls refused")				\
	X(stale_tokens,		"ADOPT calls refused")

struct upool_pool_stats {
#define UPOOL_X(name, help)	__aligned_u64 name;
	UPOOL_POOL_STATS(UPOOL_X)
#undef UPOOL_X
};

#endif /* _UAPI_LINUX_UPOOL_STATS_H */
