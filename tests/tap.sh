# SPDX-License-Identifier: 0BSD
# Test Anything Protocol for shell tests: source it, then `ok TEXT` after the
# command whose success is the test, and done_testing at the end. Tests have a
# directory, tmp, and the same environment whoever runs them: no variable of
# ours, no kind of terminal, and no locale, in which awk may want decimal commas.
# shellcheck shell=sh

tap_run=0
tap_bad=0
# libtool cannot install into a directory whose name has spaces.
case ${TMPDIR-} in
*[[:space:]]*) unset TMPDIR ;;
esac
tmp=$(mktemp -d "${TMPDIR:-/tmp}/cpuc-test.XXXXXX") || exit 99
trap 'rm -rf "$tmp"' EXIT
unset cpucyclesimplementation cpucyclespersecond TERM
export LC_ALL=C

# TEXT...: a point; if it has failed, the latest outputs and log are shown.
ok() {
	tap_status=$?
	tap_run=$((tap_run + 1))
	if [ "$tap_status" -eq 0 ]; then
		echo "ok $tap_run - $*"
	else
		tap_bad=$((tap_bad + 1))
		echo "not ok $tap_run - $*"
		for tap_file in out err log; do
			[ ! -s "$tmp/$tap_file" ] ||
				sed "s/^/# $tap_file: /" "$tmp/$tap_file"
		done
	fi
	return "$tap_status"
}

skip() {
	tap_run=$((tap_run + 1))
	echo "ok $tap_run # SKIP $*"
}

# The Debian package that brings a program, or what else a test needs.
package_of() {
	case $1 in
	aarch64-linux-gnu-gcc) echo gcc-aarch64-linux-gnu ;;
	benchmark/*.h) echo libbenchmark-dev ;;
	catch2/*) echo catch2 ;;
	criterion) echo librust-criterion-dev ;;
	nanobench.h) echo nanobench ;;
	cc) echo gcc ;;
	go) echo golang-go ;;
	gnuplot) echo gnuplot-nox ;;
	man) echo man-db ;;
	ninja) echo ninja-build ;;
	nm | readelf) echo binutils ;;
	jsonschema) echo python3-jsonschema ;;
	qemu-*) echo qemu-user ;;
	script) echo bsdutils ;;
	setpriv | unshare) echo util-linux ;;
	timeout) echo coreutils ;;
	*) echo "$1" ;;
	esac
}

# PROGRAM: what a skipped point says, if that is not here.
needs() {
	echo "needs $1: install $(package_of "$1")"
}

# PROGRAM [TEXT]: whether it is here; if not, the point TEXT is skipped.
have() {
	command -v "$1" >/dev/null && return
	skip "${2+$2: }$(needs "$1")"
	return 1
}

# Whether a terminal can be had; if not, a point is skipped.
has_terminal() {
	have script || return
	script -qec true /dev/null </dev/null >/dev/null 2>&1 && return
	skip "script(1) gets no terminal here"
	return 1
}

# COLUMNS COMMAND: what the shell's command prints on a terminal is in out.
on_terminal() {
	script -qec "stty cols $1; $2" /dev/null </dev/null | tr -d '\r' \
		>"$tmp/out"
}

done_testing() {
	echo "1..$tap_run"
	[ "$tap_bad" -eq 0 ]
	exit
}

# N COMMAND...: whether it succeeds in one of N tries, a second apart, on a busy
# machine.
tries() {
	tap_left=$1
	shift
	until "$@"; do
		[ $((tap_left -= 1)) -gt 0 ] || return
		sleep 1
	done
}

# COMMAND...: its output goes to the log.
quietly() {
	"$@" >"$tmp/log" 2>&1
}

# VARIABLE: configure's value.
made() {
	sed -n "s/^$1 = //p" "${top_builddir:?is set by make check}/Makefile"
}

# Whether programs of this system can load the shared library, whose path is then
# in shared: not if it is for another C library or architecture. Sets why.
loads() {
	shared=$(cd "${top_builddir:?is set by make check}" &&
		pwd)/.libs/libcpucycles.so
	case $CFLAGS in
	*-fsanitize*) why="programs without the sanitizer cannot load it" ;;
	# Where a path has spaces, the loader would take it for several.
	*) why=$(cd "${shared%/*}" &&
		LD_PRELOAD=./libcpucycles.so env true 2>&1) ;;
	esac
	test -f "$shared" || why="no shared library was built"
	test -z "$why"
}

# Sets bin to the directory of the tools. libtool's wrappers run the same
# programs, but take ten times as long as these.
find_tools() {
	bin=${top_builddir:?is set by make check}
	[ -x "$bin/.libs/cpucycles-info" ] || return 0
	bin=$bin/.libs
	LD_LIBRARY_PATH=$bin${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
	export LD_LIBRARY_PATH
}

# refused STATUS REGEX COMMAND...: it prints nothing but a message, which matches,
# and its exit status is STATUS.
refused() {
	refused_status=$1 refused_regex=$2
	shift 2
	"$@" >"$tmp/out" 2>"$tmp/err"
	[ $? -eq "$refused_status" ] && ! [ -s "$tmp/out" ] &&
		grep -qE -- "$refused_regex" "$tmp/err"
}

# assignment TOOL: the one in the last column of README.md's table.
assignment() {
	sed -n "s/^| $1 .*\`\([A-Z_]*=[^\`]*\)\` |\$/\1/p" \
		"${top_srcdir:?is set by make check}/README.md"
}

# TOOL [ARGUMENT]...: what holds for every tool; the arguments make it print
# something.
check_command_line() {
	tool=$1
	shift
	"$tool" --help | grep -q "^Usage: ${tool##*/}"
	ok "--help"
	"$tool" "$@" >&- 2>"$tmp/err"
	[ $? -eq 1 ] && [ -s "$tmp/err" ]
	ok "a closed standard output is status 1, with a message"
	"$tool" --version | grep -qE "^${tool##*/} \(libcpucycles\) [^ ]+\$"
	ok "--version"
	refused 2 --help "$tool" --nonesuch
	ok "an unknown option is status 2 and points to --help"
}
