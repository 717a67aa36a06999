#!/usr/bin/python3
"""Draws the time of runs against the order of their matrices."""
import plotting

EXAMPLES = """\
FILE is what `glinpack plu --json FILE` wrote. Runs that differ in backend, precision, grid, nb or nodes are lines of
their own. Of repeated runs the line shows the median, the bar the least and the most.

examples:
  mpirun -np 4 glinpack plu --n 500,1000,2000 --repeat 3 --json results.json
  scripts/plot/time_over_n.py results.json -o time.png -o time.svg
  scripts/plot/time_over_n.py gpu.json cpu.json --where nb=256 -o time.svg
"""


def draw():
    parser = plotting.argument_parser(__doc__, EXAMPLES, "+")
    plotting.add_where(parser)
    arguments = parser.parse_args()
    plotting.check_outputs(arguments.output, arguments.force)
    runs = plotting.read_runs(arguments.files, arguments.where)

    figure, axes = plotting.pyplot.subplots(figsize=(6, 4))
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    plotting.draw_series(axes, plotting.series(runs, "n"), "n", "time")
    plotting.whole_ticks(axes.xaxis, [run["n"] for run in runs])
    plotting.plain_log_ticks(axes.yaxis)
    axes.set_xlabel("order n of the matrix, rows")
    axes.set_ylabel("time to factorise and solve, seconds")
    axes.set_title(arguments.title or "Time against n\n" + plotting.common_title(runs, but=("n",)))
    plotting.save(figure, arguments.output)


if __name__ == "__main__":
    plotting.main(draw)
