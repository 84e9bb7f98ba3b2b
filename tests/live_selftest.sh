#!/bin/sh
# SPDX-License-Identifier: 0BSD
# cpucycles-selftest finds nothing wrong with a right counter, and each mistake
# of a wrong one by the check that is meant for it, and by no other: of some quick
# checks, or of all if LIVE_LONG is set, as make check-long does.
# shellcheck disable=SC2086 # checks and settings are several words
. "${top_srcdir:?is set by make check}/tests/tap.sh"

find_tools
selftest=$bin/cpucycles-selftest
bad=$top_builddir/tests/.libs/selftest_bad
test -x "$bad" || bad=$top_builddir/tests/selftest_bad

"$selftest" --quick >"$tmp/out" 2>"$tmp/err" && ! test -s "$tmp/err"
ok "the selected counter is right, and nothing is on stderr"
"$selftest" --list | sed 's/ .*//' >"$tmp/checks"
sed -nE 's/^(not )?ok [0-9]+ - ([a-z0-9]+)(:| # SKIP) .+/\2/p' "$tmp/out" |
	cmp -s - "$tmp/checks" &&
	grep -qx "1..$(grep -c . "$tmp/checks")" "$tmp/out"
ok "it is TAP, with a line for each check of --list"
cpucyclesimplementation=nonesuch "$selftest" --quick advances \
	>"$tmp/out" 2>"$tmp/err"
test $? -eq 1 && grep -q '^Bail out! ' "$tmp/out" &&
	grep -q '=nonesuch was not taken: there is no such' "$tmp/err" &&
	grep -q '^there are these: .* default-monotonic ' "$tmp/err"
ok "a counter that the environment names in vain is status 1, with the names of all"

# Mistakes, the checks that must find each, the text, and what is run instead: all
# checks, one, or all but one, as 'threads' also finds thread-clock in a thread
# that is often interrupted. 'system' chooses a clock of the system's.
cat >"$tmp/mistakes" <<'TXT'
good||a stand-in that adds no mistake passes|all
back|monotone migration|counts that go back: 'monotone', and 'migration', which looks for it too
still|advances clock chain threads sharing fork wrap32|a count that stands still: 'advances' and all that need it
slow|clock chain|0.7 of the true rate: 'clock', and 'chain' for core cycles
thread-back|threads|counts that go back in threads
thread-clock|sharing|one that counts other threads' time|-threads
few-threads|threads sharing|one that counts in eight threads
fork-again|fork|one that begins again in children
fork-slow|fork|one that is slow in children
fork-dies|fork|one whose children die
apart|migration|CPUs that disagree
few-instructions|instructions|a thousandth of all instructions is missing
slow-at-first||one that is slow at first is measured again|clock
coarse||the rate of a clock of milliseconds is right|system clock
good||the system's clock passes|system clock
slow|clock|0.7 of its rate fails 'clock'|system
TXT
# 2^32 of its counts take seconds.
test -z "${LIVE_LONG-}" ||
	echo 'wrap32|wrap32|2^32 of its counts are lost|system wrap32' \
		>>"$tmp/mistakes"

while IFS='|' read -r name meant text how; do
	quick=--quick settings="BAD_COUNTER=$name" checks=$(cat "$tmp/checks")
	test -n "${LIVE_LONG-}" || checks="monotone advances $meant"
	test "$name" != wrap32 || quick=
	for word in $how; do
		case $word in
		all) checks= ;;
		system)
			settings="$settings cpucyclesimplementation=default-monotonic"
			;;
		-*) checks=$(printf '%s\n' $checks | grep -vx -e "${word#-}") ;;
		*) checks=$word ;;
		esac
	done
	env $settings "$bad" $quick $checks >"$tmp/out" 2>"$tmp/err" </dev/null
	status=$?
	# The checks that this machine can make, and the exit status.
	can="" want=0
	for check in $meant; do
		grep -q "^ok [0-9]* - $check # SKIP" "$tmp/out" ||
			can="$can$check " want=1
	done
	if [ -n "$meant" ] && [ -z "$can" ]; then
		skip "$text: this machine cannot make the check"
		continue
	fi
	failed=$(sed -nE 's/^not ok [0-9]+ - ([a-z0-9]+): .*/\1/p' "$tmp/out" |
		tr '\n' ' ')
	said=$(sed -n 's/^# .* does not count right here: \(.*\);.*/\1 /p' \
		"$tmp/out")
	[ "$failed" = "$can" ] && [ "$status" -eq $want ] &&
		[ "$said" = "$can" ] &&
		grep -q '^1\.\.' "$tmp/out" && ! test -s "$tmp/err"
	ok "$text"
done <"$tmp/mistakes"

# A terminal gets the same lines, broken at blanks. Numbers differ.
lines() {
	tr -s '\n ' ' ' <"$tmp/out" |
		sed 's/[0-9.][0-9.]*/N/g'
}
if has_terminal; then
	command="'$selftest' --counter=default-monotonic monotone advances instructions"
	sh -c "$command" >"$tmp/out"
	lines >"$tmp/whole"
	for columns in 80 120; do
		on_terminal $columns "$command"
		! grep ".\{$((columns + 1))\}" "$tmp/out" &&
			lines | cmp -s - "$tmp/whole"
		ok "$columns columns: lines as long, and broken at blanks"
		on_terminal $columns "'$selftest' --list"
		lines >"$tmp/broken" && "$selftest" --list >"$tmp/out" &&
			lines | cmp -s - "$tmp/broken"
		ok "$columns columns: --list"
	done
fi

# 'sharing' is for counters that count each thread alone.
"$selftest" --quick --counter default-monotonic advances sharing >"$tmp/out"
test $? -eq 0 && grep -q '^# counter default-monotonic, kind os' "$tmp/out" &&
	grep -qx '1\.\.2' "$tmp/out" && grep -q '^ok 1 - advances: ' "$tmp/out"
ok "--counter names the counter, and arguments the checks"
cpucyclesimplementation=default-monotonic "$selftest" --quick instructions |
	grep -q 'SKIP not tried'
ok "no instructions are tried where the environment names a clock"
# A calibrated one may work a moment later.
"$bin/cpucycles-info" |
	sed -n 's/^cpucycles unavailable \([^:]*\): .*/\1/p' |
	grep -v 'core$' >"$tmp/names"
if read -r name <"$tmp/names"; then
	"$selftest" --quick --counter "$name" >"$tmp/out" 2>"$tmp/err"
	test $? -eq 1 && grep -q "$name does not work here: ." "$tmp/err" &&
		grep -q '^Bail out! ' "$tmp/out"
	ok "a counter that does not work here is status 1, with the reason"
else
	skip "all counters work here"
fi
refused 2 default-monotonic "$selftest" --counter nonesuch
ok "an unknown one is status 2, and the message lists those there are"
refused 2 "'nonesuch'.*--list" "$selftest" nonesuch
ok "an unknown check is status 2 and points to --list"
refused 2 exclude "$selftest" --quick --long
ok "two lengths at once are status 2"
check_command_line "$selftest" --quick advances
done_testing
