# SPDX-License-Identifier: 0BSD
# Test Anything Protocol for shell tests: source it, then `ok TEXT` after the
# command whose success is the test, and done_testing at the end.
# shellcheck shell=sh

tap_run=0
tap_bad=0

ok() {
	tap_status=$?
	tap_run=$((tap_run + 1))
	if [ "$tap_status" -eq 0 ]; then
		echo "ok $tap_run - $*"
	else
		tap_bad=$((tap_bad + 1))
		echo "not ok $tap_run - $*"
	fi
	return "$tap_status"
}

skip() {
	tap_run=$((tap_run + 1))
	echo "ok $tap_run # SKIP $*"
}

done_testing() {
	echo "1..$tap_run"
	[ "$tap_bad" -eq 0 ]
	exit
}
