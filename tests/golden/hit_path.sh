#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# hit_path.sh - does a hit cost the instructions that were reviewed?
# The library is built here with the compiler of the golden text.
set -euo pipefail

# shellcheck source=tests/lib/ktap.sh
. "${UPOOL_TOP:-$(dirname "$0")/../..}/tests/lib/ktap.sh"
here=$UPOOL_TOP/tests/golden

same_mix() {
	local compiler=$1 function=$2

	make -s -C "$UPOOL_TOP" O="$O/golden" CC="$compiler" CFLAGS='-O2 -g' lib
	diff <(grep "^$function " "$here/x86_64-$compiler.txt") \
		<("$here/mix.sh" "$O/golden/lib/libupool.so" "$function")
}

[ "$(uname -m)" = x86_64 ] || plan_skip 'golden texts are for x86-64'
plan 2
for function in upool_alloc upool_free; do
	if command -v gcc-12 >/dev/null; then
		check "$function: instruction mix of a hit" same_mix gcc-12 "$function"
	else
		skip "$function: instruction mix of a hit" 'no gcc-12'
	fi
done
finish
