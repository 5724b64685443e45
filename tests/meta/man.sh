#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# man.sh - do the manual pages say of each public function what it returns and when it
# fails?  What they are made of is checked by names.sh, how they look by tools/lint.
set -euo pipefail

# shellcheck source=tests/lib/ktap.sh
. "${UPOOL_TOP:-$(dirname "$0")/../..}/tests/lib/ktap.sh"
cd "$UPOOL_TOP"
pages=$O/man/man3

functions() {
	sed -n 's/^\t\(upool_[a-z][a-z_0-9]*\);$/\1/p' lib/libupool.map
	sed -n 's/^static upool__always_inline .*\b\(upool_[a-z_]*_inline\)(.*/\1/p' \
		lib/include/upool_inline.h
}

# section PAGE NAME: its lines
section() {
	awk -v want=".Sh $2" '/^\.Sh / { on = $0 == want; next } on' "$pages/$1.3"
}

# lacking PAGE...: those without one of the sections that every page has
lacking() {
	local f s

	for f in "$@"; do
		[ -e "$pages/$f.3" ] || { echo "$f has no page"; continue; }
		for s in NAME SYNOPSIS DESCRIPTION 'RETURN VALUE' ATTRIBUTES 'SEE ALSO'; do
			[ -n "$(section "$f" "$s")" ] || echo "$f.3: no $s"
		done
	done
}

returns() { sed -n 's/^\.Ft //p' "$pages/$1.3"; }

# An int is an error or 0, a pointer NULL or not, a token perhaps 0; counts and text
# are always there.
silent_about_failure() {
	local f

	for f in "$@"; do
		case $(returns "$f") in
		int)
			section "$f" ERRORS | grep '^\.It Bq Er E' >/dev/null || echo "$f.3: no ERRORS"
			;;
		'const char *' | void | 'unsigned int' | size_t)
			;;
		*'*')
			section "$f" 'RETURN VALUE' | grep -w NULL >/dev/null || echo "$f.3: no NULL"
			;;
		upool_token_t)
			section "$f" 'RETURN VALUE' | grep -w 0 >/dev/null || echo "$f.3: no 0"
			;;
		*)
			echo "$f.3: returns $(returns "$f")"
			;;
		esac
	done
}

errors_of_pages() { sed -n 's/^\.It Bq Er //p' "$pages"/*.3 | sort -u; }

unknown_errors() {
	comm -23 <(errors_of_pages) \
		<(echo '#include <errno.h>' | gcc -E -dM - | awk '/#define E/ { print $2 }' | sort)
}

# Errors that a file of the library returns by name, not those it compares with.
returned_errors() {
	grep -ohE '(return|[^=!]=|[?:]) -E[A-Z]+' "lib/$1" | grep -oE 'E[A-Z]+$' | sort -u
}

# untold_errors FILE PAGE...: those that no page has
untold_errors() {
	local file=$1 e f

	shift
	for e in $(returned_errors "$file"); do
		for f in "$@"; do
			grep -qx "\.It Bq Er $e" "$pages/$f.3" && continue 2
		done
		echo "lib/$file: $e is in none of: $*"
	done
}

untold() {
	untold_errors upool.c upool_create upool_open upool_attach upool_fd upool_destroy
	untold_errors options.c upool_create
	untold_errors memfd_join.c upool_create upool_attach
	untold_errors device_join.c upool_create upool_open upool_attach
	untold_errors reserve.c upool_reserve
	untold_errors stats.c upool_stats_read
	untold_errors token.c upool_accept
	untold_errors objects.c upool_objects_create upool_objects_destroy
	untold_errors priv_pool.c upool_create upool_destroy
	untold_errors priv_alloc.c upool_free
	untold_errors priv_token.c upool_free_token
}

references() {
	sed -n 's/^\.Xr \(upool[a-z_]*\) \([37]\).*/\1.\2/p' "$pages"/*.3 Documentation/man/*
}

dangling() {
	local ref

	for ref in $(references | sort -u); do
		[ -e "$pages/$ref" ] || [ -e "Documentation/man/$ref" ] || echo "$ref"
	done
}

variables() {
	git grep -hoE '(sys_env|setting)\([^"]*"[A-Z_]+"' -- 'lib/*.c' |
		grep -oE '"[A-Z_]+"' | tr -d '"' | sort -u
}

unlisted_variables() {
	local v

	for v in $(variables); do
		grep -qw "$v" Documentation/man/upool.7 || echo "$v"
	done
}

make -s man >/dev/null
mapfile -t all < <(functions)
plan 7
check 'functions: found in the map and upool_inline.h' test "${#all[@]}" -gt 30
check_empty 'functions: each has a page with every section' "$(lacking "${all[@]}")"
check_empty 'functions: each says how it fails' "$(silent_about_failure "${all[@]}")"
check_empty 'errors: each is one' "$(unknown_errors)"
check_empty 'errors: what the library returns is told' "$(untold)"
check_empty 'references: each page exists' "$(dangling)"
check_empty 'upool(7): every variable of the environment' "$(unlisted_variables)"
finish
