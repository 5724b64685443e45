/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * trace.h - tracepoints of pools: poolmod:*.
 * Owns: nothing.  Locks: none.  Entry: where things happen.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM poolmod

#if !defined(POOLMOD_UPOOL_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define POOLMOD_UPOOL_TRACE_H

#include <linux/tracepoint.h>

#define BAD_COUNT	0U	/* magazines reset */
#define BAD_INDEX	1U	/* indices dropped */

DECLARE_EVENT_CLASS(poolmod_pool,
	TP_PROTO(u64 pool, u64 value),
	TP_ARGS(pool, value),
	TP_STRUCT__entry(
		__field(u64, pool)
		__field(u64, value)
	),
	TP_fast_assign(
		__entry->pool = pool;
		__entry->value = value;
	),
	TP_printk("pool=%llu value=%llu", __entry->pool, __entry->value)
);

/* What value is stands behind each event. */
#define POOLMOD_EVENT(name)		\
DEFINE_EVENT(poolmod_pool, name,	\
	TP_PROTO(u64 pool, u64 value),	\
	TP_ARGS(pool, value))

POOLMOD_EVENT(poolmod_pool_create);     /* buffers */
POOLMOD_EVENT(poolmod_pool_destroy);    /* attachments */
POOLMOD_EVENT(poolmod_pool_free);       /* charged */
POOLMOD_EVENT(poolmod_attach);          /* id */
POOLMOD_EVENT(poolmod_detach);          /* id */
POOLMOD_EVENT(poolmod_refill);          /* moved */
POOLMOD_EVENT(poolmod_flush);           /* moved */
POOLMOD_EVENT(poolmod_pop);             /* index */
POOLMOD_EVENT(poolmod_push);            /* index */
POOLMOD_EVENT(poolmod_adopt);           /* index */
POOLMOD_EVENT(poolmod_steal);           /* moved */
POOLMOD_EVENT(poolmod_recover);         /* reclaimed */

TRACE_EVENT(poolmod_bad,
	TP_PROTO(u64 pool, u32 what, u64 value),
	TP_ARGS(pool, what, value),
	TP_STRUCT__entry(
		__field(u64, pool)
		__field(u32, what)
		__field(u64, value)
	),
	TP_fast_assign(
		__entry->pool = pool;
		__entry->what = what;
		__entry->value = value;
	),
	TP_printk("pool=%llu what=%s value=%llu", __entry->pool,
		  __print_symbolic(__entry->what, { BAD_COUNT, "count" }, { BAD_INDEX, "index" }),
		  __entry->value)
);

#endif /* POOLMOD_UPOOL_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
