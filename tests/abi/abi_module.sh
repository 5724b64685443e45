#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# abi_module.sh - what keeps the module loaded, what does not, and what it leaves.
set -euo pipefail

# shellcheck source=tests/lib/ktap.sh
. "$(dirname "$0")/../lib/ktap.sh"
holder=$(cd "$(dirname "$0")" && pwd)/abi_holder
[ -e /dev/upool ] || plan_skip 'there is no /dev/upool'

# Where the machine was started from.
module=${UPOOL_MODULE:-$(find /vm/modules -name poolmod.ko 2>/dev/null | head -n 1)}
[ -f "$module" ] || plan_skip 'poolmod.ko is not here'

loaded() { grep -q '^poolmod ' /proc/modules; }

# The end of a pool is a work item that may still hold the module's users.
unload() {
	local n

	for n in $(seq 1000); do
		rmmod poolmod 2>/dev/null && return
		sleep 0.01
	done
	echo "rmmod: not after $n tries"
	return 1
}

# held HOW: rmmod is refused while a holder has the module that way.
held() {
	coproc "$holder" "$1"
	local in=${COPROC[1]} out=${COPROC[0]} pid=$COPROC_PID line

	read -r line <&"$out"
	[ "$line" = ready ]
	if rmmod poolmod 2>/tmp/abi_module.err; then
		insmod "$module"
		return 1
	fi
	cat /tmp/abi_module.err
	grep -qi 'busy\|in use\|unavailable' /tmp/abi_module.err
	loaded
	eval "exec $in>&-"
	wait "$pid"
	unload
	insmod "$module"
}

data_alone() {
	coproc "$holder" data
	local in=${COPROC[1]} out=${COPROC[0]} pid=$COPROC_PID line

	read -r line <&"$out"
	[ "$line" = ready ]
	unload
	nothing_left
	eval "exec $in>&-"
	wait "$pid"	# reads it all, and writes
	insmod "$module"
}

# Prints what is.
left() {
	local f

	lsmod | grep '^poolmod ' || true
	for f in /dev/upool /sys/kernel/poolmod /sys/module/poolmod; do
		[ ! -e "$f" ] || echo "$f"
	done
	grep -H poolmod /proc/slabinfo /proc/vmallocinfo /proc/misc /proc/devices || true
	grep -s poolmod /sys/kernel/tracing/available_events || true
}

nothing_left() {
	local what

	what=$(left)
	echo "$what"
	[ -z "$what" ]
}

leaves_nothing() {
	loaded || insmod "$module"
	[ -n "$(left)" ]	# it would be seen
	unload
	nothing_left
	insmod "$module"
}

racing_openers() {
	local rounds=${UPOOL_TEST_SCALE:-100} pids=() n i out=0

	[ "$rounds" -ge 3 ] || rounds=3
	for n in $(seq 8); do
		"$holder" race >/dev/null &
		pids+=($!)
	done
	for i in $(seq "$rounds"); do
		unload
		out=$((out + 1))
		insmod "$module"
	done
	kill -0 "${pids[@]}"	# every one of them still at it
	kill -9 "${pids[@]}"
	wait "${pids[@]}" 2>/dev/null || true
	echo "$n openers, $out of $i times out and in"
	[ "$out" = "$rounds" ]
}

plan 5
check 'an open file keeps the module' held open
check 'the control mapping keeps it after close' held control
check 'the data mapping does not, and stays' data_alone
check 'nothing is left when it is gone' leaves_nothing
check 'openers race with its going and coming' racing_openers
finish
