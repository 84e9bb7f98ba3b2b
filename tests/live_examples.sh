#!/bin/sh
# SPDX-License-Identifier: 0BSD
# The examples in C: each runs and prints what it should. live_pages.sh runs
# those in Python and Rust, live_frameworks.sh the adapters for benchmark
# frameworks.
. "${top_srcdir:?is set by make check}/tests/tap.sh"

# example NAME LINES REGEX: so many lines of its output match, whole.
example() {
	"$top_builddir/examples/$1" >"$tmp/out" &&
		test "$(grep -cE "^($3)\$" "$tmp/out")" -eq "$2"
	ok "$1.c: $(tail -n 1 "$tmp/out")"
}

# compiled NAME ARGUMENT...: with the library.
compiled() {
	name=$1
	shift
	# shellcheck disable=SC2086 # the compiler may have arguments
	quietly $CC $CFLAGS -I"$top_srcdir/include" -o "$tmp/$name" "$@" \
		"$shared"
}

kind='(core|calibrated|reference|os|zero)'
number='-?[0-9]+\.[0-9]'
example time-a-function 1 "$number cycles \\($kind\\)"
example compare-two 2 "clear - shift: $number to $number, noise $number|\
shift is faster|clear is faster|cannot tell"
example per-thread 4 'thread [0-9]: [0-9]+ cycles for [0-9]+ rounds'
lines=2 line='[a-z]+: [0-9]+ instructions, [0-9]+ cycles: [0-9.]+ a cycle'
! "$top_builddir/cpucycles-info" |
	grep -q '^cpucycles instructions unavailable: ' ||
	lines=1 line='no instructions: .+; .*'
example instructions-per-cycle "$lines" "$line"
example counters 1 "\\* [a-z0-9-]+ +$kind .*"

if ! loads; then
	skip "what is compiled here: $why"
	done_testing
fi
export LD_LIBRARY_PATH="$tmp:${shared%/*}"
cat >"$tmp/use.c" <<'C'
long long count(void);
void fence(void);
int main(void) { fence(); return count() < 0; }
C
compiled libfence.so -shared -fPIC "$top_srcdir/examples/fence.c" &&
	compiled use "$tmp/use.c" "$tmp/libfence.so" && "$tmp/use"
ok "fence.c: a program calls what other languages call"
# With what the page says about its variables.
{
	printf '%s\n' '#include <cpucycles.h>' 'static void nothing(void) {}' \
		'static void (*function[3])(void) = {nothing, nothing, nothing};' \
		'static long long row[3][1001];' 'static int n[3];' \
		'int main(void) {'
	sed -n '/^enum { CALLS/,/^\.Ed/p' \
		"$top_srcdir/man/cpucycles-benchmarking.7" | sed '$d'
	echo 'return n[0] == 0 || n[1] == 0 || n[2] == 0 || row[0][0] < 0; }'
} >"$tmp/loop.c"
compiled loop "$tmp/loop.c" && "$tmp/loop"
ok "cpucycles-benchmarking(7): its loop counts"
done_testing
