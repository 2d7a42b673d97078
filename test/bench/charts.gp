# The three charts of the README, from the data of the run in the folder "data".
set terminal svg size 720,440 font "sans-serif,13" background "#ffffff"
set grid lc rgb "#dddddd"
set key right bottom
set style line 1 lc rgb "#1b6ca8" lw 2 pt 7 ps 0.6
set style line 2 lc rgb "#d1495b" lw 2 pt 5 ps 0.6
set style line 3 lc rgb "#3c8d5a" lw 2 pt 9 ps 0.7

set output "rate.svg"
set title "False positive rate against fill"
set xlabel "share of the bits that are set"
set ylabel "share of absent keys that pass"
set logscale y
set format y "%g"
plot for [i=1:3] data."/rate.dat" using ($1 == word("0.1 0.01 0.001", i) + 0 ? $2 : 1/0):($3 > 0 ? $3 : 1/0) with points ls i title "measured, made for ".word("10% 1% 0.1%", i), \
	for [i=1:3] data."/rate.dat" using ($1 == word("0.1 0.01 0.001", i) + 0 ? $2 : 1/0):4 with lines ls i title (i == 1 ? "formula" : "")

set key left top
set output "size.svg"
set title "Size for a capacity at 1%"
set xlabel "keys"
set ylabel "bytes"
set logscale xy
set format x "10^{%L}"
set format y "10^{%L}"
plot data."/size.dat" using 1:2 with linespoints ls 1 title "bloom", \
	data."/size.dat" using 1:3 with linespoints ls 2 title "counting\\_bloom, 4 bits", \
	data."/size.dat" using 1:4 with linespoints ls 3 title "scalable\\_bloom, begun at a tenth"

set key right bottom
set output "stored.svg"
set title "One probe of a stored filter"
set xlabel "bytes of the filter"
set ylabel "microseconds of the whole SELECT"
unset logscale y
set format y "%g"
set yrange [0:*]
plot data."/stored.dat" using 1:3 with linespoints ls 2 title "present key", \
	data."/stored.dat" using 1:2 with linespoints ls 1 title "absent key", \
	data."/stored.dat" using 1:4 with linespoints ls 3 title "the row alone"
