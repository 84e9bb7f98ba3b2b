#!/bin/sh
# SPDX-License-Identifier: 0BSD
# The output of cpucycles-info: the lines that programs parse, and those for
# people.
. "${top_srcdir:?is set by make check}/tests/tap.sh"

find_tools
info=$bin/cpucycles-info

"$info" >"$tmp/out" 2>"$tmp/err" && ! test -s "$tmp/err"
ok "it runs, and prints nothing on stderr"
sed -n 1p "$tmp/out" | grep -qE '^cpucycles version [^ ]+$'
ok "the first line is the version"

# line REGEX COUNT TEXT: at least that many lines match, whole.
line() {
	test "$(grep -cE "^cpucycles $1\$" "$tmp/out")" -ge "$2"
	ok "$3"
}
line 'tracesetup [0-9]+ [a-z0-9-]+ precision [0-9]+ scaling [0-9]+\.[0-9]{6} only32 [01]' \
	3 "a tracesetup line for each counter"
line 'persecond [0-9]+' 1 "a persecond line"
line 'implementation [a-z0-9-]+' 1 "an implementation line"
line 'iqm -?[0-9]+ ([+-][0-9]+){64}' 1 "an iqm line with 64 differences"
line 'observed persecond [0-9]+\.\.\.[0-9]+ with [0-9]+ loops [0-9]+ microseconds' \
	5 "observed persecond lines"
line 'kind (core|calibrated|reference|os|zero)' 1 "a kind line"
line 'per thread (yes|no: .+)' 1 "a line that tells whose cycles it counts"
line 'instructions ([a-z0-9]+-[a-z0-9]+|unavailable: .+)' 1 \
	"a line that tells how instructions are counted, or why not"
! grep -vE '^cpucycles (version|tracesetup|persecond|implementation|iqm|observed|kind|per thread|instructions|unavailable|note) ' \
	"$tmp/out"
ok "no line of another form"

sed -n 's/^cpucycles tracesetup [0-9]* \([^ ]*\) precision 0 .*/\1/p' \
	"$tmp/out" | grep -v default-zero >"$tmp/unused"
sed -n 's/^cpucycles unavailable \([^:]*\): ..*/\1/p' "$tmp/out" >"$tmp/why"
cmp -s "$tmp/unused" "$tmp/why"
ok "each counter without a precision has a reason"

# Bounds are in order, and most are narrow, as not all are interrupted.
sed -n 's/^cpucycles observed persecond \([0-9]*\)\.\.\.\([0-9]*\) .*/\1 \2/p' \
	"$tmp/out" | awk '$1 > $2 { bad = 1 } $2 < $1 * 1.5 { narrow = 1 }
		END { exit bad || !narrow }'
ok "the observed bounds are in order, and some are narrow"
# A clock of microseconds is in step with the one that bounds are taken against.
"$info" --counter default-gettimeofday >"$tmp/coarse"
sed -n -e 's/^cpucycles persecond //p' -e \
	's/^cpucycles observed persecond \([0-9]*\)\.\.\.\([0-9]*\) .*/\1 \2/p' \
	"$tmp/coarse" | awk 'NR == 1 { rate = $1 }
		NR > 1 && ($1 > rate * 1.01 || $2 < rate * 0.99) { bad = 1 }
		END { exit bad || NR < 2 }'
ok "the bounds of a coarse count hold"

# With a /sys of its own, where a driver states these kHz.
driver=/sys/devices/system/cpu/cpu0/cpufreq
elsewhere() {
	unshare --mount sh -c "mount -t tmpfs none /sys && mkdir -p $driver &&
		echo $1 >$driver/scaling_max_freq && exec '$info'" 2>"$tmp/err"
}
# Derived from what this core does, which may step by a third; /etc may have an
# administrator's word.
khz=$("$info" --json | sed -n 's/.*"core_persecond": \([0-9]*\)[0-9]\{3\},.*/\1/p')
if test -z "$khz" || test -e /etc/cpucyclespersecond ||
	! elsewhere "$khz" >"$tmp/out"; then
	skip "no rate is observed, or no file system can be mounted here"
else
	grep -q "^cpucycles persecond ${khz}000$" "$tmp/out"
	ok "a driver states the core's rate"
	for wrong in $((khz / 3)) $((khz * 4)); do
		# Beside load the core's rate is unknown at some first calls.
		for _ in 1 2 3 4 5 6 7 8 9 10; do
			elsewhere "$wrong" >"$tmp/out"
			! grep -q 'not believed' "$tmp/out" || break
		done
		line "note not believed: $driver/scaling_max_freq: .*" 1 \
			"it states $wrong kHz: not believed"
		! grep -q "^cpucycles persecond ${wrong}000$" "$tmp/out"
		ok "nor taken"
	done
fi

cpucyclesimplementation=default-monotonic "$info" >"$tmp/out"
line 'implementation default-monotonic' 1 \
	"cpucyclesimplementation names the counter"
grep -qE '^cpucycles unavailable default-gettimeofday: not tried' "$tmp/out"
ok "and the others say that they were not tried"
cpucyclesimplementation=nonesuch "$info" >"$tmp/out"
grep -q '^cpucycles note cpucyclesimplementation=nonesuch was not taken: ' \
	"$tmp/out"
ok "an unknown name is noted"
cpucyclespersecond=many "$info" >"$tmp/out"
grep -q '^cpucycles note cpucyclespersecond=many was not taken: ..' "$tmp/out"
ok "so is a rate that is none"
cpucyclespersecond=3000000000 "$info" >"$tmp/out"
! grep -q '^cpucycles note cpucyclespersecond=3000000000 .* it is not a number' "$tmp/out"
ok "a good one is not called none, whatever goes before it"

cpucyclesimplementation=default-zero "$info" --counter default-monotonic \
	>"$tmp/out"
line 'implementation default-monotonic' 1 "--counter goes before the environment"
grep -q '^cpucycles note .*=default-zero was not taken: --counter' "$tmp/out"
ok "which is noted"
! grep -q 'not tried' "$tmp/out"
ok "and the other counters are tried"
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
"$info" --counter=default-zero >"$tmp/out"
line 'per thread no: nothing is counted' 1 "default-zero is no clock"
for form in --plot --noise --cpus; do
	cpucyclesimplementation=nonesuch "$info" $form 2>&1 >/dev/null |
		grep -qx 'cpucycles-info: cpucyclesimplementation=nonesuch was not taken: there is no such counter here'
	ok "$form says of an unknown name that it was not taken"
done
refused 2 --help "$info" --json --plot
ok "two forms at once are status 2"

# One run is judged: the next may find the machine too busy to calibrate.
"$info" --cpus >"$tmp/out" 2>"$tmp/err"
status=$?
if test $status -eq 0; then
	line 'cpu [0-9]+ (persecond [0-9]+ observed [0-9]+ ratio [0-9.]+ spread [0-9.]+%|unavailable: .*)' \
		"$(nproc 2>/dev/null || echo 1)" "--cpus has a line for each CPU"
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
		END { print "# " longest " columns"
		exit !(longest <= width && longest > width - 8) }' "$tmp/out"
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
		for name in $names; do
			grep -qE "^$name( |\$)" "$tmp/out" || echo "$name"
		done | grep . >"$tmp/missing"
		test $? -eq 1
		ok "with each counter"
		tr -d ' \n' <"$tmp/out" >"$tmp/squeezed"
		grep -qE '^default-monotoniccountsnominalcycleshere,notcyclesofthecore(;thecorerunsat[0-9.]*GHznow)?\.' \
			"$tmp/squeezed" && grep -qE 'default-monotonicos:?[1-9][0-9]*,inuse' \
			"$tmp/squeezed" &&
			grep -qE 'default-gettimeofdayos:?nottried:default-monotonicwasaskedfor' \
			"$tmp/squeezed" &&
			grep -q 'note:cpucyclespersecond=none1234.*787980wasnottaken:' \
			"$tmp/squeezed" &&
			test "$(tr -s ' ' '\n' <"$tmp/out" |
				grep -cxE '[1-7][0-9]')" -ge 70
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
	sed -n 1p "$tmp/out" | grep -q '^cpucycles version ' &&
		! grep -v '^cpucycles ' "$tmp/out"
	ok "--lines: the lines for programs"
else
	skip "there is no script(1) to make a terminal with"
fi

# In a world of its own, where /etc has but one file.
if unshare -m true 2>/dev/null; then
	# shellcheck disable=SC2016 # the inner shell's
	with_file='mount -t tmpfs none /etc &&
		echo "$2" >/etc/cpucyclespersecond && exec "$1"'
	unshare -m sh -c "$with_file" - "$info" many >"$tmp/out"
	grep -q '^cpucycles note /etc/cpucyclespersecond was not taken: ..' \
		"$tmp/out"
	ok "a file that is not taken is noted"
	cpucyclespersecond=3000000000 unshare -m sh -c "$with_file" - "$info" \
		"2399987653 # by me" >"$tmp/out"
	grep -q '^cpucycles persecond 2399987653$' "$tmp/out" &&
		! grep -q 'note /etc' "$tmp/out"
	ok "one with a comment is taken, without a note"
	grep -qx 'cpucycles note cpucyclespersecond=3000000000 was not taken: /etc/cpucyclespersecond states the rate' \
		"$tmp/out"
	ok "but one for the variable, which it goes before"
else
	skip "no file can be put into /etc for this test alone"
fi
"$info" --json 2>"$tmp/err" | head -n 1 >/dev/null
! test -s "$tmp/err"
ok "a reader that stops early is no error"

check_command_line "$info"
refused 2 word "$info" word
ok "an argument is status 2, and the message names it"
done_testing
