#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# unit_headers.sh - every public header compiles by itself in each language and mode
# that programs are written in, and 32-bit programs see the same structures.
set -euo pipefail

# shellcheck source=tests/lib/ktap.sh
. "${UPOOL_TOP:-$(dirname "$0")/../..}/tests/lib/ktap.sh"
cd "$UPOOL_TOP"
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

headers() { (cd "$O/include" && find . -name '*.h' | sed 's|^\./||' | sort); }

# each_header COMPILER OPTION...: twice, for the guard against that.
each_header() {
	local h bad=0

	for h in $(headers); do
		printf '#include <%s>\n#include <%s>\nint nothing;\n' "$h" "$h" >"$dir/h.c"
		"$@" -Wall -Wextra -Werror -I"$O/include" -fsyntax-only "$dir/h.c" || bad=1
	done
	return "$bad"
}

structures() { sed -n 's/^struct \(upool[a-z_]*\) {.*/\1/p' uapi/linux/*.h | sort -u; }

# layout COMPILER: every structure of the interface, with offsets, holes and sizes.
layout() {
	local s

	{
		printf '#include <%s>\n' upool/upool.h upool/upool_layout.h upool/upool_stats.h
		for s in $(structures); do
			echo "struct $s v_$s;"
		done
	} >"$dir/layout.c"
	"$1" -g -I"$O/include" -c -o "$dir/layout.o" "$dir/layout.c"
	for s in $(structures); do
		pahole -C "$s" "$dir/layout.o"
	done
}

same_layout() {
	layout gcc >"$dir/64"
	layout i686-linux-gnu-gcc >"$dir/32"
	grep -q 'upool_create {' "$dir/64"
	diff "$dir/64" "$dir/32"
}

cxx_header() {
	printf '#include <upool.hpp>\n#include <upool.hpp>\nint nothing;\n' >"$dir/h.cpp"
	"$@" -std=c++17 -Wall -Wextra -Werror -I"$O/include" -fsyntax-only "$dir/h.cpp"
}

make -s headers >/dev/null
plan 8
check 'upool.hpp, g++' cxx_header g++
check 'upool.hpp, clang++' cxx_header clang++
check 'C11, gcc' each_header gcc -std=c11 -pedantic-errors -x c
check 'C11, clang' each_header clang -std=c11 -pedantic-errors -x c
check 'C17, 32 bits' each_header i686-linux-gnu-gcc -std=c17 -pedantic-errors -x c
check 'C++17, g++' each_header g++ -std=c++17 -x c++
check 'C++17, clang++' each_header clang++ -std=c++17 -x c++
check 'the structures of the interface are the same in 32 bits' same_layout
finish
