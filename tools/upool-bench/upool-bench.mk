# SPDX-License-Identifier: LGPL-2.1-or-later
# upool-bench.mk - builds upool-bench and its workers; included by the top Makefile.
#
#	upool-bench   $(O)/bin/upool-bench, $(O)/bin/upool-bench-workers/<family>.<layout>
#	bench         all of it, results into $(O)/bench/; BENCH_ARGS= for the driver
#
# A worker is built per family of subjects, so that none has another's libraries in its
# process, and per layout: the same code behind more or fewer instructions.

O ?= build
CFLAGS ?= -O2 -g

BENCH_DIR := tools/upool-bench
BENCH_SRCS := $(sort $(wildcard $(BENCH_DIR)/*.c))
BENCH_OBJS := $(BENCH_SRCS:$(BENCH_DIR)/%.c=$(O)/bin/obj-bench/%.o)
BENCH_BIN := $(O)/bin/upool-bench
BENCH_CFLAGS := -std=gnu11 -Wall -Wextra -Wshadow -Wmissing-prototypes -Wstrict-prototypes \
	-ffile-prefix-map=$(CURDIR)=. -D_FILE_OFFSET_BITS=64 -D_GNU_SOURCE \
	-DUPOOL_BENCH_VERSION='"$(shell cat VERSION)"' -I$(O)/include

BENCH_LAYOUTS := 0 1 2
BENCH_FAMILIES := bare ck dpdk glib malloc naive upool urcu
BENCH_SUBJECT_SRCS := $(sort $(wildcard $(BENCH_DIR)/worker/subjects/*.c))
BENCH_WORKER_OBJS := $(patsubst $(BENCH_DIR)/%.c,$(O)/bin/obj-bench/%.o,\
	$(sort $(wildcard $(BENCH_DIR)/worker/*.c)) $(BENCH_DIR)/cases.c)
BENCH_WORKERS := $(foreach l,$(BENCH_LAYOUTS),$(BENCH_FAMILIES:%=$(O)/bin/upool-bench-workers/%.$(l)))

BENCH_SUBJECT_OBJS := $(foreach l,$(BENCH_LAYOUTS),\
	$(BENCH_SUBJECT_SRCS:$(BENCH_DIR)/worker/subjects/%.c=$(O)/bin/obj-bench/subjects.$(l)/%.o))
# Made by pattern rules on the way to the workers; kept.
.SECONDARY: $(BENCH_SUBJECT_OBJS) $(BENCH_WORKER_OBJS)

# What a family needs; nothing when its package is missing: the worker then says so.
BENCH_FLAGS_dpdk = $(shell pkg-config --cflags libdpdk 2>/dev/null)
BENCH_FLAGS_glib = $(shell pkg-config --cflags glib-2.0 2>/dev/null)
# The ring is a driver that the pool finds by name.
BENCH_LIBS_dpdk = $(if $(BENCH_FLAGS_dpdk),-Wl$(LIB_COMMA)--no-as-needed \
	-lrte_mempool_ring -lrte_mempool -lrte_ring -lrte_eal)
BENCH_LIBS_glib = $(shell pkg-config --libs glib-2.0 2>/dev/null)
BENCH_LIBS_urcu = $(shell pkg-config --libs liburcu-cds 2>/dev/null)
BENCH_LIBS_upool = -L$(O)/lib -lupool -Wl,-rpath,'$$ORIGIN/../../lib'

bench_quiet = $(if $(filter 1,$(V)),,@echo "  $(1)      $@";)

$(O)/bin/obj-bench/%.o: $(BENCH_DIR)/%.c $(BENCH_DIR)/upool-bench.mk VERSION | $(LIB_STAGED)
	@mkdir -p $(@D)
	$(call bench_quiet,CC) $(CC) $(BENCH_CFLAGS) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<

# malloc and free are measured: no pair of them may be optimised away.
# bench_layout(number, instructions in front of a loop)
define bench_layout
$(O)/bin/obj-bench/subjects.$(1)/%.o: $(BENCH_DIR)/worker/subjects/%.c $(BENCH_DIR)/upool-bench.mk | $$(LIB_STAGED)
	@mkdir -p $$(@D)
	$$(call bench_quiet,CC) $$(CC) $$(BENCH_CFLAGS) $$(BENCH_FLAGS_$$*) $$(CPPFLAGS) $$(CFLAGS) \
		-fno-builtin-malloc -fno-builtin-free -DBENCH_LAYOUT=$(2) -MMD -MP -c -o $$@ $$<

$(O)/bin/upool-bench-workers/%.$(1): $(O)/bin/obj-bench/subjects.$(1)/%.o $$(BENCH_WORKER_OBJS)
	@mkdir -p $$(@D)
	$$(call bench_quiet,LD) $$(CC) $$(CFLAGS) $$(LDFLAGS) -o $$@ \
		$$(filter %.o,$$^) $$(BENCH_LIBS_$$*) -pthread

$(O)/bin/upool-bench-workers/naive.$(1): $$(patsubst $(BENCH_DIR)/worker/subjects/%.c,$(O)/bin/obj-bench/subjects.$(1)/%.o,\
	$$(filter $(BENCH_DIR)/worker/subjects/naive_%.c,$$(BENCH_SUBJECT_SRCS)))
$(O)/bin/upool-bench-workers/upool.$(1): $(O)/lib/libupool.so
endef

$(eval $(call bench_layout,0,0))
$(eval $(call bench_layout,1,20))
$(eval $(call bench_layout,2,44))

-include $(BENCH_OBJS:.o=.d) $(BENCH_WORKER_OBJS:.o=.d) $(BENCH_SUBJECT_OBJS:.o=.d)

$(BENCH_BIN): $(BENCH_OBJS)
	$(call bench_quiet,LD) $(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ -pthread

.PHONY: upool-bench bench
upool-bench: $(BENCH_BIN) $(BENCH_WORKERS)

bench:
	@tools/setup --profile bench
	@$(MAKE) --no-print-directory upool-bench
	$(BENCH_BIN) --json $(O)/bench $(BENCH_ARGS)
	@$(BENCH_DIR)/plot $(O)/bench
