#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# mix.sh - count what a hit costs: the instructions of functions from their
# entry to the first return, branches not taken.
set -euo pipefail

usage() {
	cat <<-'EOT'
		Usage: tests/golden/mix.sh LIBRARY FUNCTION...

		Print a line per function of a shared library: loads, stores,
		read-modify-writes of memory (locked ones apart), branches, calls and all
		instructions of the straight path to its first return.

		To accept a change: make O=build/golden CC=gcc-12 CFLAGS='-O2 -g' lib
		tests/golden/mix.sh build/golden/lib/libupool.so upool_alloc upool_free \
			>tests/golden/x86_64-gcc-12.txt
	EOT
}

# An operand with a parenthesis or a segment is memory; the last one is written,
# save by comparisons.  lea only computes, a nop touches nothing.
count() {
	objdump -d --no-show-raw-insn --disassemble="$2" "$1" | awk -v name="$2" '
	function memory(operand) { return operand ~ /\(|%[fg]s:/ }
	BEGIN { FS = "\t" }
	NF < 2 || ended { next }
	{
		n = split($2, word, /[ \t]+/)
		op = word[1]
		locked = 0
		if (op == "lock") {
			locked = 1
			op = word[2]
		}
		if (op ~ /^nop|^endbr|^data16$|^cs$/)
			next
		all++
		text = $2
		sub(/^(lock )?[^ ]+ */, "", text)
		sub(/ *[#<].*/, "", text)
		# Commas inside parentheses do not part operands.
		while (match(text, /\([^()]*,[^()]*\)/)) {
			inner = substr(text, RSTART, RLENGTH)
			gsub(/,/, ";", inner)
			text = substr(text, 1, RSTART - 1) inner substr(text, RSTART + RLENGTH)
		}
		n = split(text, operand, /,/)
		if (op == "ret") {
			ended = 1
		} else if (op == "call") {
			call++
		} else if (op ~ /^j/) {
			branch++
		} else if (op ~ /^lea/) {
			;
		} else if (memory(operand[n])) {
			if (op ~ /^(cmp[bwlq]?|test)/)
				load++
			else if (locked || op ~ /^xchg/)
				atomic++
			else if (op ~ /^mov/)
				store++
			else
				rmw++
		} else if (memory(text)) {
			load++
		}
	}
	END {
		if (!ended)
			exit 1
		printf "%-12s load %d  store %d  rmw %d  locked %d  branch %d  call %d  all %d\n",
			name, load, store, rmw, atomic, branch, call, all
	}'
}

main() {
	local lib f

	case ${1:-} in
	-h|--help)	usage; exit 0 ;;
	esac
	[ $# -ge 2 ] || { usage >&2; exit 2; }
	lib=$1
	shift
	for f in "$@"; do
		count "$lib" "$f" || { echo "mix: $f has no return" >&2; exit 1; }
	done
}

main "$@"
