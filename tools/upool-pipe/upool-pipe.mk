# SPDX-License-Identifier: LGPL-2.1-or-later
# upool-pipe.mk - builds upool-pipe; included by the top Makefile after lib/lib.mk.
#
#	upool-pipe    $(O)/bin/upool-pipe, with libupool inside
#	install-upool-pipe   uninstall-upool-pipe

O ?= build
PREFIX ?= /usr/local
BINDIR ?= $(PREFIX)/bin
MANDIR ?= $(PREFIX)/share/man
INSTALL ?= install
CFLAGS ?= -O2 -g

PIPE_DIR := tools/upool-pipe
PIPE_SRCS := $(sort $(wildcard $(PIPE_DIR)/*.c))
PIPE_OBJS := $(PIPE_SRCS:$(PIPE_DIR)/%.c=$(O)/bin/obj-pipe/%.o)
PIPE_BIN := $(O)/bin/upool-pipe
PIPE_CFLAGS := -std=gnu11 -Wall -Wextra -Wshadow -Wmissing-prototypes -Wstrict-prototypes \
	-ffile-prefix-map=$(CURDIR)=. -D_FILE_OFFSET_BITS=64 -D_GNU_SOURCE \
	-DUPOOL_PIPE_VERSION='"$(shell cat VERSION)"' -I$(O)/include
PIPE_LIBS := -lcrypto -lxxhash -lzstd -pthread

$(O)/bin/obj-pipe/%.o: $(PIPE_DIR)/%.c $(PIPE_DIR)/upool-pipe.mk VERSION | $(LIB_STAGED)
	@mkdir -p $(@D)
	$(if $(filter 1,$(V)),,@echo "  CC      $@";) $(CC) $(PIPE_CFLAGS) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<

-include $(PIPE_OBJS:.o=.d)

# The static library: the tool runs from the build tree, and from a guest's.
$(PIPE_BIN): $(PIPE_OBJS) $(O)/lib/libupool.a
	$(if $(filter 1,$(V)),,@echo "  LD      $@";) $(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(PIPE_LIBS)

.PHONY: upool-pipe install-upool-pipe uninstall-upool-pipe
upool-pipe: $(PIPE_BIN)

install-upool-pipe: $(PIPE_BIN)
	$(INSTALL) -d $(DESTDIR)$(BINDIR) $(DESTDIR)$(MANDIR)/man1
	$(INSTALL) -m 755 $(PIPE_BIN) $(DESTDIR)$(BINDIR)/
	$(INSTALL) -m 644 Documentation/man/upool-pipe.1 $(DESTDIR)$(MANDIR)/man1/

uninstall-upool-pipe:
	rm -f $(DESTDIR)$(BINDIR)/upool-pipe $(DESTDIR)$(MANDIR)/man1/upool-pipe.1
