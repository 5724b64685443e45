// SPDX-License-Identifier: GPL-2.0-only
/*
 * memory.c - planted bugs of memory, lifetime and arithmetic.
 */
#include <linux/bug.h>
#include <linux/list.h>
#include <linux/refcount.h>
#include <linux/slab.h>
#include <linux/timer.h>
#include <linux/vmalloc.h>

#include "planted.h"

/* Keeps the compiler from seeing that an access is wrong. */
#define hide(x)	({ typeof(x) __x = (x); OPTIMIZER_HIDE_VAR(__x); __x; })

static void kasan_uaf(void)
{
	char *p = kmalloc(64, GFP_KERNEL);

	if (!p)
		return;
	kfree(p);
	WRITE_ONCE(hide(p)[8], 1);
}

static void kasan_oob(void)
{
	char *p = kmalloc(40, GFP_KERNEL);

	if (!p)
		return;
	WRITE_ONCE(hide(p)[40], 1);
	kfree(p);
}

static void kasan_double_free(void)
{
	char *p = kmalloc(96, GFP_KERNEL);

	kfree(p);
	kfree(hide(p));
}

static void kasan_vmalloc(void)
{
	char *p = vmalloc(100);

	if (!p)
		return;
	READ_ONCE(hide(p)[128]);
	vfree(p);
}

static void ubsan_shift(void)
{
	int by = hide(40);

	WRITE_ONCE(by, 1 << by);
}

static struct {
	int small[4];
	int behind[8];
} array;

static void ubsan_bounds(void)
{
	array.small[hide(5)] = 1;
}

static void slub_leftover(void)
{
	struct kmem_cache *cache;

	cache = kmem_cache_create("planted", 64, 0, 0, NULL);
	if (!cache || !kmem_cache_alloc(cache, GFP_KERNEL))
		return;
	kmem_cache_destroy(cache);
}

static void kmemleak(void)
{
	int i;

	/* A few, lest a stale register or stack slot keep the only one. */
	for (i = 0; i < 8; i++)
		hide(kmalloc(200, GFP_KERNEL));
}

struct timed {
	struct timer_list timer;
};

static void expire(struct timer_list *unused)
{
}

static void odebug(void)
{
	struct timed *t = kmalloc(sizeof(*t), GFP_KERNEL);

	if (!t)
		return;
	timer_setup(&t->timer, expire, 0);
	mod_timer(&t->timer, jiffies + 1000 * HZ);
	kfree(t);
}

static void refcount(void)
{
	refcount_t ref = REFCOUNT_INIT(1);

	refcount_dec(&ref);
}

static void warn(void)
{
	WARN(1, "planted\n");
}

static void list_corruption(void)
{
	struct list_head head, entry;

	INIT_LIST_HEAD(&head);
	list_add(&entry, &head);
	head.next = &head;
	list_del(&entry);
}

const struct planted_bug planted_memory[] = {
	{ "kasan_uaf",		kasan_uaf },
	{ "kasan_oob",		kasan_oob },
	{ "kasan_double_free",	kasan_double_free },
	{ "kasan_vmalloc",	kasan_vmalloc },
	{ "ubsan_shift",	ubsan_shift },
	{ "ubsan_bounds",	ubsan_bounds },
	{ "slub_leftover",	slub_leftover },
	{ "kmemleak",		kmemleak },
	{ "odebug",		odebug },
	{ "refcount",		refcount },
	{ "warn",		warn },
	{ "list_corruption",	list_corruption },
	{ }
};
