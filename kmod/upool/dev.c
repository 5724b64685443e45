// SPDX-License-Identifier: GPL-2.0-only
/*
 * dev.c - files and commands of /dev/upool: decoding and validation, nothing else.
 * Owns: struct member.  Locks: none held across user accesses (I10).  Entry: upool_fops.
 */
#include <linux/compat.h>
#include <linux/module.h>
#include <linux/nospec.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include "dev.h"
#include "trace.h"

/* Commands are allowed ... */
#define NEED_WRITE	BIT(0)	/* on files open for reading and writing */
#define NEED_POOL	BIT(1)	/* once attached */
#define NEED_MM		BIT(2)	/* to the address space that attached */
#define NEED_MAP	BIT(3)	/* while it has the control area mapped */
#define NEED_MEMBER	(NEED_WRITE | NEED_POOL | NEED_MM)

#define SMALL_BYTES	64	/* structs up to this are on the stack */

static int do_batch_check(const struct call *c, const struct upool_batch *b)
{
	if (b->flags || b->done || b->cpu)
		return -EINVAL;
	if (b->class_idx >= c->att->pool->geo.nr_classes || !b->nr || b->nr > UPOOL_MAX_CAP)
		return -EINVAL;
	return 0;
}

static int do_refill(struct call *c)
{
	struct upool_batch *b = c->arg;
	int ret = do_batch_check(c, b);

	if (!ret)
		ret = buffer_refill(c->att, b->nr, &b->done, &b->cpu);
	return ret ? ret : call_reply(c);
}

static int do_flush(struct call *c)
{
	struct upool_batch *b = c->arg;
	struct pool *pool = c->att->pool;
	int ret = do_batch_check(c, b);
	u32 n;

	if (ret)
		return ret;
	while (b->done < b->nr) {
		n = magazine_flush(pool, min_t(u32, b->nr - b->done, DEPOT_BATCH), &b->cpu);
		if (!n)
			break;
		b->done += n;
	}
	if (b->done) {
		pool_count(pool, flushes, 1);
		pool_count(pool, flushed, b->done);
		trace_poolmod_flush(pool->id, b->done);
	}
	return call_reply(c);
}

static int do_pop(struct call *c)
{
	struct upool_pop *p = c->arg;
	int ret;

	if (p->flags || p->__resv || p->index || p->timeout_ms < -1 ||
	    p->class_idx >= c->att->pool->geo.nr_classes)
		return -EINVAL;
	ret = buffer_pop(c->att, p->timeout_ms, &p->index);
	if (ret)
		return ret;
	ret = call_reply(c);
	if (ret)
		buffer_unpop(c->att, p->index);
	return ret;
}

static int do_push(struct call *c)
{
	struct upool_push *p = c->arg;

	if (p->flags || p->__resv)
		return -EINVAL;
	return buffer_push(c->att, p->index);
}

static int do_adopt(struct call *c)
{
	struct upool_adopt *a = c->arg;
	int ret;

	if (a->flags || a->__resv || a->index)
		return -EINVAL;
	ret = buffer_adopt(c->att, a->token, &a->index);
	if (ret)
		return ret;
	ret = call_reply(c);
	if (ret)
		buffer_unadopt(c->att, a->index);
	return ret;
}

static int do_drain(struct call *c)
{
	struct upool_drain *d = c->arg;
	int ret;

	if (d->flags || d->__resv || d->nr_drained || d->nr_missed || d->timeout_ms > 60000)
		return -EINVAL;
	ret = steal(c->att->pool, d->timeout_ms ? d->timeout_ms : steal_timeout_ms, true,
		    &d->nr_drained, &d->nr_missed);
	return ret == -EINTR ? ret : call_reply(c);
}

static int do_trim(struct call *c)
{
	struct upool_trim *t = c->arg;

	return t->flags || t->nr_trimmed_bytes ? -EINVAL : -EOPNOTSUPP;
}

static int do_stat(struct call *c)
{
	struct upool_stat *s = c->arg;

	if (s->flags || memchr_inv(&s->stats, 0, sizeof(s->stats)))
		return -EINVAL;
	pool_stats(c->att->pool, &s->stats);
	return call_reply(c);
}

static int do_destroy(struct call *c)
{
	struct upool_destroy *d = c->arg;

	if (d->flags & ~UPOOL_DESTROY_F_ALL)
		return -EINVAL;
	return pool_destroy(c->att, d->flags);
}

/**
 * struct command - what a command needs
 * @min:  smallest struct, up to the first version's last field without a default
 * @size: our struct
 * @need: NEED_*
 * @fn:   validates, acts, replies
 */
struct command {
	u32	min;
	u32	size;
	u32	need;
	int	(*fn)(struct call *c);
};

#define COMMAND(cmd, type, last, need_, fn_)					\
	[_IOC_NR(cmd)] = { offsetofend(struct type, last), sizeof(struct type), need_, fn_ }

static const struct command commands[] = {
	COMMAND(UPOOL_IOC_QUERY,   upool_query,   flags,     0,		     do_query),
	COMMAND(UPOOL_IOC_CREATE,  upool_create,  geo,       NEED_WRITE,     do_create),
	COMMAND(UPOOL_IOC_ATTACH,  upool_attach,  geo,       NEED_WRITE,     do_attach),
	COMMAND(UPOOL_IOC_REOPEN,  upool_attach,  geo,       NEED_WRITE | NEED_POOL, do_reopen),
	COMMAND(UPOOL_IOC_REFILL,  upool_batch,   nr,	     NEED_MEMBER | NEED_MAP, do_refill),
	COMMAND(UPOOL_IOC_FLUSH,   upool_batch,   nr,	     NEED_MEMBER,    do_flush),
	COMMAND(UPOOL_IOC_POP,	   upool_pop,	  index,     NEED_MEMBER | NEED_MAP, do_pop),
	COMMAND(UPOOL_IOC_PUSH,	   upool_push,	  index,     NEED_MEMBER,    do_push),
	COMMAND(UPOOL_IOC_ADOPT,   upool_adopt,   index,     NEED_MEMBER | NEED_MAP, do_adopt),
	COMMAND(UPOOL_IOC_DRAIN,   upool_drain,   flags,     NEED_MEMBER,    do_drain),
	COMMAND(UPOOL_IOC_TRIM,	   upool_trim,	  keep_bytes, NEED_MEMBER,   do_trim),
	COMMAND(UPOOL_IOC_STAT,	   upool_stat,	  flags,     NEED_POOL,	     do_stat),
	COMMAND(UPOOL_IOC_DESTROY, upool_destroy, flags,     NEED_MEMBER,    do_destroy),
};

static int call_check(struct call *c, u32 need)
{
	const fmode_t rw = FMODE_READ | FMODE_WRITE;

	if (need & NEED_WRITE && (c->file->f_mode & rw) != rw)
		return -EACCES;
	if (need & NEED_POOL && !c->att)
		return -ENXIO;
	if (need & NEED_MM && current->mm != c->att->mm)
		return -EPERM;
	if (need & NEED_MAP && (!READ_ONCE(c->att->was_mapped) || READ_ONCE(c->att->ended)))
		return -ENXIO;
	return 0;
}

static int call_run(struct call *c, const struct command *cmd)
{
	int ret = copy_struct_from_user(c->arg, cmd->size, c->uarg, c->usize);

	if (ret)
		return ret;
	*(u32 *)c->arg = c->usize;	/* read once, whatever is there now */
	return cmd->fn(c);
}

/**
 * call_reply() - copy the result out
 * @c: the call
 * Return: 0 or -EFAULT
 */
int call_reply(struct call *c)
{
	return copy_to_user(c->uarg, c->arg, min(c->usize, c->size)) ? -EFAULT : 0;
}

static long upool_ioctl(struct file *file, unsigned int nr, unsigned long arg)
{
	u64 small[SMALL_BYTES / sizeof(u64)];
	const struct command *cmd;
	struct call c = {
		.file = file,
		.member = file->private_data,
		.uarg = (void __user *)arg,
	};
	int ret;

	if (_IOC_TYPE(nr) != UPOOL_IOC_MAGIC || _IOC_NR(nr) >= ARRAY_SIZE(commands))
		return -ENOTTY;
	cmd = &commands[array_index_nospec(_IOC_NR(nr), ARRAY_SIZE(commands))];
	if (get_user(c.usize, (u32 __user *)arg))
		return -EFAULT;
	if (c.usize < cmd->min)
		return -EINVAL;
	if (c.usize > PAGE_SIZE)
		return -E2BIG;
	c.size = cmd->size;
	c.att = smp_load_acquire(&c.member->att);	/* pairs with member_attach() */
	ret = call_check(&c, cmd->need);
	if (ret)
		return ret;
	if (cmd->size <= sizeof(small)) {
		c.arg = small;
		return call_run(&c, cmd);
	}
	c.arg = kzalloc(cmd->size, GFP_KERNEL);
	if (!c.arg)
		return -ENOMEM;
	ret = call_run(&c, cmd);
	kfree(c.arg);
	return ret;
}

static int upool_open(struct inode *inode, struct file *file)
{
	struct member *m = kzalloc(sizeof(*m), GFP_KERNEL_ACCOUNT);

	if (!m)
		return -ENOMEM;
	file->private_data = m;
	return nonseekable_open(inode, file);
}

static int upool_release(struct inode *inode, struct file *file)
{
	struct member *m = file->private_data;

	if (m->att) {
		attachment_end(m->att);
		attachment_put(m->att);
	}
	kfree(m);
	return 0;
}

const struct file_operations upool_fops = {
	.owner = THIS_MODULE,
	.open = upool_open,
	.release = upool_release,
	.unlocked_ioctl = upool_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
	.mmap = upool_mmap,
	.llseek = noop_llseek,
};
