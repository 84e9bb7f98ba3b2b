#!/bin/sh
# SPDX-License-Identifier: 0BSD
# An unmodified program, cpucycles-info, where a sandbox denies system calls.
: "${top_srcdir:?is set by make check}" "${top_builddir:?too}"
. "$top_srcdir/tests/tap.sh"

info=$top_builddir/cpucycles-info
deny=$top_builddir/tests/faults/deny
unset cpucyclesimplementation

# The hardware that counts, by whichever reader, calibrated or not: on a busy
# machine that changes from run to run.
selected() {
	sed -n 's/core$//;s/asm$//;s/^cpucycles implementation //p'
}

base=$("$info" | selected)
"$deny" sched_setaffinity EPERM true
if test $? -eq 77; then
	skip "system calls cannot be filtered here"
	done_testing
fi

for call in perf_event_open sched_setaffinity prctl; do
	for how in EPERM ENOSYS EACCES TRAP; do
		got=$("$deny" "$call" "$how" "$info" | selected)
		case $call,$base in
		perf_event_open,*perf* | perf_event_open,*pmc*) test "$got" ;;
		*) test "$got" = "$base" ;;
		esac
		ok "$call denied with $how: $got"
	done
done
case ${CFLAGS-} in
*-fsanitize*) skip "a sanitizer does not start without rt_sigaction" ;;
*)
	"$deny" rt_sigaction EPERM "$info" | grep -q '^cpucycles kind os$'
	ok "rt_sigaction denied with EPERM: a clock of the system"
	got=$("$deny" rt_sigaction EPERM "$info" --cpus 2>&1)
	test $? -eq 1
	ok "and no core's rate: $(echo "$got" | tail -n 1)"
	echo "$got" | sed -n 1p |
		grep -qx "cpucycles-info: the core's rate could not be measured on this CPU"
	ok "which a message says"
	"$deny" rt_sigaction EPERM "$info" --json |
		grep -q '"kind": "calibrated"' &&
		calibrated='cpucycles-info: [a-z0-9-]*: SIGSYS: .*; .' ||
		calibrated="could not be measured"
	echo "$got" | sed -n '$p' | grep -q "$calibrated"
	ok "with the calibrated counter's reason and hint, if there is one"
	;;
esac
got=$(cpucyclesimplementation=default-monotonic \
	"$deny" perf_event_open KILL "$info" | selected)
test "$got" = default-monotonic
ok "a kill for perf_event_open: a counter by name is taken"
done_testing
