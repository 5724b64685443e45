// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * memfd_join.c - makes memfd pools and joins those behind a received descriptor.
 * Owns: validation of a file that anybody may have made.  Locks: none.
 * Entry: upool.c.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <fcntl.h>
#include <string.h>
#include "depot.h"
#include "memfd.h"
#include "rseq.h"
#include "sys.h"

/* What members have to know about; another version's feature is another protocol. */
#define MEMFD_FEATURES	(UPOOL_FEAT_STEAL | UPOOL_FEAT_WAIT | UPOOL_FEAT_TRIM | UPOOL_FEAT_STRICT)

static int map_control(struct upool *p)
{
	struct depot_layout l;
	void *at;
	int ret;

	depot_layout(&l, &p->geo);
	if (l.data_off > SIZE_MAX)
		return -EOVERFLOW;
	p->map_bytes = l.data_off;
	ret = sys_map(&at, p->fd, 0, (size_t)p->map_bytes, 1);
	if (ret)
		return ret;
	p->control = at;
	ret = sys_dont_fork(at, (size_t)p->map_bytes);
	if (ret && !p->pid)
		return ret;
	p->depot = (struct depot *)(p->control + l.depot_off);
	p->links = (uint32_t *)(p->control + l.depot_off + l.links_off);
	p->due = (uint32_t *)(p->control + l.depot_off + l.due_off);
	p->hot.nr = p->geo.classes[0].nr;
	return pool_map_data(p, l.data_off);
}

static void publish(struct upool *p, uint32_t mode, uint32_t id)
{
	const char *why = rseq_unusable();

	if (mode == UPOOL_MODE_LOCKED) {
		p->ops = OPS_LOCKED;
		p->hot.locks = depot_locks(p->depot);
		pool_publish(p, id, "memfd: locked", why ? why : "made without it",
			     ", no recovery");
	} else if (why) {
		p->ops = OPS_NONE;
		pool_publish(p, id, "memfd: depot only", why, ", no recovery");
	} else {
		p->ops = OPS_RSEQ;
		pool_publish(p, id, "memfd: rseq", NULL, ", no recovery");
	}
}

/* Never given out twice, so never lowered. */
static int next_id(struct depot *d, uint32_t *id)
{
	uint32_t last = load_relaxed(&d->last_id);

	do {
		if (last >= UPOOL_MAX_ID)
			return -ENOSPC;
	} while (!cas32(&d->last_id, &last, last + 1));
	*id = last + 1;
	add_relaxed(&d->nr_attached, 1);
	return 0;
}

static int fill(struct upool *p, const struct upool_options *o, uint32_t mode)
{
	struct upool_header h;
	struct depot_layout l;
	uint32_t flags = 0;
	int ret;

	depot_layout(&l, &p->geo);
	ret = sys_truncate(p->fd, l.file_bytes);
	if (!ret && o->flags & UPOOL_F_POPULATE) {
		flags |= DEPOT_F_POPULATED;
		ret = sys_allocate(p->fd, l.data_off, p->geo.data_bytes);
	}
	if (!ret)
		ret = sys_seal(p->fd);
	if (!ret)
		ret = map_control(p);
	if (!ret)
		ret = depot_init(p, flags, o->token_ttl_s, mode == UPOOL_MODE_LOCKED);
	if (ret)
		return ret;
	memset(&h, 0, sizeof(h));
	h.magic = UPOOL_MAGIC;
	h.layout_id = UPOOL_LAYOUT_ID;
	h.mode = mode;
	h.geo = p->geo;
	return sys_pwrite(p->fd, &h, sizeof(h), 0);
}

int memfd_create_pool(struct upool **out, const struct upool_options *o)
{
	uint32_t nr = (uint32_t)o->nr_buffers, cpus = sys_nr_cpu_ids(), mode, id;
	uint32_t cap = o->magazine ? o->magazine : upool_default_cap(nr, sys_nr_online());
	struct upool *p;
	int ret;

	if (o->flags & (UPOOL_F_PERSIST | UPOOL_F_ZERO_ORPHANS))
		return -EOPNOTSUPP;
	ret = pool_new(&p, &memfd_backing, o->flags);
	if (ret)
		return ret;
	ret = -EOVERFLOW;
	if (upool_geometry_init(&p->geo, o->buffer_bytes, nr, nr, cap, cpus))
		goto discard;
	p->geo.check = sys_random_byte();
	p->geo.features = MEMFD_FEATURES;
	if (!(o->flags & UPOOL_F_STRICT))
		p->geo.features &= ~UPOOL_FEAT_STRICT;
	ret = sys_memfd(o->name ? o->name : "upool");
	if (ret < 0)
		goto discard;
	p->fd = ret;
	mode = rseq_unusable() ? UPOOL_MODE_LOCKED : UPOOL_MODE_RSEQ;
	ret = fill(p, o, mode);
	if (!ret)
		ret = next_id(p->depot, &id);
	if (ret)
		goto discard;
	publish(p, mode, id);
	*out = p;
	return 0;
discard:
	pool_discard(p);
	return ret;
}

/* One private copy, then only the copy. */
static int read_header(struct upool *p, int fd, uint32_t *mode)
{
	struct depot_layout l;
	struct upool_header h;
	struct stat sb;
	int ret = sys_fstat(fd, &sb);

	if (ret)
		return ret;
	if (sys_seals(fd) < 0 || sys_pread(fd, &h, sizeof(h), 0) || h.magic != UPOOL_MAGIC)
		return -EINVAL;
	if (h.layout_id != UPOOL_LAYOUT_ID || !geometry_valid(&h.geo))
		return -EPROTO;
	if (h.geo.features & ~MEMFD_FEATURES)
		return -EPROTO;
	if (h.mode != UPOOL_MODE_RSEQ && h.mode != UPOOL_MODE_LOCKED)
		return -EPROTO;
	depot_layout(&l, &h.geo);
	if ((uint64_t)sb.st_size != l.file_bytes)
		return -EPROTO;
	p->geo = h.geo;
	*mode = h.mode;
	return 0;
}

int memfd_attach(struct upool **out, int fd)
{
	struct upool *p;
	uint32_t mode, id;
	int ret;

	ret = pool_new(&p, &memfd_backing, 0);
	if (ret)
		return ret;
	ret = read_header(p, fd, &mode);
	if (ret)
		goto discard;
	ret = sys_dup(fd);
	if (ret < 0)
		goto discard;
	p->fd = ret;
	ret = map_control(p);
	if (ret)
		goto discard;
	ret = -EPROTO;
	if (!depot_valid(p, mode == UPOOL_MODE_LOCKED))
		goto discard;
	ret = -ESTALE;
	if (load_relaxed(&p->depot->destroyed))
		goto discard;
	ret = next_id(p->depot, &id);
	if (ret)
		goto discard;
	publish(p, mode, id);
	*out = p;
	return 0;
discard:
	pool_discard(p);
	return ret;
}
