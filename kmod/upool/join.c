// SPDX-License-Identifier: GPL-2.0-only
/*
 * join.c - QUERY, CREATE, ATTACH, REOPEN: how a file becomes a member of a pool.
 * Owns: the order of publication (I10).  Locks: none.  Entry: dev.c.
 */
#include <linux/anon_inodes.h>
#include <linux/cpumask.h>
#include <linux/cred.h>
#include <linux/ctype.h>
#include <linux/file.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include "dev.h"

/**
 * do_query() - QUERY
 * @c: the call
 * Return: 0, -EINVAL, -EFAULT
 */
int do_query(struct call *c)
{
	struct upool_query *q = c->arg;

	if (memchr_inv(&q->flags, 0, sizeof(*q) - offsetof(struct upool_query, flags)))
		return -EINVAL;
	q->features = UPOOL_FEAT_RECOVERY | UPOOL_FEAT_STEAL | UPOOL_FEAT_WAIT |
		      UPOOL_FEAT_ZERO_ORPHANS | UPOOL_FEAT_STRICT;
	q->abi_version = UPOOL_ABI_VERSION;
	q->layout_id = UPOOL_LAYOUT_ID;
	q->nr_cpu_ids = nr_cpu_ids;
	q->max_cap = UPOOL_MAX_CAP;
	q->max_count = UPOOL_MAX_COUNT;
	q->max_classes = 1;
	q->max_buf_bytes = UPOOL_MAX_BUF_BYTES;
	q->max_pool_bytes = pool_bytes_left();
	return call_reply(c);
}

/* Zero padded, terminated; empty where @may_be_empty. */
static bool name_ok(const char *name, bool may_be_empty)
{
	size_t len = strnlen(name, UPOOL_NAME_BYTES), i;

	if (len == UPOOL_NAME_BYTES || memchr_inv(name + len, 0, UPOOL_NAME_BYTES - len))
		return false;
	if (!len)
		return may_be_empty;
	if (!isascii(name[0]) || !isalnum(name[0]))
		return false;
	for (i = 1; i < len; i++)
		if (!isascii(name[i]) || !(isalnum(name[i]) || strchr("_.-", name[i])))
			return false;
	return true;
}

/* Give the file its attachment, for good.  Pairs with the loads of member->att. */
static int member_attach(struct member *m, struct attachment *att)
{
	return cmpxchg_release(&m->att, NULL, att) ? -EBUSY : 0;
}

static void attachment_abandon(struct attachment *att)
{
	attachment_end(att);
	attachment_put(att);
}

static bool create_ok(const struct upool_create *a)
{
	if (a->flags & ~UPOOL_CREATE_F_ALL || a->__resv || a->mode & ~0666u ||
	    a->token_ttl_s > UPOOL_MAX_TOKEN_TTL_S)
		return false;
	return name_ok(a->name, true) &&
	       !memchr_inv(&a->id, 0, sizeof(*a) - offsetof(struct upool_create, id));
}

/* The limit that refused goes out with the error. */
static int create_refused(struct call *c, int err)
{
	if (err == -EDQUOT && call_reply(c))
		return -EFAULT;
	return err;
}

/**
 * do_create() - CREATE
 * @c: the call
 * Return: 0 or -errno as in the uapi header
 */
int do_create(struct call *c)
{
	struct upool_create *a = c->arg;
	struct attachment *att;
	struct pool *pool;
	int ret;

	if (!create_ok(a))
		return -EINVAL;
	if (c->att)
		return -EBUSY;
	pool = pool_alloc(a, &a->limit);
	if (IS_ERR(pool))
		return create_refused(c, PTR_ERR(pool));
	att = attachment_create(pool);
	if (IS_ERR(att)) {
		pool_unlink(pool, POOL_UNLINKED);
		pool_put(pool);
		return PTR_ERR(att);
	}
	a->id = att->id;
	a->pool_id = pool->id;
	a->geo = pool->geo;
	if ((u64)pool->cap * num_online_cpus() >= pool->nr)
		a->warnings = UPOOL_WARN_CAP;
	ret = call_reply(c);
	if (!ret)
		ret = pool_publish(pool);	/* others can attach from here */
	if (!ret)
		ret = member_attach(c->member, att);	/* unless another call was first */
	if (!ret)
		return 0;
	pool_unlink(pool, POOL_UNLINKED);
	attachment_abandon(att);
	return ret;
}

static struct pool *pool_by_name(const struct upool_attach *a)
{
	kuid_t uid = current_euid();
	struct pool *pool;

	if (!name_ok(a->name, false) || a->fd || (!(a->flags & UPOOL_ATTACH_F_UID) && a->uid))
		return ERR_PTR(-EINVAL);
	if (a->flags & UPOOL_ATTACH_F_UID)
		uid = make_kuid(current_user_ns(), a->uid);
	pool = uid_valid(uid) ? pool_find(uid, a->name) : NULL;
	if (!pool)
		return ERR_PTR(-ENOENT);
	if (pool_may_attach(pool))
		return pool;
	pool_put(pool);
	return ERR_PTR(-EACCES);
}

/* A descriptor is a capability: open for reading and writing, and attached. */
static struct pool *pool_by_fd(const struct upool_attach *a)
{
	const fmode_t rw = FMODE_READ | FMODE_WRITE;
	struct pool *pool = ERR_PTR(-EBADF);
	struct attachment *att;
	struct member *m;
	struct file *file;

	if (a->name[0] || !name_ok(a->name, true) || a->uid || a->flags & UPOOL_ATTACH_F_UID)
		return ERR_PTR(-EINVAL);
	file = fget(a->fd);
	if (!file)
		return ERR_PTR(-EBADF);
	if (file->f_op == &upool_fops && (file->f_mode & rw) == rw) {
		m = file->private_data;
		att = smp_load_acquire(&m->att);	/* pairs with member_attach() */
		if (att) {
			pool = att->pool;
			kref_get(&pool->ref);
		}
	}
	fput(file);
	return pool;
}

static void attach_result(struct upool_attach *a, const struct attachment *att)
{
	a->id = att->id;
	a->layout_id = UPOOL_LAYOUT_ID;
	a->pool_id = att->pool->id;
	a->geo = att->pool->geo;
}

static bool attach_out_zero(const struct upool_attach *a)
{
	return !memchr_inv(&a->id, 0, sizeof(*a) - offsetof(struct upool_attach, id));
}

/**
 * do_attach() - ATTACH
 * @c: the call
 * Return: 0 or -errno as in the uapi header
 */
int do_attach(struct call *c)
{
	struct upool_attach *a = c->arg;
	struct attachment *att;
	struct pool *pool;
	int ret;

	if (a->flags & ~UPOOL_ATTACH_F_ALL || !attach_out_zero(a))
		return -EINVAL;
	if (c->att)
		return -EBUSY;
	pool = a->flags & UPOOL_ATTACH_F_FD ? pool_by_fd(a) : pool_by_name(a);
	if (IS_ERR(pool))
		return PTR_ERR(pool);
	att = attachment_create(pool);
	if (IS_ERR(att)) {
		pool_put(pool);
		return PTR_ERR(att);
	}
	attach_result(a, att);
	ret = call_reply(c);
	if (!ret)
		ret = member_attach(c->member, att);
	if (ret)
		attachment_abandon(att);
	return ret;
}

/* A new file that owns @att, also when this fails. */
static struct file *member_file(struct attachment *att)
{
	struct member *m = kzalloc(sizeof(*m), GFP_KERNEL_ACCOUNT);
	struct file *file;

	if (!m) {
		attachment_abandon(att);
		return ERR_PTR(-ENOMEM);
	}
	m->att = att;
	file = anon_inode_getfile("[upool]", &upool_fops, m, O_RDWR);
	if (IS_ERR(file)) {
		attachment_abandon(att);
		kfree(m);
	}
	return file;
}

/**
 * do_reopen() - REOPEN
 * @c: the call, through a file of any address space
 * Return: 0 or -errno as in the uapi header
 */
int do_reopen(struct call *c)
{
	struct upool_attach *a = c->arg;
	struct pool *pool = c->att->pool;
	struct attachment *att;
	struct file *file;
	int fd, ret;

	if (a->flags || a->name[0] || !name_ok(a->name, true) || a->uid || a->fd ||
	    !attach_out_zero(a))
		return -EINVAL;
	kref_get(&pool->ref);	/* c->att has one */
	att = attachment_create(pool);
	if (IS_ERR(att)) {
		pool_put(pool);
		return PTR_ERR(att);
	}
	attach_result(a, att);
	file = member_file(att);
	if (IS_ERR(file))
		return PTR_ERR(file);
	fd = get_unused_fd_flags(O_CLOEXEC);
	ret = fd;
	if (fd < 0)
		goto put_file;
	a->fd = fd;
	ret = call_reply(c);
	if (ret)
		goto put_fd;
	fd_install(fd, file);
	return 0;
put_fd:
	put_unused_fd(fd);
put_file:
	fput(file);
	return ret;
}
