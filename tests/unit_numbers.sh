#!/bin/sh
# SPDX-License-Identifier: 0BSD
# What the pages say of calibrated counts in numbers is what constants.h has.
. "${top_srcdir:?is set by make check}/tests/tap.sh"

# NAME: the first number in its definition; TICKS(n) is a second's part.
number() {
	sed -n "s/^#define $1 [^0-9]*\([0-9]\{1,\}\).*/\1/p" \
		"$top_srcdir/src/calibrated/constants.h"
}

# NAME: that part of a second, in us.
us() {
	echo $((1000000 / $(number "$1")))
}

word() {
	case $1 in
	4) echo quarter ;;
	8) echo eight ;;
	256) echo 256th ;;
	16) echo sixteenth ;;
	*) echo "1/$1" ;;
	esac
}

# FILE TEXT: a sentence, in however many lines.
says() {
	tr -s '\n ' ' ' <"$top_srcdir/$1" | grep -qF -e "$2"
	ok "$1: $2"
}

switch=$(us SWITCH_HIDES_VIRTUAL)
gap=$(us COUNT_GAP)
every=$(us COUNT_CLOCK_EVERY)
says man/cpucycles.7 "So $switch us of each preemption count, or $(us \
	SWITCH_HIDES) where CPUID shows no virtual machine"
says man/cpucycles.7 "a preemption Ta too high by up to $switch us"
says man/cpucycles.7 "Ta too low by what exceeds $switch us"
says man/cpucycles-benchmarking.7 "up to $switch us too much for each preemption"
says doc/compared.md "adds up to $switch us for each preemption"
says man/cpucycles.7 "no more counts than $(number GRANT_SWITCHES) preemptions' and a $(
	word "$(number GRANT_PART)") of what the thread ran"
says man/cpucycles.7 "a pause that is not reported Ta too high by up to $gap us"
says man/cpucycles.7 "each call that comes more than $gap us after"
soonest=$((every >> $(number COUNT_CLOCK_SOONEST)))
says man/cpucycles.7 "readings of the clock 0.$(printf %02d \
	$(((soonest + 5) / 10))) to $((every / 1000)) ms after"
says man/cpucycles.7 "and for a $(word "$(number LOST_FADES)") less after each"
says man/cpucycles.7 "a $(word "$(number LOST_UNSEEN)") of the time since the latest"
says man/cpucycles.7 "a wait Ta too high by up to $((every / $(number \
	LOST_UNSEEN) + 1)) us"
says man/cpucycles.7 "and an $(word "$(number LOST_SEEN)")h of it if more is missing"
says man/cpucycles.7 "Ta too high by up to that, or 0.$((every / $(number \
	LOST_SEEN) / 100)) ms"
says man/cpucycles.7 "and $gap us for each pause that is not reported"
says man/cpucycles.7 "for a millisecond, or for a $(word "$(number \
	STEP_LASTS)") of the interval"
[ "$(us COUNT_RAMP)" -ge 970 ] && [ "$(us COUNT_RAMP)" -le 1030 ]
ok "a core's rate has a millisecond to change"
still=0.$((10000 / $(number SHARE_STILL)))
moving=$((100 / $(number SHARE_MOVING) + 1))
says man/cpucycles.7 "at most $still% of the time"
says man/cpucycles.7 "stands still, and $moving% where it"
share="share of the time for calibration where the rate"
says README.md "| $share stands still, % | $still |"
says README.md "| $share moves, % | $moving |"
says tests/bench/bench.py "\"$share stands still, %\", $still"
says tests/bench/bench.py "\"$share moves, %\", $moving"
says man/cpucycles.7 "the mean of $(word "$(number GLIMPSE_MEAN)") one of 0.$(number \
	STEP_PAIR)%"
says man/cpucycles.7 "watch the clock for $((($(us LEAP_WATCH) + 999) / 1000)) ms"
says man/cpucycles.7 "up to $(number LEAP_WATCHES) times in a process"
says doc/benchmarks.md "A short run is of $(number GLIMPSE_CYCLES) cycles"
done_testing
