# SPDX-License-Identifier: LGPL-2.1-or-later
# lib.mk - builds libupool; included by the top Makefile, which sets O, CC and PREFIX
# and stages the headers into $(O)/include.
#
#	lib           $(O)/lib/libupool.a, libupool.so.*, pkgconfig/libupool.pc
#	lib-test      libupool-test.a: with injection points, see lib/inject.h
#	lib-tsan      libupool-tsan.a;  lib-asan  libupool-asan.a (with UBSan)
#	install-lib   uninstall-lib

O ?= build
PREFIX ?= /usr/local
LIBDIR ?= $(PREFIX)/lib
INCLUDEDIR ?= $(PREFIX)/include
PKGCONFIGDIR ?= $(LIBDIR)/pkgconfig
INSTALL ?= install
AR ?= ar

LIB_VERSION := $(shell cat VERSION)
LIB_MAJOR := $(word 1,$(subst ., ,$(LIB_VERSION)))
LIB_MINOR := $(word 2,$(subst ., ,$(LIB_VERSION)))
LIB_PATCH := $(word 3,$(subst ., ,$(LIB_VERSION)))

LIB_SRCS := $(sort $(wildcard lib/*.c))
LIB_PUBLIC := upool.h upool.hpp upool_inline.h upool_objects.h upool_options.h
LIB_UAPI := $(notdir $(sort $(wildcard uapi/linux/*.h)))
LIB_STAGED := $(addprefix $(O)/include/,$(LIB_PUBLIC)) $(addprefix $(O)/include/upool/,$(LIB_UAPI))

LIB_STATIC := $(O)/lib/libupool.a
LIB_SHARED := $(O)/lib/libupool.so.$(LIB_VERSION)
LIB_SONAME := libupool.so.$(LIB_MAJOR)
LIB_PC := $(O)/lib/pkgconfig/libupool.pc

# Initial-exec: never a call to find thread-local storage.  The library has one pointer
# of its own, and reads libc's rseq area.
LIB_CFLAGS := -std=gnu11 -Wall -Wextra -Wshadow -Wmissing-prototypes -Wstrict-prototypes \
	-fPIC -fvisibility=hidden -ftls-model=initial-exec -pthread \
	-ffile-prefix-map=$(CURDIR)=. -D_FILE_OFFSET_BITS=64 \
	-DUPOOL_VERSION_MAJOR=$(LIB_MAJOR) -DUPOOL_VERSION_MINOR=$(LIB_MINOR) \
	-DUPOOL_VERSION_PATCH=$(LIB_PATCH) -I$(O)/include
# nodelete: the kernel may look at the descriptor of a thread's last sequence.
LIB_LDFLAGS := -shared -pthread -Wl,-soname,$(LIB_SONAME) -Wl,-z,defs -Wl,-z,nodelete \
	-Wl,-z,relro -Wl,-z,now -Wl,--version-script=lib/libupool.map
CFLAGS ?= -O2 -g
LIB_COMMA := ,

# Staged by a pattern rule of the top Makefile; kept.
.SECONDARY: $(LIB_STAGED)

# One set of objects per variant: lib_variant(name, flags)
define lib_variant
LIB_OBJS_$(1) := $$(LIB_SRCS:lib/%.c=$(O)/lib/obj-$(1)/%.o)

$(O)/lib/obj-$(1)/%.o: lib/%.c lib/lib.mk VERSION | $$(LIB_STAGED)
	@mkdir -p $$(@D)
	$(if $(filter 1,$(V)),,@echo "  CC      $$@";) $$(CC) $$(LIB_CFLAGS) $$(CPPFLAGS) $$(CFLAGS) $(2) -MMD -MP -c -o $$@ $$<

-include $$(LIB_OBJS_$(1):.o=.d)
endef

$(eval $(call lib_variant,release,))
$(eval $(call lib_variant,test,-DUPOOL_TEST))
$(eval $(call lib_variant,tsan,-fsanitize=thread -fno-omit-frame-pointer))
$(eval $(call lib_variant,asan,-fsanitize=address$(LIB_COMMA)undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer))

$(LIB_STATIC): $(LIB_OBJS_release)
$(O)/lib/libupool-test.a: $(LIB_OBJS_test)
$(O)/lib/libupool-tsan.a: $(LIB_OBJS_tsan)
$(O)/lib/libupool-asan.a: $(LIB_OBJS_asan)

$(O)/lib/libupool%a:
	$(if $(filter 1,$(V)),,@echo "  AR      $@";) rm -f $@ && $(AR) rcsD $@ $^

$(LIB_SHARED): $(LIB_OBJS_release) lib/libupool.map
	$(if $(filter 1,$(V)),,@echo "  LD      $@";) $(CC) $(LIB_LDFLAGS) $(LDFLAGS) -o $@ $(LIB_OBJS_release)

$(O)/lib/$(LIB_SONAME): $(LIB_SHARED)
	@ln -sfn $(notdir $(LIB_SHARED)) $@

$(O)/lib/libupool.so: $(O)/lib/$(LIB_SONAME)
	@ln -sfn $(LIB_SONAME) $@

LIB_PC_SED = sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@LIBDIR@|$(LIBDIR)|' \
	-e 's|@INCLUDEDIR@|$(INCLUDEDIR)|' -e 's|@VERSION@|$(LIB_VERSION)|' lib/libupool.pc.in

$(LIB_PC): lib/libupool.pc.in VERSION lib/lib.mk
	@mkdir -p $(@D)
	@$(LIB_PC_SED) > $@

.PHONY: lib lib-test lib-tsan lib-asan install-lib uninstall-lib
lib: $(LIB_STATIC) $(LIB_SHARED) $(O)/lib/$(LIB_SONAME) $(O)/lib/libupool.so $(LIB_PC)
lib-test: $(O)/lib/libupool-test.a
lib-tsan: $(O)/lib/libupool-tsan.a
lib-asan: $(O)/lib/libupool-asan.a

install-lib: lib
	$(INSTALL) -d $(DESTDIR)$(LIBDIR) $(DESTDIR)$(PKGCONFIGDIR) $(DESTDIR)$(INCLUDEDIR)/upool
	$(INSTALL) -m 644 $(LIB_STATIC) $(DESTDIR)$(LIBDIR)/
	$(INSTALL) -m 755 $(LIB_SHARED) $(DESTDIR)$(LIBDIR)/
	ln -sfn $(notdir $(LIB_SHARED)) $(DESTDIR)$(LIBDIR)/$(LIB_SONAME)
	ln -sfn $(LIB_SONAME) $(DESTDIR)$(LIBDIR)/libupool.so
	$(INSTALL) -m 644 $(addprefix lib/include/,$(LIB_PUBLIC)) $(DESTDIR)$(INCLUDEDIR)/
	$(INSTALL) -m 644 $(addprefix uapi/linux/,$(LIB_UAPI)) $(DESTDIR)$(INCLUDEDIR)/upool/
	$(LIB_PC_SED) > $(DESTDIR)$(PKGCONFIGDIR)/libupool.pc
	chmod 644 $(DESTDIR)$(PKGCONFIGDIR)/libupool.pc

uninstall-lib:
	rm -f $(DESTDIR)$(LIBDIR)/libupool.a $(DESTDIR)$(LIBDIR)/$(notdir $(LIB_SHARED)) \
		$(DESTDIR)$(LIBDIR)/$(LIB_SONAME) $(DESTDIR)$(LIBDIR)/libupool.so \
		$(addprefix $(DESTDIR)$(INCLUDEDIR)/,$(LIB_PUBLIC)) \
		$(addprefix $(DESTDIR)$(INCLUDEDIR)/upool/,$(LIB_UAPI)) \
		$(DESTDIR)$(PKGCONFIGDIR)/libupool.pc
	-rmdir $(DESTDIR)$(INCLUDEDIR)/upool 2>/dev/null || true
