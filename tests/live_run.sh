#!/bin/sh
# SPDX-License-Identifier: 0BSD
# cpucycles-run: commands of known length, and how the tool stands between a
# command and its caller.
work=${top_builddir:?is set by make check}/tests/work
# Under nohup(1) SIGHUP is ignored, and a shell cannot change that.
if test -z "${signals_open-}" && test -x "$work"; then
	signals_open=yes exec "$work" signals sh "$0"
fi
. "${top_srcdir:?is set, too}/tests/tap.sh"

find_tools
unset COLUMNS
run=$bin/cpucycles-run
if ! test -x "$run"; then
	skip "it is not built here"
	done_testing
fi

# member NAME: of the JSON object.
member() {
	sed -n "s/^\t\"$1\": \(.*[^,]\),*\$/\1/p" "$tmp/json"
}

# json ARGUMENT...: runs a command; the object goes to json.
json() {
	"$run" --json -o "$tmp/json" "$@" >"$tmp/out" 2>"$tmp/err"
}

# COMMAND...: its count, without the start of $starts processes, is below $cycles
# by no more than cpucycles-selftest allows, nor twice as high: interrupts, the
# host and another hardware thread take time that looks like the command's.
near() {
	json "$@" && test "$(member cycles)" != null &&
		awk -v "got=$(member cycles)" -v "start=$((starts * startup))" \
			-v "cycles=$cycles" 'BEGIN {
			share = (got - start) / cycles
			exit share < 0.94 || share > 1.9 }' && return
	echo "# $(member cycles), not $cycles: $(member how)"
	return 1
}

# takes CYCLES TEXT COMMAND...: a machine is rarely so busy that thirty are not.
takes() {
	cycles=$1 text=$2
	shift 2
	tries 30 near "$@"
	ok "$text takes $cycles cycles: $(member cycles), $(member how)"
}

## Exit statuses, and streams.
# shellcheck disable=SC2016 # the commands'
for ends in 0:'exit 0' 1:'exit 1' 7:'exit 7' 255:'exit 255' 137:'kill -KILL $$'; do
	"$run" sh -c "${ends#*:}" 2>"$tmp/err"
	test $? -eq "${ends%%:*}" && grep -q '^how  *[ce]' "$tmp/err"
	ok "'${ends#*:}': status ${ends%%:*}"
done
refused 127 "'./nonesuch': No such" "$run" ./nonesuch &&
	refused 126 "'/': Permission" "$run" /
ok "no such command: 127; one that cannot be run: 126"
# shellcheck disable=SC2016 # the script's
echo 'echo "$# $1"; exit 3' >"$tmp/script" && chmod +x "$tmp/script"
PATH=$tmp:$PATH "$run" script 'a  word' >"$tmp/out" 2>"$tmp/err"
test $? -eq 3 && grep -qx '1 a  word' "$tmp/out" &&
	! grep -v '^[a-z_]*  ' "$tmp/err"
ok "a script without #! is the shell's"
for wrong in '' '--nonesuch true' '-o' '--json --lines true'; do
	# shellcheck disable=SC2086 # several words
	refused 125 --help "$run" $wrong
	ok "wrong usage '$wrong': 125, and points to --help"
done
for wrong in '-r 0' '-r 2x' '--runs=' '--runs=100001' '-w -1' '--warmup=x'; do
	# shellcheck disable=SC2086 # two words
	refused 125 "--[a-z]* takes a number from [01] to 100000, not '${wrong##*[ =]}'" \
		"$run" $wrong true
	ok "'$wrong': 125, and says what is wrong with it"
done
echo text | "$run" cat -u >"$tmp/out" 2>"$tmp/err" &&
	test "$(cat "$tmp/out")" = text && ! grep -q text "$tmp/err"
ok "the command has standard input and output for itself"
"$run" -o "$tmp/report" sh -c 'echo out; echo err >&2; test $# -eq 2' sh -r 9 \
	>"$tmp/out" 2>"$tmp/err" && test "$(cat "$tmp/out" "$tmp/err")" = "out
err" && grep -q '^wall_seconds  *[0-9.]*$' "$tmp/report"
ok "-o FILE; what comes after the command is the command's"
refused 125 "cannot write $tmp/none/file: No such" \
	"$run" -o "$tmp/none/file" sh -c 'echo out'
ok "a FILE that cannot be written: 125, it is named, and nothing is run"
"$run" -o /dev/full true 2>"$tmp/err"
test $? -eq 125 && grep -q 'cannot write /dev/full: No space' "$tmp/err"
ok "a full disk: 125, with a message"

cpucyclesimplementation=nonesuch "$run" true 2>&1 | grep -qx \
	'cpucycles-run: cpucyclesimplementation=nonesuch was not taken: there is no such counter here'
ok "the name of no counter is noted"

## Runs.
printf '%s\n' skipped again >"$tmp/input"
{
	read -r line
	json -r 3 cat
} <"$tmp/input"
test "$line $(tr '\n' ' ' <"$tmp/out")" = "skipped again again again " &&
	test -n "$(member wall_seconds_spread)"
ok "a file as standard input is read again from where it was; the spread"
json -r 3 sh -c "echo run >>'$tmp/runs'; test \$(wc -l <'$tmp/runs') -ne 2"
test $? -eq 1 && test "$(wc -l <"$tmp/runs")" -eq 3
ok "one run of three fails: so does the whole"
json -w 2 -r 3 sh -c "echo run >>'$tmp/warm'" && test "$(member runs)" -eq 3 &&
	test "$(wc -l <"$tmp/warm")" -eq 5
ok "two warm-up runs are not among the three"
json -r 3 sh -c "echo run >>'$tmp/killed'; kill -TERM \$\$"
test $? -eq 143 && test "$(wc -l <"$tmp/killed")" -eq 1
ok "a run that a signal ends is the last one"
# inside NAME VALUE LOW HIGH: one is not outside of the other two.
inside() {
	awk -v "low=$(member "$1_minimum")" -v "value=$(member "$1")" \
		-v "high=$(member "$1_maximum")" \
		'BEGIN { exit !(low <= value && value <= high && low != "") }'
}
json -r 5 sh -c : && inside wall_seconds && inside user_seconds &&
	test "$(grep -c '_deviation"' "$tmp/json")" -eq 7
ok "the median is between minimum and maximum; there is a deviation"
if have python3; then
	json -r 3 true && quietly python3 -m json.tool "$tmp/json"
	ok "a valid JSON object"
fi

## Comparisons.
# shellcheck disable=SC2016 # the command's
"$run" --lines --compare -r 3 sh -c 'echo "$0"' A -- sh -c 'echo "$0"' B \
	>"$tmp/out" 2>"$tmp/err" &&
	test "$(tr '\n' ' ' <"$tmp/out")" = "A B B A A B " &&
	grep -qx 'second_runs  *3' "$tmp/err" &&
	grep -qE '^verdict +too few runs to tell: 6 of each are needed$' "$tmp/err"
ok "two commands run in turn, and the first one alternates; three runs are too few"
# takes_more COMMAND...: the verdict is that the second does.
takes_more() {
	json "$@" && member verdict | grep -q '^"by .* the second takes .* more than'
}
# What counts cycles or CPU time alike, and is longer by far.
# shellcheck disable=SC2016 # the command's
loops='i=0; while test $i -lt "$0"; do i=$((i + 1)); done'
tries 10 takes_more --compare=vs -r 7 true -- vs sh -c "$loops" 20000
ok "a command that takes more is found: $(member verdict); another word divides"
json --compare -r 7 sh -c "$loops" 20000 -- true &&
	member verdict | grep -q 'less than the first\|no difference'
ok "but not if it is the first"
for wrong in 'true' 'true --' 'true -- true -- true'; do
	# shellcheck disable=SC2086 # several words
	refused 125 "'--'" "$run" --compare $wrong
	ok "--compare $wrong: 125, and says what is wrong"
done
if have python3; then
	json --compare -r 6 true -- false
	test $? -eq 1 && quietly python3 - "$tmp/json" <<-'PY'
		import json, sys
		o = json.load(open(sys.argv[1]))
		assert o["first"]["runs"] == o["second"]["runs"] == 6
		assert o["ratio_minimum"] <= o["ratio"] <= o["ratio_maximum"]
	PY
	ok "--compare --json: an object for each, and the ratio; the status of the last that failed"
fi

## Signals. The command makes a file when it is ready for them.
ready=": >'$tmp/ready'"
# signalled SIGNAL COMMAND: that signal is sent to the tool, which runs it.
signalled() {
	rm -f "$tmp/ready"
	"$run" -r 3 -o "$tmp/report" sh -c "$2" >"$tmp/out" 2>"$tmp/err" &
	pid=$!
	until test -e "$tmp/ready"; do
		sleep 0.01
	done
	kill "-$1" $pid
	wait $pid
}
# A shell's background jobs ignore SIGINT and SIGQUIT, and so do their commands.
signalled TERM "echo begun; $ready; exec sleep 60"
test $? -eq 143 && test "$(grep -c begun "$tmp/out")" -eq 1
ok "SIGTERM ends the command, and the runs"
test -e "$tmp/report" && ! test -s "$tmp/report" &&
	grep -qx 'cpucycles-run: interrupted, 0 of 3 runs' "$tmp/err"
ok "which it says; there is no result of an incomplete run"
signalled HUP "trap 'echo caught; kill \$!; exit 5' HUP
	sleep 60 & $ready; wait"
test $? -eq 5 && test "$(grep -c caught "$tmp/out")" -eq 1
ok "a command that catches SIGHUP gets it once; its status is kept"
signalled USR1 "trap 'echo caught; kill \$!; exit 0' USR1
	test -e '$tmp/ready' && exit; sleep 60 & $ready; wait"
test $? -eq 0 && grep -q caught "$tmp/out"
ok "SIGUSR1 goes to the command"
(
	trap '' HUP
	signalled HUP "$ready; sleep 0.1; echo lived"
) && test "$(grep -c lived "$tmp/out")" -eq 3
ok "a signal that is ignored, as by nohup, is so in the command"

json -r 3 sleep 0
test "$(grep -c '_spread"' "$tmp/json")" -eq 7
ok "a spread for each number, also if that is unknown"
if have timeout; then
	mkfifo "$tmp/fifo"
	timeout -k 2 1 "$run" -o "$tmp/fifo" true
	# After the time: BusyBox has the status of a process that SIGTERM ended.
	case $? in 124 | 143) true ;; *) false ;; esac
	ok "a FIFO without a reader can be interrupted"
fi

## For people, on a terminal.
# people: no line is longer, none is for programs, and no word is broken.
people() {
	"$run" --json true 2>&1 | tr -cs A-Za-z '\n' | cat - "$tmp/words" |
		sort -u >"$tmp/known"
	! grep -E "^[a-z]*_[a-z]* |.{$((columns + 1))}" "$tmp/out" &&
		tr -cs A-Za-z '\n' <"$tmp/out" | grep ... | sort -u |
		comm -23 - "$tmp/known" >"$tmp/log" && ! test -s "$tmp/log"
}
number='[0-9.]+ ?[TGMkmu]?s?'
if has_terminal; then
	find "$top_srcdir/src/tools/run" -name '*.c' -exec cat {} + |
		tr -cs A-Za-z '\n' >"$tmp/words"
	for columns in 80 120; do
		on_terminal $columns "'$run' true"
		people && grep -qE "^elapsed  +$number\$" "$tmp/out" &&
			grep -q 'Cycles are [ecn]' "$tmp/out"
		ok "$columns columns: one run"
		on_terminal $columns "'$run' -r 3 -w 1 true"
		people && grep -qE '^ +median +\+- +minimum +maximum$' "$tmp/out" &&
			grep -qE "^elapsed +$number +[0-9.]+% +$number +$number\$" "$tmp/out" &&
			grep -q '^3 of 3 runs' "$tmp/out"
		ok "$columns columns: three runs"
		on_terminal $columns "'$run' --compare -r 6 true -- sh -c :"
		people && grep -q '^first: true$' "$tmp/out" &&
			grep -q '^Verdict: ' "$tmp/out"
		ok "$columns columns: a comparison"
	done
	columns=24
	on_terminal $columns "'$run' -r 2 true"
	people && grep -q '^elapsed$' "$tmp/out"
	ok "a narrow terminal: a name and its values below each other"
	on_terminal 80 "'$run' --lines true"
	! grep -v '^[a-z_]*  ' "$tmp/out"
	ok "--lines: the lines for programs"
fi

## Known lengths. What nobody has counted or estimated is skipped.
"$work" chain 1
works=$?
json true
if test $works -ne 0 || test "$(member cycles)" = null; then
	skip "known cycles: $(member how)"
	done_testing
fi
json -r 9 "$work" chain 0
n=1000000000 startup=$(member cycles) starts=1
takes $((2 * n)) "two threads" "$work" chain $n 2
starts=2
takes $((2 * n)) "two children" \
	sh -c "'$work' chain $n & '$work' chain $n; wait"
takes $((2 * n)) "a child whose parent ends first" \
	sh -c "('$work' chain $n &); '$work' chain $n; sleep 2"
starts=1
takes $n "one of five runs" -r 5 "$work" chain $n
cpucyclesimplementation=default-monotonic
export cpucyclesimplementation
takes $n "a chain, with a clock" "$work" chain $n
member how | grep -q '^"estimated, '
ok "is estimated then"
awk -v "off=$(member cycles_error)" 'BEGIN { exit !(off > 0 && off <= 1) }'
ok "and what that may be off by is said: $(member cycles_error)"
unset cpucyclesimplementation
(while :; do :; done) &
rivals=$!
(while :; do :; done) &
rivals="$rivals $!"
takes $n "a chain beside two busy loops" "$work" chain $n
member how | grep -qE 'beside load|^"counted'
ok "which it says: $(member how)"
# shellcheck disable=SC2086 # two
kill $rivals
json sleep 0.2 && awk -v "cycles=$(member cycles)" -v "n=$n" \
	'BEGIN { exit !(cycles < n / 20) }'
ok "to sleep takes few: $(member cycles)"
done_testing
