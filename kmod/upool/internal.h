/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * internal.h - pools and attachments of /dev/upool, and what the files offer each other.
 * Owns: struct pool, struct attachment, struct depot.  Locks: below.  Entry: every file here.
 *
 * Lock order, innermost last:
 *	1. cpu_hotplug_lock	read: around queueing steals and draining offline CPUs
 *	2. pools_mutex		names, list of pools, quotas
 *	3. pool->offline_mutex	magazines of CPUs that are offline
 *	4. depot->lock		leaf: bounded batches, no user access
 * vm_ops run under mmap_lock and take only 4.  Preemption off for a magazine is a
 * leaf as well, never nested with 4.
 *
 * Invariants
 *	I1  depot->present has a bit set exactly for the indices linked in depot->head[] or
 *	    parked, so that whatever members write, no index is linked twice
 *	I2  a buffer that enters the depot has owner 0 in its tag
 *	I3  depot->nr_idle + depot->nr_parked is the number of bits in depot->present
 *	I4  a magazine is written on its own CPU, in process context, with preemption off
 *	    from loading its word to storing it; that of an offline CPU by who holds
 *	    offline_mutex and keeps the CPU offline.  Interrupts do not restart the
 *	    sequence they interrupt, being scheduled away does.
 *	I5  recovery only reads magazines
 *	I6  flush and drain write owner 0 before they lower a count: a buffer in motion
 *	    never looks like an orphan
 *	I7  each word of the control area is read once and compared with a private bound
 *	    before it is used
 *	I8  attachment ids are never reused
 *	I9  an attachment that has ended gets no buffer, a pool that has ended no
 *	    attachment: tested under depot->lock
 *	I10 no lock is held across an access to user memory, and nothing is published
 *	    before the result has been copied out
 */
#ifndef POOLMOD_UPOOL_INTERNAL_H
#define POOLMOD_UPOOL_INTERNAL_H

#include <linux/atomic.h>
#include <linux/fs.h>
#include <linux/kobject.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/uidgid.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include "../../uapi/linux/upool.h"

#ifndef CONFIG_64BIT
#error "tags and magazine words need single 64-bit loads and stores"
#endif

#define DEPOT_BATCH	64	/* most buffers moved under one hold of a lock */
#define NO_INDEX	U32_MAX

#define POOL_COUNTERS(X)							\
	X(refills) X(refilled) X(flushes) X(flushed) X(pops) X(pushes) X(adopts)	\
	X(empty) X(steals) X(stolen) X(steal_timeouts) X(recoveries)		\
	X(reclaimed_dead) X(bad_count) X(bad_index) X(bad_push) X(stale_tokens)

struct pool_counters {
#define COUNTER(name)	atomic64_t name;
	POOL_COUNTERS(COUNTER)
#undef COUNTER
};

#define pool_count(pool, name, n)	atomic64_add(n, &(pool)->counters.name)

/**
 * struct depot - idle buffers that are in no magazine; private to the kernel
 * @lock:      guards everything here, and ends and ids of attachments
 * @present:   one bit per buffer: linked in @head or parked	[lock] I1
 * @next:      link per buffer				[lock]
 * @due:       per buffer: end of parking, seconds	[lock]
 * @head:      per node: hottest buffer, or NO_INDEX	[lock]
 * @nr_idle:   buffers linked in @head			[lock] read with READ_ONCE()
 * @park_head: buffer parked longest, or NO_INDEX	[lock]
 * @park_tail: buffer parked last			[lock]
 * @nr_parked: buffers parked				[lock] read with READ_ONCE()
 */
struct depot {
	spinlock_t	lock;
	unsigned long	*present;
	u32		*next;
	u32		*due;
	u32		*head;
	u32		nr_idle;
	u32		park_head;
	u32		park_tail;
	u32		nr_parked;
};

/**
 * struct steal - asks one CPU for the contents of its magazine
 * @work:    runs on @cpu
 * @pool:    cancels the work before it goes		[const]
 * @cpu:     whose magazine				[const]
 * @asked:   set by who asks, cleared when the work begins
 * @running: set from before @asked is cleared to the end of the work
 */
struct steal {
	struct work_struct	work;
	struct pool		*pool;
	unsigned int		cpu;
	bool			asked;
	bool			running;
};

struct quota;

enum pool_state {
	POOL_BUILDING,	/* its name is reserved, nobody finds it */
	POOL_PUBLISHED,	/* found by name, seen in sysfs */
	POOL_UNLINKED,	/* attachments go on */
	POOL_FREEING,	/* its memory is going */
};

/**
 * struct pool - one pool
 * @ref:       attachments, and the table for persistent pools
 * @node:      in the list of pools			[pools_mutex]
 * @id:        number, never reused			[const]
 * @name:      empty = anonymous			[const]
 * @uid:       creator					[const]
 * @gid:       creator's group				[const]
 * @user_ns:   creator's, referenced			[const]
 * @mode:      who may attach by name			[const]
 * @flags:     UPOOL_CREATE_F_*				[const]
 * @token_ttl_s: seconds a worn buffer is parked	[const]
 * @geo:       geometry, the only copy that is believed	[const]
 * @buf_bytes: of the class				[const]
 * @nr:        buffers					[const]
 * @cap:       slots of a magazine			[const]
 * @state:     who can find it				[pools_mutex]
 * @persist:   the table holds a reference		[pools_mutex] read with READ_ONCE()
 * @destroyed: no new attachments			[depot.lock] read with READ_ONCE()
 * @quota:     what was charged to whom			[pools_mutex]
 * @charged:   bytes charged				[const]
 * @control:   control area, vmalloc			[const] contents: anybody's
 * @tags:      in @control				[const] contents: anybody's
 * @data:      shmem file of the buffers		[const]
 * @depot:     see there
 * @last_id:   attachment id given out last		[depot.lock] I8
 * @dead:      attachments to recover			[depot.lock]
 * @nr_dead:   on @dead, or being recovered		[depot.lock] read with READ_ONCE()
 * @nr_attachments: not ended				[depot.lock] read with READ_ONCE()
 * @moves_begun: times the kernel took buffers in hand	[atomic] [V1]
 * @moves_done: times it had put them down again	[atomic] [V1]
 * @found:     bitmap of the running recovery		[recover_work]
 * @recover_work: takes back what ended attachments held
 * @unpark_work: returns parked buffers
 * @free_work: final put, from any context
 * @offline_mutex: magazines of offline CPUs
 * @steals:    one per CPU				[const]
 * @wait:      woken by returns to the depot, recoveries and steals
 * @counters:  statistics				[atomic]
 * @dir:       sysfs directory, or NULL			[pools_mutex]
 */
struct pool {
	struct kref		ref;
	struct list_head	node;
	u64			id;
	char			name[UPOOL_NAME_BYTES];
	kuid_t			uid;
	kgid_t			gid;
	struct user_namespace	*user_ns;
	umode_t			mode;
	u32			flags;
	u32			token_ttl_s;
	struct upool_geometry	geo;
	u64			buf_bytes;
	u32			nr;
	u32			cap;
	enum pool_state		state;
	bool			persist;
	bool			destroyed;
	struct quota		*quota;
	u64			charged;
	void			*control;
	u64			*tags;
	struct file		*data;
	struct depot		depot;
	u32			last_id;
	struct list_head	dead;
	u32			nr_dead;
	u32			nr_attachments;
	atomic_t		moves_begun;
	atomic_t		moves_done;
	unsigned long		*found;
	struct work_struct	recover_work;
	struct delayed_work	unpark_work;
	struct work_struct	free_work;
	struct mutex		offline_mutex;
	struct steal		*steals;
	wait_queue_head_t	wait;
	struct pool_counters	counters;
	struct pool_dir		*dir;
};

/**
 * struct attachment - one address space's membership in a pool
 * @ref:      its file, and recovery once it ended
 * @pool:     referenced				[const]
 * @mm:       mmgrab()ed: compared, never used		[const]
 * @id:       in tags					[const]
 * @nr_maps:  control mappings				[atomic]
 * @was_mapped: control area was mapped once		[depot.lock] read with READ_ONCE()
 * @ended:    I9					[depot.lock]
 * @dead:     on pool->dead				[depot.lock]
 */
struct attachment {
	struct kref		ref;
	struct pool		*pool;
	struct mm_struct	*mm;
	u32			id;
	atomic_t		nr_maps;
	bool			was_mapped;
	bool			ended;
	struct list_head	dead;
};

/**
 * struct member - what an open file has
 * @att: attachment, set once; smp_load_acquire()
 */
struct member {
	struct attachment *att;
};

extern struct workqueue_struct *upool_wq;	/* recoveries and final puts */
extern struct workqueue_struct *upool_steal_wq;	/* steals, bound to their CPU */
extern const struct file_operations upool_fops;

/* module parameters, main.c */
extern unsigned int steal_timeout_ms;
extern ulong max_user_bytes, max_total_bytes, max_control_bytes;
extern unsigned int max_user_pools;

static inline struct upool_magazine *pool_mag(struct pool *pool, unsigned int cpu)
{
	return pool->control + pool->geo.classes[0].mag_off +
	       (size_t)cpu * pool->geo.classes[0].mag_stride;
}

/*
 * Buffers that the kernel carries between magazines and depot are in neither.  Who
 * finds both empty looks whether any were under way meanwhile.
 *
 * [V1] Begun before they leave a layer, done after they entered the other; pairs
 * with [V2] in steal(): no buffer is believed gone that is only under way.
 */
static inline void move_begin(struct pool *pool)
{
	atomic_inc(&pool->moves_begun);
	smp_mb__after_atomic();		/* [V1] */
}

static inline void move_end(struct pool *pool)
{
	smp_mb__before_atomic();	/* [V1] */
	atomic_inc(&pool->moves_done);
	if (wq_has_sleeper(&pool->wait))
		wake_up_all(&pool->wait);
}

/* The owner half of a tag, which members store alone. */
static inline u32 *pool_owner(struct pool *pool, u32 idx)
{
	return (u32 *)&pool->tags[idx] + IS_ENABLED(CONFIG_CPU_BIG_ENDIAN);
}

/* pool.c */
struct pool *pool_alloc(const struct upool_create *arg, struct upool_limit *limit);
void pool_put(struct pool *pool);

/* table.c */
int table_enter(struct pool *pool, struct upool_limit *limit);
void table_leave(struct pool *pool);
int pool_publish(struct pool *pool);
void pool_unlink(struct pool *pool, enum pool_state next);
struct pool *pool_find(kuid_t uid, const char *name);
bool pool_may_attach(const struct pool *pool);
int pool_destroy(struct attachment *att, u32 flags);
u64 pool_bytes_left(void);
void pools_drain_cpu(unsigned int cpu);
void pools_exit(void);

/* attach.c */
struct attachment *attachment_create(struct pool *pool);
void attachment_end(struct attachment *att);
void attachment_put(struct attachment *att);

/* quota.c, under pools_mutex */
int quota_charge(kuid_t uid, u64 bytes, struct quota **q, struct upool_limit *limit);
void quota_uncharge(struct quota *q, u64 bytes);
u64 quota_left(kuid_t uid);
int quota_check_control(u64 bytes, struct upool_limit *limit);

/* depot.c */
int depot_init(struct depot *d, u32 nr, u32 max_nr);
void depot_destroy(struct depot *d);
u32 depot_take(struct pool *pool, u32 *idx, u32 n);
u32 depot_put(struct pool *pool, const u32 *idx, u32 n);
void __depot_put(struct pool *pool, u32 idx, int node);
u32 __depot_take(struct pool *pool, int node);
void __depot_park(struct pool *pool, u32 idx);
void depot_unpark(struct work_struct *work);

/* magazine.c */
u32 magazine_fill(struct pool *pool, const u32 *idx, u32 n, unsigned int *cpu);
u32 magazine_flush(struct pool *pool, u32 n, unsigned int *cpu);
u32 magazine_drain_here(struct pool *pool, unsigned int cpu);
u32 magazine_drain_offline(struct pool *pool, unsigned int cpu);
u32 magazine_peek(struct pool *pool, unsigned int cpu);

/* buffer.c: one buffer or batch at a time, as the ioctls ask */
int buffer_refill(struct attachment *att, u32 n, u32 *done, unsigned int *cpu);
int buffer_pop(struct attachment *att, int timeout_ms, u32 *idx);
void buffer_unpop(struct attachment *att, u32 idx);
int buffer_push(struct attachment *att, u32 idx);
int buffer_adopt(struct attachment *att, u64 token, u32 *idx);
void buffer_unadopt(struct attachment *att, u32 idx);

/* steal.c */
int steals_init(struct pool *pool);
void steals_destroy(struct pool *pool);
int steal(struct pool *pool, unsigned int timeout_ms, bool all, u32 *nr_moved, u32 *nr_missed);

/* recover.c */
void recover_work(struct work_struct *work);
int recover_wait(struct pool *pool);

/* mmap.c */
int upool_mmap(struct file *file, struct vm_area_struct *vma);

/* stats.c, sysfs.c */
void pool_stats(struct pool *pool, struct upool_pool_stats *st);
struct pool_dir *pool_dir_create(struct pool *pool);
void pool_dir_remove(struct pool_dir *dir);
int sysfs_init(void);
void sysfs_exit(void);

#endif /* POOLMOD_UPOOL_INTERNAL_H */
