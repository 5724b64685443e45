#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# reproducible.sh - are two builds of two copies of the tree the same bytes?
set -euo pipefail

# shellcheck source=tests/lib/ktap.sh
. "${UPOOL_TOP:-$(dirname "$0")/../..}/tests/lib/ktap.sh"
cd "$UPOOL_TOP"
copies=$(mktemp -d)
trap 'rm -rf "$copies"' EXIT

build_copy() {
	mkdir -p "$copies/$1/tools" "$copies/$1/Documentation"
	cp -r Makefile VERSION lib uapi "$copies/$1/"
	cp -r tools/doc "$copies/$1/tools/"
	cp -r Documentation/man "$copies/$1/Documentation/"
	(cd "$copies/$1" && env -u O make -s O=build lib man) >/dev/null
}

same() {
	cmp "$copies/one/build/lib/$1" "$copies/another.place/build/lib/$1"
}

same_pages() { diff -r "$copies/one/build/man" "$copies/another.place/build/man"; }

plan 4
build_copy one
build_copy another.place
check 'libupool.a' same libupool.a
check 'libupool.so' same libupool.so
check 'libupool.pc' same pkgconfig/libupool.pc
check 'man pages' same_pages
finish
