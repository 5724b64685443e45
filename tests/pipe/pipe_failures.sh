#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# pipe_failures.sh - whatever fails, upool-pipe ends with a message, in order, and
# leaves no process and no output that looks complete.
# UPOOL_TEST_BACKING chooses the backing, as for the other suites.
set -u

backing=${UPOOL_TEST_BACKING:-memfd}
pipe=${O:+$O/bin/upool-pipe}
[ -n "$pipe" ] && [ -x "$pipe" ] || pipe=upool-pipe
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
nr=0 failed=0

echo 'TAP version 13'
echo '1..10'

check() {
	local name=$1

	shift
	nr=$((nr + 1))
	if "$@" >"$dir/.out" 2>&1; then
		echo "ok $nr $name"
	else
		sed 's/^/# /' "$dir/.out"
		echo "not ok $nr $name"
		failed=1
	fi
}

run() { "$pipe" --backing "$backing" --no-progress --no-summary "$@"; }

# expect STATUS REGEX COMMAND...: the message is on stderr, prefixed by our name.
expect() {
	local status=$1 regex=$2 rc

	shift 2
	"$@" 2>err
	rc=$?
	cat err
	[ "$rc" = "$status" ] && grep -q "^upool-pipe: .*$regex" err
}

# The processes that $1 started, or the one of them called $2.
children() {
	awk -v name="${2:-}" -v parent="$1" '/^Name:/ { n = $2 } /^Pid:/ { p = $2 }
		/^PPid:/ && (name == "" || n == name) && $2 == parent { print p }' \
		/proc/[0-9]*/status 2>/dev/null
}

# start COMMAND...: in the background on an input that stays open; sets "pid".
start() {
	rm -f feed
	mkfifo feed
	exec 8<>feed
	# not by run(): "pid" would be a shell's
	"$pipe" --backing "$backing" --no-progress --no-summary "$@" feed 2>err &
	pid=$!
	until [ "$(children "$pid" | wc -l)" = 4 ] && [ -n "$(children "$pid" upool-writer)" ]; do
		kill -0 "$pid" || return 1
	done
}

# Ends "pid" by what came before; the processes it had must be gone as well.
finish() {
	local status=$1 rc p

	wait "$pid"
	rc=$?
	exec 8>&-
	cat err
	for p in $2; do
		! kill -0 "$p" || return 1
	done
	[ "$rc" = "$status" ]
}

death_of() {
	local all

	start -w 2 -o out "$1" || return 1
	all=$(children "$pid")
	kill -9 "$(children "$pid" "upool-$2")"
	finish 1 "$all" && grep -q "^upool-pipe: $2 .*killed by signal 9" err && [ ! -e out ]
}

termination_cleans_up() {
	local all

	start -w 2 -o out zstd || return 1
	all=$(children "$pid")
	kill -TERM "$pid"
	finish 143 "$all" && [ ! -e out ]
}

full_output() {
	local op

	for op in sha256 zstd; do
		expect 1 'standard output: No space left' run "$op" data >/dev/full || return 1
		expect 1 '/dev/full: No space left' run -o /dev/full "$op" data || return 1
	done
}

# The reader of the pipe is gone before anything is written.
broken_output() {
	rm -f feed
	mkfifo feed
	exec 8<>feed
	# shellcheck disable=SC2094 # both ends of a FIFO
	exec 9>feed 8<&-
	expect 1 'standard output: Broken pipe' run zstd data >&9
}

closed_output() { expect 1 'standard output: Bad file' run sha256 data >&-; }

closed_input() { expect 1 'standard input: Bad file' run sha256 <&-; }

output_among_inputs() {
	cp data copy
	expect 1 'data: is an input' run -o data zstd copy data && cmp copy data
}

head -c 3000000 /dev/urandom >data
check 'a killed worker ends it' death_of sha256 worker1
check 'a killed reader ends it' death_of zstd reader
check 'a killed writer ends it' death_of sha256 writer
check 'SIGTERM leaves no process and no output' termination_cleans_up
check 'a full output is reported' full_output
check 'an output nobody reads is reported' broken_output
check 'a closed output is reported' closed_output
check 'a closed input is reported' closed_input
check 'the output is not one of the inputs' output_among_inputs
check 'a missing list of files is reported' expect 1 'missing: No such file' \
	run --files0-from missing sha256
exit $failed
