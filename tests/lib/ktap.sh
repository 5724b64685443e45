# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
#
# ktap.sh - KTAP from shell tests.  Owns: the counters below.
#
#	plan 2
#	check 'the claim' command argument...    # passes when the command does
#	check_empty 'the claim' 'text'           # passes without text, else shows it
#	skip 'the claim' 'reason'
#	finish                                   # exits 0, 1 or, all skipped, 4

ktap_planned=0 ktap_nr=0 ktap_failed=0 ktap_skipped=0

plan() {
	ktap_planned=$1
	echo 'KTAP version 1'
	echo "1..$1"
}

plan_skip() {
	echo 'KTAP version 1'
	echo "1..0 # SKIP $1"
	exit 4
}

result() {
	local verdict=ok

	ktap_nr=$((ktap_nr + 1))
	[ "$1" = 0 ] || { verdict='not ok'; ktap_failed=$((ktap_failed + 1)); }
	echo "$verdict $ktap_nr $2"
}

# shellcheck disable=SC2001 # every line
diagnose() { sed "s/^/# /; ${2:-40}q" <<<"$1"; }

check() {
	local name=$1 text rc=0

	shift
	# In a subshell that stops at the first error, though its status is tested.
	set +e
	text=$(set -e; "$@" 2>&1)
	rc=$?
	set -e
	[ "$rc" = 0 ] || diagnose "$text"
	result "$rc" "$name"
}

check_empty() {
	if [ -n "$2" ]; then
		diagnose "$2"
		result 1 "$1"
	else
		result 0 "$1"
	fi
}

skip() {
	ktap_nr=$((ktap_nr + 1)) ktap_skipped=$((ktap_skipped + 1))
	echo "ok $ktap_nr $1 # SKIP $2"
}

finish() {
	if [ "$ktap_nr" != "$ktap_planned" ]; then
		echo "# planned $ktap_planned, ran $ktap_nr"
		exit 1
	fi
	[ "$ktap_failed" = 0 ] || exit 1
	[ "$ktap_skipped" != "$ktap_nr" ] || exit 4
	exit 0
}

# The tree under test: installed suites run elsewhere.
UPOOL_TOP=${UPOOL_TOP:-$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)}
O=${O:-$UPOOL_TOP/build}
case $O in
/*) ;;
*) O=$UPOOL_TOP/$O ;;
esac
# A calling make's variables are not for the makes that tests call.
unset MAKEFLAGS MFLAGS MAKEOVERRIDES MAKELEVEL
export UPOOL_TOP O
