// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * device.c - pools of /dev/upool.
 * Owns: the calls to the device.  Locks: none.  Entry: upool.c, struct backing.
 */
#include "internal.h"

int device_create_pool(struct upool **out, const struct upool_options *o)
{
	(void)out;
	(void)o;
	return -ENODEV;
}

int device_open_pool(struct upool **out, const char *name, const struct upool_options *o)
{
	(void)out;
	(void)o;
	(void)name;
	return -ENODEV;
}

int device_attach(struct upool **out, int fd)
{
	(void)out;
	(void)fd;
	return -EINVAL;
}
