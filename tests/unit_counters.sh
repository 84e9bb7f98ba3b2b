#!/bin/sh
# SPDX-License-Identifier: 0BSD
# Several places state a counter's name, host and kind; they must agree. Its file
# and its line in configure.ac say it; the pages, the build and the amalgamation
# follow.
# shellcheck disable=SC2016 # backquotes are what the pages have
. "${top_srcdir:?is set by make check}/tests/tap.sh"

cd "$top_srcdir" || exit 99

# Those in configure.ac: the file's name, the counter's, and that for hosts with
# 32 bits, or -.
sed -n 's/^CPUC_COUNTER(\[\([^]]*\)\], \[\([^]]*\)\].*/\1 \2/p' configure.ac |
	awk '{ id = $1; gsub(/-/, "_", id); print id, $1, $2 == "" ? "-" : $2 }' \
		>"$tmp/configure"

# All counters: name, file, first word of the section of cpucycles(7).
while read -r id names; do
	file=src/counters/$id.c
	kind=$(sed '/^const struct cpuc_counter cpuc_instr/,$d' "$file" |
		grep -oE 'CPUC_(EXTEND32|CORE|CALIB|REFERENCE|OS|ZERO)' |
		tail -n 1)
	case $kind in
	*_CALIB) section=CALIBRATED ;;
	*_REFERENCE) section=REFERENCE ;;
	*_CORE | *_EXTEND32) section=CORE ;;
	*) section=CLOCKS ;;
	esac
	for name in $names; do
		test "$name" = - || echo "$name $file $section"
	done
done <"$tmp/configure" >"$tmp/counters"

# TEXT FUNCTION: passes if the function, which names each difference, prints none.
same() {
	! "$2" 2>&1 | sed 's/^/# /' | grep .
	ok "$1"
}

built() {
	grep -lE '^(const struct cpuc_counter cpuc_counter_|CPUC_[A-Z0-9_]*\()' \
		src/counters/*.c |
		while read -r file; do
			grep -q " $file " "$tmp/counters" ||
				echo "configure.ac lacks $file"
		done
	while read -r name file _; do
		grep -qE "(\.name =|define PPC_NAME|^CPUC_[A-Z0-9_]*\().*[-\"]${name#*-}\"" "$file" ||
			echo "$file: .name is not $name"
	done <"$tmp/counters"
	while read -r id _; do
		have=HAVE_COUNTER_$(echo "$id" | tr '[:lower:]' '[:upper:]')
		[ -f "src/counters/$id.c" ] || echo "src/counters/$id.c is missing"
		grep -q "src/counters/$id\.c" Makefile.am ||
			echo "Makefile.am: counter_sources lacks src/counters/$id.c"
		grep -q "define $have " amalgamation/hosts.h ||
			echo "amalgamation/hosts.h: $have is missing"
	done <"$tmp/configure"
}
same "each is built, under its name, and in the amalgamation" built

# cpucycles(7): the items, with the first word of the section that they are in.
awk '/^\.Sh / { section = $2 }
	/^\.It .*-/ && section ~ /^(CORE|CALIBRATED|REFERENCE|CLOCKS)$/ {
		for (i = 2; i <= NF; i++)
			if ($i ~ /-/)
				print $i, section
	}' man/cpucycles.7 | sort >"$tmp/items"

manual() {
	cut -d ' ' -f 1,3 "$tmp/counters" | sort | diff - "$tmp/items"
}
same "cpucycles(7) has each in the section of its kind" manual

# What a kind adds to the precision.
sed -nE 's/^.*= \{"([a-z]+)", [A-Z_]+, ([0-9]+)\}.*/\1 \2/p' src/slot.c >"$tmp/adds"
sed -nE 's/^\.It ([a-z]+)(, read through the kernel)? Ta ([0-9]+)$/\1 \3/p' \
	man/cpucycles.7 | cmp - "$tmp/adds" && test "$(wc -l <"$tmp/adds")" -eq 5
ok "cpucycles(7) has what each kind adds to the precision"

# Public names are for good. New ones may come between them.
published="amd64-perfpmcff amd64-perfpmc x86-perfpmc amd64-pmcff amd64-rdpru
	amd64-tsccore x86-tsccore amd64-tsc x86-tsc amd64-tscasm x86-tscasm
	arm64-perfpmc arm64-pmc arm64-vctcore arm64-vct arm32-cortex arm32-1176
	arm32-vct riscv64-perfrdcycle riscv32-perfrdcycle riscv64-rdcycle
	riscv32-rdcycle riscv64-timecore riscv32-timecore riscv64-rdtime
	riscv32-rdtime loong64-rdtime mips64-cc mips32-cc ppc64-mftb ppc32-mftb
	s390x-stckf sparc64-rdtick alpha-rpcc hppa-cr16 default-perfevent
	default-threadcounts default-mach default-monotonic
	default-gettimeofday default-zero"
published() {
	echo "$published" | tr -s ' \t\n' '\n' >"$tmp/published"
	cut -d ' ' -f 1 "$tmp/counters" | grep -xFf "$tmp/published" |
		diff "$tmp/published" -
}
same "the names are those that were published, in that order" published

tested() {
	grep -v '^default-zero ' "$tmp/counters" | cut -d ' ' -f 1 | sort >"$tmp/a"
	sed -n '/^\.Sh WHAT HAS BEEN TESTED/,/^\.Pp/p' man/cpucycles.7 |
		grep -E '^[a-z0-9]+-' | tr -d , | tr -s ' ' '\n' |
		sort | diff "$tmp/a" -
}
same "WHAT HAS BEEN TESTED has each once" tested

# FILE: the struct, without comments and white space.
struct_of() {
	sed -n '/^struct cpucycles_counter {/,/^};/p' "$1" | tr -d ' \t\n' |
		sed 's,/[*][^*]*[*]/,,g'
}
struct=$(struct_of include/cpucycles.h)
test -n "$struct" && test "$struct" = "$(struct_of man/cpucycles.3)"
ok "cpucycles(3) has the struct of the header"

done_testing
