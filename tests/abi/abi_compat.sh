#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# abi_compat.sh - the commands and pools again, from 32-bit programs.
set -euo pipefail

# shellcheck source=tests/lib/ktap.sh
. "$(dirname "$0")/../lib/ktap.sh"
cd "$(dirname "$0")"
[ -e /dev/upool ] || plan_skip 'there is no /dev/upool'

# Shows what failed: a program of 32 bits that passed has nothing to say.
quietly() {
	local out rc=0

	out=$("$@" 2>&1) || rc=$?
	[ "$rc" = 0 ] || grep -v '^ok \|^#  *\(RUN\|OK\)' <<<"$out"
	return "$rc"
}

programs=(abi_negative abi_create abi_names abi_mmap abi_tokens)
plan ${#programs[@]}
for p in "${programs[@]}"; do
	check "32 bits: $p" quietly "./${p}32"
done
finish
