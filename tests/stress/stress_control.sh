#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# The stress test must notice sequences that do not restart: at least 9 seeds of 10.
here=$(dirname "$0")
echo "TAP version 13"
echo "1..1"
found=0
for seed in 1 2 3 4 5 6 7 8 9 10; do
	if timeout 60 "$here/stress_broken" --backing memfd --ops 20000000 --seed $seed >/dev/null 2>&1; then
		echo "# seed $seed: not noticed"
	else
		found=$((found + 1))
	fi
done
echo "# $found of 10 seeds noticed"
if [ $found -ge 9 ]; then
	echo "ok 1 sequences that do not restart are noticed"
else
	echo "not ok 1 sequences that do not restart are noticed"
	exit 1
fi
