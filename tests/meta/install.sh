#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# install.sh - can an installed copy be used, and does it go again?
set -euo pipefail

# shellcheck source=tests/lib/ktap.sh
. "${UPOOL_TOP:-$(dirname "$0")/../..}/tests/lib/ktap.sh"
cd "$UPOOL_TOP"
dest=$(mktemp -d)
trap 'rm -rf "$dest"' EXIT
# Not a default directory: pkg-config leaves those out.
prefix=/opt/upool
own=$O/install

verb() {
	make -s "$1" O="$own" DESTDIR="$dest" PREFIX="$prefix" >/dev/null
}

config() {
	PKG_CONFIG_PATH=$dest$prefix/lib/pkgconfig PKG_CONFIG_SYSROOT_DIR=$dest \
		pkg-config "$@" libupool
}

build_shared() {
	# shellcheck disable=SC2046 # words
	gcc -Wall -Werror -o "$dest/hello" Documentation/examples/hello.c $(config --cflags --libs)
	LD_LIBRARY_PATH=$dest$prefix/lib "$dest/hello"
	rm "$dest/hello"
}

build_static() {
	# shellcheck disable=SC2046 # words
	gcc -Wall -Werror -static -o "$dest/hello" Documentation/examples/hello.c \
		$(config --static --cflags --libs)
	"$dest/hello"
	rm "$dest/hello"
}

headers_complete() {
	local h

	for h in $(cd "$dest$prefix/include" && find . -name '*.h'); do
		echo "#include <${h#./}>" | gcc -std=c11 -Wall -Werror -pedantic-errors -x c \
			-fsyntax-only -I"$dest$prefix/include" -
	done
	[ -e "$dest$prefix/include/upool/upool.h" ]
	[ ! -e "$dest$prefix/include/linux" ]
}

pages_and_tool() {
	local symbol

	for symbol in $(sed -n 's/^\t\(upool_[a-z][a-z_0-9]*\);$/\1/p' lib/libupool.map) upool_options; do
		[ -e "$dest$prefix/share/man/man3/$symbol.3" ] || { echo "no $symbol.3"; return 1; }
	done
	[ -e "$dest$prefix/share/man/man4/upool.4" ]
	[ -e "$dest$prefix/share/man/man7/upool.7" ]
	[ -e "$dest$prefix/share/man/man1/upool-pipe.1" ]
	"$dest$prefix/bin/upool-pipe" --version | grep -F "$(cat VERSION)" >/dev/null
}

left_behind() { find "$dest" ! -type d -o -name 'upool?*' -o -name 'poolmod*' | head; }

plan 7
rm -rf "$own"
check 'install' verb install
check 'pkg-config: a program with the shared library' build_shared
check 'pkg-config: a program with the static library' build_static
check 'headers compile by themselves' headers_complete
check 'man pages and upool-pipe' pages_and_tool
check 'uninstall' verb uninstall
check_empty 'uninstall leaves no file' "$(left_behind)"
finish
