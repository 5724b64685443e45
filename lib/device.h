/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * device.h - what makes a pool of /dev/upool a backing.
 * Owns: nothing.  Locks: none.  Entry: device_join.c.
 */
#ifndef UPOOL_DEVICE_H
#define UPOOL_DEVICE_H

#include "internal.h"

#define UPOOL_DEVICE	"/dev/upool"	/* or the environment's UPOOL_DEVICE, for tests */

extern const struct backing device_backing;

#endif /* UPOOL_DEVICE_H */
