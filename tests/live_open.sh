#!/bin/sh
# SPDX-License-Identifier: 0BSD
# cpucycles-open, on trees that look like the settings of machines. It never
# touches this machine's: whoever runs this may be root.
: "${top_srcdir:?is set by make check}" "${top_builddir:?too}"
. "$top_srcdir/tests/tap.sh"

open=$top_builddir/cpucycles-open
tmp=$(mktemp -d "${TMPDIR:-/tmp}/cpuc-open.XXXXXX") || exit 99
trap 'rm -rf "$tmp"' EXIT
root=$tmp/root
kernel=$root/proc/sys/kernel
state=$root/run/cpucycles-open.state
sysctl=$root/etc/sysctl.d/60-cpucycles.conf
tmpfiles=$root/etc/tmpfiles.d/cpucycles.conf

# machine PARANOID USER_ACCESS NMI_WATCHDOG RDPMC [VENDOR]: a new tree.
machine() {
	rm -rf "$root"
	mkdir -p "$kernel" "$root/sys/devices/cpu" "$root/run" \
		"$root/etc/sysctl.d" "$root/etc/tmpfiles.d"
	printf 'processor\t: 0\nvendor_id\t: %s\n' "${5-GenuineIntel}" \
		>"$root/proc/cpuinfo"
	echo "$1" >"$kernel/perf_event_paranoid"
	echo "$2" >"$kernel/perf_user_access"
	echo "$3" >"$kernel/nmi_watchdog"
	echo "$4" >"$root/sys/devices/cpu/rdpmc"
}

# All files and what is in them.
tree() {
	(cd "$root" && find . | sort && find . -type f | sort | xargs cat)
}

# run STATUS ARG...: what it prints is in out, and its exit status is STATUS.
run() {
	wanted=$1
	shift
	"$open" --root "$root" "$@" >"$tmp/out" 2>"$tmp/err"
	got=$?
	if test $got -ne "$wanted"; then
		sed 's/^/# /' "$tmp/out" "$tmp/err"
		echo "# status $got of cpucycles-open $*, not $wanted"
		return 1
	fi
}

# values PARANOID USER_ACCESS NMI_WATCHDOG RDPMC: what the settings are now.
values() {
	test "$*" = "$(cd "$kernel" && echo "$(cat perf_event_paranoid)" \
		"$(cat perf_user_access)" "$(cat nmi_watchdog)" \
		"$(cat "$root/sys/devices/cpu/rdpmc")")"
}

# says REGEX LINES: so many lines of its output match.
says() {
	test "$(grep -cE "$1" "$tmp/out")" -eq "$2"
}

## A closed machine.
machine 10 0 1 1
tree >"$tmp/before"
run 1 --status && says ': [0-9]+, closed; with [0-9]+, [^ ].{20,}' 4 &&
	! test -s "$tmp/err"
ok "a closed machine: --status is 1, with a line for each setting"
run 0 --dry-run && says '^would set .*: [0-9]+ -> [0-9]+: ' 4
ok "--dry-run says what would be done"
run 0 --persist --dry-run && says '^would write ' 2
ok "also with --persist"
tree | cmp -s - "$tmp/before"
ok "and changes nothing"
run 0 --apply && values 2 1 0 2 && says '^set .*: [0-9]+ -> [0-9]+: ' 4
ok "--apply opens it"
run 0 --status && says ', open, and [0-9]+ before; ' 4
ok "--status is 0 then"
tree >"$tmp/opened"
run 0 --revert --dry-run && says '^would restore ' 4 &&
	tree | cmp -s - "$tmp/opened"
ok "--revert --dry-run changes nothing"
run 0 --apply && tree | cmp -s - "$tmp/opened"
ok "a second --apply changes nothing"
run 0 --revert && says '^restored .*: [0-9]+ -> [0-9]+$' 4 &&
	tree | cmp -s - "$tmp/before"
ok "--revert brings back exactly what was there"
run 0 --revert && says '^nothing to restore$' 1 &&
	tree | cmp -s - "$tmp/before"
ok "a second --revert changes nothing"

## Open ones.
machine 2 1 0 2
tree >"$tmp/before"
run 0 --status && says ', open; ' 4 && run 0 --apply &&
	run 0 --persist && tree | cmp -s - "$tmp/before"
ok "an open machine: nothing is changed, no file is written"
machine -1 2 0 2
tree >"$tmp/before"
run 0 --status && says ', open further than with [0-9]+; ' 2 &&
	run 0 --apply && run 0 --persist && tree | cmp -s - "$tmp/before"
ok "what is open further stays so"
run 0 --revert && tree | cmp -s - "$tmp/before"
ok "--revert without --apply changes nothing"
machine 3 1 1 0 AuthenticAMD
run 0 --apply && values 2 1 1 2
ok "the watchdog is left alone on other CPUs than Intel's"
machine 1 1 0 1
run 0 --persist && values 1 1 0 2 && ! test -e "$sysctl" &&
	! grep -q paranoid "$tmpfiles"
ok "--persist has no line for what was open"

## Parts of a machine.
machine 4 0 1 1
rm "$kernel/perf_user_access"
rm -r "$root/sys/devices"
tree >"$tmp/before"
run 0 --apply && says '^set ' 2 && run 0 --status && run 0 --revert &&
	tree | cmp -s - "$tmp/before"
ok "settings that are missing are no failure"
mkdir -p "$root/sys/devices/cpu_core" "$root/sys/devices/cpu_atom"
echo 1 | tee "$root/sys/devices/cpu_core/rdpmc" \
	>"$root/sys/devices/cpu_atom/rdpmc"
tree >"$tmp/before"
run 0 --apply && says '^set /sys/devices/cpu_(core|atom)/rdpmc: 1 -> 2' 2 &&
	run 0 --revert && tree | cmp -s - "$tmp/before"
ok "both types of cores"
rm -r "$root/proc" "$root/sys"
run 0 --status && says '^there is nothing to open here$' 1 &&
	run 0 --apply && says '^there is nothing to open here$' 1 &&
	run 0 --revert
ok "a machine without settings"
: >"$root/sys"
run 0 --status && run 0 --apply
ok "nor is a file in the place of a directory"
machine 4 0 1 1
echo many >"$kernel/perf_user_access"
run 1 --apply && grep -q perf_user_access "$tmp/err" && values 2 many 0 2
ok "what is not a number is left, with a message, and status 1"
machine 4 0 1 1
rm -r "$root/run"
run 1 --apply && values 4 0 1 1
ok "where nothing can be put on record, nothing is changed"
! test -s "$tmp/out"
ok "and nothing is said to be undone"
machine many 1 0 2
run 1 --apply && says '^nothing to set: all settings that can be read ' 1
ok "what cannot be read is not said to be open"

## What cannot be written. Linux lets not even root write this one.
fixed=/proc/sys/kernel/ngroups_max
machine 4 0 1 1
if test "$(cat $fixed 2>/dev/null || echo 0)" -gt 2 &&
	! (echo 65536 >$fixed) 2>/dev/null; then
	ln -sf $fixed "$kernel/perf_event_paranoid"
	tree >"$tmp/before"
	run 1 --apply && grep -qE 'cannot write .*paranoid: .*(container|as root)' \
		"$tmp/err" && values "$(cat $fixed)" 1 0 2
	ok "a read-only setting: the others are set, status 1, and advice"
	! grep -q paranoid "$state"
	ok "it is not on record"
	run 0 --revert && tree | cmp -s - "$tmp/before"
	ok "--revert brings the others back"
	machine 4 0 1 1
	run 0 --persist
	tree >"$tmp/opened"
	rm "$root/sys/devices/cpu/rdpmc"
	ln -s /proc/sys/kernel/cap_last_cap "$root/sys/devices/cpu/rdpmc"
	run 0 --revert && says '^left /sys/devices/cpu/rdpmc: [0-9]+: ' 1
	ok "a setting that somebody else has changed is left, and named"
else
	skip "there is no $fixed that nobody can write"
fi

## A read-only setting at the way back: it stays on record.
machine 4 0 1 1
run 0 --persist
rm "$state"
mv "$root/sys/devices/cpu/rdpmc" "$tmp/two"
mkdir "$root/sys/devices/cpu/rdpmc"
run 1 --revert && says '^restored ' 3 && ! test -e "$tmpfiles" &&
	test "$(grep -c '^# found' "$state")" -eq 1
ok "what cannot be restored stays on record"
rmdir "$root/sys/devices/cpu/rdpmc"
mv "$tmp/two" "$root/sys/devices/cpu/rdpmc"
run 0 --revert && values 4 0 1 1 && ! test -e "$state"
ok "and can be restored later"

## Killed in the middle: all is on record, some is set.
machine 4 0 1 1
tree >"$tmp/before"
run 0 --apply
tree >"$tmp/opened"
echo 0 >"$kernel/perf_user_access"
echo 1 >"$root/sys/devices/cpu/rdpmc"
run 0 --revert && says '^restored ' 2 && says '^left' 0 &&
	tree | cmp -s - "$tmp/before"
ok "half applied: --revert"
run 0 --apply
echo 0 >"$kernel/perf_user_access"
run 0 --apply && says '^set ' 1 && tree | cmp -s - "$tmp/opened" &&
	run 0 --revert && tree | cmp -s - "$tmp/before"
ok "half applied: --apply, then --revert"
run 0 --apply
echo 3 >"$kernel/perf_event_paranoid"
run 0 --revert && says '^left .*paranoid: 3: .*was 4' 1 && values 3 0 1 1
ok "what was closed meanwhile stays so"
machine 4 0 1 1
run 0 --apply
echo 3 >"$kernel/perf_event_paranoid"
run 0 --apply && run 0 --revert && values 3 0 1 1
ok "and counts as found when it is opened again"

## At every boot.
machine 4 0 1 1
tree >"$tmp/before"
run 0 --persist && values 2 1 0 2 && says '^wrote ' 2 &&
	grep -qxF 'kernel.perf_event_paranoid = 2' "$sysctl" &&
	grep -qxF 'kernel.perf_user_access = 1' "$sysctl" &&
	grep -qxF 'kernel.nmi_watchdog = 0' "$sysctl" &&
	grep -qx 'w /sys/devices/cpu/rdpmc - - - - 2' "$tmpfiles"
ok "--persist: a line for each setting, in two files"
test "$(grep -vc '^#' "$sysctl")" -eq 4 &&
	test "$(grep -vc '^#' "$tmpfiles")" -eq 2
ok "all else in them is comments"
tree >"$tmp/opened"
run 0 --persist && run 0 --apply && tree | cmp -s - "$tmp/opened"
ok "a second one changes nothing"
run 0 --status && says ': makes settings at every boot$' 2
ok "--status names the files"
run 0 --revert --dry-run && says '^would remove ' 2 &&
	tree | cmp -s - "$tmp/opened"
ok "--revert --dry-run removes nothing"
run 0 --revert && says '^removed ' 2 && tree | cmp -s - "$tmp/before"
ok "--revert removes them and brings back what was there"
run 0 --apply && run 0 --persist && tree | cmp -s - "$tmp/opened"
ok "--persist after --apply knows what --apply found"
rm "$state" # as a boot does
run 0 --status && says ', open, and [0-9]+ before' 4 && run 0 --revert &&
	tree | cmp -s - "$tmp/before"
ok "after a boot, --revert knows as well"
run 0 --persist
rm "$state"
echo 3 >"$kernel/perf_event_paranoid"
run 0 --apply && run 0 --revert && values 3 0 1 1
ok "what was found since the boot comes before that"
(umask 077 && run 0 --persist) &&
	test "$(find "$state" "$sysctl" "$tmpfiles" -perm 644 | wc -l)" -eq 3
ok "whatever the umask, all may read the files"
run 0 --revert
echo '# of the administrator' | tee "$sysctl" >"$tmpfiles"
tree >"$tmp/before"
run 1 --persist && grep -q 'not written by' "$tmp/err" && run 0 --revert &&
	says '^left ' 2 && tree | cmp -s - "$tmp/before"
ok "files of others are neither written nor removed"
rm "$sysctl"
rm -r "$root/etc/tmpfiles.d"
tree >"$tmp/before"
run 1 --persist && grep -q 'tmpfiles.d' "$tmp/err" && test -e "$sysctl" &&
	values 2 1 0 2 && run 0 --revert && tree | cmp -s - "$tmp/before"
ok "a directory that is missing is named"

## Damaged and forged records: nothing is written, and a message says which.
machine 4 0 1 1
run 0 --apply
head -n 1 "$state" >"$tmp/mark"
forged=0
while read -r lines; do
	{
		cat "$tmp/mark"
		# shellcheck disable=SC2059 # with escapes
		printf "$lines"
	} >"$state"
	tree >"$tmp/before"
	if run 1 --revert && run 1 --apply && run 1 --persist &&
		grep -q 'cpucycles-open.state is damaged' "$tmp/err" &&
		tree | cmp -s - "$tmp/before"; then
		forged=$((forged + 1))
	else
		echo "# taken: $lines"
	fi
done <<'TXT'
# found /etc/passwd 3\n
# found /proc/sys/kernel/../../../etc/passwd 3\n
# found /proc/sys/kernel/perf_event_paranoid 1\n
# found /proc/sys/kernel/perf_event_paranoid -1\n
# found /sys/devices/cpu/rdpmc -1\n
# found /proc/sys/kernel/perf_event_paranoid 03\n
# found /proc/sys/kernel/perf_event_paranoid 3x\n
# found /proc/sys/kernel/perf_event_paranoid  3\n
# found /proc/sys/kernel/perf_event_paranoid 99999999999\n
# found /proc/sys/kernel/perf_event_paranoid\n
# found /proc/sys/kernel/perf_event_paranoid 3
# found /proc/sys/kernel/perf_event_paranoid 3\n# found /proc/sys/kernel/perf_event_paranoid 4\n
# found /proc/sys/kernel/perf_event_paranoid\0003\n
# fnord /proc/sys/kernel/perf_event_paranoid 3\n
kernel.perf_event_paranoid = 4\n
TXT
test $forged -eq 15
ok "forged records are refused ($forged of 15)"
: >"$state"
run 1 --revert && grep -q 'remove it' "$tmp/err" && values 2 1 0 2
ok "so is an empty one"
yes '# found /proc/sys/kernel/perf_event_paranoid 3' | head -n 1000 |
	cat "$tmp/mark" - >"$state"
run 1 --revert && values 2 1 0 2
ok "and a long one"

## The command line.
machine 4 0 1 1
tree >"$tmp/before"
for wrong in --nonesuch word '--status --apply' '--apply --revert' \
	'--persist --revert' '--status --persist' '--status --dry-run' --root; do
	# shellcheck disable=SC2086 # several words
	"$open" $wrong --root "$root" >"$tmp/out" 2>"$tmp/err"
	test $? -eq 2 && grep -q -- --help "$tmp/err" && ! test -s "$tmp/out"
	ok "$wrong is status 2 and points to --help"
done
"$open" --root "$tmp/none" --apply 2>"$tmp/err"
test $? -eq 2 && grep -q "$tmp/none" "$tmp/err" &&
	! "$open" --root "$tmp/out" --status 2>"$tmp/err" &&
	grep -q "'$tmp/out' is no" "$tmp/err"
ok "--root wants a directory"
tree | cmp -s - "$tmp/before"
ok "and nothing was changed"
(cd "$tmp" && "$open" --root root --apply) >/dev/null && values 2 1 0 2
ok "--root may be relative"
"$open" --help | grep -q '^Usage: cpucycles-open'
ok "--help"
"$open" --version | grep -qE '^cpucycles-open \(libcpucycles\) [^ ]+$'
ok "--version"
if test -w /dev/full; then
	"$open" --root "$root" --status >/dev/full 2>"$tmp/err"
	test $? -eq 1 && test -s "$tmp/err"
	ok "a full disk is status 1, with a message"
else
	skip "there is no /dev/full"
fi

## With and without root's rights. Only --dry-run and --status here may see
## this machine's settings.
machine 4 0 1 1
if test "$(id -u)" -eq 0; then
	run 0 && values 2 1 0 2
	ok "root gets --apply"
	user="setpriv --reuid 65534 --clear-groups"
	# A build directory may be closed to others.
	$user "$open" --version >/dev/null 2>&1 || user=
else
	run 1 && values 4 0 1 1 && says closed 4
	ok "an ordinary user gets --status"
	user="env"
fi
if test -n "$user"; then
	for action in --apply --persist --revert; do
		$user "$open" "$action" >"$tmp/out" 2>"$tmp/err"
		test $? -eq 1 && grep -q ": sudo .*open $action\$" "$tmp/err"
		ok "without root's rights, $action tells the command"
	done
	$user "$open" >"$tmp/out" 2>"$tmp/err"
	test $? -le 1 && ! test -s "$tmp/err" && ! says '^set' 1
	ok "--status is for everybody"
	$user "$open" --dry-run >/dev/null 2>"$tmp/err" && ! test -s "$tmp/err"
	ok "so is --dry-run"
else
	skip "nobody else can run programs of this directory"
fi
done_testing
