#!/usr/bin/python3
"""Draws the rate of runs, in GFLOPS, against the number of nodes that they ran on."""
import plotting

EXAMPLES = """\
FILE is what `glinpack plu --json FILE` wrote. A node is a host name among the run's ranks. Runs that differ in n, nb,
backend, precision or grid are lines of their own. Of repeated runs the line shows the median, the bar the least and the
most.

examples:
  for nodes in 1 2 4; do scripts/netlab/run $nodes $((4 / nodes)) -- glinpack plu --n 2048 --json $nodes.json; done
  scripts/plot/gflops_over_nodes.py 1.json 2.json 4.json -o nodes.png -o nodes.svg
  scripts/plot/gflops_over_nodes.py *.json --where n=2048 --where backend=openblas -o nodes.svg
"""


def draw():
    parser = plotting.argument_parser(__doc__, EXAMPLES, "+")
    plotting.add_where(parser)
    arguments = parser.parse_args()
    plotting.check_outputs(arguments.output, arguments.force)
    runs = plotting.read_runs(arguments.files, arguments.where)

    figure, axes = plotting.pyplot.subplots(figsize=(6, 4))
    plotting.draw_series(axes, plotting.series(runs, "nodes"), "nodes", "gflops")
    plotting.whole_ticks(axes.xaxis, [run["nodes"] for run in runs])
    axes.margins(x=0.1)
    axes.set_ylim(bottom=0)
    axes.set_xlabel("nodes")
    axes.set_ylabel("rate, GFLOPS (10⁹ operations a second)")
    axes.set_title(arguments.title or "GFLOPS against nodes\n" + plotting.common_title(runs, but=("nodes",)))
    plotting.save(figure, arguments.output)


if __name__ == "__main__":
    plotting.main(draw)
