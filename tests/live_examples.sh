#!/bin/sh
# SPDX-License-Identifier: 0BSD
# The programs that users are shown: each runs and prints what it should, and is
# short; README and the manual have one of them.
. "${top_srcdir:?is set by make check}/tests/tap.sh"

counter='[a-z0-9-]+, (core|calibrated|reference|os|zero)'

# prints FILE LINES REGEX COMMAND...: its output has so many lines that match,
# whole.
prints() {
	file=$1 lines=$2 regex=$3
	shift 3
	"$@" >"$tmp/out" &&
		test "$(grep -cE "^$regex\$" "$tmp/out")" -eq "$lines"
	ok "$file: $(tail -n 1 "$tmp/out")"
	test "$(wc -l <"$top_srcdir/examples/$file")" -lt 90
	ok "$file: fewer than 90 lines"
}

# example NAME LINES REGEX: a program in C.
example() {
	prints "$1.c" "$2" "$3" "$top_builddir/examples/$1"
}

# Whether programs of this system can load the library: not if it is for another
# C library or architecture.
loads() {
	case $CFLAGS in
	*-fsanitize*) why="programs without the sanitizer cannot load it" ;;
	# Where a path has spaces, the loader would take it for several.
	*) why=$(cd "${shared%/*}" &&
		LD_PRELOAD=./libcpucycles.so env true 2>&1) ;;
	esac
	test -f "$shared" || why="no shared library was built"
	test -z "$why"
}

# other_language COMPILER-OR-INTERPRETER FILE COMMAND...
other_language() {
	# One of rustup's does not run where $HOME is another.
	if ! "$1" --version >/dev/null 2>&1; then
		skip "$2: there is no $1 that runs"
	elif ! loads; then
		skip "$2: $why"
	else
		file=$2
		shift 2
		LD_LIBRARY_PATH=${shared%/*} prints "$file" 1 "$time" "$@"
	fi
}

# shellcheck disable=SC2317 # prints calls it
by_rust() {
	rustc -O -D warnings -L "${shared%/*}" -o "$tmp/rust" "$1" &&
		"$tmp/rust"
}

# A program in C that calls what others call.
# shellcheck disable=SC2317 # prints calls it
by_fence() {
	printf '%s\n' 'long long count(void);' 'void fence(void);' \
		'int main(void) { fence(); return count() < 0; }' >"$tmp/use.c"
	# shellcheck disable=SC2086 # the compiler may have arguments
	$CC $CFLAGS -I"$top_srcdir/include" -shared -fPIC \
		-o "$tmp/libfence.so" "$1" "$shared" &&
		$CC $CFLAGS -o "$tmp/use" "$tmp/use.c" "$tmp/libfence.so" \
			"$shared" &&
		LD_LIBRARY_PATH=$tmp:$LD_LIBRARY_PATH "$tmp/use" && echo 1
}

# From the first #include on: what is before that is for readers of the file.
same() {
	sed -n '/^#include/,$p' "$top_srcdir/examples/$1.c" >"$tmp/file"
	sed -n "/^.*\" examples\/$1.c\$/,/^\.Ed/p" \
		"$top_srcdir/man/cpucycles.3" |
		sed -e '1,2d' -e '$d' -e 's/^\\&//' -e 's/\\e/\\/g' >"$tmp/page"
	test -s "$tmp/page" && cmp -s "$tmp/file" "$tmp/page"
	ok "$1: the same in cpucycles(3)"
	# shellcheck disable=SC2016 # Markdown's, not the shell's
	sed -n '/^```c$/,/^```$/p' "$top_srcdir/README.md" |
		sed -e '1d' -e '$d' >"$tmp/page"
	cmp -s "$tmp/file" "$tmp/page"
	ok "$1: the same in README.md"
	# The page has 80 columns, 11 of which are margins.
	test "$(expand "$tmp/file" | awk 'length > 69' | wc -l)" -eq 0
	ok "$1: lines that fit there"
}

number='-?[0-9]+\.[0-9]'
example time-a-function 1 "$number cycles \\(${counter#*, }\\)"
time="$number cycles \\($counter\\), [0-9]+ of 2002 dropped"
same time-a-function
example compare-two 1 "clear - shift: $number to $number, noise $number"
grep -qxE 'shift is faster|clear is faster|cannot tell' "$tmp/out"
ok "compare-two: a verdict"
example per-thread 4 'thread [0-9]: [0-9]+ cycles for [0-9]+ rounds'
last=$(tail -n 1 "$tmp/out")
alone=$("$top_builddir/cpucycles-info" |
	sed -n 's/^cpucycles per thread \(yes\|no\).*/\1/p')
case $alone,$last in
yes,*' counts each thread alone') true ;;
no,*' goes on while other threads have the CPU') true ;;
*) false ;;
esac
ok "per-thread: whether others' cycles count"
lines=2 line='[a-z]+: [0-9]+ instructions, [0-9]+ cycles: [0-9.]+ a cycle'
! "$top_builddir/cpucycles-info" |
	grep -q '^cpucycles instructions unavailable: ' ||
	lines=1 line='no instructions: .+; .*'
example instructions-per-cycle "$lines" "$line"
example counters 1 '\* [a-z0-9-]+ +(core|calibrated|reference|os|zero) .*'

shared=$(cd "$top_builddir" && pwd)/.libs/libcpucycles.so
python=$top_srcdir/examples/time-a-function.py
other_language python3 time-a-function.py python3 "$python"
rust=$top_srcdir/examples/time-a-function.rs
other_language rustc time-a-function.rs by_rust "$rust"
fence=$top_srcdir/examples/fence.c
time=1
other_language "${CC%% *}" fence.c by_fence "$fence"

# The loop in cpucycles-benchmarking(7), with what the page says about its
# variables.
{
	printf '%s\n' '#include <cpucycles.h>' 'static void nothing(void) {}' \
		'static void (*function[3])(void) = {nothing, nothing, nothing};' \
		'static long long row[3][1001];' 'static int n[3];' \
		'int main(void) {'
	sed -n '/^enum { CALLS/,/^\.Ed/p' \
		"$top_srcdir/man/cpucycles-benchmarking.7" | sed '$d'
	echo 'return n[0] == 0 || n[1] == 0 || n[2] == 0 || row[0][0] < 0; }'
} >"$tmp/loop.c"
if loads; then
	# shellcheck disable=SC2086 # the compiler may have arguments
	$CC $CFLAGS -I"$top_srcdir/include" -o "$tmp/loop" "$tmp/loop.c" \
		"$shared" && LD_LIBRARY_PATH=${shared%/*} "$tmp/loop"
	ok "cpucycles-benchmarking(7): its loop counts"
else
	skip "cpucycles-benchmarking(7): $why"
fi

for source in "$top_srcdir"/examples/*.*; do
	name=${source##*/}
	grep -qE "^(example ${name%.c}|other_language .* $name) " "$0"
	ok "$name is among these"
done
done_testing
