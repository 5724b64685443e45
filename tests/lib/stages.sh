# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash disable=SC2154
#
# stages.sh - the stages of `make check` and what each may take; read by tests/run.

: "${results:?}"

native_suites=(unit rseq pool private proc stress pipe golden meta)
sanitized_suites=(unit pool private proc)
vm_suites=(abi pool proc stress rseq pipe)

all_stages=(build quick sanitizers lint vm-6.1 vm-6.12 debug planted)

# Seconds a stage may take on two cores with nothing cached; the total is half an hour.
budget_of() {
	case $1 in
	build)		echo 60 ;;
	quick)		echo 240 ;;
	sanitizers)	echo 180 ;;
	lint)		echo 180 ;;
	vm-*)		echo 180 ;;
	debug*)		echo 720 ;;
	planted)	echo 120 ;;
	*)		echo 600 ;;
	esac
}

expand_stages() {
	case $1 in
	all)	echo "${all_stages[@]}" ;;
	quick)	echo build quick sanitizers ;;
	vm)	echo build vm-6.1 vm-6.12 ;;
	debug)	echo build debug planted ;;
	lint|build|sanitizers|planted|vm-*)	echo "$1" ;;
	*)	return 1 ;;
	esac
}

stage_build() {
	check_one 'build: gcc, no warning' make -s O="$O" CC=gcc WERROR=1 all lib-test examples
	check_one 'build: clang, no warning' make -s O="$O/clang" CC=clang WERROR=1 all examples
}

stage_quick() {
	local e suites

	for e in Documentation/examples/*.c; do
		e=$(basename "$e" .c)
		check_one "examples: $e" "$O/examples/$e"
	done
	mapfile -t suites < <(existing "${native_suites[@]}")
	run_native native release "${suites[@]}"
}

# ThreadSanitizer knows nothing of restartable sequences, valgrind's kernel has none:
# both get the locked back end, at a fraction of the counts.
stage_sanitizers() {
	local suites one program

	make -s O="$O" lib-asan lib-tsan >/dev/null
	mapfile -t suites < <(existing "${sanitized_suites[@]}")
	export UPOOL_TEST_SCALE=${UPOOL_TEST_SCALE:-5}
	run_native asan asan "${suites[@]}"
	mapfile -t one < <(existing unit pool private)
	GLIBC_TUNABLES=glibc.pthread.rseq=0 run_native tsan tsan "${one[@]}"
	UPOOL_TEST_SCALE=1
	for program in "$O"/ksft/native/pool/*; do
		case $program in
		*.sh)	continue ;;
		esac
		[ -f "$program" ] || continue
		[ -x "$program" ] || continue
		check_one "valgrind: ${program##*/}" \
			valgrind -q --error-exitcode=1 --leak-check=full "$program"
	done
	unset UPOOL_TEST_SCALE
}

stage_lint() { check_one 'lint: static checks' tools/lint; }

stage_vm() {
	local suites

	mapfile -t suites < <(existing "${vm_suites[@]}")
	run_vm "$1" "${suites[@]}"
}

stage_planted() { check_one 'planted: bugs are reported' tests/meta/planted/run; }

# run_stage NAME COMMAND...
run_stage() {
	local start=$SECONDS took

	stage=$1
	shift
	: >"$results/$stage.ktap"
	: >"$results/$stage.list"
	echo "== $stage"
	"$@"
	took=$((SECONDS - start))
	printf '%-12s %5d %7d\n' "$stage" "$took" "$(budget_of "$stage")" \
		>>"$results/times.txt"
}

run_named_stage() {
	case $1 in
	vm-*)	run_stage "$1" stage_vm "${1#vm-}" ;;
	debug)	run_stage debug stage_vm debug ;;
	*)	run_stage "$1" "stage_$1" ;;
	esac
}

print_times() {
	echo '== time'
	printf '%-12s %5s %7s\n' stage s budget
	cat "$results/times.txt"
	awk '{ s += $2; b += $3; if ($2 > $3) late = late " " $1 }
		END {
			printf "%-12s %5d %7d\n", "total", s, b
			if (late)
				print "over budget:" late
		}' "$results/times.txt"
}
