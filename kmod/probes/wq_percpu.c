// SPDX-License-Identifier: GPL-2.0-only
/* Bound workqueues have to say so. */
#include <linux/workqueue.h>

extern const unsigned int probe;
const unsigned int probe = WQ_PERCPU;
