#!/bin/sh
# SPDX-License-Identifier: 0BSD
# The other outputs of cpucycles-info: --noise, whose findings depend on the
# machine, so that each run is judged by its own output; --json, with the schema
# and the effects of the environment and the locale; --plot, with its width.
. "${top_srcdir:?is set by make check}/tests/tap.sh"

find_tools
info=$bin/cpucycles-info
unset COLUMNS

# has TEXT REGEX: a line of the output, blanks at its beginning aside.
has() {
	grep -qE "^[[:space:]]*$2,?\$" "$tmp/out"
	ok "$1"
}

# without_errors ARGUMENT...
without_errors() {
	"$info" "$@" >"$tmp/out" 2>"$tmp/err" && ! test -s "$tmp/err"
	ok "$*: it runs, and prints nothing on stderr"
}

## --noise
"$info" --noise >"$tmp/out" 2>"$tmp/err"
status=$?
sed 's/^/# /' "$tmp/out"
! test -s "$tmp/err"
ok "nothing is on stderr"
sed -e 's/^cpucycles implementation [a-z0-9-]*$/counter/' \
	-e 's/^cpucycles noise \([a-z]*\) ..*/\1/' "$tmp/out" | tr '\n' ' ' |
	grep -qx 'counter interrupts preemption steal dither rate governor turbo smt verdict '
ok "there is a line for the counter, and one for each item"
awk -v status=$status '/noise verdict differences under/ { n++; seen = $6 }
	/noise (interrupts|preemption) .* of the time/ { lost += $4 }
	END { exit n != 1 || (seen + 0 > 1 || lost > 5) != status }' "$tmp/out"
ok "the status, $status, is 1 if 1% cannot be told, or over 5% is lost"

# This clock counts microseconds, and a window takes ten of them.
"$info" --json --noise --counter=default-gettimeofday >"$tmp/out"
awk -v status=$? -F '[:,]' '/"difference"/ { n++; value = $2 }
	END { exit n != 1 || value <= 0.01 || status != 1 }' "$tmp/out"
ok "a count in steps of a tenth of a window cannot tell 1%, which is status 1"
has "and it says why" "\"hint\": \"the counter's step.*"
cp "$tmp/out" "$tmp/noise.json"

## --json
without_errors --json
cp "$tmp/out" "$tmp/plain.json"
has "no variable is in the environment" '"environment": \{\}'
# A calibrated counter may work in one run and not in another, so its hint is
# left out.
"$info" | grep -v '^cpucycles unavailable [^:]*core:' |
	sed -nE 's/^cpucycles (instructions )?unavailable[^:]*: .*; //p' |
	sort >"$tmp/text"
awk -F'": "' '/"name":/ { name = $2 } /"hint": "[^"]/ && name !~ /core"/ {
	sub(/",*$/, "", $2); print $2 }' "$tmp/out" | sort |
	cmp -s - "$tmp/text"
ok "the hints are those of the text"

cpucyclesimplementation=default-monotonic cpucyclespersecond=3000000000 \
	"$info" --json >"$tmp/out"
cp "$tmp/out" "$tmp/variables.json"
has "the counter is the one asked for" '"implementation": "default-monotonic"'
has "whose variable is told" '"value": "default-monotonic"'
has "and in force" '"in_force": true'
has "the other counters were not tried" \
	'"reason": "not tried: default-monotonic was asked for"'

bad=$(printf 'a"b\\c\001\177 \377\303\251')
cpucyclesimplementation=$bad "$info" --json >"$tmp/out"
cp "$tmp/out" "$tmp/any-bytes.json"
has "which are told as well as can be" \
	'"value": "a\\u0022b\\u005cc\\u0001\\ufffd \\ufffd\\ufffd\\ufffd"'
has "and are not in force" '"in_force": false'
has "because there is no such counter" \
	'"reason": "there is no such counter here"'

"$info" --counter=default-zero --json >"$tmp/zero.json"
test $? -eq 1
ok "a counter that counts nothing is status 1"

# A locale with a decimal comma. All of de_DE takes localedef seconds.
cat >"$tmp/locale" <<'TXT'
LC_CTYPE
copy "POSIX"
END LC_CTYPE
LC_NUMERIC
copy "de_DE"
END LC_NUMERIC
TXT
localedef -c -i "$tmp/locale" -f ANSI_X3.4-1968 "$tmp/comma" >/dev/null 2>&1
if test "$(LOCPATH=$tmp LC_ALL=comma locale decimal_point 2>&1)" = ,; then
	LOCPATH=$tmp LC_ALL=comma "$info" --json >"$tmp/locale.json"
else
	skip "no locale with a comma as decimal point can be made here"
fi
if python3 -c 'import jsonschema' 2>/dev/null; then
	quietly python3 "$top_srcdir/tests/info_json.py" \
		"$top_srcdir/tests/info.schema.json" "$tmp"/*.json
	ok "valid JSON objects"
else
	skip "there is no python3-jsonschema"
fi

## --plot
# bars WIDTH TEXT: the longest bar of "$tmp/out" fills the width; the number beside
# it may be shorter than another's by some digits.
bars() {
	tr -d '\r' <"$tmp/out" |
		awk -v width="$1" '/ \| #/ { if (length > most) most = length }
			END { exit !(most <= width && most >= width - 4) }'
	ok "$2"
}

without_errors --plot
"$info" --plot --counter=default-monotonic | grep -qE '^default-monotonic \(os\), .'
ok "the counter and the machine are named"
bars 80 "80 columns wide where nothing else is said"
sed -n 's/.* |[ #]* \([0-9]*\)\**$/\1/p' "$tmp/out" |
	awk '{ sum += $1 } END { exit sum != 4096 }'
ok "the numbers add up to all calls"
awk '/\|/ { width = $1 - from; from = $1 + 0 }
	/\|.*\*$/ { last = from; if (!n++) first = from }
	/middle half/ { low = $5; high = $7 + 0 }
	END { exit !(n && first <= low && first + width > low && last <= high) }' \
	"$tmp/out"
ok "the bars of the middle half are marked"
! grep -q '|  [1-9]' "$tmp/out"
ok "and few calls have a bar, too"
COLUMNS=20 "$info" --plot --counter=default-gettimeofday \
	>"$tmp/out" && test -z "$(awk 'length > 20' "$tmp/out")"
ok "20 columns are enough, also for a coarse clock"
for width in 39 133; do
	COLUMNS=$width "$info" --plot >"$tmp/out"
	test -z "$(awk -v width="$width" 'length > width' "$tmp/out")"
	ok "COLUMNS=$width is heeded, by the text too"
	bars $width "the bars fill it"
done

if script -qec true /dev/null </dev/null >/dev/null 2>&1; then
	script -qec "stty cols 100; '$info' --plot" \
		/dev/null </dev/null >"$tmp/out" 2>/dev/null
	bars 100 "as wide as the terminal"
else
	skip "there is no script(1) to make a terminal with"
fi
done_testing
