#!/bin/sh
# SPDX-License-Identifier: 0BSD
# How cpucycles-info --watch goes on, and how it ends.
: "${top_srcdir:?is set by make check}" "${top_builddir:?too}"
. "$top_srcdir/tests/tap.sh"

info=$top_builddir/cpucycles-info
tmp=$(mktemp -d "${TMPDIR:-/tmp}/cpuc-watch.XXXXXX") || exit 99
trap 'rm -rf "$tmp"' EXIT
unset cpucyclesimplementation cpucyclespersecond
escape=$(printf '\033')

# begin OPTION...: runs in the background. The file is there before the shell
# of the background is.
begin() {
	: >"$tmp/out"
	"$info" "$@" >"$tmp/out" 2>"$tmp/err" &
	pid=$!
}

# until_lines N PATTERN: waits for so many lines of what begin has started; a
# minute is for ever.
until_lines() {
	i=0
	while test "$(grep -c "$2" "$tmp/out")" -lt "$1" && test $i -lt 600; do
		sleep 0.1
		i=$((i + 1))
	done
	test $i -lt 600
}

# terminate: ends the process $pid; its status, also if it must be killed.
terminate() {
	kill -TERM "$pid"
	(
		i=0
		while kill -0 "$pid" 2>/dev/null && test $i -lt 300; do
			sleep 0.1
			i=$((i + 1))
		done
		kill -KILL "$pid" 2>/dev/null
	) &
	wait "$pid"
}

begin --json --watch
until_lines 3 .
ok "--json --watch prints one object after the other"
terminate
test $? -eq 143
ok "SIGTERM ends it as a signal does"
! test -s "$tmp/err"
ok "without a message"
if python3 -c 'import json' 2>/dev/null; then
	lines=$(grep -c '^{.*}$' "$tmp/out")
	sed '$!b
		/}$/!d' "$tmp/out" >"$tmp/whole"
	test "$(python3 "$top_srcdir/tests/info_json.py" \
		"$top_srcdir/tests/info.schema.json" "$tmp/whole")" = "$lines"
	ok "each is valid, and a line"
else
	skip "there is no python3"
fi

begin --watch
until_lines 2 '^cpucycles kind '
terminate
test "$(grep -c '^cpucycles tracesetup 0 ' "$tmp/out")" -ge 2
ok "--watch selects each time"
grep -B 1 '^cpucycles version' "$tmp/out" | grep -qx ''
ok "an empty line is between two reports"
! grep -q "$escape" "$tmp/out"
ok "and nothing that only terminals understand"

if timeout --version >/dev/null 2>&1; then
	timeout --preserve-status -k 30 -s INT 2 "$info" --watch --plot >/dev/null
	test $? -eq 130
	ok "SIGINT ends it as a signal does"
else
	skip "there is no timeout(1)"
fi

# closed OPTIONS: the output goes to a pipe whose reader has gone.
closed() {
	rm -f "$tmp/gone"
	(
		until test -e "$tmp/gone"; do sleep 0.1; done
		bounded "$info" "$@" 2>"$tmp/err"
		echo $? >"$tmp/status"
	) | {
		exec <&-
		: >"$tmp/gone"
	}
	test "$(cat "$tmp/status")" -eq 1 &&
		grep -q '^cpucycles-info: cannot write' "$tmp/err"
	ok "a closed pipe is status 1, with a message: $*"
}
closed
closed --json
closed --plot
closed --svg -
closed --watch
closed --watch --json
if test -w /dev/full; then
	bounded "$info" --watch --plot >/dev/full 2>"$tmp/err"
	test $? -eq 1 && test -s "$tmp/err"
	ok "a full disk ends it"
else
	skip "there is no /dev/full"
fi
bounded "$info" --watch --counter=default-zero >"$tmp/out"
test $? -eq 1 && test "$(grep -c '^cpucycles version' "$tmp/out")" -eq 1
ok "so does a report that finds something wrong"

if script -qec true /dev/null </dev/null >/dev/null 2>&1; then
	: >"$tmp/out"
	TERM=xterm script -qec "stty rows 24 cols 80
		'$info' --watch --plot &
		i=0
		until grep -q '\[J' '$tmp/out' || test \$i -eq 600; do
			sleep 0.1
			i=\$((i + 1))
		done
		kill \$!
		wait \$!" /dev/null </dev/null >"$tmp/out" 2>&1
	test $? -eq 143
	ok "SIGTERM ends it on a terminal too"
	grep -q "$escape\\[?1049h$escape\\[H$escape\\[J" "$tmp/out"
	ok "which shows each report on a screen of its own"
	tail -n 1 "$tmp/out" | grep -q "$escape\\[?1049l"
	ok "and is given back as it was"
else
	skip "there is no script(1) to make a terminal with"
fi
done_testing
