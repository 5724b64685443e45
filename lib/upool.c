// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * upool.c - lifetime of a member's handle: create, open, attach, close, destroy.
 * Owns: struct upool.  Locks: none.  Entry: the public header.
 */
#include <string.h>
#include <sys/stat.h>
#include "priv.h"
#include "rseq.h"
#include "sys.h"

/* A handle that is dead yet; everything is undone by pool_discard(). */
int pool_new(struct upool **out, const struct backing *backing, unsigned int flags)
{
	void *at;
	int ret = sys_anon(&at, sizeof(struct upool));
	struct upool *p;

	if (ret)
		return ret;
	p = at;
	p->backing = backing;
	p->flags = flags;
	p->fd = -1;
	/* I1; where a kernel or emulator cannot, every call asks for the pid instead. */
	if (sys_wipe_on_fork(p->page, sizeof(p->page)))
		p->pid = sys_getpid();
	*out = p;
	return 0;
}

/* Undo, whatever was done so far.  In a child the control area was not inherited. */
void pool_discard(struct upool *p)
{
	bool inherited = p->id && !pool_is_ours(p);

	sys_unmap(p->data, (size_t)p->geo.data_bytes);
	if (!inherited)
		sys_unmap(p->control, (size_t)p->map_bytes);
	if (p->fd >= 0)
		sys_close(p->fd);
	sys_unmap(p, sizeof(*p));
}

/* Features are answers, not layout: who needs one tests its bit. */
bool geometry_valid(const struct upool_geometry *geo)
{
	const struct upool_class *c = &geo->classes[0];
	struct upool_geometry g;

	memset(&g, 0, sizeof(g));
	if (geo->nr_classes != 1 || !geo->check || geo->check > 255)
		return false;
	if (upool_geometry_init(&g, c->buf_bytes, c->nr, c->max_nr, c->cap, geo->nr_cpu_ids))
		return false;
	g.check = geo->check;
	g.features = geo->features;
	return !memcmp(&g, geo, sizeof(g));
}

/* Buffers are aligned to the largest power of two that divides their size. */
int pool_map_data(struct upool *p, uint64_t off)
{
	uint64_t bytes = p->geo.classes[0].buf_bytes, align = bytes & -bytes;
	void *at;
	int ret;

	if (p->geo.data_bytes > SIZE_MAX / 2)
		return -EOVERFLOW;
	if (p->flags & UPOOL_F_HUGE && align < 2U << 20)
		align = 2U << 20;
	ret = sys_map(&at, p->fd, off, (size_t)p->geo.data_bytes, (size_t)align);
	if (ret)
		return ret;
	p->data = at;
	if (p->flags & UPOOL_F_HUGE)
		sys_huge(at, (size_t)p->geo.data_bytes);
	return 0;
}

static uint64_t inverse(uint64_t odd)
{
	uint64_t x = odd;	/* correct to 3 bits; each step doubles them */
	int i;

	for (i = 0; i < 5; i++)
		x *= 2 - odd * x;
	return x;
}

static void mode_append(struct upool *p, const char *s)
{
	size_t n = strlen(p->mode), i;

	for (i = 0; s[i] && n + i < sizeof(p->mode) - 1; i++)
		p->mode[n + i] = s[i];
}

/* Make the handle live.  @kind, and @why not rseq, and @rest make its mode text. */
void pool_publish(struct upool *p, uint32_t id, const char *kind, const char *why,
		  const char *rest)
{
	const struct upool_class *c = &p->geo.classes[0];
	struct mags *m = &p->hot;

	mode_append(p, kind);
	if (why) {
		mode_append(p, " (rseq: ");
		mode_append(p, why);
		mode_append(p, ")");
	}
	mode_append(p, rest);

	m->rseq_off = rseq_offset();
	m->mags = p->control + c->mag_off;
	m->tags = (union tag *)(p->control + p->geo.tag_off);
	m->data = p->data;
	m->buf_bytes = c->buf_bytes;
	m->rot = (uint32_t)__builtin_ctzll(c->buf_bytes);
	m->inv = inverse(c->buf_bytes >> m->rot);
	m->stride = c->mag_stride;
	m->nr_cpus = p->geo.nr_cpu_ids;
	m->cap = c->cap;
	m->nr = c->nr;
	m->held = id | UPOOL_TAG_HELD;
	if (p->ops == OPS_RSEQ && !p->pid) {	/* I2 */
		m->alloc_end = p->flags & UPOOL_F_CLEAR ? 0 : c->buf_bytes + 1;
		m->free_nr = p->geo.features & UPOOL_FEAT_STRICT ? 0 : c->nr;
	}
	m->me = id;
	p->id = id;
}

UPOOL_API int upool_create(struct upool **pool, const struct upool_options *opt)
{
	struct upool_options o;
	int ret = options_read(&o, opt);

	if (ret)
		return ret;
	switch (o.backing) {
	case UPOOL_BACKING_PRIVATE:
		return priv_create(pool, &o);
	case UPOOL_BACKING_MEMFD:
		return memfd_create_pool(pool, &o);
	case UPOOL_BACKING_DEVICE:
		return device_create_pool(pool, &o);
	default:
		ret = device_create_pool(pool, &o);
		return ret == -ENODEV ? memfd_create_pool(pool, &o) : ret;
	}
}

UPOOL_API int upool_open(struct upool **pool, const char *name, const struct upool_options *opt)
{
	struct upool_options o;
	int ret = options_read(&o, opt);

	if (ret)
		return ret;
	if (!name)
		return -EINVAL;
	if (o.backing == UPOOL_BACKING_MEMFD || o.backing == UPOOL_BACKING_PRIVATE)
		return -EOPNOTSUPP;
	return device_open_pool(pool, name, opt ? &o : NULL);
}

UPOOL_API int upool_attach(struct upool **pool, int fd)
{
	struct stat sb;
	int ret = sys_fstat(fd, &sb);

	if (ret)
		return ret;
	/* Files made by REOPEN are anonymous inodes, of no type or a regular one. */
	if (S_ISREG(sb.st_mode) && !sys_seals(fd))
		return memfd_attach(pool, fd);
	return device_attach(pool, fd);
}

UPOOL_API int upool_fd(const struct upool *pool)
{
	return is_private(pool) ? -EOPNOTSUPP : pool->fd;
}

UPOOL_API int upool_close(struct upool *pool)
{
	if (!pool)
		return 0;
	if (is_private(pool))
		return priv_close(priv_of(pool));
	if (pool_is_ours(pool))
		pool->backing->detach(pool);
	pool_discard(pool);
	return 0;
}

UPOOL_API int upool_destroy(struct upool *pool)
{
	int ret;

	if (is_private(pool))
		return priv_destroy(priv_of(pool));
	ret = pool_is_ours(pool) ? pool->backing->destroy(pool) : -EPERM;

	return ret ? ret : upool_close(pool);
}

UPOOL_API const char *upool_mode(const struct upool *pool)
{
	return is_private(pool) ? priv_of(pool)->mode : pool->mode;
}

UPOOL_API unsigned int upool_version(void)
{
	return UPOOL_VERSION_MAJOR << 16 | UPOOL_VERSION_MINOR << 8 | UPOOL_VERSION_PATCH;
}
