#!/bin/sh
# SPDX-License-Identifier: 0BSD
# An unmodified program, cpucycles-info, where a sandbox denies system calls.
. "${top_srcdir:?is set by make check}/tests/tap.sh"

find_tools
info=$bin/cpucycles-info
deny=$top_builddir/tests/faults/deny
# LeakSanitizer needs prctl itself.
ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0
export ASAN_OPTIONS

# lost [WORD]: the counters that a run of cpucycles-info cannot use, without
# those whose name has the WORD. A busy machine decides which of the others is
# selected, and whether a clock can be calibrated: neither is compared.
lost() {
	sed -n 's/^cpucycles unavailable \([^:]*\):.*/\1/p' "$tmp/out" |
		grep -vE "core\$${1:+|$1}"
}

"$info" >"$tmp/out"
ok "cpucycles-info runs"
all=$(lost) others=$(lost 'perf|pmc')
"$deny" sched_setaffinity EPERM true
if test $? -eq 77; then
	skip "system calls cannot be filtered here"
	done_testing
fi

# without CALL HOW: it runs while the call is denied in this way; its output is
# in out.
without() {
	"$deny" "$1" "$2" "$info" >"$tmp/out"
	ok "$1 denied with $2: $(sed -n 's/^cpucycles implementation //p' \
		"$tmp/out")"
}

for how in EPERM ENOSYS EACCES TRAP; do
	for call in sched_setaffinity prctl; do
		without $call $how
		test "$(lost)" = "$all"
		ok "and no counter is lost" || echo "# lost: $(lost | xargs)"
	done
	without perf_event_open $how
	test "$(lost 'perf|pmc')" = "$others" &&
		! grep '^cpucycles implementation .*perf' "$tmp/out"
	ok "and none is lost that does without" || echo "# lost: $(lost | xargs)"
done
case ${CFLAGS-} in
*-fsanitize*) skip "a sanitizer does not start without rt_sigaction" ;;
*)
	"$deny" rt_sigaction EPERM "$info" | grep -q '^cpucycles kind os$'
	ok "rt_sigaction denied with EPERM: a clock of the system"
	got=$("$deny" rt_sigaction EPERM "$info" --cpus 2>&1)
	test $? -eq 1 && echo "$got" | sed -n 1p |
		grep -qx "cpucycles-info: the core's rate could not be measured on this CPU"
	ok "and no core's rate: $(echo "$got" | tail -n 1)"
	"$deny" rt_sigaction EPERM "$info" --json |
		grep -q '"kind": "calibrated"' &&
		calibrated='cpucycles-info: [a-z0-9-]*: SIGSYS: .*; .' ||
		calibrated="could not be measured"
	echo "$got" | sed -n '$p' | grep -q "$calibrated"
	ok "with the calibrated counter's reason and hint, if there is one"
	;;
esac
cpucyclesimplementation=default-monotonic "$deny" perf_event_open KILL "$info" |
	grep -qx 'cpucycles implementation default-monotonic'
ok "a kill for perf_event_open: a counter by name is taken"
done_testing
