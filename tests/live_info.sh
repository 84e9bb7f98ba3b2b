#!/bin/sh
# SPDX-License-Identifier: 0BSD
# The outputs of cpucycles-info: the lines that programs parse, and those for
# people; --noise, whose findings depend on the machine, so that each run is judged
# by its own output; --json, with the schema; --plot.
. "${top_srcdir:?is set by make check}/tests/tap.sh"

find_tools
info=$bin/cpucycles-info
unset COLUMNS

# has REGEX [COUNT]: at least that many lines of the output match, whole.
has() {
	test "$(grep -cE "^cpucycles $1\$" "$tmp/out")" -ge "${2-1}"
}

"$info" >"$tmp/out" 2>"$tmp/err" && ! test -s "$tmp/err"
ok "it runs, and prints nothing on stderr"
sed -n 1p "$tmp/out" | grep -qE '^cpucycles version [^ ]+$'
ok "the first line is the version"
while IFS='|' read -r count text regex; do
	has "$regex" "$count"
	ok "$text"
done <<'TXT'
3|a tracesetup line for each counter|tracesetup [0-9]+ [a-z0-9-]+ precision [0-9]+ scaling [0-9]+\.[0-9]{6} only32 [01]
1|a persecond line|persecond [0-9]+
1|an implementation line|implementation [a-z0-9-]+
1|an iqm line with 64 differences|iqm -?[0-9]+ ([+-][0-9]+){64}
5|observed persecond lines|observed persecond [0-9]+\.\.\.[0-9]+ with [0-9]+ loops [0-9]+ microseconds
1|a kind line|kind (core|calibrated|reference|os|zero)
1|a line that tells whose cycles it counts|per thread (yes|no: .+)
1|a line that tells how instructions are counted, or why not|instructions ([a-z0-9]+-[a-z0-9]+|unavailable: .+)
TXT
! grep -vE '^cpucycles (version|tracesetup|persecond|implementation|iqm|observed|kind|per thread|instructions|unavailable|note) ' \
	"$tmp/out"
ok "no line of another form"

sed -n 's/^cpucycles tracesetup [0-9]* \([^ ]*\) precision 0 .*/\1/p' \
	"$tmp/out" | grep -v default-zero >"$tmp/unused"
sed -n 's/^cpucycles unavailable \([^:]*\): ..*/\1/p' "$tmp/out" >"$tmp/why"
cmp -s "$tmp/unused" "$tmp/why"
ok "each counter without a precision has a reason"
sed -n 's/^cpucycles tracesetup [0-9]* \([^ ]*\) .*/\1/p' "$tmp/out" >"$tmp/names"
sed -n 's/^CPUC_COUNTER(\[\([^]]*\)\], \[\([^]]*\)\].*/\1 \2/p' \
	"$top_srcdir/configure.ac" | tr ' ' '\n' | grep -xFf "$tmp/names" |
	cmp -s - "$tmp/names"
ok "they are in the order of configure.ac"

# with_file FILE TEXT: in a world of its own, where its file system has but it.
with_file() {
	unshare -m sh -c "mount -t tmpfs none /$(echo "$1" | cut -d / -f 2) &&
		mkdir -p ${1%/*} && echo '$2' >$1 && exec '$info'" \
		>"$tmp/out" 2>"$tmp/err"
}
file=/etc/cpucyclespersecond
if with_file "$file" many; then
	has "note $file was not taken: ..*"
	ok "a file that is not taken is noted"
	cpucyclespersecond=3000000000 with_file "$file" "2399987653 # by me"
	has 'persecond 2399987653' && ! has 'note /etc.*' &&
		has "note cpucyclespersecond=3000000000 was not taken: $file states the rate"
	ok "one with a comment is taken; what it goes before is noted"
else
	skip "no file can be put into /etc for this test alone"
fi
driver=/sys/devices/system/cpu/cpu0/cpufreq/scaling_max_freq
disbelieved() {
	with_file "$driver" 90000000 && has "note not believed: $driver: .*" &&
		! has 'persecond 90000000000'
}
# An administrator's word is believed.
if test ! -e "$file" && with_file "$driver" 90000000 &&
	"$info" --json | grep -q '"core_persecond": [0-9]'; then
	# Beside load the core's rate is unknown at some first calls.
	tries 10 disbelieved
	ok "a driver's 90 GHz are not believed, which is noted"
else
	skip "no rate is observed, or no file system can be mounted here"
fi

# The environment and the arguments; what is in the output; what that means.
while IFS='|' read -r settings arguments regex text; do
	# shellcheck disable=SC2086 # several words
	env $settings "$info" $arguments >"$tmp/out" 2>&1
	has "$regex"
	ok "$text"
done <<'TXT'
cpucyclesimplementation=default-monotonic||implementation default-monotonic|cpucyclesimplementation names the counter
cpucyclesimplementation=default-monotonic||unavailable default-gettimeofday: not tried.*|and the others say that they were not tried
cpucyclesimplementation=nonesuch||note cpucyclesimplementation=nonesuch was not taken: .*|an unknown name is noted
cpucyclespersecond=many||note cpucyclespersecond=many was not taken: ..*|so is a rate that is none
cpucyclesimplementation=default-zero|--counter default-monotonic|implementation default-monotonic|--counter goes before the environment
cpucyclesimplementation=default-zero|--counter default-monotonic|note .*=default-zero was not taken: --counter.*|which is noted
|--counter=default-zero|per thread no: nothing is counted|default-zero is no clock
TXT
refused 2 "'nonesuch'" "$info" --counter=nonesuch &&
	grep -q ' default-monotonic ' "$tmp/err"
ok "a counter that does not exist is status 2, with the names of all"
# Not a calibrated one, which may work at the next try.
name=$(grep -v core "$tmp/why" | head -n 1)
if test -n "$name"; then
	refused 1 "^cpucycles-info: $name does not work here: .." \
		"$info" --counter="$name"
	ok "a counter that does not work is status 1, with the reason"
	cpucyclesimplementation=default-monotonic "$info" --counter="$name" \
		2>"$tmp/err" >/dev/null
	! grep 'not tried' "$tmp/err"
	ok "which is its own, whatever the environment names"
else
	skip "all counters work here"
fi
cpucyclesimplementation=nonesuch "$info" --plot 2>"$tmp/err" >/dev/null
test $? -eq 1 && grep -qx 'cpucycles-info: cpucyclesimplementation=nonesuch was not taken: there is no such counter here' \
	"$tmp/err" && grep -q '^there are these: .* default-monotonic ' "$tmp/err"
ok "status 1 and stderr say so, too, with the names of all"

# One run is judged: the next may find the machine too busy to calibrate.
if "$info" --cpus >"$tmp/out" 2>"$tmp/err"; then
	has 'cpu [0-9]+ (persecond [0-9]+ observed [0-9]+ ratio [0-9.]+ spread [0-9.]+%|unavailable: .*)' \
		"$(nproc 2>/dev/null || echo 1)"
	ok "--cpus has a line for each CPU"
else
	skip "the core's rate cannot be measured here"
fi

## For people.
# wide WIDTH: no line is longer, and some are as long but for a word.
wide() {
	awk -v width="$1" 'length > longest { longest = length }
		END { exit !(longest <= width && longest > width - 8) }' "$tmp/out"
}

words() {
	tr -cs A-Za-z '\n' | grep ... | sort -u
}

# people WIDTH: no line is longer, none is for programs, and the words are whole:
# those of the sources, or of the machine's names.
people() {
	! grep -E "^cpucycles |.{$(($1 + 1))}" "$tmp/out" &&
		test "$(grep -c . "$tmp/out")" -ge 1 &&
		words <"$tmp/out" | comm -23 - "$tmp/known" >"$tmp/log" &&
		! test -s "$tmp/log"
}

# Each counter, sentence and number is there, whatever the columns.
has_all() {
	for name in $names; do
		grep -qE "^$name( |\$)" "$tmp/out" || return
	done
	tr -d ' \n' <"$tmp/out" >"$tmp/squeezed"
	grep -q '^libcpucycles.*default-monotoniccountsnominalcycleshere' \
		"$tmp/squeezed" &&
		grep -qE 'default-monotonicos:?[1-9][0-9]*,inuse' "$tmp/squeezed" &&
		grep -q 'note:cpucyclespersecond=none1234.*5960wasnottaken' \
			"$tmp/squeezed" &&
		test "$(tr -s ' ' '\n' <"$tmp/out" | grep -cxE '[1-5][0-9]')" -ge 50
}

if has_terminal; then
	cpucyclespersecond="none $(seq -s ' ' 60)"
	cpucyclesimplementation=default-monotonic
	export cpucyclespersecond cpucyclesimplementation
	names=$("$info" | sed -n 's/^cpucycles tracesetup [0-9]* \([^ ]*\) .*/\1/p')
	for columns in 120 40 7; do
		on_terminal $columns "'$info'"
		wide $((columns < 20 ? 20 : columns))
		ok "a terminal of $columns columns gets lines of that, but at least 20"
		has_all
		ok "the sentence is first, no word is lost, and none is cut"
	done
	unset cpucyclespersecond cpucyclesimplementation
	on_terminal 120 "'$info'"
	grep -qE '^rate: counts advance at [0-9.]+ [GM]Hz \(..*\); --lines has all digits$' \
		"$tmp/out" &&
		grep -qE '^a call: -?[0-9]+ cycles(; [0-9.]+% of the time goes to measuring the rate, uncounted)?$' \
			"$tmp/out"
	ok "the rate, and the cost: $(grep '^a call' "$tmp/out")"
	sed -n 1p "$tmp/out" |
		grep -qE '^libcpucycles [0-9][^ ]*, .+' &&
		! sed 's/^libcpucycles [^,]*//' "$tmp/out" | grep -E '[0-9]{9}'
	ok "the version and the machine are first, and no rate has ten digits"
	! grep 'amd64-perfpmcff would be better' "$tmp/out"
	ok "no counter is advised that not every CPU has"
	"$info" --json >"$tmp/plain.json"
	find "$top_srcdir/src" -name '*.[ch]' -exec cat {} + |
		cat - "$tmp/plain.json" /proc/cpuinfo \
			/sys/devices/system/cpu/cpu*/cpufreq/scaling_governor \
			2>/dev/null | words >"$tmp/known"
	for columns in 80 120; do
		on_terminal $columns "'$info'"
		people $columns
		ok "$columns columns: the report for people, no word is broken"
		on_terminal $columns "'$info' --noise"
		people $columns && sed -n 1p "$tmp/out" |
			grep -qE '^(Too noisy|Quiet enough): [a-z]' &&
			grep -qE '^steal {7}[a-z0-9]' "$tmp/out" &&
			grep -qE '^smt {9}[a-z]' "$tmp/out"
		ok "$columns columns: --noise, the verdict first"
		on_terminal $columns "'$info' --cpus"
		grep -q 'could not be measured' "$tmp/out" ||
			{ people $columns && grep -qE '^ *[0-9]+  ' "$tmp/out"; }
		ok "$columns columns: --cpus"
	done
	on_terminal 40 "'$info' --noise --lines"
	has 'noise verdict .*' && ! grep -v '^cpucycles ' "$tmp/out"
	ok "--noise --lines: the lines for programs"
	on_terminal 40 "'$info' --lines"
	has 'version .*' && ! grep -v '^cpucycles ' "$tmp/out"
	ok "--lines: the lines for programs"
fi

# member FILE REGEX: a line of that file.
member() {
	grep -qE "^[[:space:]]*$2,?\$" "$tmp/$1"
}

## --noise
"$info" --noise >"$tmp/out" 2>"$tmp/err"
status=$?
! test -s "$tmp/err" &&
	sed -e 's/^cpucycles implementation [a-z0-9-]*$/counter/' \
		-e 's/^cpucycles noise \([a-z]*\) ..*/\1/' "$tmp/out" |
	tr '\n' ' ' | grep -qx 'counter interrupts preemption steal dither rate governor turbo smt verdict '
ok "there is a line for the counter, and one for each item"
awk -v status=$status '/noise verdict differences under/ { n++; seen = $6 }
	/noise (interrupts|preemption) .* of the time/ { lost += $4 }
	END { exit n != 1 || (seen + 0 > 1 || lost > 5) != status }' "$tmp/out"
ok "the status, $status, is 1 if 1% cannot be told, or over 5% is lost"

# This clock counts microseconds, and a window takes ten of them.
"$info" --json --noise --counter=default-gettimeofday >"$tmp/noise.json"
awk -v status=$? -F '[:,]' '/"difference"/ { n++; value = $2 }
	END { exit n != 1 || value <= 0.01 || status != 1 }' "$tmp/noise.json" &&
	member noise.json "\"hint\": \"the counter's step.*"
ok "a count in steps of a tenth of a window cannot tell 1%, which is status 1"

## --json
"$info" --json >"$tmp/plain.json" 2>"$tmp/err" && ! test -s "$tmp/err" &&
	member plain.json '"environment": \{\}'
ok "--json: no variable is in the environment"
cpucyclesimplementation=default-monotonic "$info" --json >"$tmp/variable.json"
member variable.json '"implementation": "default-monotonic"' &&
	member variable.json '"value": "default-monotonic"' &&
	member variable.json '"in_force": true' &&
	member variable.json '"reason": "not tried: default-monotonic was asked for"'
ok "a counter that is asked for, and that the others were not tried"
cpucyclesimplementation=$(printf 'a"b\\c\001\177 \377\303\251') \
	"$info" --json >"$tmp/any-bytes.json" 2>"$tmp/err"
member any-bytes.json \
	'"value": "a\\u0022b\\u005cc\\u0001\\ufffd \\ufffd\\ufffd\\ufffd"' &&
	member any-bytes.json '"in_force": false' &&
	member any-bytes.json '"reason": "there is no such counter here"'
ok "an unknown one is told as well as can be, and why it is not in force"
"$info" --counter=default-zero --json >"$tmp/zero.json"
test $? -eq 1
ok "a counter that counts nothing is status 1"
if python3 -c 'import jsonschema' 2>/dev/null; then
	quietly python3 - "$top_srcdir/tests/info.schema.json" "$tmp"/*.json <<-'PY'
		import json, sys, jsonschema
		schema, *reports = [json.load(open(name)) for name in sys.argv[1:]]
		for report in reports:
		    jsonschema.Draft202012Validator(schema).validate(report)
		    calls = report["calls"]
		    diffs = sorted(calls["differences"])
		    assert [calls["min"], calls["max"]] == [diffs[0], diffs[-1]]
		    assert calls["quartiles"] == [diffs[i] for i in (15, 31, 47)]
		    assert abs(calls["iqm"] - sum(diffs[16:-16]) / 32) < 0.006
		    used = {c["name"]: c for c in report["counters"]}
		    used = used[report["implementation"]]
		    assert used["usable"] and used["kind"] == report["kind"]
		    for c in report["counters"]:
		        assert c["usable"] == (c["reason"] == "")
		        assert "; " not in c["reason"] + c["hint"]
	PY
	ok "valid JSON objects, in which what is said twice agrees"
else
	skip "valid JSON: $(needs jsonschema)"
fi

## --plot
# fills WIDTH: no line is longer, and the longest bar fills the width; the number
# beside it may be shorter than another's by some digits.
fills() {
	awk -v width="$1" 'length > longest { longest = length }
		/ \| #/ && length > most { most = length }
		END { exit !(longest <= width && most >= width - 4) }' "$tmp/out"
}

"$info" --plot --counter=default-monotonic >"$tmp/out" 2>"$tmp/err" &&
	! test -s "$tmp/err" && grep -qE '^default-monotonic \(os\), .' "$tmp/out"
ok "--plot: the counter and the machine are named"
"$info" --plot >"$tmp/out"
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
COLUMNS=133 "$info" --plot >"$tmp/out"
fills 133
ok "COLUMNS is heeded"
COLUMNS=20 "$info" --plot --counter=default-gettimeofday >"$tmp/out" &&
	! grep '.\{21\}' "$tmp/out"
ok "20 columns are enough, also for a coarse clock"

## The command line.
check_command_line "$info"
refused 2 --help "$info" --plot --noise
ok "two forms at once are status 2"
refused 2 word "$info" word
ok "an argument is status 2, and the message names it"
done_testing
