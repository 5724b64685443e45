/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * memfd.h - what makes a memfd pool a backing.
 * Owns: nothing.  Locks: none.  Entry: memfd_join.c.
 */
#ifndef UPOOL_MEMFD_H
#define UPOOL_MEMFD_H

#include "internal.h"

extern const struct backing memfd_backing;

#endif /* UPOOL_MEMFD_H */
