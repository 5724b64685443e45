#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Without restartable sequences the library works all the same.
here=$(dirname "$0")
failed=0
echo 'TAP version 13'
echo '1..3'
without() {
	if out=$(env "$2" "$here/pool_api" 2>&1); then
		echo "ok $1 $3"
	else
		echo "$out" | sed 's/^/# /'
		echo "not ok $1 $3"
		failed=1
	fi
}
without 1 GLIBC_TUNABLES=glibc.pthread.rseq=0 'libc does not register'
without 2 UPOOL_BACKEND=locked 'the locked back end is asked for'
without 3 UPOOL_RSEQ=0 'sequences are switched off'
exit $failed
