#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# names.sh - one list of names in every place that has one: functions,
# statistics, module parameters, versions.
set -euo pipefail

# shellcheck source=tests/lib/ktap.sh
. "${UPOOL_TOP:-$(dirname "$0")/../..}/tests/lib/ktap.sh"
cd "$UPOOL_TOP"
version=$(cat VERSION)
lib=$O/lib/libupool.so

# same NAME NAME LIST LIST: two lists of words.
same() {
	diff --label "$1" --label "$2" -U0 <(sort -u <<<"$3") <(sort -u <<<"$4")
}

map_functions() { sed -n 's/^\t\(upool_[a-z][a-z_0-9]*\);$/\1/p' lib/libupool.map; }

header_functions() {
	gcc -E -P -x c -I"$O/include" lib/include/upool.h |
		grep -oE '\bupool_[a-z0-9_]+ ?\(' | tr -d ' ('
}

exported_functions() {
	nm -D --defined-only "$lib" | sed -n 's/^[0-9a-f]* [TW] \([^@]*\).*/\1/p'
}

documented_functions() {
	sed -n 's/^ \* \(upool_[a-z_0-9]*\)() - .*/\1/p' lib/include/upool.h lib/include/upool_objects.h
}

map_is_header() { same libupool.map upool.h "$(map_functions)" "$(header_functions)"; }
map_is_exports() { same libupool.map 'nm -D' "$(map_functions)" "$(exported_functions)"; }
map_is_doc() { same libupool.map kernel-doc "$(map_functions)" "$(documented_functions)"; }

statistics() {
	printf '#include <upool/upool_stats.h>\n#define X(name, help) =name\nUPOOL_POOL_STATS(X)\n' |
		gcc -E -P -x c -I"$O/include" - | grep -oE '= ?[a-z_]+' | tr -d '= '
}

sysfs_files() {
	statistics
	sed -n 's/.*\.name = "\([a-z_]*\)".*/\1/p' kmod/upool/sysfs.c
	sed -n 's/.*__ATTR[A-Z_]*(\([a-z_]*\)[,)].*/\1/p' kmod/upool/sysfs.c
}

abi_entries() {
	sed -n 's|^What:[[:space:]]*/sys/kernel/poolmod/\(.*/\)\{0,1\}\([a-z_]*\)$|\2|p' \
		Documentation/ABI/testing/sysfs-kernel-poolmod | grep .
}

sysfs_is_abi() { same sysfs.c ABI "$(sysfs_files)" "$(abi_entries)"; }

parameters() {
	sed -n 's/^module_param\(_named\|_cb\)\{0,1\}(\([a-z_0-9]*\),.*/\2/p' kmod/*.c kmod/upool/*.c
}

parameters_documented() {
	local p bad=0

	[ -n "$(parameters)" ] || { echo 'no parameter found'; return 1; }
	for p in $(parameters); do
		grep -qw "$p" Documentation/admin-guide/poolmod.rst ||
			{ echo "$p is not in poolmod.rst"; bad=1; }
	done
	return "$bad"
}

news_is_version() { diff <(head -n 1 NEWS | grep -oE '[0-9.]+$') VERSION; }
pc_is_version() { grep -qx "Version: $version" "$O/lib/pkgconfig/libupool.pc"; }

soname_is_version() {
	[ -e "$O/lib/libupool.so.$version" ]
	objdump -p "$lib" | grep -w "libupool.so.${version%%.*}" >/dev/null
}

make -s lib >/dev/null
plan 8
check 'functions: the map is the header' map_is_header
check 'functions: the map is what is exported' map_is_exports
check 'functions: each has kernel-doc' map_is_doc
check 'statistics: each sysfs file has its ABI entry' sysfs_is_abi
check 'module parameters: each is documented' parameters_documented
check 'version: NEWS' news_is_version
check 'version: libupool.pc' pc_is_version
check 'version: soname' soname_is_version
finish
