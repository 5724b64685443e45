// SPDX-License-Identifier: GPL-2.0-only
/* kobj_type.get_ownership takes a const kobject. */
#include <linux/kobject.h>

static void ownership(const struct kobject *kobj, kuid_t *uid, kgid_t *gid)
{
}

extern const struct kobj_type probe;
const struct kobj_type probe = { .get_ownership = ownership };
