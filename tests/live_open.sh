#!/bin/sh
# SPDX-License-Identifier: 0BSD
# cpucycles-open, on trees that look like the settings of machines. It never
# touches the settings of this machine, also as root.
. "${top_srcdir:?is set by make check}/tests/tap.sh"

find_tools
open=$bin/cpucycles-open
root=$tmp/root
kernel=$root/proc/sys/kernel
pmus=$root/sys/bus/event_source/devices
rdpmc=$pmus/cpu/rdpmc
state=$root/run/cpucycles-open.state
lock=$root/run/cpucycles-open.lock
sysctl=$root/etc/sysctl.d/60-cpucycles.conf
tmpfiles=$root/etc/tmpfiles.d/cpucycles.conf

# machine PARANOID USER_ACCESS NMI_WATCHDOG RDPMC: a new tree, which is kept.
machine() {
	rm -rf "$root"
	mkdir -p "$kernel" "$pmus/cpu" "$root/run" "$root/etc/sysctl.d" \
		"$root/etc/tmpfiles.d"
	printf 'processor\t: 0\nvendor_id\t: GenuineIntel\n' \
		>"$root/proc/cpuinfo"
	echo "$1" >"$kernel/perf_event_paranoid"
	echo "$2" >"$kernel/perf_user_access"
	echo "$3" >"$kernel/nmi_watchdog"
	echo "$4" >"$rdpmc"
	: >"$lock"
	keep
}

# keep [NAME]: copies the tree. same [NAME]: whether it is still like the copy.
keep() {
	rm -rf "${tmp:?}/${1-before}"
	cp -a "$root" "$tmp/${1-before}"
}

same() {
	diff -r "$tmp/${1-before}" "$root" >"$tmp/log"
}

# run STATUS ARG...: its output is in out, and its exit status is STATUS.
run() {
	wanted=$1
	shift
	"$open" --root "$root" "$@" >"$tmp/out" 2>"$tmp/err"
	test $? -eq "$wanted"
}

# values PARANOID USER_ACCESS NMI_WATCHDOG RDPMC: the settings as they are now.
values() {
	(cd "$kernel" && cat perf_event_paranoid perf_user_access \
		nmi_watchdog "$rdpmc") | tr '\n' ' ' | grep -qxF -- "$* "
}

# says REGEX LINES: so many lines of its output match; complains REGEX: one line
# of its messages.
says() {
	test "$(grep -cE "$1" "$tmp/out")" -eq "$2"
}

complains() {
	test "$(grep -cE "$1" "$tmp/err")" -eq 1
}

reverts() {
	run 0 --revert && same
}

## A closed machine.
machine 10 0 1 0
run 1 --status && says ': [0-9]+, closed; with [0-9]+, [^ ].{20,}' 3 &&
	says '; --no-nmi-watchdog sets 0: a counter ' 1 &&
	says '; --rdpmc-all sets 2: every process ' 1 &&
	says . 5 && ! test -s "$tmp/err"
ok "a closed machine: --status is 1, with a line for each setting"
run 0 --persist --dry-run && says '^would write ' 2 && same &&
	run 0 --dry-run && says '^would set .*: [0-9]+ -> [0-9]+: ' 3 && same
ok "--dry-run says what would be done, and changes nothing"
run 0 --apply && values 2 1 1 1 && says '^set .*: [0-9]+ -> [0-9]+: ' 3 &&
	run 0 --status && says ', open, and [0-9]+ before; ' 3
ok "--apply opens what the library needs, and no more; --status is 0 then"
keep opened
run 0 --revert --dry-run && says '^would set .*: as it was$' 3 &&
	run 0 --apply && says '^nothing to do$' 1 && same opened
ok "neither --revert --dry-run nor a second --apply changes anything"
run 0 --revert && says '^set .*: [0-9]+ -> [0-9]+: as it was$' 3 && same &&
	run 0 --revert && says '^nothing to do$' 1 && same
ok "--revert brings back exactly what was there, once"

## The options that open more, each only where it is asked for.
run 1 --status --rdpmc-all --no-nmi-watchdog && says ', closed; ' 4 &&
	says '; with 2, every process ' 1 && says 'hard lockups$' 1 &&
	run 0 --apply --rdpmc-all && values 2 1 1 2 &&
	run 0 --apply --no-nmi-watchdog && values 2 1 0 2 && says '^set ' 1 &&
	reverts
ok "--status tells their risks; one, then the other; --revert undoes both"
run 0 --apply && run 0 --apply --rdpmc-all &&
	says '^set .*rdpmc: 1 -> 2' 1 && values 2 1 1 2 &&
	run 0 --revert && says 'rdpmc: 2 -> 1: ' 1 &&
	says 'rdpmc: 1 -> 0: ' 1 && says '^left' 0 && same
ok "--apply without and with it: --revert goes back in two steps"
run 0 --apply --rdpmc-all --no-nmi-watchdog && run 0 --persist &&
	says '^nothing' 0 && grep -q paranoid "$sysctl" &&
	! grep -q '^kernel.nmi_watchdog' "$sysctl" &&
	! grep -q '^w .* 2$' "$tmpfiles" && reverts
ok "what these open is not made at every boot unless they are given then, too"

## RISC-V: without Sscofpmf, users need to count the kernel too.
for isa in rv64imafdc_sscofpmf_sstc:2 mips64:2 rv64imafdc:1; do
	machine 3 0 1 0
	printf 'processor\t: 0\nisa\t\t: %s\n' "${isa%:*}" >"$root/proc/cpuinfo"
	keep
	run 1 --status && says "paranoid: 3, closed; with ${isa#*:}, " 1 &&
		run 0 --apply && values "${isa#*:}" 1 1 1 && reverts
	ok "perf_event_paranoid for $isa"
done

## Open ones.
machine -1 2 0 2
run 0 --status && says ', open; ' 6 && says 'every process ' 1 &&
	run 0 --persist --rdpmc-all --no-nmi-watchdog && same && reverts
ok "what is open further stays so, and no file is written"
rm "$lock"
keep
run 0 --apply && run 0 --persist && says '^nothing to do$' 1 && same
ok "nor the lock's, where all is open"
machine 1 1 1 0
run 0 --persist && values 1 1 1 1 && grep -q '^w .*rdpmc' "$tmpfiles" &&
	! grep -q paranoid "$tmpfiles" "$sysctl"
ok "--persist has no line for what was open"

## Parts of a machine.
machine 4 0 1 0
rm -r "$kernel/perf_user_access" "$root/sys"
mkdir -p "$pmus/cpu_core" "$pmus/cpu_atom" "$pmus/cpu_lowpower"
echo 0 | tee "$pmus/cpu_core/rdpmc" "$pmus/cpu_atom/rdpmc" \
	>"$pmus/cpu_lowpower/rdpmc"
keep
run 0 --apply && says '^set ' 4 && says '^set .*/cpu_[a-z]*/rdpmc: 0 -> 1' 3 &&
	run 0 --status && reverts
ok "all types of cores; a setting that is missing is no failure"
rm -r "$root/proc" "$root/sys"
: >"$root/sys"
run 1 --status && complains 'is /proc mounted' && run 1 --apply &&
	run 0 --revert
ok "a machine without settings is told so"
for value in many 3x 12345678901 ''; do
	machine 4 0 1 0
	echo "$value" >"$kernel/perf_user_access"
	run 1 --apply && complains perf_user_access && values 2 "$value" 1 1
	ok "'$value' is left, with a message, and status 1"
done
machine 4 0 1 0
rm -r "$root/run"
run 1 --persist && values 4 0 1 0 && ! test -e "$sysctl" &&
	! test -s "$tmp/out" && complains .
ok "where nothing can be put on record, nothing is changed, and one line says so"
machine 4 0 1 0
out=$( (
	trap '' XFSZ
	ulimit -f 0
	"$open" --root "$root" --persist
) 2>&1)
test $? -eq 1 && test "$(echo "$out" | grep -c .)" -eq 1 && same
ok "nor on a full disk, where no half record is left"
: >"$state.new"
run 0 --apply && ! test -e "$state.new"
ok "what a killed run has left is in nobody's way"
machine 4 many 1 0
"$open" --root "$root" --apply <&- >&- 2>&-
test $? -eq 1 && ! test -s "$lock"
ok "without standard descriptors, messages go nowhere"

## Settings that cannot be written. Not even root can write this one, nor a
## directory.
fixed=/proc/sys/kernel/ngroups_max
machine 4 0 1 0
if test "$(cat $fixed 2>/dev/null || echo 0)" -gt 2 &&
	! (echo 65536 >$fixed) 2>/dev/null; then
	ln -sf $fixed "$kernel/perf_event_paranoid"
	keep
	run 1 --apply && complains 'cannot write .*paranoid: .*as root' &&
		values "$(cat $fixed)" 1 1 1 && ! grep -q paranoid "$state" &&
		reverts
	ok "a read-only setting: the others are set, status 1, and no record"
else
	skip "there is no $fixed that nobody can write"
fi
machine 4 0 1 0
run 0 --persist
rm "$state" # as a boot does
mv "$rdpmc" "$tmp/one"
mkdir "$rdpmc"
run 1 --revert && says '^set ' 2 && ! test -e "$sysctl" &&
	test "$(grep -c '^# /' "$state")" -eq 1 && rmdir "$rdpmc" &&
	mv "$tmp/one" "$rdpmc" && reverts
ok "what cannot be restored stays on record, and is restored later"

## Killed in the middle: all is on record, some is set.
run 0 --apply
keep opened
echo 0 >"$kernel/perf_user_access"
run 0 --apply && says '^set ' 1 && same opened &&
	echo 0 >"$kernel/perf_user_access" &&
	run 0 --revert && says '^set ' 2 && says '^left' 0 && same
ok "half applied: --apply does the rest, --revert undoes what was done"
run 0 --apply
echo 3 >"$kernel/perf_event_paranoid"
run 0 --revert && says '^left .*paranoid: 3, .*was 4' 1 && values 3 0 1 0
ok "what was closed meanwhile stays so"

## Several at once: none records what another has half changed.
machine 4 0 1 0
for one in 0 1 2 3 4 5 6 7 8 9; do
	"$open" --root "$root" --persist --rdpmc-all --no-nmi-watchdog \
		>/dev/null 2>"$tmp/err.$one" &
done
wait
values 2 1 0 2 && ! cat "$tmp"/err.? | grep . &&
	test "$(grep '^w ' "$tmpfiles")" = "w ${rdpmc#"$root"} - - - - 2" &&
	grep -qxF 'kernel.nmi_watchdog = 0' "$sysctl" && reverts
ok "ten at once: --persist takes what is asked for, --revert restores it"
locked="cannot lock ${lock#"$root"}: "
rm "$lock"
mkdir "$lock"
keep
run 1 --persist && complains "$locked" && ! test -s "$tmp/out" &&
	run 0 --revert && same
ok "without the lock, nothing is changed, with a message"

## At every boot.
machine 4 0 1 0
run 0 --persist && values 2 1 1 1 && says '^write ' 2 &&
	test "$(cat "$sysctl" "$tmpfiles" | grep '^[^#]')" = \
		"kernel.perf_event_paranoid = 2
kernel.perf_user_access = 1
w ${rdpmc#"$root"} - - - - 1" &&
	run 0 --status && says ': makes settings at every boot$' 1
ok "--persist: a line for each setting, in two files; --status names the first"
keep opened
run 0 --persist && run 0 --revert --dry-run && says '^would remove ' 2 &&
	same opened
ok "neither a second one nor --revert --dry-run changes anything"
rm "$state"
run 0 --status && says ', open, and [0-9]+ before' 3 && run 0 --revert &&
	says '^remove ' 2 && same
ok "after a boot, --revert removes them and brings back what was there"
run 0 --persist
rm "$state"
echo 3 >"$kernel/perf_event_paranoid"
run 0 --apply && run 0 --revert && values 3 0 1 0
ok "what was found since the boot comes before that"
(umask 077 && run 0 --persist) &&
	test "$(find "$state" "$sysctl" "$tmpfiles" -perm 644 | wc -l)" -eq 3
ok "whatever the umask, all may read the files"
run 0 --revert
echo '# of the administrator' | tee "$sysctl" >"$tmpfiles"
keep
run 1 --persist && complains 'not written by' && run 0 --revert &&
	says '^left ' 2 && same
ok "files of others are neither written nor removed"
machine 4 0 1 0
rm -r "$root/etc/tmpfiles.d"
keep
run 1 --persist && complains 'tmpfiles.d' && test -e "$sysctl" &&
	values 2 1 1 1 && reverts
ok "a directory that is missing is named"

## A forged record: nothing is written, and a message says which. What is one,
## tests/fuzz/fuzz_open.c and its corpus say.
machine 4 0 1 0
run 0 --apply
printf '%s\n# /etc/passwd 3 2\n\n' "$(head -n 1 "$state")" >"$tmp/forged"
cp "$tmp/forged" "$state"
keep
run 1 --persist && complains damaged &&
	run 1 --revert && complains 'open.state: .* damaged.* move it away' &&
	run 1 --status && says ', open' 3 && complains damaged && same
ok "a forged record is refused; --status says so, and tells the rest"

## The command line.
machine 4 0 1 0
for wrong in word '--status --apply' '--persist --revert' \
	'--status --dry-run' '--revert --rdpmc-all' --root; do
	# shellcheck disable=SC2086 # several words
	refused 2 --help "$open" $wrong --root "$root" && same
	ok "$wrong is status 2 and points to --help"
done
refused 2 "cannot use $rdpmc: " "$open" --root "$rdpmc" --status
ok "--root wants a directory"
check_command_line "$open" --root "$root" --status

## With and without root's rights. Only --dry-run and --status here may see
## this machine's settings.
machine 4 0 1 0
rm "$lock"
keep
run 1 && says closed 3 && same
ok "without an option, root as well gets --status"
run 0 --revert && says '^nothing to do$' 1 && same && : >"$lock" && keep
ok "where nothing is on record, --revert leaves no lock"
if test "$(id -u)" -eq 0; then
	user="setpriv --reuid 65534 --clear-groups"
	why="nobody else can run programs of this directory"
	# A build directory may be closed to others, and BusyBox has another one.
	if ! $user true 2>/dev/null; then
		user='' why=$(needs setpriv)
	elif ! $user "$open" --version >/dev/null 2>&1; then
		user=
	fi
else
	user="env"
	rm "$lock"
	keep
	chmod a-w "$root/run"
fi
if test -n "$user"; then
	chmod a+rx "$tmp"
	# shellcheck disable=SC2086 # several words
	refused 1 'cannot lock .* as root' \
		$user "$open" --root "$root" --persist && same
	ok "without root's rights, nothing is changed, and it says why"
	machine 2 1 1 1
	chmod 600 "$rdpmc"
	if test "$user" != env; then
		# shellcheck disable=SC2086 # several words
		$user "$open" --root "$root" --status >"$tmp/out" 2>"$tmp/err"
		test $? -eq 0 && says 'rdpmc: only root' 1 && ! test -s "$tmp/err"
		ok "a file that only root can read, as x86's, is no failure"
	fi
	for action in '' --dry-run; do
		$user "$open" $action >"$tmp/out" 2>"$tmp/err"
		test $? -le 1 && ! says '^set' 1 &&
			! grep -v 'is /proc mounted' "$tmp/err"
		ok "${action:---status} is for everybody"
	done
	chmod u+w "$root/run"
else
	skip "$why"
fi
machine 2 1 0 1
run 0 --status && says '^no PMU is visible' 0 && rm -r "$pmus/cpu" &&
	run 0 --status && tail -n 1 "$tmp/out" | grep -q '^no PMU is visible' &&
	head -n 1 "$tmp/out" | grep -q 'paranoid: 2, open; ' &&
	mkdir "$pmus/armv8_pmuv3_0" && : >"$pmus/armv8_pmuv3_0/cpus" &&
	run 0 --status && says '^no PMU is visible' 0
ok "without a PMU, of x86 or arm64, it says behind the state that opening cannot help"
rm -r "$pmus/armv8_pmuv3_0"

# A terminal gets the same lines, broken at blanks.
lines() {
	tr -s '\n ' ' ' <"$tmp/out"
}
machine 4 0 1 0
if has_terminal; then
	for columns in 80 120; do
		for action in --status '--apply --dry-run'; do
			command="'$open' --root '$root' $action"
			sh -c "$command" >"$tmp/out"
			lines >"$tmp/whole"
			on_terminal $columns "$command"
			! grep ".\{$((columns + 1))\}" "$tmp/out" &&
				{ test $columns -gt 80 || grep -q '^    ' "$tmp/out"; } &&
				lines | cmp -s - "$tmp/whole"
			ok "$columns columns: $action in lines as long, broken at blanks"
		done
	done
fi
rm -r "$pmus/cpu" "$lock"
keep
run 0 --persist && says '^no PMU' 1 && says . 1 && same
ok "and opens nothing, nor leaves a lock"
done_testing
