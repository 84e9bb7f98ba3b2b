# SPDX-License-Identifier: 0BSD
# The charts of doc/benchmarks.md. tests/bench/run calls gnuplot with `to`, the
# directory for them, where each table is a file.
set datafile separator "\t"
set datafile missing "-"
set border 3
set tics nomirror
set style fill solid 0.9 border linecolor "#333333"

# Rows one below the other, with room for their names.
set key off
set lmargin 34
set rmargin 6
set ytics noenhanced
set grid xtics linecolor "#dddddd"
stats "call" using 3 every ::1 name "call" nooutput
set terminal svg size 760,26*call_records+110 font "sans-serif,13" \
	background "white"
set output to."/call.svg"
set yrange [0.5-call_records:0.5]
set title "A call: how long it takes"
set xlabel "nanoseconds"
set xrange [0:*]
plot "call" using 3:(-$0):(0):3:(-$0-0.3):(-$0+0.3):ytic(1) every ::1 \
	with boxxyerror linecolor "#7799bb", \
	"" using 3:(-$0):(sprintf("%.1f", $3)) every ::1 \
	with labels left offset 0.5,0

set xrange [*:*]
set yrange [*:*]
stats "truth" using 3 every ::1 name "truth" nooutput
set terminal svg size 760,26*truth_records+110 font "sans-serif,13" \
	background "white"
set output to."/truth.svg"
set yrange [0.5-truth_records:0.5]
set title "The truth: error against chains of known length"
set xlabel "percent: median, 10th and 90th percentile"
set arrow 1 from 0, graph 0 to 0, graph 1 nohead linecolor "#333333"
set offsets 2, 2, 0, 0
plot "truth" using "median":(-$0):"10th":"90th":ytic(1) with xerrorbars \
	linecolor "#225588" linewidth 2 pointtype 7 pointsize 0.5
