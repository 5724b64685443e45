# SPDX-License-Identifier: LGPL-2.1-or-later
# suite.mk - what every suite's Makefile shares: paths, flags, the library's variant,
# and the kernel's own kselftest rules.  A suite sets TEST_GEN_PROGS and the like,
# then ends with
#
#	include ../lib/suite.mk
#
# `make -C tests/unit` works by itself; tests/run passes O, KSFT, OUTPUT and VARIANT.
#
#	VARIANT=release|test|asan|tsan    which libupool is linked; test has injection
#	                                  points, which the suite must define
#	SUITE_SRCS                        more sources for every program of the suite

TOP := $(abspath $(dir $(lastword $(MAKEFILE_LIST)))/../..)
O ?= $(TOP)/build
VARIANT ?= release
KSFT ?= $(shell $(TOP)/tools/vm/kernel source)/tools/testing/selftests
ifeq ($(OUTPUT),)
OUTPUT := $(O)/test/$(VARIANT)/$(notdir $(CURDIR))
$(shell mkdir -p $(OUTPUT))
endif

LIB_release := libupool.a
LIB_test := libupool-test.a
LIB_asan := libupool-asan.a
LIB_tsan := libupool-tsan.a
# Static run-time libraries: the runner preloads stdbuf's.
FLAGS_asan := -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer \
	-static-libasan -static-libubsan
FLAGS_tsan := -fsanitize=thread -fno-omit-frame-pointer -static-libtsan
FLAGS_test := -DUPOOL_TEST

UPOOL_LIB := $(O)/lib/$(LIB_$(VARIANT))
CFLAGS += -std=gnu11 -O2 -g -Wall -Wextra \
	-Wno-unused-parameter -I$(O)/include -I$(TOP)/tests/lib -I$(TOP)/lib -isystem $(KSFT) \
	-pthread $(FLAGS_$(VARIANT))
LDLIBS += $(SUITE_SRCS) $(UPOOL_LIB) -pthread
LOCAL_HDRS += $(wildcard $(TOP)/tests/lib/*.h *.h) $(UPOOL_LIB)

include $(KSFT)/lib.mk

# The library is the top Makefile's; outside of tests/run it is brought up to date here.
$(UPOOL_LIB):
	$(Q)$(MAKE) -s -C $(TOP) O=$(O) $(if $(filter release,$(VARIANT)),lib,lib-$(VARIANT))
