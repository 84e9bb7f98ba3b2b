#!/bin/sh
# SPDX-License-Identifier: 0BSD
# cpucycles-info --noise. Its findings depend on the machine, so each run is
# judged by its own output.
. "${top_srcdir:?is set by make check}/tests/tap.sh"

find_tools
info=$bin/cpucycles-info

"$info" --noise >"$tmp/out" 2>"$tmp/err"
status=$?
sed 's/^/# /' "$tmp/out"
! test -s "$tmp/err"
ok "nothing is on stderr"
sed -n 's/^cpucycles noise \([a-z]*\) ..*/\1/p' "$tmp/out" | tr '\n' ' ' |
	grep -qx 'interrupts preemption steal dither rate governor turbo smt verdict '
ok "there is a line for each item"
grep -qE '^cpucycles implementation [a-z0-9-]+$' "$tmp/out" &&
	test "$(wc -l <"$tmp/out")" -eq 10
ok "and a line for the counter"
awk -v status=$status '/noise verdict differences under/ { n++; seen = $6 }
	/noise (interrupts|preemption) .* of the time/ { lost += $4 }
	END { exit n != 1 || (seen + 0 > 1 || lost > 5) != status }' "$tmp/out"
ok "the status, $status, is 1 if 1% cannot be told, or over 5% is lost"
grep -qE '^cpucycles noise rate ([0-9]+ MHz, )?[0-9.]+ steps a second(, of [0-9.]+%, levels of [0-9.]+ ms)?(;|$)' \
	"$tmp/out"
ok "the rate's steps are told"
awk '/noise (interrupts|preemption) .* of the time/ { sum += $4 }
	END { exit !(sum >= 0 && sum <= 100) }' "$tmp/out"
ok "no more than all of the time is lost"

# This clock counts microseconds, and a window takes ten of them.
"$info" --json --noise --counter=default-gettimeofday >"$tmp/out"
awk -v status=$? -F '[:,]' '/"difference"/ { n++; value = $2 }
	END { exit n != 1 || value <= 0.01 || status != 1 }' "$tmp/out"
ok "a count in steps of a tenth of a window cannot tell 1%, which is status 1"
grep -q "\"hint\": \"the counter's step" "$tmp/out"
ok "and it says why"
valid_json "$tmp/out"

for other in --cpus --plot --svg=-; do
	refused 2 --help "$info" $other --noise
	ok "with $other is status 2"
done
done_testing
