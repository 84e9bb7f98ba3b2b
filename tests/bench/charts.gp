# SPDX-License-Identifier: 0BSD
# The charts of doc/benchmarks.md. tests/bench/run calls gnuplot with `to`, the
# directory for them, and `rows`, a function of a table's name, where each table
# is a file.
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
n = rows("call")
set terminal svg size 760,26*n+110 font "sans-serif,13" background "white"
set output to."/call.svg"
set yrange [0.5-n:0.5]
set title "A call: how long it takes"
set xlabel "nanoseconds"
set xrange [0:*]
plot "call" using 3:(-$0):(0):3:(-$0-0.3):(-$0+0.3):ytic(1) every ::1 \
	with boxxyerror linecolor "#7799bb", \
	"" using 3:(-$0):(sprintf("%.1f", $3)) every ::1 \
	with labels left offset 0.5,0

n = rows("steady")
set terminal svg size 760,26*n+110 font "sans-serif,13" background "white"
set output to."/steady.svg"
set yrange [0.5-n:0.5]
set title "Steadiness: a chain of 1000 cycles, timed over and over"
set xlabel "cycles counted: least to 99th percentile, quartiles, median"
set arrow 1 from 1000, graph 0 to 1000, graph 1 nohead linecolor "#333333"
plot "steady" using 4:(-$0):2:7:ytic(1) every ::1 with xerrorbars \
	linecolor "#7799bb" linewidth 1.5 pointtype 0, \
	"" using 4:(-$0):3:5:(-$0-0.2):(-$0+0.2) every ::1 \
	with boxxyerror linecolor "#7799bb", \
	"" using 4:(-$0):4:4:(-$0-0.2):(-$0+0.2) every ::1 \
	with boxxyerror linecolor "#000000"

n = rows("truth")
set terminal svg size 760,26*n+110 font "sans-serif,13" background "white"
set output to."/truth.svg"
set yrange [0.5-n:0.5]
set title "The truth: error against chains of known length"
set xlabel "percent: median, 10th and 90th percentile"
set xrange [*:*]
set arrow 1 from 0, graph 0 to 0, graph 1 nohead linecolor "#333333"
set offsets 2, 2, 0, 0
plot "truth" using 4:(-$0):3:5:ytic(1) every ::1 with xerrorbars \
	linecolor "#225588" linewidth 2 pointtype 7 pointsize 0.5

# Columns beside each other.
set terminal svg size 760,420 font "sans-serif,13" background "white"
unset arrow 1
unset grid
unset lmargin
unset rmargin
set offsets 0, 0, 0, 0
set grid ytics linecolor "#dddddd"
set yrange [0:*]
set key outside top center horizontal samplen 2
set output to."/counters.svg"
set title "Growth: a selection among many counters"
set xlabel "counters, pretended"
set ylabel "microseconds"
set xrange [0:42]
plot "growth-counters" using 1:2 title "all good" with linespoints \
	linecolor "#225588" linewidth 2 pointtype 7, \
	"" using 1:3 title "all refused by the system" with linespoints \
	linecolor "#999999" linewidth 2 pointtype 4

set output to."/threads.svg"
set title "Growth: threads created and ended, all there at once"
set xlabel "threads"
set ylabel "microseconds a thread"
set xrange [*:*]
set style data histograms
set style histogram clustered gap 1
set boxwidth 0.9
plot "growth-threads" using 2:xtic(1) title "that do not count" \
	linecolor "#dddddd", \
	"" using 3 title "that count" linecolor "#225588"

set output to."/first.svg"
set title "The first call: its parts"
unset xlabel
set ylabel "milliseconds"
set style histogram rowstacked
set boxwidth 0.5
set key outside right center vertical invert reverse Left
array shade[5] = ["#222222", "#555577", "#7799bb", "#aaccdd", "#dddddd"]
plot for [i=2:6] "first-parts" using i:xtic(1) title columnheader(i) \
	linecolor rgb shade[i - 1]
