#!/bin/sh
# SPDX-License-Identifier: 0BSD
# The adapters for benchmark frameworks in examples/, each where its framework is
# installed. It is built as its opening comment says. By a counter that is the
# system's clock, cycles must be the framework's own time multiplied by the rate.
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
	cp "$examples/criterion.rs" benches
	{
		printf '%s\n' '[package]' 'name = "use"' 'version = "0.0.0"' \
			'edition = "2021"'
		sed -n '1,12s/^ \*     //p' benches/criterion.rs
		printf '%s\n' '[profile.bench.package."*"]' 'opt-level = 0'
	} >Cargo.toml
	printf '%s\n' '[source.crates-io]' 'replace-with = "debian"' \
		'[source.debian]' "directory = '$crates'" >.cargo/config.toml
	cargo bench --offline --bench criterion --no-run
}

build() {
	case $1 in
	# At -O2 its header takes half a minute.
	catch2.cc) sh -ec "$(command_of "$1") -O0 -g0" ;;
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
		./a.out -r xml --benchmark-resamples 1000 >catch2.xml
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

# EXAMPLE NAME PRESENT: where that is not empty; NAME is what it needs.
framework() {
	test -n "$3" || {
		skip "$1: $(needs "$2")"
		return
	}
	quietly build "$1"
	ok "$1: builds" || return
	tries 30 by_the_clock "$1"
	ok "$1: counts what the framework times"
}

# EXAMPLE HEADER: where the C++ compiler finds that.
with_header() {
	framework "$1" "$2" "$(echo "#include <$2>" |
		g++ -x c++ -E - >/dev/null 2>&1 && echo yes)"
}

if ! loads; then
	skip "$why"
	done_testing
fi
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
PATH=$tmp/bin:$PATH
export CC LD_LIBRARY_PATH="$tmp/lib" RUSTFLAGS="-L$tmp/lib" \
	CARGO_HOME="$tmp/cargo" CGO_CFLAGS="-I$tmp/include" \
	CGO_LDFLAGS="-L$tmp/lib" GOCACHE="$tmp/go" GOPATH="$tmp/gopath" \
	GOPROXY=off GOFLAGS=
cd "$tmp/work" || exit 99
cp "$examples"/*.go "$examples"/*.cc "$examples"/*.h .

if test -n "$CXX"; then
	with_header google-benchmark.cc benchmark/benchmark.h
	with_header catch2.cc catch2/catch.hpp
	with_header nanobench.cc nanobench.h
else
	skip "C++: no compiler that links what $CC compiles"
fi
framework cycles_test.go go "$(command -v go)"
! have cargo criterion.rs || framework criterion.rs criterion "$(cargo --version >/dev/null 2>&1 &&
	find "$crates" -maxdepth 1 -name 'criterion-[0-9]*' 2>/dev/null)"
done_testing
