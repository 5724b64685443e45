// SPDX-License-Identifier: GPL-2.0-only
/*
 * sysfs.c - /sys/kernel/poolmod: one value per file.
 * Owns: struct pool_dir.  Locks: none; kobject_del() waits for readers, so it is called
 * without a lock that they take.  Entry: pool.c, main.c.
 */
#include <linux/completion.h>
#include <linux/module.h>
#include <linux/refcount.h>
#include <linux/slab.h>
#include <linux/sysfs.h>
#include "compat.h"
#include "internal.h"

/**
 * struct pool_dir - directory of a pool
 * @kobj: freed by its release, which can come long after the pool
 * @pool: valid until kobject_del() has returned
 * @uid:  owner of the files
 * @gid:  their group
 */
struct pool_dir {
	struct kobject	kobj;
	struct pool	*pool;
	kuid_t		uid;
	kgid_t		gid;
};

/**
 * struct pool_attr - a file
 * @attr: name and mode
 * @off:  of its value in struct upool_pool_stats
 * @show: or what else to show
 */
struct pool_attr {
	struct attribute	attr;
	size_t			off;
	int			(*show)(struct pool *pool, char *buf);
};

static struct kobject *root_dir, *pools_dir;
static refcount_t nr_dirs = REFCOUNT_INIT(1);	/* whose release has not run, and the module */
static DECLARE_COMPLETION(dirs_gone);

static int show_mode(struct pool *pool, char *buf)
{
	return sysfs_emit(buf, "%04o\n", pool->mode);
}

static int show_magazine(struct pool *pool, char *buf)
{
	return sysfs_emit(buf, "%u\n", pool->cap);
}

#define STAT_ATTR(name_, help)							\
static struct pool_attr attr_##name_ = {					\
	.attr = { .name = #name_, .mode = 0440 },				\
	.off = offsetof(struct upool_pool_stats, name_),			\
};

UPOOL_POOL_STATS(STAT_ATTR)

static struct pool_attr attr_mode = {
	.attr = { .name = "mode", .mode = 0440 },
	.show = show_mode,
};

static struct pool_attr attr_magazine = {
	.attr = { .name = "magazine", .mode = 0440 },
	.show = show_magazine,
};

#define STAT_ATTR_REF(name_, help)	&attr_##name_.attr,
static struct attribute *pool_attrs[] = {
	UPOOL_POOL_STATS(STAT_ATTR_REF)
	&attr_mode.attr,
	&attr_magazine.attr,
	NULL,
};
ATTRIBUTE_GROUPS(pool);

static ssize_t pool_attr_show(struct kobject *kobj, struct attribute *attr, char *buf)
{
	struct pool_attr *a = container_of(attr, struct pool_attr, attr);
	struct pool *pool = container_of(kobj, struct pool_dir, kobj)->pool;
	struct upool_pool_stats st;

	if (a->show)
		return a->show(pool, buf);
	pool_stats(pool, &st);
	return sysfs_emit(buf, "%llu\n", *(u64 *)((char *)&st + a->off));
}

static const struct sysfs_ops pool_sysfs_ops = {
	.show = pool_attr_show,
};

static void pool_dir_ownership(compat_kobject *kobj, kuid_t *uid, kgid_t *gid)
{
	compat_pool_dir *dir = container_of(kobj, struct pool_dir, kobj);

	*uid = dir->uid;
	*gid = dir->gid;
}

static void pool_dir_release(struct kobject *kobj)
{
	kfree(container_of(kobj, struct pool_dir, kobj));
	if (refcount_dec_and_test(&nr_dirs))
		complete(&dirs_gone);
}

static const struct kobj_type pool_dir_type = {
	.release = pool_dir_release,
	.sysfs_ops = &pool_sysfs_ops,
	.default_groups = pool_groups,
	.get_ownership = pool_dir_ownership,
};

/**
 * pool_dir_create() - make a pool's directory
 * @pool: outlives the directory
 * Context: process; may sleep.
 * Return: the directory; ERR_PTR -ENOMEM
 */
struct pool_dir *pool_dir_create(struct pool *pool)
{
	struct pool_dir *dir = kzalloc(sizeof(*dir), GFP_KERNEL_ACCOUNT);
	int ret;

	if (!dir)
		return ERR_PTR(-ENOMEM);
	dir->pool = pool;
	dir->uid = pool->uid;
	dir->gid = pool->gid;
	refcount_inc(&nr_dirs);
	ret = kobject_init_and_add(&dir->kobj, compat_ktype(&pool_dir_type), pools_dir, "%s.%llu",
				   pool->name[0] ? pool->name : "anon", pool->id);
	if (!ret)
		return dir;
	kobject_put(&dir->kobj);
	return ERR_PTR(ret);
}

/**
 * pool_dir_remove() - remove a pool's directory; nobody reads in it afterwards
 * @dir: from pool_dir_create(), or NULL
 * Context: process; may sleep.
 */
void pool_dir_remove(struct pool_dir *dir)
{
	if (!dir)
		return;
	kobject_del(&dir->kobj);
	kobject_put(&dir->kobj);
}

static ssize_t version_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%s\n", POOLMOD_VERSION);
}

static struct kobj_attribute version_attr = __ATTR_RO(version);

/**
 * sysfs_init() - make /sys/kernel/poolmod
 * Return: 0 or -errno
 */
int sysfs_init(void)
{
	int ret = -ENOMEM;

	root_dir = kobject_create_and_add("poolmod", kernel_kobj);
	if (!root_dir)
		return -ENOMEM;
	pools_dir = kobject_create_and_add("pools", root_dir);
	if (!pools_dir)
		goto remove_root;
	ret = sysfs_create_file(root_dir, &version_attr.attr);
	if (!ret)
		return 0;
	kobject_del(pools_dir);
	kobject_put(pools_dir);
remove_root:
	kobject_del(root_dir);
	kobject_put(root_dir);
	return ret;
}

/**
 * sysfs_exit() - remove it, and wait for every release that is our code
 * Context: process; sleeps.
 */
void sysfs_exit(void)
{
	kobject_del(pools_dir);
	kobject_put(pools_dir);
	kobject_del(root_dir);
	kobject_put(root_dir);
	if (!refcount_dec_and_test(&nr_dirs))
		wait_for_completion(&dirs_gone);
}
