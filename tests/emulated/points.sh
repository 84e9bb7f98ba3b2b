# SPDX-License-Identifier: 0BSD
# For check and kernels, which source it: $1 is an option, for which their first
# comment is printed, or the directory that becomes work.
# shellcheck shell=sh

case $1 in
-*)
	sed -n '3,/^$/s/^# \{0,1\}//p' "$0"
	test "$1" = --help || exit 2
	exit 0 ;;
esac
here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)
mkdir -p "$1" || exit 99
work=$(cd "$1" && pwd)
jobs=${JOBS:-$(getconf _NPROCESSORS_ONLN)}
points=0 bad=0
# What a failing point and a failing program leave on the console.
bad_lines='^not ok|^exit status'

# NAME TRIPLET COMPILER [ARGUMENT]...: enters $work/NAME, configured so.
configured()
{
	mkdir -p "$work/$1" && cd "$work/$1" || return 99
	host=$2 cc=$3
	shift 3
	$cc -E -x c /dev/null >/dev/null || return 77
	test -f Makefile || "$top/configure" -q --host="$host" \
		--disable-shared CC="$cc" CXX=no "$@" || return 1
	# What has changed is configured without the LDFLAGS of programs.
	make -s Makefile
}

# TEXT STATUS: one point; the log tells what happened.
point()
{
	points=$((points + 1))
	case $2${CI:+, but must not} in
	77 | 75*) echo "ok $points # SKIP $1: $(tail -n 1 "$work/log")" ;;
	0*)       echo "ok $points - $1" ;;
	*)
		echo "not ok $points - $1"
		{
			grep -E "$bad_lines" "$work/log"
			tail -n 40 "$work/log"
		} | sed 's/^/# /'
		bad=1 ;;
	esac
}
