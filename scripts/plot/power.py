#!/usr/bin/python3
"""Draws one run's power over time, and the clocks and temperatures of its GPUs."""
import plotting

EXAMPLES = """\
FILE is from `glinpack plu --trace FILE` on a machine with power sensors (docs/reading-a-report.md). A line is a sensor,
named by its place in the machine and by the host whose process read it. Clocks, temperatures, and where heat or power held
a GPU's clocks back (hatched) are drawn below where the sensors tell.

examples:
  mpirun -np 4 glinpack plu --n 60000 --nb 512 --grid 1x4 --trace trace.json
  scripts/plot/power.py trace.json -o power.png -o power.svg
  scripts/plot/power.py trace.json --run 2 -o power.svg
"""
QUANTITIES = {"W": "power, W", "MHz": "clock, MHz", "C": "temperature, \N{DEGREE SIGN}C"}
SLOWING = ("power cap", "hardware slowdown", "software thermal slowdown", "hardware thermal slowdown", "power brake")
MOST_LINES = 16


def whole(text):
    if not text.isdecimal():
        raise plotting.argparse.ArgumentTypeError(f"'{text}' is no whole number from 0")
    return int(text)


class Counters:
    """Of one run: values[quantity][sensor] and throttled[sensor], lists of (seconds, value)."""

    def __init__(self, path, run):
        events, self.run_name, origin, end = plotting.read_trace(path, run)
        hosts = {event["pid"]: event["args"]["name"].split()[-1] for event in events
                 if event["name"] == "process_name"}
        self.values = {quantity: {} for quantity in QUANTITIES}
        self.throttled = {}
        for event in events:
            if event["ph"] == "C" and origin <= event["ts"] < end:
                self.take(event, f"{hosts[event['pid']]} ", 1e-6 * (event["ts"] - origin))
        if not self.values["W"]:
            raise plotting.Refusal(f"{path}: run {run} has no readings of power: its machine had no sensors, or "
                                   "no sensor could be read")

    def take(self, event, host, seconds):
        name, values = event["name"], event["args"]
        for reason in SLOWING:
            if name.endswith(" " + reason):
                self.throttled.setdefault(host + name.removesuffix(" " + reason), []).append(
                    (seconds, values["throttled"]))
                return
        sensor, _, quantity = name.rpartition(" ")
        value = values.get(quantity, values.get("core"))
        if quantity in QUANTITIES and value is not None:
            self.values[quantity].setdefault(host + sensor, []).append((seconds, value))


def draw_lines(axes, sensors, order, step):
    for name, points in sorted(sensors.items()):
        look = plotting.line_look(order[name])
        axes.plot([time for time, _ in points], [value for _, value in points], label=name,
                  drawstyle="steps-post" if step else "default",
                  **{**look, "marker": look["marker"] if len(points) < 20 else None})


def shade_throttled(axes, throttled):
    """Where a reason held: from a reading with it to the next one."""
    first = True
    for points in throttled.values():
        for (begin, state), (end, _) in zip(points, points[1:]):
            if state:
                axes.axvspan(begin, end, facecolor="none", edgecolor="0.7", hatch="///", linewidth=0, zorder=0.3,
                             label="a GPU is held back" if first else None)
                first = False


def draw():
    parser = plotting.argument_parser(__doc__, EXAMPLES, 1)
    parser.add_argument("--run", type=whole, default=0, metavar="INDEX", help="which run of the trace, from 0 [0]")
    arguments = parser.parse_args()
    plotting.check_outputs(arguments.output, arguments.force)
    counters = Counters(arguments.files[0], arguments.run)
    names = sorted(counters.values["W"])
    if len(names) > MOST_LINES:
        raise plotting.Refusal(f"{len(names)} sensors are too many lines to tell apart, {MOST_LINES} the most")

    drawn = [quantity for quantity in QUANTITIES if counters.values[quantity]]
    figure, rows = plotting.pyplot.subplots(len(drawn), 1, sharex=True, squeeze=False,
                                            figsize=(7, 1 + 2.2 * len(drawn)))
    order = {name: index for index, name in enumerate(names)}
    for axes, quantity in zip(rows[:, 0], drawn):
        draw_lines(axes, counters.values[quantity], order, quantity == "W")
        shade_throttled(axes, counters.throttled)
        axes.set_ylabel(QUANTITIES[quantity])
        highest = max(value for points in counters.values[quantity].values() for _, value in points)
        axes.set_ylim(0, 1.08 * highest or 1)
    rows[0, 0].set_title(arguments.title or counters.run_name, pad=8)
    rows[-1, 0].set_xlabel("time, seconds")
    rows[-1, 0].set_xlim(left=0)
    plotting.legend_below(rows[-1, 0], columns=2, handles=rows[0, 0].get_legend_handles_labels()[0])
    plotting.save(figure, arguments.output)


if __name__ == "__main__":
    plotting.main(draw)
