// SPDX-License-Identifier: GPL-2.0-only
/* trace.c - defines the tracepoints of trace.h. */
#include <linux/module.h>

#define CREATE_TRACE_POINTS
#include "trace.h"
