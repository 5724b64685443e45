// SPDX-License-Identifier: GPL-2.0-only
/*
 * main.c - writing a name to the parameter "bug" plants that bug.
 */
#include <linux/module.h>
#include <linux/string.h>

#include "planted.h"

static const struct planted_bug *lookup(const struct planted_bug *table,
					  const char *name)
{
	for (; table->name; table++)
		if (sysfs_streq(table->name, name))
			return table;
	return NULL;
}

static int bug_set(const char *val, const struct kernel_param *kp)
{
	const struct planted_bug *bug = lookup(planted_memory, val);

	if (!bug)
		bug = lookup(planted_locking, val);
	if (!bug)
		return -EINVAL;
	bug->plant();
	return 0;
}

static const struct kernel_param_ops bug_ops = {
	.set = bug_set,
};

module_param_cb(bug, &bug_ops, NULL, 0200);
MODULE_PARM_DESC(bug, "name of the bug to plant");
MODULE_DESCRIPTION("Deliberate bugs that prove the checkers of a debug kernel");
MODULE_LICENSE("GPL");
