# SPDX-License-Identifier: LGPL-2.1-or-later
# The verbs; fragments live beside what they build.  `make help` lists them.

O ?= build
PREFIX ?= /usr/local
INSTALL ?= install
PROFILE ?= check
CFLAGS ?= -O2 -g
ifeq ($(WERROR),1)
override CFLAGS += -Werror
endif
ABS_O := $(abspath $(O))
VM := tools/vm

.DEFAULT_GOAL := all

include lib/lib.mk
include $(sort $(wildcard tools/*/*.mk))

# Headers as they are after installation: <upool.h>, <upool/upool.h>.
$(O)/include/%.h: lib/include/%.h
	@$(INSTALL) -D -m 644 $< $@
$(O)/include/%.hpp: lib/include/%.hpp
	@$(INSTALL) -D -m 644 $< $@
$(O)/include/upool/%.h: uapi/linux/%.h
	@$(INSTALL) -D -m 644 $< $@

.PHONY: all headers setup kmod demo examples doc
all: lib upool-pipe

headers: $(LIB_STAGED)

setup:
	@tools/setup --profile $(PROFILE)

# make kmod KDIR=: for the running or any other kernel; make kmod-6.12: for one of tools/vm.
# O=, CC= and CFLAGS= mean something else to the kernel's make: only these go there.
KMOD_MAKE = env -u MAKEFLAGS -u MFLAGS $(MAKE) --no-print-directory -j$(shell nproc) -C kmod \
	$(foreach v,V W C LLVM,$(if $($(v)),$(v)=$($(v))))

kmod:
	@$(KMOD_MAKE) $(if $(KDIR),KDIR=$(KDIR)) MO=$(ABS_O)/kmod/native

kmod-%:
	@kdir=$$($(VM)/kernel kdir $*) && \
	$(KMOD_MAKE) KDIR=$$kdir MO=$(ABS_O)/kmod/$* $(if $(filter %-clang,$*),LLVM=1)

EXAMPLES := $(patsubst Documentation/examples/%.c,$(O)/examples/%,$(wildcard Documentation/examples/*.c))
$(O)/examples/%: Documentation/examples/%.c $(LIB_STATIC) | $(LIB_STAGED)
	@mkdir -p $(@D)
	$(if $(filter 1,$(V)),,@echo "  CC      $@";) $(CC) -std=gnu11 -Wall -Wextra $(CFLAGS) -I$(O)/include -o $@ $< $(LIB_STATIC) -pthread
examples: $(EXAMPLES)

demo:
	@tools/setup --profile demo
	@$(MAKE) --no-print-directory all
	@tools/demo

doc:
	@tools/lint kernel-doc man

.PHONY: check check-quick check-vm check-debug check-long lint
check:
	@tools/setup --profile check
	@tests/run --stages all
check-quick:
	@tests/run --stages quick
check-vm:
	@tests/run --stages vm
check-debug:
	@tests/run --stages debug
check-long:
	@tools/setup --profile check
	@tests/run --long --stages all
lint:
	@tools/lint

.PHONY: install uninstall install-dkms uninstall-dkms dist clean help
install: install-lib install-upool-pipe install-doc install-dkms
uninstall: uninstall-lib uninstall-upool-pipe uninstall-doc uninstall-dkms

# The module's sources, for dkms to build: /usr/src is where it looks.
DKMS_DIR := $(DESTDIR)/usr/src/poolmod-$(LIB_VERSION)
ifneq ($(wildcard kmod/dkms.conf.in),)
install-dkms:
	$(INSTALL) -d $(DKMS_DIR)
	cp -r kmod/Kbuild kmod/Makefile kmod/*.[ch] kmod/probes kmod/upool uapi VERSION $(DKMS_DIR)/
	sed 's/@VERSION@/$(LIB_VERSION)/' kmod/dkms.conf.in >$(DKMS_DIR)/dkms.conf
uninstall-dkms:
	rm -rf $(DKMS_DIR)
endif

dist:
	@mkdir -p $(O)
	git archive --prefix=upool-$(LIB_VERSION)/ -o $(O)/upool-$(LIB_VERSION).tar.gz HEAD

clean:
	rm -rf $(O)

help:
	@echo 'make                     library and upool-pipe, into $(O)/'
	@echo 'make demo                the main job, natively and in a VM on /dev/upool'
	@echo 'make check               every test; check-quick, lint, check-vm, check-debug: parts'
	@echo 'make check-long          every test with full counts'
	@echo 'make kmod KDIR=<dir>     poolmod.ko for a kernel, into $(O)/kmod/native/'
	@echo 'make kmod-<name>         poolmod.ko for a kernel of `tools/vm/kernel list`'
	@echo 'make man                 manual pages of the functions, into $(O)/man/man3/'
	@echo 'make doc                 check kernel-doc and man pages'
	@echo 'make examples            the programs of Documentation/examples'
	@echo 'make setup PROFILE=<p>   install what demo, check, bench or dev lacks'
	@echo 'make install uninstall   with DESTDIR= PREFIX=;  make dist, make clean'
	@echo 'V=1 shows commands, O=<dir> builds elsewhere, WERROR=1 fails on warnings'
