#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# pipe_contents.sh - names and digests are printed as sha256sum and xxhsum do, and
# contents never pass from process to process: strace shows every byte read once,
# from the files, and every byte written once, to the output.
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
echo '1..6'

# Status 4 skips, with the last line of the output as its reason.
check() {
	local name=$1 rc

	shift
	nr=$((nr + 1))
	"$@" >"$dir/.out" 2>&1
	rc=$?
	case $rc in
	0)	echo "ok $nr $name" ;;
	4)	echo "ok $nr $name # SKIP $(tail -n 1 "$dir/.out")" ;;
	*)	sed 's/^/# /' "$dir/.out"
		echo "not ok $nr $name"
		failed=1 ;;
	esac
}

run() { "$pipe" --backing "$backing" --no-progress --no-summary "$@"; }

# Digests of "abc", by definition of the functions.
sha=ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad
xxh3=78af5f94892f3950
xxh128=06b05ab6733a618578af5f94892f3950

odd=('a b' $'new\nline' 'back\slash' $'carriage\rreturn' '*' '-l' ' ' $'\xff')

names_are_escaped() {
	run -- sha256 "${odd[@]}" >got
	printf '%s\n' "$sha  a b" "\\$sha  new\\nline" "\\$sha  back\\\\slash" \
		"\\$sha  carriage\\rreturn" "$sha  *" "$sha  -l" "$sha   " "$sha  "$'\xff' >want
	cmp got want
}

xxh_names_are_not() {
	run -- xxh3 "${odd[@]}" >got
	printf "XXH3 (%s) = $xxh3\n" "${odd[@]}" >want
	cmp got want || return 1
	run -- xxh128 "${odd[@]}" >got
	printf "$xxh128  %s\n" "${odd[@]}" >want
	cmp got want
}

standard_input_has_a_name() {
	[ "$(printf abc | run sha256)" = "$sha  -" ] &&
		[ "$(printf abc | run sha256 -)" = "$sha  -" ] &&
		[ "$(printf abc | run xxh3)" = "XXH3 (stdin) = $xxh3" ] &&
		[ "$(printf abc | run xxh128)" = "$xxh128  stdin" ]
}

# More files than can be between the reader and the writer, in their order.
order_is_kept() {
	local i times=$((4 * ${UPOOL_TEST_SCALE:-100}))

	for i in $(seq 20); do
		printf '%s\0' "${odd[@]:0:1}" "${odd[@]:2:1}" 'missing'
	done >list
	for i in $(seq "$times"); do
		cat list
	done >lists
	run --files0-from lists sha256 >got 2>err
	[ $? = 1 ] || return 1
	[ "$(wc -l <err)" = $((20 * times)) ] || return 1
	for i in $(seq $((20 * times))); do
		printf '%s\n' "$sha  a b" "\\$sha  back\\\\slash"
	done | cmp got -
}

calls=read,readv,pread64,preadv,preadv2,write,writev,pwrite64,pwritev,pwritev2
calls+=,sendto,sendmsg,sendmmsg,recvfrom,recvmsg,recvmmsg
calls+=,splice,tee,vmsplice,sendfile,copy_file_range,process_vm_readv,process_vm_writev

# traced OUTPUT OPTION...: checks what strace saw of "run -o OUTPUT OPTION... big-*".
traced() {
	local out=$1 in_bytes out_bytes

	shift
	if ! command -v strace >/dev/null; then
		echo 'no strace'
		return 4
	fi
	rm -f log.*
	strace -ff -y -s 0 -e "trace=$calls" -o log "$pipe" --backing "$backing" \
		--no-progress --no-summary -o "$out" "$@" big-* || return 1
	in_bytes=$(cat big-* | wc -c)
	out_bytes=$(wc -c <"$out")
	awk -v in_bytes="$in_bytes" -v out_bytes="$out_bytes" -v out="$dir/$out" -v dir="$dir/" '
		/^(---|\+\+\+) / { next }
		{ n = $NF }
		/^read\(/ && index($0, "<" dir "big-")	{ got += n; next }
		/^write\(/ && index($0, "<" out ">")	{ put += n; next }
		/^read\([0-9]+<anon_inode:\[?signalfd/	{ next }
		/^read\([0-9]+<\/(etc|lib|usr|proc|sys)\// { next }
		/^pread64\([0-9]+<\/(lib|usr)\//	{ next }
		# the header of a memfd pool, which precedes the buffers
		/^p(read|write)64\([0-9]+<\/memfd:upool>/ && n < 4096 && / 0\) += [0-9]+$/ { next }
		{ print "unexpected: " $0; bad = 1 }
		END {
			print got " of " in_bytes " read, " put " of " out_bytes " written"
			exit bad || got != in_bytes || put != out_bytes
		}' log.*
}

for name in "${odd[@]}"; do
	printf abc >"./$name"
done
for i in 1 2 3 4 5; do
	head -c 1000000 /dev/urandom >"big-$i"
done
check 'names are escaped as sha256sum does' names_are_escaped
check 'names are printed as xxhsum does' xxh_names_are_not
check 'standard input is called as by the models' standard_input_has_a_name
check 'the order of many files is kept' order_is_kept
check 'digests: no contents between processes' traced sums sha256
check 'frames: no contents between processes' traced big.zst zstd
exit $failed
