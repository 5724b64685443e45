#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# rseq_absent.sh - without restartable sequences the library says why, and works all
# the same.
here=$(dirname "$0")
nr=0 failed=0

verdict() {
	nr=$((nr + 1))
	if [ "$1" = 0 ]; then
		echo "ok $nr $2"
	else
		printf '# %s\n' "${out//$'\n'/$'\n# '}"
		echo "not ok $nr $2"
		failed=1
	fi
}

# without WORD NAME COMMAND...: WORD is in the mode, and the tests of the API pass.
without() {
	local word=$1 name=$2

	shift 2
	out=$("$@" "$here/print_mode" 2>&1)
	case $out in
	*"(rseq: $word)"*)	verdict 0 "$name: the mode says so" ;;
	*)			verdict 1 "$name: the mode says so" ;;
	esac
	out=$("$@" "$here/pool_api" 2>&1)
	verdict $? "$name: the pool works"
}

echo 'TAP version 13'
echo '1..8'
without GLIBC_TUNABLES 'libc does not register' env GLIBC_TUNABLES=glibc.pthread.rseq=0
without ENOSYS 'the kernel has none' "$here/without_rseq"
without UPOOL_BACKEND=locked 'the locked back end is asked for' env UPOOL_BACKEND=locked
without UPOOL_RSEQ=0 'sequences are switched off' env UPOOL_RSEQ=0
exit $failed
