#!/bin/sh
# SPDX-License-Identifier: 0BSD
# The picture of cpucycles-info --svg, and the files that cannot be written.
. "${top_srcdir:?is set by make check}/tests/tap.sh"

find_tools
info=$bin/cpucycles-info
svg=$tmp/a.svg

"$info" --svg "$svg" >"$tmp/out" 2>"$tmp/err"
! cat "$tmp/out" "$tmp/err" | grep .
ok "it prints nothing"
for counter in default-monotonic default-gettimeofday default-zero; do
	"$info" --counter=$counter --svg="$tmp/$counter.svg"
	grep -q "<title>.*$counter</title>" "$tmp/$counter.svg"
	ok "$counter has a picture too, with its name as title"
done
if command -v xmllint >/dev/null; then
	xmllint --noout --nonet "$tmp"/*.svg
	ok "all are well-formed XML"
else
	skip "there is no xmllint"
fi

grep -qE '>CPU cycles counted by [a-z0-9]+-[a-z0-9]+ \([a-z]+\)</text>' "$svg"
ok "the counter and its kind are named"
grep -qF ", $(uname -s) $(uname -r | sed 's/-.*//') " "$svg"
ok "so is the machine"
grep -q '>cycles</text>' "$svg" && grep -q '>calls</text>' "$svg" &&
	grep -q ', persecond: .* GHz (.*)</text>' "$svg"
ok "axes have units"
test "$(grep -c 'class="bar"' "$svg")" -ge 1 &&
	grep -q 'class="half"' "$svg" && grep -q 'class="mean"' "$svg"
ok "so are bars, the middle half and the mean"
# Nothing is drawn outside the paper, and no number is none.
! grep -qiE '"-?(nan|inf)|="-[0-9]' "$svg" "$tmp"/default-*.svg
ok "all coordinates are within the picture"

"$info" --svg - >"$tmp/stdout.svg" && tail -n 1 "$tmp/stdout.svg" |
	grep -qx '</svg>'
ok "- is standard output"

refused 1 '^cpucycles-info: .*no/such.svg' "$info" --svg "$tmp/no/such.svg"
ok "a directory that is not there is status 1, with a message"
refused 1 "^cpucycles-info: .*$tmp" "$info" --svg "$tmp"
ok "so is a directory for a file"
if test -w /dev/full; then
	refused 1 '^cpucycles-info: .*/dev/full' "$info" --svg /dev/full
	ok "and a full disk"
	"$info" --svg - >/dev/full 2>"$tmp/err"
	test $? -eq 1 && grep -q '^cpucycles-info: .*output' "$tmp/err"
	ok "also behind stdout"
else
	skip "there is no /dev/full"
fi
"$info" --counter=default-none --svg "$tmp/none.svg" 2>"$tmp/err"
test $? -eq 2 && ! test -e "$tmp/none.svg"
ok "without a counter there is no file"
done_testing
