#!/bin/sh
# SPDX-License-Identifier: 0BSD
# What `make check` prints: the build's makefile runs pretended test programs, in
# a directory with a space in its name.
# shellcheck disable=SC2016 # what programs do is not this shell's
. "${top_srcdir:?is set by make check}/tests/tap.sh"

unset MAKEFLAGS MAKELEVEL MFLAGS TESTS TEST_LOGS V VERBOSE SHOWN_DIR \
	AM_COLOR_TESTS
mkdir -p "$tmp/a build/tests"
cd "$tmp/a build" || exit 99
# make cannot do with a space in an absolute path.
ln -s "$top_srcdir" "$tmp/source"
# Nothing is compiled here, so there are no dependencies to include.
sed '/am--include-marker/d' "${top_builddir:?is set, too}/Makefile" >check.mk

# program NAME COMMANDS: a test program.
program() {
	printf '#!/bin/sh\n%s\n' "$2" >"tests/$1.sh"
	chmod +x "tests/$1.sh"
}

program good 'echo "ok 1 - a"
	echo "# of no interest"
	echo "ok 2 - b"
	echo "1..2"'
program partly 'echo "ok 1 - a"
	printf "%s\n" "ok 2 # SKIP no  PMU: \n is not \"told\""
	echo "ok 3 - c # SKIP nor this"
	echo "1..3"'
program nothing 'echo "1..0 # SKIP another system"'
program wrong 'echo "# of no interest"
	echo "ok 1 - a"
	echo "# 3 is less than 4"
	printf "%s\n" "not ok 2 - two  spaces, 100% of \n"
	echo "# out: later"
	echo "ok 3 - c"
	echo "# of no interest"
	echo "not ok 4 - d"
	i=0
	while [ $((i += 1)) -le 100 ]; do echo "# line $i"; done
	echo "1..4"
	exit 1'
program dies 'echo "ok 1 - a"
	echo "its last words" >&2
	kill -KILL $$'
program plan 'echo "ok 1 - a"
	echo "1..7"'

# check FAILS PROGRAM... [-- ARGUMENT...]: what make prints is in out and err.
check() {
	wanted=$1 list=
	shift
	while [ $# -gt 0 ] && [ "$1" != -- ]; do
		list="$list tests/$1.sh"
		shift
	done
	[ $# -eq 0 ] || shift
	set -- "$@" -f check.mk AM_MAKEFLAGS='-f check.mk' check_PROGRAMS= \
		check_DATA= srcdir="$tmp/source" top_srcdir="$tmp/source" \
		TESTS="$list" check-TESTS
	if [ -z "$typescript" ]; then
		"${MAKE:-make}" -s "$@" >"$tmp/out" 2>"$tmp/err"
	else
		TERM=xterm script -eqc "${MAKE:-make} -s $(printf "'%s' " "$@")" \
			/dev/null >"$tmp/out" 2>"$tmp/err" </dev/null
	fi
	[ $(($? != 0)) -eq "$wanted" ]
}
typescript=

# is FILE: what it contains, but for seconds, is what this reads.
is() {
	sed 's/, [0-9]* s$/, N s/' "$1" >"$tmp/log"
	diff - "$tmp/log" >"$tmp/err"
}

check 0 good partly nothing && is "$tmp/out" <<'TXT'
PASS: tests/good.sh: 2 passed, N s
PASS: tests/partly.sh: 1 passed, 2 skipped, N s
SKIP: tests/nothing.sh: another system, N s

Test programs: 2 passed, 1 skipped
Points: 3 passed, 3 skipped
What was skipped, and why: test-suite.skips
TXT
ok "a line for each program, and the sums"
tab=$(printf '\t')
is test-suite.skips <<TXT
tests/partly.sh${tab}no  PMU: \\n is not "told"
tests/partly.sh${tab}c: nor this
tests/nothing.sh${tab}another system
TXT
ok "a file says what was skipped, and why"

SHOWN_DIR='a build/' check 1 wrong good dies plan partly &&
	sed '1,/^Points/d; /^Killed/d; /^| .*Killed/d; /^\*\*\*/,$d; /^---/,$d' \
		"$tmp/out" >why && is why <<'TXT'
What was skipped, and why: a build/test-suite.skips

FAIL: tests/wrong.sh: see a build/tests/wrong.log
not ok 2 - two  spaces, 100% of \n
# 3 is less than 4
# out: later
not ok 4 - d
# of no interest
# line 1
# line 2
# line 3
# line 4
# line 5
# line 6
# line 7
# line 8
# line 9
# line 10

ERROR: tests/dies.sh: see a build/tests/dies.log
# missing test plan
# exited with status 137 (terminated by signal 9?)
| its last words
| ok 1 - a

ERROR: tests/plan.sh: see a build/tests/plan.log
# too few tests run (expected 7, got 1)
| ok 1 - a
| 1..7
TXT
ok "what failed, why, and where its log is: last"
sed '/^$/,$d' "$tmp/out" >lines
is lines <<'TXT'
FAIL: tests/wrong.sh: 2 passed, 2 failed, N s
PASS: tests/good.sh: 2 passed, N s
ERROR: tests/dies.sh: 1 passed, missing test plan, exited with status 137 (terminated by signal 9?), N s
ERROR: tests/plan.sh: 1 passed, too few tests run (expected 7, got 1), N s
PASS: tests/partly.sh: 1 passed, 2 skipped, N s
TXT
ok "the lines of programs that fail or die say so"
grep -qx 'Test programs: 2 passed, 3 failed' "$tmp/out" &&
	grep -qx 'Points: 7 passed, 2 skipped, 2 failed' "$tmp/out"
ok "the sums count them"
grep -qx '# line 100' test-suite.log && grep -qx 'its last words' test-suite.log
ok "all of their logs are in one file"
! grep -q nothing test-suite.skips && grep -q partly test-suite.skips
ok "the file of what was skipped is of this run"

check 1 good plan -- VERBOSE=1 && sed '/^Test programs/,$d' "$tmp/out" |
	grep -qx 'ERROR: tests/plan.sh - too few tests run (expected 7, got 1)'
ok "VERBOSE=1 prints the logs of what failed before"
check 0 good -- V=1 && grep -qx 'PASS: tests/good.sh 2 - b' "$tmp/out"
ok "V=1 prints all points"
check 0 && is "$tmp/out" <<'TXT'

Test programs: none
Points: none
TXT
ok "no programs are no failure"
check 1 good wrong -- -j2 && grep -q '^FAIL: tests/wrong.sh: see' "$tmp/out" &&
	! LC_ALL=C grep -q "[$(printf '\r\033')]" "$tmp/out"
ok "nothing is for a terminal where there is none"

typescript=yes
if script -eqc true /dev/null </dev/null >"$tmp/out" 2>&1; then
	check 0 good partly &&
		grep -q "$(printf '\033')\[K\[1 of 2\] tests/partly" "$tmp/out"
	ok "a terminal is told what runs, of how many"
else
	skip "no program here pretends a terminal: install bsdutils"
fi
done_testing
