#!/bin/sh
# SPDX-License-Identifier: 0BSD
# cpucycles-selftest finds nothing wrong with a right counter, and each mistake
# of a wrong one by the check that is meant for it, and by no other: of the quick
# checks, or of all if LIVE_LONG is set, as make check-long does.
. "${top_srcdir:?is set by make check}/tests/tap.sh"

find_tools
selftest=$bin/cpucycles-selftest
bad=$top_builddir/tests/.libs/selftest_bad
test -x "$bad" || bad=$top_builddir/tests/selftest_bad
unset BAD_NEIGHBOUR

# The output of a run, for the log of a failure.
show() {
	sed 's/^/# /' "$tmp/out"
}

"$selftest" --quick >"$tmp/out" 2>"$tmp/err"
ok "the selected counter is right" || show
! test -s "$tmp/err"
ok "and nothing is on stderr"
grep -qE '^# counter [a-z0-9-]+, kind [a-z]+, ' "$tmp/out"
ok "a line tells which counter it is"
"$selftest" --list | sed 's/ .*//' >"$tmp/checks"
sed -nE 's/^(not )?ok [0-9]+ - ([a-z0-9]+)(:| # SKIP) .+/\2/p' "$tmp/out" |
	cmp -s - "$tmp/checks" &&
	grep -qx "1..$(grep -c . "$tmp/checks")" "$tmp/out"
ok "it is TAP, with a line for each check of --list" || show
cpucyclesimplementation=nonesuch "$selftest" --quick monotone |
	grep -q '^# cpucyclesimplementation=nonesuch was not taken: there is no'
ok "a counter that the environment names in vain is noted"

# fails CHECKS TEXT: of the checks that this machine can make, the run whose
# output this is failed those named and no other.
fails() {
	meant=$1 text=$2
	can=
	for c in $meant; do
		grep -q "^ok [0-9]* - $c # SKIP" "$tmp/out" || can="$can $c"
	done
	if [ -n "$meant" ] && [ -z "$can" ]; then
		skip "$text: this machine cannot make the check"
		return
	fi
	failed=$(sed -nE 's/^not ok [0-9]+ - ([a-z0-9]+): .*/\1/p' "$tmp/out")
	want=0
	[ -z "$can" ] || want=1
	# shellcheck disable=SC2086,SC2116 # spaces do not matter
	[ "$(echo $failed)" = "$(echo $can)" ] && [ $status -eq $want ] &&
		grep -q '^1\.\.' "$tmp/out" && ! test -s "$tmp/err"
	ok "$text" || { show; sed 's/^/# /' "$tmp/err"; }
}

# Mistakes, the checks that must find each, the text, and options. Each mistake
# is made in a process of its own, two at a time. Options choose a clock of the
# system's, which is everywhere; a process that interrupts the counting one; and
# checks: 'threads' also finds thread-clock in a thread that is often interrupted.
cat >"$tmp/mistakes" <<'TXT'
good||a stand-in that adds no mistake passes|all
back|monotone migration|counts that go back: 'monotone', and 'migration', which looks for it too
still|advances clock chain threads sharing fork wrap32 wrap48|a count that stands still: 'advances' and all that need it
slow|clock chain|0.7 of the true rate: 'clock', and 'chain' for core cycles
thread-back|threads|counts that go back in threads
thread-still|threads sharing|a count that stands still in threads
thread-slow|threads sharing|one that is slow in threads
thread-clock|sharing|one that counts other threads' time|-threads
fork-back|fork|one that goes back in children
fork-still|fork|one that stands still in children
fork-again|fork|one that begins again in children
fork-slow|fork|one that is slow in children
fork-dies|fork|one whose children die
apart|migration|CPUs that disagree
wrap32|wrap32|lost 2^32: 'wrap32'
few-instructions|instructions|a thousandth of all instructions is missing
good||interrupted in every window, the rate is right|neighbour clock
good||the system's clock passes|system
slow|clock|0.7 of its rate fails 'clock'|system
wrap32|wrap32|2^32 of its counts are lost|system
TXT

# NUMBER: makes the mistake in this line; what it prints is in NUMBER.out.
cat >"$tmp/make" <<'SH'
IFS='|' read -r name meant _ how <<TXT
$(sed -n "$1p" "$tmp/mistakes")
TXT
checks=$(cat "$tmp/checks")
[ -n "${LIVE_LONG-}" ] ||
	checks=$(printf '%s\n' $quick $meant | grep -xF -f - "$tmp/checks")
for word in $how; do
	case $word in
	all) checks= ;;
	system) export cpucyclesimplementation=default-monotonic ;;
	neighbour) export BAD_NEIGHBOUR=1 ;;
	-*) checks=$(echo "$checks" | grep -vx -e "${word#-}") ;;
	*) checks=$word ;;
	esac
done
BAD_COUNTER=$name "$bad" --quick $checks >"$tmp/$1.out" 2>"$tmp/$1.err"
echo $? >"$tmp/$1.status"
SH
quick='monotone advances clock chain wrap32'
export tmp bad quick
seq "$(grep -c . "$tmp/mistakes")" | xargs -P 2 -n 1 sh "$tmp/make"
number=0
while IFS='|' read -r _ meant text _; do
	number=$((number + 1))
	mv "$tmp/$number.out" "$tmp/out"
	mv "$tmp/$number.err" "$tmp/err"
	read -r status <"$tmp/$number.status"
	fails "$meant" "$text"
done <"$tmp/mistakes"

# A clock that claims to count the core's cycles is found, unless the core happens
# to run at the clock's rate.
cpucyclesimplementation=default-monotonic BAD_KIND=core
export cpucyclesimplementation BAD_KIND
# shellcheck disable=SC2086 # a list
BAD_COUNTER=good "$bad" --quick $quick >"$tmp/out" 2>"$tmp/err"
status=$?
unset cpucyclesimplementation BAD_KIND
if sed -nE 's/^(not )?ok .* - chain: .* ([0-9.]+)% .*/\2/p' "$tmp/out" |
	awk '$1 < 85 || $1 > 115 { far = 1 } END { exit !far }'; then
	fails "clock chain" "a clock that claims to be the core"
else
	skip "the core's rate is the clock's here, or not known"
fi

"$selftest" --quick --counter default-zero >"$tmp/out"
test $? -eq 1 && grep -q '^not ok 2 - advances: ' "$tmp/out" &&
	test "$(grep -c '^not ok' "$tmp/out")" -eq 1
ok "default-zero fails 'advances'" || show
"$selftest" --quick --counter default-monotonic advances >"$tmp/out"
test $? -eq 0 && grep -q '^# counter default-monotonic, kind os' "$tmp/out" &&
	grep -qx '1\.\.1' "$tmp/out" && grep -q '^ok 1 - advances: ' "$tmp/out"
ok "--counter names the counter, and an argument the check" || show
# A calibrated one may work a moment later.
"$bin/cpucycles-info" |
	sed -n 's/^cpucycles unavailable \([^:]*\): .*/\1/p' |
	grep -v 'core$' >"$tmp/names"
if read -r name <"$tmp/names"; then
	"$selftest" --quick --counter "$name" >"$tmp/out"
	test $? -eq 1 && grep -q "^Bail out! $name does not .*: ." "$tmp/out"
	ok "a counter that does not work here is status 1, with the reason" ||
		show
else
	skip "all counters work here"
fi
"$selftest" --counter nonesuch >"$tmp/out" 2>"$tmp/err"
test $? -eq 2 && grep -q default-monotonic "$tmp/err"
ok "an unknown one is status 2, and the message lists those there are"

check_command_line "$selftest" --quick advances
"$selftest" --quick --long >"$tmp/out" 2>"$tmp/err"
test $? -eq 2 && ! test -s "$tmp/out" && grep -q exclude "$tmp/err"
ok "two lengths at once are status 2"
# 'sharing' is for counters that count each thread alone.
"$selftest" --quick --counter default-monotonic monotone sharing >"$tmp/out"
tail -n 1 "$tmp/out" | grep -qE '^# default-monotonic counts nominal cycles here; the check passed, 1 could not be made$'
ok "the last line is a sentence" || show
"$selftest" nonesuch >"$tmp/out" 2>"$tmp/err"
test $? -eq 2 && grep -q "'nonesuch'.*--list" "$tmp/err"
ok "an unknown check is status 2 and points to --list"
done_testing
