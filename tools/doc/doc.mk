# SPDX-License-Identifier: LGPL-2.1-or-later
# doc.mk - manual pages; included by the top Makefile after lib/lib.mk.
#
#	man           $(O)/man/man3: a page for each function of the public headers
#	install-doc   uninstall-doc

O ?= build
PREFIX ?= /usr/local
MANDIR ?= $(PREFIX)/share/man
INSTALL ?= install

MAN_TOOL := tools/doc/man3
MAN_HEADERS := uapi/linux/upool_stats.h \
	$(addprefix lib/include/,upool.h upool_options.h upool_objects.h upool_inline.h)
# One date for all pages of the library: that of the page written by hand.
MAN_OVERVIEW := Documentation/man/upool.7
MAN_DONE := $(O)/man/man3/.done
man_pages = $(shell $(MAN_TOOL) --list $(MAN_HEADERS))

$(MAN_DONE): $(MAN_TOOL) $(MAN_HEADERS) $(MAN_OVERVIEW) VERSION
	@rm -rf $(@D) && mkdir -p $(@D)
	$(if $(filter 1,$(V)),,@echo "  MAN     $(@D)";) $(MAN_TOOL) --out $(@D) --version $(LIB_VERSION) \
		--date "$$(sed -n 's/^\.Dd //p' $(MAN_OVERVIEW))" $(MAN_HEADERS)
	@touch $@

.PHONY: man install-doc uninstall-doc
man: $(MAN_DONE)

install-doc: man
	$(INSTALL) -d $(addprefix $(DESTDIR)$(MANDIR)/,man3 man4 man7)
	$(INSTALL) -m 644 $(addprefix $(O)/man/man3/,$(man_pages)) $(DESTDIR)$(MANDIR)/man3/
	$(INSTALL) -m 644 Documentation/man/upool.4 $(DESTDIR)$(MANDIR)/man4/
	$(INSTALL) -m 644 $(MAN_OVERVIEW) $(DESTDIR)$(MANDIR)/man7/

uninstall-doc:
	rm -f $(addprefix $(DESTDIR)$(MANDIR)/man3/,$(man_pages)) \
		$(DESTDIR)$(MANDIR)/man4/upool.4 $(DESTDIR)$(MANDIR)/man7/upool.7
