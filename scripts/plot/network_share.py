#!/usr/bin/python3
"""Draws where the time of runs went: computing, the network while nothing computed, waiting, the rest."""
import plotting

EXAMPLES = """\
FILE is what `glinpack plu --json FILE` wrote. A bar is a run, its length the run's time: shares are means over the
processes. The network's time counts where a process computes nothing meanwhile; what is hidden behind computation is
printed beside the bar. Of repeated runs all are drawn.

examples:
  mpirun -np 4 glinpack plu --n 2000 --nb 64,128,256 --json results.json
  scripts/plot/network_share.py results.json -o share.png -o share.svg
  scripts/plot/network_share.py 100mbit.json 1gbit.json --where n=2048 -o share.svg
"""
MOST_BARS = 80
LOOKS = {
    "computing": {"facecolor": "#2f5c8f"},
    "network, nothing computed": {"facecolor": "#e9a23b", "hatch": "..."},
    "waiting for other processes": {"facecolor": "#f6dfb8", "hatch": "///"},
    "transfers to the device, gaps": {"facecolor": "white"},
}


def shares(run):
    """{part: per cent of the run's time}"""
    breakdown = run["breakdown"]
    if breakdown is None or not run["time"]:
        raise plotting.Refusal(f"n {run['n']}, nb {run['nb']}: the run has no breakdown of its time")
    if "waiting" not in breakdown:
        raise plotting.Refusal(f"n {run['n']}, nb {run['nb']}: an older glinpack, which did not tell waiting from the "
                               "network, wrote the file; run it again")
    seconds = [breakdown["computing"]["mean"], breakdown["network"]["exposed"]["mean"], breakdown["waiting"]["mean"]]
    seconds.append(max(0.0, run["time"] - sum(seconds)))
    return dict(zip(LOOKS, (100 * part / run["time"] for part in seconds)))


def note(run):
    hidden = 100 * run["breakdown"]["network"]["hidden"]["mean"] / run["time"]
    text = f"{run['time']:.3g} s"
    return f"{text}; network hidden {hidden:.0f} %" if hidden >= 0.5 else text


def draw_bars(axes, runs):
    keys = plotting.varying(runs)
    names = []
    for place, run in enumerate(runs):
        start = 0
        for part, share in shares(run).items():
            axes.barh(place, share, left=start, height=0.7, label=part if place == 0 else None, edgecolor="black",
                      linewidth=0.5, **LOOKS[part])
            if share >= 6:
                axes.text(start + share / 2, place, f"{share:.0f} %", ha="center", va="center", fontsize=7,
                          bbox={"facecolor": "white", "edgecolor": "none", "pad": 1})
            start += share
        axes.text(101, place, note(run), va="center", fontsize=7)
        names.append(plotting.label(run, keys) or plotting.label(run, ["n", "nb", "grid"]))
    axes.set_yticks(range(len(runs)), names)
    axes.set_ylim(len(runs) - 0.4, -0.6)


def draw():
    parser = plotting.argument_parser(__doc__, EXAMPLES, "+")
    plotting.add_where(parser)
    arguments = parser.parse_args()
    plotting.check_outputs(arguments.output, arguments.force)
    runs = plotting.read_runs(arguments.files, arguments.where)
    if len(runs) > MOST_BARS:
        raise plotting.Refusal(f"{len(runs)} runs are too many bars for a picture, {MOST_BARS} the most; choose with "
                               "--where KEY=VALUE")

    figure, axes = plotting.pyplot.subplots(figsize=(7, 1.2 + 0.3 * len(runs)))
    draw_bars(axes, runs)
    axes.set_xlim(0, 100)
    axes.grid(axis="y", visible=False)
    axes.set_xlabel("share of the run's time, per cent (mean over processes)")
    axes.set_title(arguments.title or "Network share\n" + plotting.common_title(runs))
    plotting.legend_below(axes, columns=2)
    plotting.save(figure, arguments.output)


if __name__ == "__main__":
    plotting.main(draw)
