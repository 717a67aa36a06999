#!/usr/bin/python3
"""Draws one run's passes: what each process does when, in the colour of its role in the pass."""
import re

import plotting
from matplotlib import lines, patches

EXAMPLES = """\
FILE is what `glinpack plu --trace FILE` wrote. Each process has a line for its processor, one for its device where it
has one, and one for the network, thin where it waits for another process. White: nothing under way. Numbers above the
picture are passes, where the pivot process begins them.

examples:
  mpirun -np 4 glinpack plu --n 512 --nb 64 --grid 2x2 --pivoting local --trace trace.json
  scripts/plot/passes.py trace.json -o passes.png -o passes.svg
  scripts/plot/passes.py trace.json --passes 2-4 --ranks 0-3 -o passes.svg
"""
LANES = ("gpu", "copy", "cpu", "net")
UNITS = (("seconds", 1, 1), ("milliseconds", 1e3, 1e-3), ("microseconds", 1e6, 0))
LOOKS = {**plotting.ROLES, "none": {"facecolor": "0.93"}}
NARROWEST = 1 / 2500  # of the picture's width: what lies closer together is drawn as one


def whole(text):
    if not text.isdecimal():
        raise plotting.argparse.ArgumentTypeError(f"'{text}' is no whole number from 0")
    return int(text)


def span(text):
    match = re.fullmatch(r"(\d+)(?:-(\d+))?", text)
    if not match:
        raise plotting.argparse.ArgumentTypeError(f"'{text}' is neither a number nor FIRST-LAST")
    return range(int(match[1]), int(match[2] or match[1]) + 1)


class Trace:
    """Names of processes and intervals of one run. `begin`, `work`, `end` of an interval: it waits for another process
    from begin to work. Seconds; after select() in `unit`, from the first interval on."""

    def __init__(self, path, run):
        events, self.run_name, origin, end = plotting.read_trace(path, run)
        self.names = {event["pid"]: event["args"]["name"] for event in events if event["name"] == "process_name"}
        self.intervals = []
        for event in events:
            if event["ph"] == "X" and origin <= event["ts"] < end:
                begin, work, last = (1e-6 * (event["ts"] - origin + later)
                                     for later in (0, event["args"].get("waiting", 0), event["dur"]))
                self.intervals.append({"rank": event["pid"], "lane": event["cat"], "phase": event["name"],
                                       "role": event["args"]["role"], "pass": event["args"]["pass"],
                                       "begin": begin, "work": work, "end": last})

    def select(self, passes, ranks):
        """Keeps these passes and ranks, all where None."""
        self.intervals = [i for i in self.intervals
                          if (passes is None or i["pass"] in passes) and (ranks is None or i["rank"] in ranks)]
        if not self.intervals:
            raise plotting.Refusal("nothing to draw: the run has no such passes or ranks")
        first = min(i["begin"] for i in self.intervals)
        length = max(i["end"] for i in self.intervals) - first
        self.unit, scale = next((unit, scale) for unit, scale, least in UNITS if length >= least)
        self.length = length * scale
        for interval in self.intervals:
            for key in ("begin", "work", "end"):
                interval[key] = (interval[key] - first) * scale
        self.ranks = sorted({i["rank"] for i in self.intervals})
        self.lanes = [lane for lane in LANES if any(i["lane"] == lane for i in self.intervals)]

    def pass_starts(self):
        """{pass: when its pivot process begins it}, or the first process where the pivot is not drawn."""
        starts = {}
        for interval in self.intervals:
            if interval["pass"] >= 0:
                key = (interval["role"] != "pivot", interval["begin"])
                starts[interval["pass"]] = min(starts.get(interval["pass"], key), key)
        return {number: begin for number, (_, begin) in starts.items()}


def merged(spans, gap):
    """[(begin, length)] of (begin, end): none shorter than `gap`, and what is less than it apart being one."""
    pieces = []
    for begin, end in sorted(spans):
        if pieces and begin - pieces[-1][1] < gap:
            pieces[-1][1] = max(pieces[-1][1], end)
        else:
            pieces.append([begin, max(end, begin + gap)])
    return [(begin, end - begin) for begin, end in pieces]


def draw_lanes(axes, trace):
    """A line for each lane of each rank, from the top down."""
    gap = trace.length * NARROWEST
    intervals_of = {}
    for i in trace.intervals:
        if i["phase"] != "wait":  # the host waits for the device: nothing that it does
            intervals_of.setdefault((i["rank"], i["lane"], i["role"]), []).append(i)
    ticks = []
    height = len(trace.lanes) + 0.6
    for place, rank in enumerate(trace.ranks):
        for depth, lane in enumerate(trace.lanes):
            y = place * height + depth
            ticks.append((y + 0.45, lane))
            for role, look in LOOKS.items():
                intervals = intervals_of.get((rank, lane, role), [])
                waits = [(i["begin"], i["work"]) for i in intervals if i["work"] > i["begin"]]
                works = [(i["work"], i["end"]) for i in intervals if i["end"] > i["work"]]
                for spans, extent in (waits, (y + 0.37, 0.16)), (works, (y, 0.9)):
                    axes.broken_barh(merged(spans, gap), extent, edgecolor="0.25", linewidth=0.2, **look)
        axes.text(-0.055, place * height + len(trace.lanes) / 2, trace.names[rank].replace(") ", ")\n"),
                  ha="right", va="center", fontsize=8, transform=axes.get_yaxis_transform())
    axes.set_xlim(0, trace.length)
    axes.set_ylim(len(trace.ranks) * height - 0.3, -0.3)
    axes.set_yticks([y for y, _ in ticks], [name for _, name in ticks], fontsize=7)


def draw_passes(axes, trace):
    """Lines where passes begin, with their numbers above, as many as find room."""
    shown, last = {}, float("-inf")
    starts = trace.pass_starts()
    for number, begin in sorted(starts.items()):
        if begin - last >= trace.length / 40:
            shown[number] = last = begin
    for begin in (starts if len(starts) <= 100 else shown).values():
        axes.axvline(begin, color="0.4", linewidth=0.5, linestyle=(0, (4, 3)), zorder=0.5)
    above = axes.secondary_xaxis("top")
    above.set_xticks(list(shown.values()), [str(number) for number in shown], fontsize=7)
    above.set_xlabel("pass", fontsize=8)


def draw_legend(axes, trace):
    drawn = {i["role"] for i in trace.intervals}
    handles = [patches.Patch(edgecolor="0.25", label="outside the passes" if role == "none" else role, **look)
               for role, look in LOOKS.items() if role in drawn or role != "none"]
    handles.append(lines.Line2D([], [], color="0.25", linewidth=2, label="thin: waiting for another process"))
    plotting.legend_below(axes, columns=6, handles=handles)


def draw():
    parser = plotting.argument_parser(__doc__, EXAMPLES, 1)
    parser.add_argument("--run", type=whole, default=0, metavar="INDEX", help="which run of the trace, from 0 [0]")
    parser.add_argument("--passes", type=span, metavar="FIRST-LAST", help="these passes alone, from 0")
    parser.add_argument("--ranks", type=span, metavar="FIRST-LAST", help="these processes alone, from 0")
    arguments = parser.parse_args()
    plotting.check_outputs(arguments.output, arguments.force)
    trace = Trace(arguments.files[0], arguments.run)
    trace.select(arguments.passes, arguments.ranks)

    lines_in_all = (len(trace.lanes) + 0.6) * len(trace.ranks)
    figure, axes = plotting.pyplot.subplots(figsize=(9, 1.3 + 0.24 * lines_in_all))
    draw_lanes(axes, trace)
    draw_passes(axes, trace)
    axes.grid(visible=False)
    axes.set_xlabel(f"time, {trace.unit}")
    axes.set_title(arguments.title or trace.run_name, pad=8)
    draw_legend(axes, trace)
    plotting.save(figure, arguments.output)


if __name__ == "__main__":
    plotting.main(draw)
