#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# tree.sh - the rules of the tree that a program can check.
set -euo pipefail

# shellcheck source=tests/lib/ktap.sh
. "${UPOOL_TOP:-$(dirname "$0")/../..}/tests/lib/ktap.sh"
cd "$UPOOL_TOP"
git rev-parse --git-dir >/dev/null 2>&1 || plan_skip 'not a git checkout'

# Tracked files that exist: one may be on its way out.
tracked() {
	git ls-files -- "$@" | while IFS= read -r f; do
		[ ! -f "$f" ] || echo "$f"
	done
}

programs() {
	tracked '*.[ch]' '*.hpp' '*.py' '*.sh'
	git grep -lE '^#!.*\b(bash|sh|python3)$' -- ':!*.sh' ':!*.py'
}

each_program() { programs | sort -u | xargs -r "$@"; }

long_files() {
	# shellcheck disable=SC2016 # awk's
	each_program awk 'FNR == 401 { print FILENAME ": more than 400 lines" }'
}

# A function's body lies between a brace in the first column and the next.
long_functions() {
	# shellcheck disable=SC2016 # awk's
	tracked '*.[ch]' | xargs -r awk '
		FNR == 1 { start = 0 }
		/^{/ { start = FNR }
		/^}/ && start {
			if (FNR - start - 1 > 60)
				printf "%s:%d: %d lines\n", FILENAME, start, FNR - start - 1
			start = 0
		}'
	# shellcheck disable=SC2016 # awk's
	each_program awk '
		FNR == 1 { start = 0; sh = /^#!.*sh$/ || FILENAME ~ /\.sh$/ }
		sh && /^[a-z_][a-z_0-9.-]*\(\) *[{(]$/ { start = FNR }
		sh && /^[})]/ && start {
			if (FNR - start - 1 > 60)
				printf "%s:%d: %d lines\n", FILENAME, start, FNR - start - 1
			start = 0
		}'
}

# Text without comments of its own says its licence in LICENSES and README.
without_spdx() {
	local f

	for f in $(tracked ':!*.md' ':!*.txt' ':!NEWS' ':!VERSION' ':!*.map' ':!*.pc.in' ':!.gitignore' \
		':!.shellcheckrc' ':!.editorconfig' ':!.clang-format' ':!*/expected-skips' \
		':!Documentation/ABI'); do
		awk 'NR <= 3 && /SPDX-License-Identifier: / { found = 1 } END { exit !found }' "$f" ||
			echo "$f"
	done
}

# Every identifier that a file names has its text.
unknown_licences() {
	local id

	for id in $(git grep -hoE 'SPDX-License-Identifier: .*' -- ':!LICENSES' ':!tests/meta' |
		sed 's/SPDX-License-Identifier: //; s/\*\/.*//; s/[()]/ /g' |
		tr ' ' '\n' | grep -E '^[A-Z][A-Za-z]*-' | sort -u); do
		[ -e "LICENSES/$id.txt" ] || echo "LICENSES/$id.txt is missing"
	done
}

machine_paths() {
	git grep -nIE '/wor[k]/|/home/[a-z]|/tmp/tmp\.|[/]usr/local/google' -- ':!LICENSES' || true
}

left_to_do() { git grep -nwIE 'TOD[O]|FIXM[E]|XX[X]' -- ':!LICENSES' ':!tools/lint' || true; }

generated_files() { tracked '*.o' '*.ko' '*.a' '*.so' '*.so.*' '*.mod.c' 'build/*'; }

readme_example() {
	# shellcheck disable=SC2016 # a fence, not a command
	diff <(sed -n '/^```c$/,/^```$/p' README.md | sed '1d;$d') \
		<(tail -n +3 Documentation/examples/hello.c)
}

not_executable() {
	local f

	for f in $(git grep -lE -m 1 '^#!/' -- ':!*.md'); do
		head -n 1 "$f" | grep -q '^#!' || continue
		[ -x "$f" ] || [ "$f" = tools/vm/init ] || echo "$f"
	done
}

plan 9
check_empty 'files have at most 400 lines' "$(long_files)"
check_empty 'functions have at most 60 lines' "$(long_functions)"
check_empty 'every file names its licence' "$(without_spdx)"
check_empty 'every licence has its text' "$(unknown_licences)"
check_empty 'no file knows a machine' "$(machine_paths)"
check_empty 'nothing is left to do' "$(left_to_do)"
check_empty 'no generated file is tracked' "$(generated_files)"
check_empty 'scripts can be executed' "$(not_executable)"
check "README's example is hello.c" readme_example
finish
