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
for wrong in '' '-r 0 true' '-r 2x true' '--nonesuch true' '-o'; do
	# shellcheck disable=SC2086 # several words
	refused 125 --help "$run" $wrong
	ok "wrong usage '$wrong': 125, and points to --help"
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
json -r 3 sh -c "echo run >>'$tmp/killed'; kill -TERM \$\$"
test $? -eq 143 && test "$(wc -l <"$tmp/killed")" -eq 1
ok "a run that a signal ends is the last one"
if have python3; then
	json -r 3 true && quietly python3 -m json.tool "$tmp/json"
	ok "a valid JSON object"
fi

## Signals. The command makes a file when it is ready for them.
ready=": >'$tmp/ready'"
# signalled SIGNAL COMMAND: that signal is sent to the tool, which runs it.
signalled() {
	rm -f "$tmp/ready"
	"$run" -r 3 -o "$tmp/report" sh -c "$2" >"$tmp/out" &
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
