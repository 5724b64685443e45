#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Count what the kselftest runner printed, a stage at a time.

Usage: ktap.py SKIPS STAGE.ktap...

Every result of a test program counts; a program without results of its own is
one.  Failures are: a result that says so; a program that keeps no plan, or whose
exit status contradicts its results; a program of STAGE.list, beside the results,
that did not end; a skip that SKIPS does not have.  SKIPS has lines

    STAGE SUITE:PROGRAM REGEX

STAGE is a shell pattern, REGEX is searched in the result's name and reason.  A
line that matched nothing, though its stage ran its program, is stale and fails.
"""
import fnmatch
import os
import re
import sys

END = re.compile(r'^(not )?ok \d+ selftests: ([^:]+): (.*?)(?: # (.*))?$')
RESULT = re.compile(r'^# (not )?ok (\d+)(?: -)? ?(.*?)(?: ?# ?(SKIP|XFAIL)\b *(.*))?$')
PLAN = re.compile(r'^# 1\.\.(\d+)(?: # SKIP *(.*))?')


class Stage:
    """The results of one stage; totals are added to "total"."""

    def __init__(self, name, skips, total):
        self.name, self.skips, self.total = name, skips, total
        self.ended = []

    def fail(self, program, result, why=''):
        self.total['failed'] += 1
        print(f'FAILED {self.name}: {program}: {result}{": " + why if why else ""}')

    def skip(self, program, result, why):
        for s in self.skips:
            if (fnmatch.fnmatch(self.name, s['stage']) and s['program'] == program
                    and s['regex'].search(f'{result} {why}')):
                s['used'] = True
                self.total['skipped'] += 1
                return
        self.fail(program, result, f'skipped, which is not expected ({why})')

    def end(self, bad, program, note, results, plan):
        """A program ended: judge its results, then whether they are all."""
        self.ended.append(program)
        failed = 0
        for not_ok, name, directive, why in results:
            if directive == 'SKIP':
                self.skip(program, name, why)
            elif not_ok and directive != 'XFAIL':
                self.fail(program, name)
                failed += 1
            else:
                self.total['passed'] += 1
        if not results and note.startswith('SKIP'):
            self.skip(program, 'all', plan[1] or '' if plan else '')
        elif plan and int(plan[0]) != len(results):
            self.fail(program, 'plan', f'{plan[0]} results planned, {len(results)} seen; {note}')
        elif results and not plan:
            self.fail(program, 'plan', 'none')
        elif bad and not failed:
            self.fail(program, 'status', note)
        elif not results:
            self.total['passed'] += 1

    def read(self, path):
        results, plan = [], None
        with open(path, errors='replace') as lines:
            for line in lines:
                line = line.rstrip('\r\n')
                if m := END.match(line):
                    self.end(bool(m[1]), f'{m[2]}:{m[3]}', m[4] or '', results, plan)
                    results, plan = [], None
                elif m := PLAN.match(line):
                    plan = (m[1], m[2])
                elif m := RESULT.match(line):
                    results.append((bool(m[1]), m[3], m[4], m[5] or ''))
        for program in self.expected(path):
            if program in self.ended:
                self.ended.remove(program)
            else:
                self.fail(program, 'end', 'it did not run, or did not end')

    def expected(self, path):
        with open(os.path.splitext(path)[0] + '.list') as lines:
            return [line.strip().replace(': ', ':', 1) for line in lines]


def read_skips(path):
    skips = []
    with open(path) as lines:
        for line in lines:
            words = line.split(None, 2)
            if words and not words[0].startswith('#'):
                skips.append({'stage': words[0], 'program': words[1],
                              'regex': re.compile(words[2].strip()), 'used': False})
    return skips


def main(argv):
    if len(argv) < 3:
        sys.exit(__doc__)
    skips = read_skips(argv[1])
    total = {'passed': 0, 'failed': 0, 'skipped': 0}
    ran = []
    for path in argv[2:]:
        stage = Stage(os.path.splitext(os.path.basename(path))[0], skips, total)
        ran += [(stage.name, program) for program in stage.expected(path)]
        stage.read(path)
    for s in skips:
        if not s['used'] and any(fnmatch.fnmatch(stage, s['stage']) and s['program'] == program
                                 for stage, program in ran):
            total['failed'] += 1
            print(f"FAILED {s['stage']}: {s['program']}: {s['regex'].pattern}: "
                  "expected to be skipped, was not: take it off the list")
    print('{passed} passed, {failed} failed, {skipped} skipped'.format(**total))
    return 1 if total['failed'] or not total['passed'] else 0


sys.exit(main(sys.argv))
