# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash disable=SC2154 # tests/run sets the variables
#
# suites.sh - builds, installs and runs kselftest directories; read by tests/run.
# Owns: $O/ksft/*, one installed collection per way of running.
# Each function appends KTAP to $results/$stage.ktap and, to $stage.list, what has to be in it.

: "${top:?}" "${results:?}" "${O:?}"

# Suites that exist, of those named.
existing() {
	local s

	for s in "$@"; do
		[ ! -f "tests/$s/Makefile" ] || echo "$s"
	done
}

# one_result NAME STATUS [NOTE]: a program's end, as the kselftest runner writes it.
one_result() {
	case $2 in
	0)	echo "ok 1 selftests: $1" ;;
	4)	echo "ok 1 selftests: $1 # SKIP" ;;
	*)	echo "not ok 1 selftests: $1 # ${3:-exit=$2}" ;;
	esac >>"$results/$stage.ktap"
}

# check_one NAME COMMAND...: one program outside of the collections; NAME is "suite: program".
check_one() {
	local name=$1 out=$results/$stage.ktap rc=0

	shift
	echo "$name" >>"$results/$stage.list"
	printf 'TAP version 13\n1..1\n' >>"$out"
	{ "$@" 2>&1 || echo "$?" >"$results/.status"; } | sed 's/^/# /' >>"$out"
	if [ -e "$results/.status" ]; then
		rc=$(<"$results/.status")
		rm "$results/.status"
	fi
	one_result "$name" "$rc"
}

# build_suite DIRECTORY SUITE VARIANT
build_suite() {
	local dir=$1 s=$2 obj=$O/test/$3/$2 options

	options=(-s -C "tests/$s" O="$O" OUTPUT="$obj" KSFT="$ksft" VARIANT="$3")
	mkdir -p "$obj"
	rm -rf "${dir:?}/$s"
	make "${options[@]}" INSTALL_PATH="$dir/$s" USERCFLAGS=-Werror install || return
	make "${options[@]}" COLLECTION="$s" emit_tests >>"$dir/kselftest-list.txt"
}

# install_suites DIRECTORY VARIANT SUITE...: sets "built" to those that could be.
install_suites() {
	local dir=$1 variant=$2 s ksft log=$results/$stage.build

	shift 2
	ksft=$(tools/vm/kernel source)/tools/testing/selftests
	rm -rf "$dir"
	mkdir -p "$dir/lib"
	cp -r "$ksft/kselftest" "$ksft/run_kselftest.sh" "$dir/"
	cp tests/lib/*.sh "$dir/lib/"
	: >"$dir/kselftest-list.txt"
	built=()
	for s in "$@"; do
		if build_suite "$dir" "$s" "$variant" >"$log" 2>&1; then
			built+=("$s")
			continue
		fi
		check_one "$s: build" false
		tail -n 20 "$log" >&2
	done
	sed 's/:/: /' "$dir/kselftest-list.txt" >>"$results/$stage.list"
}

collections() { [ $# = 0 ] || printf -- '-c %s ' "$@"; }

# Seconds after which a program is taken for hung; a guard, not a measure.
hung_after=900

# run_native DIRECTORY VARIANT SUITE...
run_native() {
	local dir=$O/ksft/$1 built

	install_suites "$dir" "${@:2}"
	[ ${#built[@]} -gt 0 ] || return 0
	# shellcheck disable=SC2046 # words
	UPOOL_TOP=$top "$dir/run_kselftest.sh" -o "$hung_after" \
		$(collections "${built[@]}") >>"$results/$stage.ktap" 2>&1 </dev/null || true
}

# Per cent of the full counts that a kernel can do in its time.
scale_of() {
	case $1 in
	debug*)	echo 2 ;;
	*)	echo 20 ;;
	esac
}

# What the guest is told, in a file: suites, scale.
guest_settings() {
	echo "collections='$(collections "${built[@]}")'"
	echo "hung_after=$hung_after"
	echo "export UPOOL_TEST_BACKING=device"
	echo "export UPOOL_TEST_SCALE=${UPOOL_TEST_SCALE:-$(scale_of "$1")}"
}

# run_vm KERNEL SUITE...: one machine for all of them.
run_vm() {
	local kernel=$1 dir=$O/ksft/vm-$1 built rc=0 options=()

	shift
	check_one "module: builds for $kernel" make -s "kmod-$kernel" O="$O"
	install_suites "$dir" release "$@"
	[ ! -x "$O/bin/upool-pipe" ] || options+=(--add "$O/bin/upool-pipe:/usr/bin/upool-pipe"
		--add "$(command -v zstd)" --add "$(command -v strace)")
	cp tests/lib/guest "$dir/guest"
	guest_settings "$kernel" >"$dir/settings.sh"
	case $kernel in
	debug*)	options+=(--kmemleak) ;;
	esac
	echo 'module: leaves nothing behind' >>"$results/$stage.list"
	check_machine "$kernel" "$dir" "${options[@]}"
}

# The machine's own result comes last: it ended by itself, with a clean log.
check_machine() {
	local kernel=$1 dir=$2 rc=0

	shift 2
	nice tools/vm/vm --kernel "$kernel" --mem 1536 --timeout 1800 \
		--log "$results/$stage.log" --out "$results/$stage.out" "$@" \
		--module "$O/kmod/$kernel/poolmod.ko" --add "$dir:/ksft" \
		-- /ksft/guest 2>"$results/$stage.err" </dev/null || rc=$?
	[ ! -e "$results/$stage.out" ] || cat "$results/$stage.out" >>"$results/$stage.ktap"
	echo 'machine: ends by itself, with a clean log' >>"$results/$stage.list"
	{
		printf 'TAP version 13\n1..1\n'
		sed 's/^/# /' "$results/$stage.err"
	} >>"$results/$stage.ktap"
	one_result 'machine: ends by itself, with a clean log' "$rc"
	[ "$rc" = 0 ] || sed 's/^/  /; 20q' "$results/$stage.err" >&2
}
