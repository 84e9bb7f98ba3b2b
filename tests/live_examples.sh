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

# Where x86 multiplies in 3 cycles, as optimized code does nothing else, and
# cycles of the core are counted.
exact=0
"$top_builddir/examples/counters" >"$tmp/out"
case $(uname -m):$CFLAGS in
*-fsanitize* | *--coverage* | *-O0* | *-Og*) ;;
x86_64:*-O* | i[3-6]86:*-O*)
	! grep -qE '^[*] [^ ]+ +(core|calibrated) ' "$tmp/out" || exact=1 ;;
esac

# The least that each thread has counted so far is as its rounds: the same for
# each round, to 5%, and on x86 6 cycles. A preemption makes one count more.
in_proportion() {
	"$top_builddir/examples/per-thread" >>"$tmp/runs"
	awk -v exact="$exact" '
		/^thread/ {
			each = $3 / $6
			if (!($6 in least) || each < least[$6])
				least[$6] = each
		}
		END {
			low = exact ? 6 : least[50000]
			for (rounds = 50000; rounds <= 200000; rounds += 50000) {
				each = least[rounds]
				printf "%.2f ", each
				bad += each <= 0 || each < 0.95 * low || each > 1.05 * low
			}
			print ""
			exit bad > 0
		}' "$tmp/runs" >"$tmp/out"
}

# A call takes as long as its chain or up to a fourth less, as its end overlaps
# with the return; without fences calls overlap.
fences_wait() {
	"$top_builddir/examples/fence" >"$tmp/out"
	awk '
		{ value[NR] = $NF }
		/^[0-9]+ multiplications/ { chain = 3 * $1 }
		END {
			exit NR != 3 || value[2] < 0.75 * chain ||
				value[2] > 1.25 * chain || value[3] > 0.9 * value[2]
		}' "$tmp/out"
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
tries 30 in_proportion
ok "per-thread.c: a round takes as long in each thread: $(cat "$tmp/out")"
example fence 3 "[0-9]+ multiplications, $kind cycles a call|\
(with fences|without): $number"
if test $exact -eq 0; then
	skip "fence.c: no cycles of an x86 core are counted"
else
	tries 30 fences_wait
	ok "fence.c: calls wait with fences only: $(tail -n 2 "$tmp/out" | xargs)"
fi
lines=2 line='[a-z]+: [0-9]+ instructions, [0-9]+ cycles: [0-9.]+ a cycle'
! "$top_builddir/cpucycles-info" |
	grep -q '^cpucycles instructions unavailable: ' ||
	lines=1 line='no instructions: .+; .*'
example instructions-per-cycle "$lines" "$line"
example counters 1 "\\* [a-z0-9-]+ +$kind .*"

cpucyclesimplementation=nonesuch "$top_builddir/examples/counters" \
	>"$tmp/out" 2>"$tmp/err" && ! test -s "$tmp/err" &&
	! grep nonesuch "$tmp/out" && grep -q '^[*] ' "$tmp/out"
ok "counters.c: a name that is none, without a message"

if ! loads; then
	skip "what is compiled here: $why"
	done_testing
fi
export LD_LIBRARY_PATH="$tmp:${shared%/*}"
cat >"$tmp/use.c" <<'C'
void fence(void);
int main(void) { fence(); return 0; }
C
compiled libfence.so -shared -fPIC "$top_srcdir/examples/fence.c" &&
	compiled use "$tmp/use.c" "$tmp/libfence.so" && "$tmp/use"
ok "fence.c: a program calls what other languages call"
# A library for an example's results. It is told how many cycles are between two
# readings: three numbers, in turn for EACH pairs; and after FROM readings another
# one instead of the second.
cat >"$tmp/told.c" <<'C'
#include <stdlib.h>
#include <cpucycles.h>
#undef main
int example(void);
static long long told[4];
static long long count(void)
{
	static long long now;
	static int calls;
	int kind = calls / 2 / EACH % 3;

	if (calls++ % 2)
		now += told[kind == 1 && calls > FROM ? 3 : kind];
	return now;
}
long long (*cpucycles)(void) = count;
const char *cpucycles_kind(void) { return "told"; }
long long cpucycles_instructions(void) { return 0; }
int cpucycles_instructionscounter(struct cpucycles_counter *c, size_t size)
{
	return c == NULL || size == 0;
}
int cpucycles_pair(long long *cycles, long long *instructions)
{
	*cycles = count();
	*instructions = *cycles * 3 / 2;
	return 0;
}
int main(int n, char **word)
{
	while (--n > 0)
		told[n - 1] = atoll(word[n]);
	return example();
}
C
# tell EXAMPLE EACH FROM: compiles it with that library.
tell() {
	: >"$tmp/err"
	# shellcheck disable=SC2086 # the compiler may have arguments
	quietly $CC $CFLAGS -I"$top_srcdir/include" -Dmain=example -DEACH="$2" \
		-DFROM="$3" -o "$tmp/told" "$tmp/told.c" \
		"$top_srcdir/examples/$1.c"
}
# says FIRST SECOND THIRD OTHER TEXT: the last line is TEXT.
says() {
	told=$("$tmp/told" "$1" "$2" "$3" "$4" | tail -n 1)
	test "$told" = "$5" || echo "$*, not $told" >>"$tmp/err"
}
timings=$(sed -n 's/^#define TIMINGS //p' \
	"$top_srcdir/examples/time-a-function.c")
tell time-a-function "$timings" $((timings * 7 / 2))
says 99999 10000 275 20000 "194.5 cycles (told)"
! test -s "$tmp/err"
ok "time-a-function.c: a call's cycles, without the row's own and disturbances"
# The first function between two of the other's, each in a row of calls.
tell compare-two 1 6000
says 100000 110000 101000 110000 "shift is faster"
says 100000 90000 101000 90000 "clear is faster"
says 100000 101000 101500 101000 "cannot tell"
says 101500 101000 100000 101000 "cannot tell"
says 100000 100000 101500 100000 "cannot tell"
says 100000 110000 101000 90000 "cannot tell"
says 100000 100040 100000 100040 "cannot tell"
! test -s "$tmp/err"
ok "compare-two.c: a difference that is not larger than its noise is none"
tell instructions-per-cycle 1 6000
says 400 600 0 0 "branches: 900 instructions, 600 cycles: 1.50 a cycle"
! test -s "$tmp/err"
ok "instructions-per-cycle.c: the quotient of what its function takes"
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
