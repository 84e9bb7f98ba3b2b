#!/bin/sh
# SPDX-License-Identifier: 0BSD
# The output of cpucycles-info: the lines that programs parse, and those for
# people.
. "${top_srcdir:?is set by make check}/tests/tap.sh"

find_tools
info=$bin/cpucycles-info

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
	with_file "$driver" "$1" && has "note not believed: $driver: .*" &&
		! has "persecond ${1}000"
}
# Derived from what this core does, which may step by a third; /etc may have an
# administrator's word.
khz=$("$info" --json | sed -n 's/.*"core_persecond": \([0-9]*\)[0-9]\{3\},.*/\1/p')
if test -z "$khz" || test -e "$file" || ! with_file "$driver" "$khz"; then
	skip "no rate is observed, or no file system can be mounted here"
else
	has "persecond ${khz}000"
	ok "a driver states the core's rate"
	# Beside load the core's rate is unknown at some first calls.
	tries 10 disbelieved $((khz / 3)) && tries 10 disbelieved $((khz * 4))
	ok "a third of it, and four times as much, are not believed, nor taken"
fi

# The environment and the arguments; what is, or after ! is not, in the output;
# and what that means.
while IFS='|' read -r settings arguments regex text; do
	# shellcheck disable=SC2086 # several words
	env $settings "$info" $arguments >"$tmp/out" 2>&1
	if test "${regex#!}" = "$regex"; then
		has "$regex"
	else
		! has "${regex#!}"
	fi
	ok "$text"
done <<'TXT'
cpucyclesimplementation=default-monotonic||implementation default-monotonic|cpucyclesimplementation names the counter
cpucyclesimplementation=default-monotonic||unavailable default-gettimeofday: not tried.*|and the others say that they were not tried
cpucyclesimplementation=nonesuch||note cpucyclesimplementation=nonesuch was not taken: .*|an unknown name is noted
cpucyclespersecond=many||note cpucyclespersecond=many was not taken: ..*|so is a rate that is none
cpucyclespersecond=3000000000||!note cpucyclespersecond=3000000000 .* it is not a number.*|a good one is not called none, whatever goes before it
cpucyclesimplementation=default-zero|--counter default-monotonic|implementation default-monotonic|--counter goes before the environment
cpucyclesimplementation=default-zero|--counter default-monotonic|note .*=default-zero was not taken: --counter.*|which is noted
|--counter default-monotonic|!.*not tried.*|and the other counters are tried
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
else
	skip "all counters work here"
fi
for form in --plot --noise --cpus; do
	cpucyclesimplementation=nonesuch "$info" $form 2>"$tmp/err" >/dev/null
	grep -qx 'cpucycles-info: cpucyclesimplementation=nonesuch was not taken: there is no such counter here' \
		"$tmp/err"
	ok "$form says of an unknown name that it was not taken"
done

# One run is judged: the next may find the machine too busy to calibrate.
"$info" --cpus >"$tmp/out" 2>"$tmp/err"
status=$?
if test $status -eq 0; then
	has 'cpu [0-9]+ (persecond [0-9]+ observed [0-9]+ ratio [0-9.]+ spread [0-9.]+%|unavailable: .*)' \
		"$(nproc 2>/dev/null || echo 1)"
	ok "--cpus has a line for each CPU"
else
	test $status -eq 1 && test -s "$tmp/err"
	ok "--cpus says that the rate cannot be measured"
fi

# COMMAND...: where a sandbox denies what the engine needs to try a counter.
denied() {
	"$top_builddir/tests/faults/deny" rt_sigaction EPERM "$@"
}

if test "$CFLAGS" = "${CFLAGS#*-fsanitize}" && denied true; then
	"$info" | grep -q '^cpucycles tracesetup .*core precision' &&
		last='[a-z0-9-]*core: SIGSYS: .*; .' || last="the core's rate"
	denied "$info" --cpus 2>"$tmp/err"
	test $? -eq 1 && sed -n 1p "$tmp/err" | grep -qx \
		"cpucycles-info: the core's rate could not be measured on this CPU" &&
		sed -n '$p' "$tmp/err" | grep -q "^cpucycles-info: $last"
	ok "--cpus says why no rate can be measured: $(sed -n '$p' "$tmp/err")"
else
	skip "system calls cannot be filtered here, or a sanitizer makes them"
fi

# on_terminal COLUMNS [OPTION]
on_terminal() {
	script -qec "stty cols $1; '$info' $2" /dev/null </dev/null |
		tr -d '\r' >"$tmp/out"
}

# wide WIDTH: no line is longer, and some are as long but for a word.
wide() {
	awk -v width="$1" 'length > longest { longest = length }
		END { exit !(longest <= width && longest > width - 8) }' "$tmp/out"
}

# Each counter, sentence and number is there, whatever the columns.
has_all() {
	for name in $names; do
		grep -qE "^$name( |\$)" "$tmp/out" || return
	done
	tr -d ' \n' <"$tmp/out" >"$tmp/squeezed"
	for regex in \
		'^default-monotoniccountsnominalcycleshere,notcyclesofthecore(;thecorerunsat[0-9.]*GHznow)?\.' \
		'default-monotonicos:?[1-9][0-9]*,inuse' \
		'default-gettimeofdayos:?nottried:default-monotonicwasaskedfor' \
		'note:cpucyclespersecond=none1234.*787980wasnottaken:'; do
		grep -qE "$regex" "$tmp/squeezed" || return
	done
	test "$(tr -s ' ' '\n' <"$tmp/out" | grep -cxE '[1-7][0-9]')" -ge 70
}

if script -qec true /dev/null </dev/null >/dev/null 2>&1; then
	cpucyclespersecond="none $(seq -s ' ' 80)"
	cpucyclesimplementation=default-monotonic
	export cpucyclespersecond cpucyclesimplementation
	names=$("$info" | sed -n 's/^cpucycles tracesetup [0-9]* \([^ ]*\) .*/\1/p')
	for columns in 120 80 58 57 40 20 7; do
		on_terminal $columns
		wide $((columns < 20 ? 20 : columns))
		ok "a terminal of $columns columns gets lines of that, but at least 20"
		has_all
		ok "the sentence is first, no word is lost, and none is cut"
	done
	COLUMNS=33 on_terminal 80
	wide 33
	ok "COLUMNS goes before the terminal's width"
	unset cpucyclespersecond cpucyclesimplementation
	on_terminal 120
	grep -qE '^rate: divide counts by [0-9]+ to get seconds \(..*\)$' \
		"$tmp/out" &&
		grep -qE '^a call: -?[0-9]+ cycles(; [0-9.]+% of the time goes to measuring the rate, uncounted)?$' \
			"$tmp/out"
	ok "the rate, and the cost: $(grep '^a call' "$tmp/out")"
	on_terminal 40 --lines
	has 'version .*' && ! grep -v '^cpucycles ' "$tmp/out"
	ok "--lines: the lines for programs"
else
	skip "there is no script(1) to make a terminal with"
fi

"$info" --json 2>"$tmp/err" | head -n 1 >/dev/null
! test -s "$tmp/err"
ok "a reader that stops early is no error"

check_command_line "$info"
for wrong in '--json --plot' '--cpus --noise' '--plot --noise'; do
	# shellcheck disable=SC2086 # two
	refused 2 --help "$info" $wrong
	ok "$wrong: two forms at once are status 2"
done
refused 2 word "$info" word
ok "an argument is status 2, and the message names it"
done_testing
