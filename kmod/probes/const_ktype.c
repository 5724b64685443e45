// SPDX-License-Identifier: GPL-2.0-only
/* kobject_init() takes a const kobj_type. */
#include <linux/kobject.h>

void probe(struct kobject *kobj, const struct kobj_type *type);
void probe(struct kobject *kobj, const struct kobj_type *type)
{
	kobject_init(kobj, type);
}
