#!/bin/sh
# SPDX-License-Identifier: 0BSD
# tests/promises lists what the pages promise, and the test point that fails when
# a promise is broken. Each quotation must stand in its page, and each point in
# its test. With --ran, after a whole make check, each point must be in its test's
# log, as passed or skipped: those that were skipped here are listed.
. "${top_srcdir:?is set by make check}/tests/tap.sh"

ran=
test "${1-}" != --ran || ran=${top_builddir:?is set, too}/tests
cd "$top_srcdir" || exit 99

# The words of a page, without roff's macros, or of the header's comments, in one
# line; a word before a full stop or the like may be a macro's argument.
words() {
	sed -E -e '/^\.\\"/d' -e 's/\\-/-/g' -e 's/\\&//g' -e 's/\\\((lq|rq)//g' \
		-e "/^[.]/{s/^[.][A-Z][a-z]( |\$)//;s/\$/ /;$macros;s/ \$//;}" \
		-e 's,^[[:space:]]*/*\*/*,,' "$1" |
		tr -d '"' | tr -s ' \t\n' ' ' |
		sed -e 's/ \([].,:;)]\)/\1/g' -e 's/\([[(]\) /\1/g'
}
macros='s/^/ /;:a;s/ (Ta|No|Ns|Fn|Fl|Va|Dv|Em|Li|Pa|Ev|Xr|Vt|Sy|Sx) / /;ta;s/^ //'

# A test's text, in which strings that continue are joined.
texts() {
	case $1 in
	*.c | *.cc | *.h) tr '\n\t' '  ' <"$1" | sed -e 's/" *"//g' -e 's/\\"/"/g' ;;
	*) cat "$1" ;;
	esac
}

mkdir "$tmp/pages" "$tmp/sources" "$tmp/logs"
for file in man/*.[37] include/cpucycles.h; do
	words "$file" >"$tmp/pages/${file##*/}"
done
for file in tests/*.h tests/faults/*.h; do
	texts "$file"
done >"$tmp/headers"

# TEST: makes its text and, with --ran, its log available to the program below.
prepare() {
	base=${1%.sh}
	for file in "tests/$1" "tests/$1.c" "tests/$1.cc" "tests/${1%_*}.c"; do
		test ! -f "$file" || break
	done
	test -f "$file" || return
	{
		texts "$file"
		cat "$tmp/headers"
	} >"$tmp/sources/$1"
	test -z "$ran" || ! test -f "$ran/$base.log" ||
		grep -E '^(ok|not ok|1\.\.0) ' "$ran/$base.log" >"$tmp/logs/$1"
}
sed -n 's/^\t\([a-z0-9_]*\(\.sh\)\{0,1\}\): .*/\1/p' tests/promises | sort -u |
	while read -r name; do
		prepare "$name"
	done

# Prints a line for each mistake, and, marked by #, for what is skipped.
awk -v tmp="$tmp" -v ran="$ran" '
	# The lines of a file in one.
	function slurp(file, all, line) {
		if (file in kept)
			return kept[file]
		while ((getline line <file) > 0)
			all = all line "\n"
		close(file)
		return kept[file] = all
	}
	# Whether the parts of the pattern, between asterisks, are in the text in
	# this order; or, without an order, anywhere: there they may come from a
	# table and a format.
	function fits(text, pattern, ordered, part, n, i, at) {
		n = split(pattern, part, ordered ? "[*]" : "[*]|[:,] | [(]")
		if (ordered && index(text, part[1]) != 1)
			return 0
		for (i = 1; i <= n; i++) {
			at = part[i] == "" ? 1 : index(text, part[i])
			if (at == 0)
				return 0
			if (ordered)
				text = substr(text, at + length(part[i]))
		}
		return 1
	}
	# How the point ended: ok, skipped, bad, or "" if it was not printed.
	function outcome(name, pattern, lines, n, i, text, found, some) {
		n = split(slurp(tmp "/logs/" name), lines, "\n")
		for (i = 1; i <= n; i++) {
			text = lines[i]
			if (text ~ /^1\.\.0 |^ok [0-9]+ # SKIP /)
				some = 1
			sub(/^(not )?ok [0-9]+ (- |# SKIP )/, "", text)
			if (!fits(text, pattern, 1))
				continue
			if (lines[i] ~ /^not/)
				return "bad"
			if (found != "ok")
				found = lines[i] ~ /# SKIP/ ? "skipped" : "ok"
		}
		return found != "" ? found : some ? "skipped" : ""
	}
	function wrong(what) {
		print "tests/promises:" NR ": " what
	}
	function judge(name, pattern, how) {
		if (slurp(tmp "/sources/" name) == "")
			return wrong("there is no test " name)
		if (!fits(kept[tmp "/sources/" name], pattern, 0))
			return wrong(name " has no point \"" pattern "\"")
		if (ran == "")
			return
		if (slurp(tmp "/logs/" name) == "")
			return wrong(name " has not run")
		how = outcome(name, pattern)
		if (how == "bad")
			wrong(name ": not ok: " pattern)
		else if (how == "")
			wrong(name " did not print \"" pattern "\"")
		else if (how == "skipped")
			print "# skipped here: " name ": " pattern
	}
	/^#/ || NF == 0 { next }
	/^page / { page = $2; next }
	/^\t/ {
		points++
		line = substr($0, 2)
		rest = line
		sub(/^[^:]*: /, "", rest)
		if (line ~ /^pending /)
			print "# " line
		else if (line ~ /^by /) {
			split(line, by, " ")
			sub(/:$/, "", by[3])
			if (slurp(by[3]) == "")
				wrong("there is no " by[3])
			else if (!fits(kept[by[3]], rest, 0))
				wrong(by[3] " has no \"" rest "\"")
		} else {
			name = line
			sub(/: .*/, "", name)
			judge(name, rest)
		}
		next
	}
	{
		gsub(/"/, "")
		while (match($0, / [].,:;)]/))
			$0 = substr($0, 1, RSTART - 1) substr($0, RSTART + 1)
		if (promises++ && points == 0)
			wrong("the promise before this has no point")
		points = 0
		if (index(slurp(tmp "/pages/" page), $0) == 0)
			wrong(page " does not say: " $0)
		if (seen[page, $0]++)
			wrong("twice: " $0)
	}
	END {
		if (points == 0)
			wrong("the last promise has no point")
		print "# " promises " promises"
	}' tests/promises >"$tmp/found"
sed -n '/^#/p' "$tmp/found"
! grep -v '^#' "$tmp/found" >"$tmp/out"
ok "each promise stands in its page, and beside points that exist${ran:+, and ran}"
done_testing
