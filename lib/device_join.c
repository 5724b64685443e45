// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * device_join.c - makes, finds and joins pools of /dev/upool.
 * Owns: what the device's answers mean to callers.  Locks: none.  Entry: upool.c.
 */
#include <string.h>
#include "device.h"
#include "rseq.h"
#include "sys.h"

#define OPEN_ROUNDS	16	/* of "not there, make it; there, join it" */

/*
 * A file of the device, speaking our version, not attached yet; or -errno.
 * -ENODEV: nothing there that is a device of ours.
 */
static int device_file(void)
{
	const char *path = sys_env("UPOOL_DEVICE");
	struct upool_query q;
	int fd, ret;

	fd = sys_open(path ? path : UPOOL_DEVICE);
	if (fd == -ENOENT || fd == -ENXIO || fd == -ENOTDIR)
		return -ENODEV;
	if (fd < 0)
		return fd;
	memset(&q, 0, sizeof(q));
	q.size = sizeof(q);
	ret = sys_ioctl(fd, UPOOL_IOC_QUERY, &q);
	if (!ret && (q.abi_version != UPOOL_ABI_VERSION || q.layout_id != UPOOL_LAYOUT_ID))
		ret = -EPROTO;
	if (ret) {
		sys_close(fd);
		return ret == -ENOTTY || ret == -EINVAL ? -ENODEV : ret;
	}
	return fd;
}

/* The file is attached as @id: map it, and the handle is live. */
static int join(struct upool *p, const struct upool_geometry *geo, uint32_t id)
{
	const char *why = rseq_unusable();
	void *at;
	int ret;

	if (!geometry_valid(geo) || !id || id > UPOOL_MAX_ID)
		return -EPROTO;
	if (geo->control_bytes > SIZE_MAX / 2)
		return -EOVERFLOW;
	p->geo = *geo;
	p->map_bytes = geo->control_bytes;
	ret = sys_map(&at, p->fd, UPOOL_MMAP_CONTROL, (size_t)p->map_bytes, 1);
	if (ret)
		return ret;
	p->control = at;
	ret = pool_map_data(p, UPOOL_MMAP_DATA);
	if (ret)
		return ret;
	p->ops = why ? OPS_NONE : OPS_RSEQ;
	pool_publish(p, id, why ? "device: syscalls" : "device: rseq", why, "");
	return 0;
}

static int create(struct upool *p, const char *name, const struct upool_options *o)
{
	struct upool_create c;
	int ret;

	memset(&c, 0, sizeof(c));
	c.size = sizeof(c);
	c.flags = (o->flags & UPOOL_F_PERSIST ? UPOOL_CREATE_F_PERSIST : 0) |
		  (o->flags & UPOOL_F_ZERO_ORPHANS ? UPOOL_CREATE_F_ZERO_ORPHANS : 0) |
		  (o->flags & UPOOL_F_POPULATE ? UPOOL_CREATE_F_RESERVE : 0) |
		  (o->flags & UPOOL_F_STRICT ? UPOOL_CREATE_F_STRICT : 0);
	c.buf_bytes = o->buffer_bytes;
	c.nr = (uint32_t)o->nr_buffers;
	c.cap = o->magazine;
	c.mode = o->mode;
	c.token_ttl_s = o->token_ttl_s;
	if (name)
		memcpy(c.name, name, strlen(name));
	ret = sys_ioctl(p->fd, UPOOL_IOC_CREATE, &c);
	return ret ? ret : join(p, &c.geo, c.id);
}

static int attach(struct upool *p, const char *name, bool has_uid, uint32_t uid)
{
	struct upool_attach a;
	int ret;

	memset(&a, 0, sizeof(a));
	a.size = sizeof(a);
	a.flags = has_uid ? UPOOL_ATTACH_F_UID : 0;
	a.uid = uid;
	memcpy(a.name, name, strlen(name));
	ret = sys_ioctl(p->fd, UPOOL_IOC_ATTACH, &a);
	if (ret)
		return ret;
	return a.layout_id == UPOOL_LAYOUT_ID ? join(p, &a.geo, a.id) : -EPROTO;
}

/* A handle with a file of the device; undone by pool_discard(). */
static int new_handle(struct upool **out, unsigned int flags)
{
	struct upool *p;
	int fd = device_file(), ret;

	if (fd < 0)
		return fd;
	ret = pool_new(&p, &device_backing, flags);
	if (ret) {
		sys_close(fd);
		return ret;
	}
	p->fd = fd;
	*out = p;
	return 0;
}

int device_create_pool(struct upool **out, const struct upool_options *o)
{
	struct upool *p;
	int ret = new_handle(&p, o->flags);

	if (ret)
		return o->backing == UPOOL_BACKING_AUTO ? -ENODEV : ret;
	ret = create(p, o->name, o);
	if (ret) {
		pool_discard(p);
		return ret;
	}
	*out = p;
	return 0;
}

/* "uid:name" into its parts; "name" leaves *has_uid false. */
static int split(const char **name, bool *has_uid, uint32_t *uid)
{
	const char *s = *name;
	uint64_t n = 0;

	*has_uid = false;
	*uid = 0;
	if (strchr(s, ':')) {
		if (*s == ':')
			return -EINVAL;
		for (; *s != ':'; s++) {
			if (*s < '0' || *s > '9')
				return -EINVAL;
			n = n * 10 + (uint64_t)(*s - '0');
			if (n >= UINT32_MAX)
				return -EINVAL;
		}
		*has_uid = true;
		*uid = (uint32_t)n;
		*name = s + 1;
	}
	return name_valid(*name) ? 0 : -EINVAL;
}

int device_open_pool(struct upool **out, const char *name, const struct upool_options *o)
{
	struct upool *p;
	bool has_uid;
	uint32_t uid;
	int ret, i;

	ret = split(&name, &has_uid, &uid);
	if (!ret)
		ret = new_handle(&p, o ? o->flags : 0);
	if (ret)
		return ret;
	for (i = 0; i < OPEN_ROUNDS; i++) {
		ret = attach(p, name, has_uid, uid);
		if (ret != -ENOENT || !o || has_uid)
			break;
		ret = create(p, name, o);
		if (ret != -EEXIST)
			break;
	}
	if (ret) {
		pool_discard(p);
		return ret;
	}
	*out = p;
	return 0;
}

int device_attach(struct upool **out, int fd)
{
	struct upool_attach a;
	struct upool *p;
	int ret;

	ret = pool_new(&p, &device_backing, 0);
	if (ret)
		return ret;
	memset(&a, 0, sizeof(a));
	a.size = sizeof(a);
	ret = sys_ioctl(fd, UPOOL_IOC_REOPEN, &a);
	if (ret == -ENOTTY || ret == -EBADF)
		ret = -EINVAL;
	if (!ret) {
		p->fd = a.fd;
		ret = a.layout_id == UPOOL_LAYOUT_ID ? join(p, &a.geo, a.id) : -EPROTO;
	}
	if (ret) {
		pool_discard(p);
		return ret;
	}
	*out = p;
	return 0;
}
