#!/bin/sh
# SPDX-License-Identifier: 0BSD
# The programs that users are shown: each runs and prints what it should, and is
# short; the manual has one of them.
: "${top_srcdir:?is set by make check}" "${top_builddir:?too}"
. "$top_srcdir/tests/tap.sh"

tmp=$(mktemp -d "${TMPDIR:-/tmp}/cpuc-examples.XXXXXX") || exit 99
trap 'rm -rf "$tmp"' EXIT
counter='[a-z0-9-]+, (core|calibrated|reference|os|zero)'

# example NAME LINES REGEX: its output has so many lines that match, whole.
example() {
	"$top_builddir/examples/$1" >"$tmp/out" &&
		test "$(grep -cE "^$3\$" "$tmp/out")" -eq "$2"
	ok "$1: $(tail -n 1 "$tmp/out")"
	test "$(wc -l <"$top_srcdir/examples/$1.c")" -lt 70
	ok "$1: fewer than 70 lines"
}

# From the first #include on: what is before that is for readers of the file.
same() {
	sed -n '/^#include/,$p' "$top_srcdir/examples/$1.c" >"$tmp/file"
	sed -n "/^.*\" examples\/$1.c\$/,/^\.Ed/p" \
		"$top_srcdir/man/cpucycles.3" |
		sed -e '1,2d' -e '$d' -e 's/^\\&//' -e 's/\\e/\\/g' >"$tmp/page"
	test -s "$tmp/page" && cmp -s "$tmp/file" "$tmp/page"
	ok "$1: the same in cpucycles(3)"
	# The page has 80 columns, 11 of which are margins.
	test "$(expand "$tmp/file" | awk 'length > 69' | wc -l)" -eq 0
	ok "$1: lines that fit there"
}

number='-?[0-9]+\.[0-9]'
example time-a-function 1 \
	"$number cycles \\($counter\\), [0-9]+ of 2002 dropped"
same time-a-function
example compare-two 2 \
	"(shift|clear): median $number cycles, quartiles $number and $number"
grep -qxE 'shift is faster|clear is faster|too close to call' "$tmp/out"
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
example counters 1 '\* [a-z0-9-]+ +(core|calibrated|reference|os|zero) .*'
for source in "$top_srcdir"/examples/*.c; do
	name=${source##*/}
	grep -q "^example ${name%.c} " "$0"
	ok "$name is among these"
done
done_testing
