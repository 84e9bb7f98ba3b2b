# SPDX-License-Identifier: 0BSD
# How a calibrated count follows the rates of three cores: follow.svg, and
# follow.txt for cpucycles(7). bench.py sets `data`, the output of follow, the
# array `titles`, and `to`, the directory for both.
set autoscale xfix
set border 3
set tics nomirror scale 0
set format y "%.2f"
set offsets 0, 0, 0.09, 0.06

set key off
set terminal dumb 72, 11
set output to."/follow.txt"
do for [i=0:2] {
	set title titles[i+1]
	stats data index i using 1 nooutput
	set xtics floor(STATS_max / 4)
	plot data index i using 1:2 with points pointtype ".", \
		data index i using 1:3 with points pointtype "#"
}

set xtics autofreq
set terminal svg size 760,900 font "sans-serif,13" background "white"
set output to."/follow.svg"
set key outside top right horizontal
set xlabel "ms"
set ylabel "GHz"
set grid ytics linecolor "#dddddd"
set multiplot layout 3,1
do for [i=0:2] {
	set title titles[i+1]
	plot data index i using 1:2 with lines linecolor "#cc6633" \
		linewidth 2 title "the core", \
		data index i using 1:3 with lines linecolor "#225588" \
		title "the count"
}
unset multiplot
