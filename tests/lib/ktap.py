#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Count what the kselftest runner printed, a stage at a time.

Usage: ktap.py --skips FILE STAGE=KTAP...

Every result of a test program counts; a program without results of its own is
one.  A program that ends with fewer results than it planned, or whose exit status
contradicts them, is a failure.  A skip fails unless the list FILE has it: lines
"STAGE PROGRAM RESULT" of shell patterns.  A line of that list that matched
nothing, though its stage ran, is stale and fails too.
"""
import fnmatch
import re
import sys

TOP = re.compile(r'^(not )?ok \d+ (?:selftests: )?(.*?)(?: # (.*))?$')
NESTED = re.compile(r'^# +(not )?ok (\d+)(?: -)? ?(.*?)(?: # ?(SKIP|XFAIL)\b *(.*))?$')
PLAN = re.compile(r'^# +1\.\.(\d+)')
TOP_PLAN = re.compile(r'^1\.\.(\d+)')


class Count:
    def __init__(self, skips):
        self.passed = self.failed = self.skipped = 0
        self.skips = skips
        self.used = set()

    def ok(self):
        self.passed += 1

    def fail(self, stage, program, result, why):
        self.failed += 1
        print(f'FAILED  {stage}: {program}: {result}{": " + why if why else ""}')

    def skip(self, stage, program, result, why):
        for i, (s, p, r) in enumerate(self.skips):
            if (fnmatch.fnmatch(stage, s) and fnmatch.fnmatch(program, p)
                    and fnmatch.fnmatch(result, r)):
                self.used.add(i)
                self.skipped += 1
                return
        self.fail(stage, program, result, f'skipped, which is not expected ({why})')


def program_end(count, stage, top, nested, plan):
    bad, name, note = top
    note = note or ''
    for failed, result, directive, why in nested:
        if directive == 'SKIP':
            count.skip(stage, name, result, why)
        elif failed:
            count.fail(stage, name, result, '')
        else:
            count.ok()
    if note.startswith('SKIP'):
        if not nested:
            count.skip(stage, name, '-', note)
    elif plan is not None and len(nested) != plan:
        count.fail(stage, name, '-', f'planned {plan} results, gave {len(nested)}; {note}')
    elif bad and not any(n[0] for n in nested):
        count.fail(stage, name, '-', note)
    elif not nested:
        count.ok()


def read(count, stage, path):
    nested, plan, planned, seen = [], None, 0, 0
    with open(path, errors='replace') as lines:
        for line in lines:
            line = line.rstrip('\r\n')
            if m := TOP_PLAN.match(line):
                planned += int(m[1])
            elif m := PLAN.match(line):
                plan = int(m[1])
            elif m := NESTED.match(line):
                nested.append((bool(m[1]), m[3], m[4], m[5] or ''))
            elif m := TOP.match(line):
                program_end(count, stage, (bool(m[1]), m[2], m[3]), nested, plan)
                nested, plan = [], None
                seen += 1
    if not planned or seen != planned:
        count.fail(stage, '-', '-', f'planned {planned} programs, {seen} ended')


def main(argv):
    if len(argv) < 3 or argv[1] != '--skips':
        sys.exit(__doc__)
    with open(argv[2]) as lines:
        skips = [tuple(s.split(None, 2)) for s in map(str.strip, lines)
                 if s and not s.startswith('#')]
    count = Count(skips)
    stages = []
    for arg in argv[3:]:
        stage, path = arg.split('=', 1)
        stages.append(stage)
        read(count, stage, path)
    for i, (s, p, r) in enumerate(skips):
        if i not in count.used and any(fnmatch.fnmatch(st, s) for st in stages):
            count.fail(s, p, r, 'expected to be skipped, was not')
    print(f'{count.passed} passed, {count.failed} failed, {count.skipped} skipped')
    sys.exit(count.failed > 0 or not count.passed)


main(sys.argv)
