#!/bin/sh
# SPDX-License-Identifier: 0BSD
# The picture of cpucycles-info --plot: its width and characters.
. "${top_srcdir:?is set by make check}/tests/tap.sh"

find_tools
info=$bin/cpucycles-info
unset COLUMNS

# bars WIDTH TEXT: the longest bar of "$tmp/out", in ASCII, fills the width; the
# number beside it may be shorter than another's by some digits.
bars() {
	tr -d '\r' <"$tmp/out" |
		awk -v width="$1" '/ \| #/ { if (length > most) most = length }
			END { print "# " most " columns"
			exit !(most <= width && most >= width - 4) }'
	ok "$2"
}

LC_ALL=C "$info" --plot >"$tmp/out" 2>"$tmp/err" && ! test -s "$tmp/err"
ok "it runs, and prints nothing on stderr"
"$info" --plot --counter=default-monotonic | grep -qE '^default-monotonic \(os\), .'
ok "the counter and the machine are named"
! LC_ALL=C grep -q '[^ -~]' "$tmp/out"
ok "in the C locale it is plain ASCII"
bars 80 "80 columns wide where nothing else is said"
sed -n 's/.* |[ #]* \([0-9]*\)\**$/\1/p' "$tmp/out" |
	awk '{ sum += $1 } END { exit sum != 4096 }'
ok "the numbers add up to all calls"
grep -q '|.*[0-9]\*$' "$tmp/out"
ok "a bar is marked as of the middle half"
for width in 60 133; do
	COLUMNS=$width LC_ALL=C "$info" --plot >"$tmp/out"
	bars $width "COLUMNS=$width is heeded"
	test -z "$(awk -v width="$width" 'length > width' "$tmp/out")"
	ok "by the text too"
done

if test "$(LC_ALL=C.UTF-8 locale charmap 2>/dev/null)" = UTF-8; then
	LC_ALL=C.UTF-8 "$info" --plot >"$tmp/out"
	grep -q '│ █' "$tmp/out"
	ok "in a UTF-8 locale bars are of blocks"
	grep -q '#' "$tmp/out"
	test $? -eq 1
	ok "and only of blocks"
else
	skip "there is no locale C.UTF-8"
fi

# on_terminal ROWS OPTIONS: on a terminal of 100 columns.
on_terminal() {
	LC_ALL=C script -qec "stty rows $1 cols 100; '$info' $2" \
		/dev/null </dev/null >"$tmp/out" 2>/dev/null
}
if script -qec true /dev/null </dev/null >/dev/null 2>&1; then
	on_terminal 40 --plot
	bars 100 "as wide as the terminal"
	on_terminal 16 "--counter=default-monotonic --plot"
	test "$(wc -l <"$tmp/out")" -lt 16
	ok "a low terminal gets fewer rows"
else
	skip "there is no script(1) to make a terminal with"
fi
done_testing
