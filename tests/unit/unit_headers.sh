#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# unit_headers.sh - each public header compiles by itself, as C11 and as C++17, without a
# warning; what the kernel and the members share has one layout for 32 and 64 bits.
set -euo pipefail

# shellcheck source=tests/lib/ktap.sh
. "${UPOOL_TOP:-$(dirname "$0")/../..}/tests/lib/ktap.sh"

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
headers=(upool.h upool/upool.h upool/upool_layout.h upool/upool_stats.h)
warnings=(-Wall -Wextra -Wconversion -Werror -I"$O/include")

compiles() {
	local compiler=$1 source=$2 header

	shift 2
	for header in "${headers[@]}"; do
		# Twice: guarded against itself.
		printf '#include <%s>\n#include <%s>\n' "$header" "$header" >"$tmp/$source"
		"$compiler" "$@" "${warnings[@]}" -fsyntax-only "$tmp/$source"
	done
}

structs() {
	sed -n 's/^struct \(upool_[a-z_]*\) {$/\1/p' "$O"/include/upool/*.h
}

members() {
	awk -v s="struct $1 {" '
		$0 == s { inside = 1; next }
		inside && /^}/ { inside = 0 }
		inside && /;/ {
			sub(/;.*/, ""); sub(/\[.*/, ""); print $NF
		}' "$O"/include/upool/*.h
}

# Each struct: its size, alignment, and where each member is.
layout_source() {
	local s m

	printf '#include <stddef.h>\n#include <upool/upool.h>\n'
	printf '#define X(name, help) offsetof(struct upool_pool_stats, name),\n'
	printf 'const unsigned int layout[] = {\n'
	for s in $(structs); do
		printf 'sizeof(struct %s), _Alignof(struct %s),\n' "$s" "$s"
		[ "$s" != upool_pool_stats ] || { echo 'UPOOL_POOL_STATS(X)'; continue; }
		for m in $(members "$s"); do
			printf 'offsetof(struct %s, %s),\n' "$s" "$m"
		done
	done
	printf '};\n'
}

layout() { "$1" -std=gnu11 -O2 -I"$O/include" -S -o - "$tmp/layout.c" | grep -E '^\s+\.(long|zero)'; }

same_layout() {
	layout_source >"$tmp/layout.c"
	layout cc >"$tmp/64"
	layout i686-linux-gnu-gcc >"$tmp/32"
	[ "$(wc -l <"$tmp/64")" -ge 80 ]	# all structs were found
	diff "$tmp/64" "$tmp/32"
}

plan 6
check 'headers compile as C11, gcc' compiles gcc t.c -std=c11 -Wpedantic
check 'headers compile as C11, clang' compiles clang t.c -std=c11 -Wpedantic
check 'headers compile as C++17, gcc' compiles g++ t.cc -std=c++17
check 'headers compile as C++17, clang' compiles clang++ t.cc -std=c++17
check 'headers compile as C11 for 32 bits' compiles i686-linux-gnu-gcc t.c -std=c11 -Wpedantic
check 'shared structs have one layout for 32 and 64 bits' same_layout
finish
