#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# pipe_files.sh - upool-pipe gives what the ordinary tools give, and fails clearly.
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
echo '1..8'

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

# Sizes around those of buffers, an empty file, and a name with a space.
make_files() {
	local size i=0

	for size in 0 1 63 64 65535 65536 65537 200000 1000000 3000000; do
		head -c $size /dev/urandom >"file $i"
		i=$((i + 1))
	done
}

digests_match() {
	run sha256 file* >got && sha256sum file* >want && cmp got want
}

small_pool_is_enough() {
	run -n 4 -b 4096 -w 2 sha256 file* >got && cmp got want
}

standard_input_works() {
	[ "$(run sha256 <'file 9' | cut -d' ' -f1)" = "$(sha256sum <'file 9' | cut -d' ' -f1)" ]
}

frames_come_back() {
	run -b 65536 -o all.zst zstd file* && zstd -dqc all.zst >back && cat file* | cmp - back
}

unreadable_file_is_reported() {
	run sha256 'file 1' missing 'file 2' >got 2>err
	[ $? = 1 ] && grep -q missing err && sha256sum 'file 1' 'file 2' | cmp - got
}

wrong_usage_is_2() {
	local words

	for words in '' 'md5' '--nonsense sha256' '-w 0 sha256' '--backing moon sha256'; do
		# shellcheck disable=SC2086 # words
		"$pipe" $words </dev/null
		[ $? = 2 ] || return 1
	done
	"$pipe" --help && "$pipe" --version
}

workers_share_the_work() {
	local i

	for i in $(seq 40); do
		ln -sf 'file 8' "part$i"
	done
	"$pipe" --backing "$backing" --no-progress --summary -w 2 sha256 part* 2>&1 >/dev/null |
		awk '{ print } /^workers:/ { n = 1; for (i = 2; i <= NF; i++)
			if ($i ~ /^[0-9]/ && $i < 20) n = 0 } END { exit !n }'
}

# The process of that name which $1 started.
child_named() {
	awk -v name="$2" -v parent="$1" '/^Name:/ { n = $2 } /^Pid:/ { p = $2 }
		/^PPid:/ && n == name && $2 == parent { print p }' /proc/[0-9]*/status 2>/dev/null
}

# A worker dies while the input is open: an error, not a hang.
death_is_an_error() {
	local victim='' pid rc

	mkfifo feed
	exec 8<>feed
	"$pipe" --backing "$backing" --no-progress --no-summary -w 2 sha256 feed &
	pid=$!
	until [ -n "$victim" ]; do
		kill -0 "$pid" || return 1
		victim=$(child_named "$pid" upool-worker0)
	done
	kill -9 "$victim"
	wait "$pid"
	rc=$?
	exec 8>&-
	[ "$rc" = 1 ]
}

make_files
check 'digests are those of sha256sum' digests_match
check 'a pool of four buffers is enough' small_pool_is_enough
check 'standard input is digested' standard_input_works
check 'zstd gives the files back' frames_come_back
check 'an unreadable file is reported, the others are done' unreadable_file_is_reported
check 'wrong usage is status 2' wrong_usage_is_2
check 'each of two workers does a fifth at least' workers_share_the_work
check 'a killed worker is an error, not a hang' death_is_an_error
exit $failed
