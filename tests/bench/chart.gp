# SPDX-License-Identifier: 0BSD
# The chart of doc/benchmarks.md. bench.py sets $truth, that table, and `to`, the
# directory for it.
set datafile separator "\t"
set datafile missing "-"
set key off
set lmargin 34
set ytics noenhanced
set grid xtics linecolor "#dddddd"
stats $truth using 3 every ::1 name "truth" nooutput
set terminal svg size 760,26*truth_records+110 font "sans-serif,13" \
	background "white"
set output to."/truth.svg"
set yrange [0.5-truth_records:0.5]
set title "The truth: error against chains of known length"
set xlabel "percent: median, 10th and 90th percentile"
set yzeroaxis
set offsets 2, 2, 0, 0
plot $truth using "median":(-$0):"10th":"90th":ytic(1) with xerrorbars \
	linecolor "#225588" linewidth 2 pointtype 7 pointsize 0.5
