// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * priv_pool.c - a private pool's life, settings and statistics.
 * Owns: struct priv.  Locks: none.  Entry: upool.c, stats.c.
 */
#include <string.h>
#include "priv.h"
#include "sys.h"
#include "sys_vm.h"

#define DEFAULT_RETAIN	((uint64_t)256 << 20)
#define DEFAULT_THREAD	((uint64_t)64 << 20)
#define DEFAULT_FLOOR	((uint64_t)8 << 20)
#define DEFAULT_AGE_MS	1000
#define FLAGS_OFFERED	(UPOOL_F_CLEAR | UPOOL_F_HUGE | UPOOL_F_POW2 | UPOOL_F_ONE_SHARD | \
			 UPOOL_F_STRICT)

static struct priv *shared;
static pthread_once_t shared_once = PTHREAD_ONCE_INIT;

/* A decimal number in the environment; too large a one is the largest. */
static bool setting(struct priv *p, const char *name, uint64_t *value)
{
	const char *s = sys_env(name);
	uint64_t n = 0;

	if (!s)
		return false;
	if (!*s)
		goto bad;
	for (; *s; s++) {
		if (*s < '0' || *s > '9')
			goto bad;
		if (__builtin_mul_overflow(n, 10, &n) ||
		    __builtin_add_overflow(n, (uint64_t)(*s - '0'), &n))
			n = UINT64_MAX / 10;
	}
	*value = n;
	return true;
bad:
	priv_count(p, LOCAL_bad_settings, 1);
	return false;
}

static uint64_t bytes_setting(struct priv *p, size_t option, const char *name, uint64_t value)
{
	if (option == UPOOL_UNLIMITED)
		return UINT64_MAX / 4;
	if (option == UPOOL_NOTHING)
		return 0;
	if (option)
		return option;
	setting(p, name, &value);
	return value < UINT64_MAX / 4 ? value : UINT64_MAX / 4;
}

static void read_settings(struct priv *p, const struct upool_options *o)
{
	uint64_t age = o->trim_age_ms, shards = o->nr_shards;

	p->retain = bytes_setting(p, o->retain_bytes, "UPOOL_RETAIN_BYTES", DEFAULT_RETAIN);
	p->budget_bytes = bytes_setting(p, o->thread_bytes, "UPOOL_THREAD_BYTES", DEFAULT_THREAD);
	p->floor = bytes_setting(p, o->idle_floor_bytes, "UPOOL_IDLE_FLOOR_BYTES", DEFAULT_FLOOR);
	if (!age) {
		age = DEFAULT_AGE_MS;
		setting(p, "UPOOL_TRIM_AGE_MS", &age);
	}
	p->age_ms = age >= UINT32_MAX ? UINT64_MAX : age;
	if (!shards) {
		shards = sys_nr_online();
		setting(p, "UPOOL_SHARDS", &shards);
	}
	shards = o->flags & UPOOL_F_ONE_SHARD || !shards ? 1 : shards;
	p->nr_shards = shards < PRIV_MAX_SHARDS ? (uint32_t)shards : PRIV_MAX_SHARDS;
	p->budget = p->budget_bytes;
}

/* Hits need the class to be the size's own, and contents to be nobody's matter. */
static void set_limits(struct priv *p, const struct upool_options *o)
{
	p->flags = o->flags;
	p->max_nr = o->nr_buffers;
	p->max_bytes = o->max_bytes;
	p->max_buf = UPOOL_MAX_BUF_BYTES;
	if (o->buffer_bytes)
		p->max_buf = class_bytes(upool__class_of(o->buffer_bytes));
	p->head.end = o->flags & (UPOOL_F_CLEAR | UPOOL_F_POW2) ? 0 : p->max_buf + 1;
}

static void init_locks(struct priv *p)
{
	sys_lock_init(&p->steal_lock);
	sys_lock_init(&p->caches_lock);
	sys_lock_init(&p->tokens_lock);
	sys_lock_init(&p->spans_lock);
	LIST_INIT(&p->caches);
}

static void append(struct priv *p, const char *s)
{
	size_t n = strlen(p->mode), bytes = strlen(s);

	if (n + bytes < sizeof(p->mode))
		memcpy(p->mode + n, s, bytes + 1);
}

/* The text of upool_mode(); @why CPUs have no magazines, or NULL. */
static void describe(struct priv *p, const char *why)
{
	append(p, p->hits ? "private: thread magazines, " : "private: ");
	append(p, why ? "locked (rseq: " : "rseq");
	append(p, why ? why : "");
	append(p, why ? ")" : "");
}

int priv_create(struct upool **pool, const struct upool_options *o)
{
	const char *why;
	struct priv *p;
	void *at;
	int ret;

	if (o->flags & ~FLAGS_OFFERED)
		return -EOPNOTSUPP;
	if (o->name)
		return -EINVAL;
	ret = sys_anon(&at, sizeof(*p));
	if (ret)
		return ret;
	p = at;
	ret = arena_init(&p->head);
	p->shard[0] = ret ? NULL : shard_new();
	if (!p->shard[0]) {
		sys_unmap(p, sizeof(*p));
		return -ENOMEM;
	}
	read_settings(p, o);
	set_limits(p, o);
	init_locks(p);
	p->check = sys_random_byte();
	p->trimmed = sys_age_ms();
	why = cpus_init(p);
	registry_add(p);
	describe(p, why);
	*pool = (struct upool *)p;
	return 0;
}

static void make_shared(void)
{
	const struct upool_options o = { .size = sizeof(o) };
	struct upool *pool;

	if (!priv_create(&pool, &o))
		shared = priv_of(pool);
}

UPOOL_API struct upool *upool_shared(void)
{
	pthread_once(&shared_once, make_shared);
	return (struct upool *)shared;
}

int priv_close(struct priv *p)
{
	if (p == shared)
		return -EPERM;
	registry_remove(p);
	cpus_release(p);
	shards_release(p);
	spans_release(p);
	tokens_release(p);
	sys_unmap(p, sizeof(*p));
	return 0;
}

static uint64_t nr_total(const struct priv *p)
{
	uint64_t n = load_relaxed(&p->huge);
	unsigned int cls;

	for (cls = 0; cls < UPOOL__CLASSES; cls++)
		n += load_relaxed(&p->sizes[cls].total);
	return n;
}

static uint64_t nr_depot(const struct priv *p)
{
	uint64_t n = 0;
	unsigned int cls;

	for (cls = 0; cls < UPOOL__CLASSES; cls++)
		n += load_relaxed(&p->sizes[cls].depot);
	return n;
}

uint64_t priv_held(struct priv *p)
{
	caches_drain(p, UINT64_MAX);
	return nr_total(p) - nr_depot(p);
}

int priv_destroy(struct priv *p)
{
	if (p == shared)
		return -EPERM;
	return priv_held(p) ? -EBUSY : priv_close(p);
}

/* Other threads go on meanwhile: each figure is right, their sum may be off by a few. */
void priv_stats(struct priv *p, struct upool_stats *st)
{
	uint64_t cached, idle;
	uint32_t nr;

#define UPOOL_X(name, help)	st->name = load_relaxed(&p->local[LOCAL_##name]);
	UPOOL_LOCAL_STATS(UPOOL_X)
#undef UPOOL_X
	cached = caches_idle(p, &idle, &nr);
	st->nr_buffers = nr_total(p);
	st->buffer_bytes = p->max_buf;
	st->data_bytes = load_relaxed(&p->span_bytes);
	st->control_bytes = meta_bytes();
	st->depot_idle = nr_depot(p);
	st->mag_idle = cached;
	st->held = st->nr_buffers - st->depot_idle - cached;
	st->held = st->held > st->nr_buffers ? 0 : st->held;
	st->threads = nr;
	st->idle_bytes = load_relaxed(&p->depot) + idle;
}
