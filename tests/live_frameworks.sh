#!/bin/sh
# SPDX-License-Identifier: 0BSD
# The adapters for benchmark frameworks in examples/, each where its framework is
# installed. It is built as its opening comment says. By a counter that is the
# system's clock, cycles must be the framework's own time multiplied by the rate.
# LIVE_FRAMEWORKS=none leaves them all out.
. "${top_srcdir:?is set by make check}/tests/tap.sh"

examples=$top_srcdir/examples
crates=/usr/share/cargo/registry # where Debian's packages are

# The command in the opening comment of an example.
command_of() {
	sed -nE '1,12s/^(\/\/|.\*) ((g\+\+|go) .*)/\2/p' "$examples/$1" |
		sed 's/ \*\/$//'
}

# The package that the comment describes, without a network.
build_criterion() {
	mkdir -p src benches .cargo
	: >src/lib.rs
	edition=2024
	cp "$examples/criterion.rs" benches
	# As time-a-function.rs says.
	echo 'unsafe extern "C" {}' >words.rs
	rustc --edition "$edition" --crate-type lib words.rs || {
		edition=2021
		sed 's/^unsafe extern/extern/' "$examples/criterion.rs" \
			>benches/criterion.rs
	}
	{
		printf '%s\n' '[package]' 'name = "use"' 'version = "0.0.0"' \
			"edition = \"$edition\""
		sed -n '1,12s/^ \*     //p' benches/criterion.rs
		printf '%s\n' '[profile.bench.package."*"]' 'opt-level = 0'
	} >Cargo.toml
	printf '%s\n' '[source.crates-io]' 'replace-with = "debian"' \
		'[source.debian]' "directory = '$crates'" >.cargo/config.toml
	cargo bench --offline --bench criterion --no-run
}

build() {
	case $1 in
	*.cc) sh -ec "$(command_of "$1")" ;;
	*.go) sh -ec "$(command_of "$1") -run=none -bench=none" ;;
	*.rs) build_criterion ;;
	esac
}

# timed FILE: prints nanoseconds and the cycles of the same.
timed() {
	case $1 in
	google-benchmark.cc)
		./a.out --benchmark_min_time=0.1 --benchmark_format=csv |
			tr -d '"' >google.csv
		awk -F, '/^fnv.threads:1/ { print $3, $(NF - 1) }' google.csv
		;;
	# Its own, then ours; what was interrupted is above the lower bound.
	catch2.cc)
		./a.out -r xml >catch2.xml
		sed -n 's/.*<mean .*lowerBound="\([0-9.]*\)".*/\1/p' catch2.xml |
			xargs
		;;
	# Its own line, and below it ours.
	nanobench.cc) ./a.out | awk '$NF == "`fnv`" { print $2 }' | xargs ;;
	*.go)
		sh -ec "$(command_of "$1") -benchtime=0.1s" |
			awk '/^BenchmarkFnv/ { print $3, $5 }'
		;;
	# All samples together take about as long as it is told to measure.
	*.rs)
		cargo bench --offline --bench criterion -- --nresamples 1000 \
			--warm-up-time 1 --measurement-time 1 >criterion.log
		sed 's/.*"times":\[//' \
			target/criterion/cpucycles/fnv/new/sample.json |
			tr -d ']}' | tr , '\n' |
			awk '{ n += $1 } END { printf "1e9 %.0f\n", n }'
		;;
	esac 2>"$tmp/err"
}

# EXAMPLE: with an eighth for what only one of them times.
by_the_clock() {
	cpucyclesimplementation=default-monotonic timed "$1" >figures
	awk -v rate="$rate" '{ q = $2 / ($1 * rate / 1e9)
		print "#", $1, "ns,", $2, "cycles" }
		END { exit !(q > 7 / 8 && q < 8 / 7) }' figures
}

# Both rows are of one iteration: twice or half as many would be of all threads
# together.
two_threads() {
	timed google-benchmark.cc >figures
	awk -F, '/^fnv/ { n[++rows] = $(NF - 1) } END { q = n[2] / n[1]
		print "#", n[1], "and", n[2], "cycles"
		exit !(q > 2 / 3 && q < 3 / 2) }' google.csv
}

framework() {
	quietly build "$1"
	ok "$1: builds" || return
	tries 30 by_the_clock "$1"
	ok "$1: counts what the framework times"
	if [ "$1" = catch2.cc ]; then
		mean=$(sed -n 's/.*<mean value="\([0-9]*\).*/\1/p' catch2.xml |
			tail -n 1)
		grep -qw "$mean cycles, os" catch2.xml
		ok "$1: says how many cycles, as cycles"
	fi
	[ "$1" = google-benchmark.cc ] && [ -n "$alone" ] || return 0
	tries 10 two_threads
	ok "$1: as many cycles an iteration in two threads"
}

# includes HEADER: whether the C++ compiler finds it.
includes() {
	echo "#include <$1>" | g++ -x c++ -E - >/dev/null 2>&1
}

loads || skip "$why"
[ -z "${LIVE_FRAMEWORKS-}" ] || skip "LIVE_FRAMEWORKS is $LIVE_FRAMEWORKS"
[ "$tap_run" -eq 0 ] || done_testing
# Directories without spaces, for compilers that take flags from variables.
mkdir "$tmp/bin" "$tmp/work"
ln -s "$top_srcdir/include" "$tmp/include"
ln -s "${shared%/*}" "$tmp/lib"
cat >"$tmp/bin/g++" <<TXT
#!/bin/sh
PATH='$PATH' exec ${CXX:-false} $CFLAGS -I'$tmp/include' -L'$tmp/lib' "\$@"
TXT
chmod +x "$tmp/bin/g++"
rate=$(cpucyclesimplementation=default-monotonic \
	"$top_builddir/cpucycles-info" | sed -n 's/^cpucycles persecond //p')
alone=$("$top_builddir/cpucycles-info" | grep '^cpucycles per thread yes')
PATH=$tmp/bin:$PATH LD_LIBRARY_PATH=$tmp/lib
CGO_CFLAGS=-I$tmp/include CGO_LDFLAGS=-L$tmp/lib RUSTFLAGS=-L$tmp/lib
GOCACHE=$tmp/go GOPATH=$tmp/gopath GOPROXY=off GOFLAGS='' CARGO_HOME=$tmp/cargo
export LD_LIBRARY_PATH CC CGO_CFLAGS CGO_LDFLAGS RUSTFLAGS
export GOCACHE GOPATH GOPROXY GOFLAGS CARGO_HOME
cd "$tmp/work" || exit 99
cp "$examples"/*.go "$examples"/*.cc "$examples"/*.h .

while read -r example header <&3; do
	if includes "$header"; then
		framework "$example"
	else
		skip "$example: there is no $header, or no C++ compiler"
	fi
done 3<<TXT
google-benchmark.cc benchmark/benchmark.h
catch2.cc catch2/catch.hpp
nanobench.cc nanobench.h
TXT
if command -v go >/dev/null; then
	framework cycles_test.go
else
	skip "there is no go"
fi
if cargo --version >/dev/null 2>&1 && [ -n "$(find "$crates" -maxdepth 1 \
	-name 'criterion-[0-9]*' 2>/dev/null)" ]; then
	framework criterion.rs
	sed -n 's/^.*time:/#/p' criterion.log
else
	skip "no cargo works here, or there is no librust-criterion-dev"
fi
done_testing
