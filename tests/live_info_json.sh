#!/bin/sh
# SPDX-License-Identifier: 0BSD
# The output of cpucycles-info --json: the schema, and the effects of the
# environment and the locale.
. "${top_srcdir:?is set by make check}/tests/tap.sh"

find_tools
info=$bin/cpucycles-info

# valid NAME: keeps "$tmp/out", which is checked against the schema at the end.
valid() {
	cp "$tmp/out" "$tmp/$1.json"
}

# has TEXT PATTERN: a line of the output, blanks at its beginning aside.
has() {
	grep -qE "^[[:space:]]*$2,?\$" "$tmp/out"
	ok "$1"
}

"$info" --json >"$tmp/out" 2>"$tmp/err" && ! test -s "$tmp/err"
ok "it runs, and prints nothing on stderr"
valid plain
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
valid variables
has "the counter is the one asked for" '"implementation": "default-monotonic"'
has "whose variable is told" '"value": "default-monotonic"'
has "and in force" '"in_force": true'
has "the other counters were not tried" \
	'"reason": "not tried: default-monotonic was asked for"'

bad=$(printf 'a"b\\c\001\377\303\251')
cpucyclesimplementation=$bad "$info" --json >"$tmp/out"
valid any-bytes
has "which are told as well as can be" \
	'"value": "a\\u0022b\\u005cc\\u0001\\ufffd\\ufffd\\ufffd"'
has "and are not in force" '"in_force": false'
has "because there is no such counter" \
	'"reason": "there is no such counter here"'

"$info" --counter=default-zero --json >"$tmp/out"
test $? -eq 1
ok "a counter that counts nothing is status 1"
valid zero

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
	LOCPATH=$tmp LC_ALL=comma "$info" --json >"$tmp/out"
	valid locale
else
	skip "no locale with a comma as decimal point can be made here"
fi
valid_json "$tmp"/*.json
done_testing
