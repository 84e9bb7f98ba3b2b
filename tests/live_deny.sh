#!/bin/sh
# SPDX-License-Identifier: 0BSD
# An unmodified program, cpucycles-info, where a sandbox denies a system call.
# tests/live_denied.c has the outcome of each denial.
. "${top_srcdir:?is set by make check}/tests/tap.sh"

find_tools
# denied CALL PROGRAM [ARGUMENT]...: with EPERM.
denied() {
	call=$1
	shift
	"$top_builddir/tests/faults/deny" "$call" EPERM "$@"
}

denied sched_setaffinity true
if test $? -eq 77; then
	skip "system calls cannot be filtered here"
	done_testing
fi
denied perf_event_open "$bin/cpucycles-info" >"$tmp/out"
ok "perf_event_open: $(sed -n 's/^cpucycles implementation //p' "$tmp/out")"
case ${CFLAGS-} in
*-fsanitize*) skip "a sanitizer does not start without rt_sigaction" ;;
*)
	got=$(denied rt_sigaction "$bin/cpucycles-info" --cpus 2>&1)
	test $? -eq 1 && echo "$got" | sed -n 1p |
		grep -qx "cpucycles-info: the core's rate could not be measured on this CPU"
	ok "rt_sigaction: no core's rate: $(echo "$got" | tail -n 1)"
	denied rt_sigaction "$bin/cpucycles-info" --json |
		grep -q '"kind": "calibrated"' &&
		calibrated='cpucycles-info: [a-z0-9-]*: SIGSYS: .*; .' ||
		calibrated="could not be measured"
	echo "$got" | sed -n '$p' | grep -q "$calibrated"
	ok "with the calibrated counter's reason and hint, if there is one"
	;;
esac
done_testing
