"""What the plots share: reading glinpack's JSON, looks that can be told apart in grey, writing PNG and SVG."""
import argparse
import json
import pathlib
import sys

try:
    import matplotlib
except ImportError:
    print(f"{pathlib.Path(sys.argv[0]).name}: matplotlib is not installed: apt-get install python3-matplotlib",
          file=sys.stderr)
    sys.exit(2)
matplotlib.use("Agg")
from matplotlib import pyplot  # noqa: E402, after the choice of a renderer that needs no display

pyplot.rcParams.update({
    "font.size": 9,
    "axes.titlesize": 10,
    "legend.fontsize": 8,
    "axes.grid": True,
    "grid.color": "0.85",
    "axes.axisbelow": True,
    "hatch.linewidth": 0.6,
    "figure.dpi": 150,
    "svg.fonttype": "none",  # text stays text: small, and can be searched
    "svg.hashsalt": "glinpack",  # the same picture gives the same file
    "font.family": ["DejaVu Sans", "sans-serif"],
})

# Colours from dark to light, so that they stay apart in grey, and something else besides for each.
COLOURS = ("#0b2e59", "#b2430f", "#2a8f7a", "#c98a00", "#7a5cc4", "#86b5dd", "#e39ab8", "#9b9b9b")
LINES = ("-", "--", "-.", ":")
MARKERS = "osD^vPX*"
MOST_SERIES = 16

# The four roles of the white paper, dark to light, in the order of a pass.
ROLES = {
    "pivot": {"facecolor": "#0b2e59", "hatch": ""},
    "eliminate": {"facecolor": "#c8501e", "hatch": "\\\\\\"},
    "normalize": {"facecolor": "#58b39d", "hatch": "///"},
    "reduce": {"facecolor": "#f3d77c", "hatch": "..."},
}

class Refusal(Exception):
    """Something that the user can mend. Ends the program with exit status 2."""


def line_look(index):
    """Colour, line and marker of the index-th series of lines."""
    return {"color": COLOURS[index % len(COLOURS)], "linestyle": LINES[(index + index // len(COLOURS)) % len(LINES)],
            "marker": MARKERS[index % len(MARKERS)], "markersize": 5, "linewidth": 1.4}


def argument_parser(description, examples, inputs):
    """A parser with what every plot takes: input files, --output, --title, --force."""
    parser = argparse.ArgumentParser(description=description, epilog=examples,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", metavar="FILE", nargs=inputs, type=pathlib.Path,
                        help="what glinpack wrote; see below")
    parser.add_argument("-o", "--output", metavar="PICTURE", action="append", required=True, type=pathlib.Path,
                        help="picture to write, its kind by the name: .png or .svg; may be given several times")
    parser.add_argument("--title", help="title of the picture instead of its own")
    parser.add_argument("--force", action="store_true", help="overwrite pictures that exist")
    return parser


def main(draw):
    """Runs `draw()`; a Refusal becomes one line and exit status 2."""
    try:
        draw()
    except Refusal as refusal:
        print(f"{pathlib.Path(sys.argv[0]).name}: {refusal}", file=sys.stderr)
        sys.exit(2)


def legend_below(axes, columns, handles=None):
    """A legend under the label of the x axis, however tall the picture is."""
    height = axes.get_window_extent().height / axes.figure.dpi  # inches
    handles = handles or axes.get_legend_handles_labels()[0]
    axes.legend(handles=handles, loc="upper center", ncol=columns, bbox_to_anchor=(0.5, -0.45 / height), frameon=False)


def check_outputs(paths, force):
    for path in paths:
        if path.suffix not in (".png", ".svg"):
            raise Refusal(f"--output {path}: the name ends neither in .png nor in .svg")
        if path.exists() and not force:
            raise Refusal(f"--output {path}: the file exists; --force overwrites it")
        if not path.parent.is_dir():
            raise Refusal(f"--output {path}: there is no folder {path.parent}")


def save(figure, paths):
    for path in paths:
        metadata = {"Date": None} if path.suffix == ".svg" else {"Software": None}
        try:
            figure.savefig(path, bbox_inches="tight", metadata=metadata)
        except OSError as error:
            raise Refusal(f"--output {path}: {error.strerror}") from None
        print(path)
    pyplot.close(figure)


def read_json(path):
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise Refusal(f"{path}: {error.strerror}") from None
    except ValueError as error:
        raise Refusal(f"{path}: not JSON: {error}") from None


def read_trace(path, run):
    """Of a run of what glinpack plu --trace wrote: all events, and the run's name, begin and end among them."""
    document = read_json(path)
    if not isinstance(document, dict) or "traceEvents" not in document:
        raise Refusal(f"{path}: no trace: what glinpack plu --trace writes is expected")
    events = document["traceEvents"]
    starts = [(event["ts"], event["name"]) for event in events if event["ph"] == "i"]
    if run >= len(starts):
        raise Refusal(f"--run {run}: {path} has {len(starts)} runs, counted from 0")
    origin, name = starts[run]
    return events, name, origin, starts[run + 1][0] if run + 1 < len(starts) else float("inf")


def say_left_out(failed, everything):
    print(f"left out: {failed} of {everything} runs, which failed their check", file=sys.stderr)


def whole_ticks(axis, values):
    """Ticks at the values themselves, as plain numbers, as many as find room."""
    values = sorted(set(values))
    kept = values[::-(-len(values) // 12)]
    axis.set_major_locator(matplotlib.ticker.FixedLocator(kept))
    axis.set_major_formatter(matplotlib.ticker.FixedFormatter([str(value) for value in kept]))
    axis.set_minor_locator(matplotlib.ticker.NullLocator())


def plain_log_ticks(axis):
    """A logarithmic axis of time or rate, written 0.01, 0.1, 1, 10, with 2 and 5 between where it is short."""
    low, high = axis.get_view_interval()
    steps = (1,) if high > 1000 * low else (1, 2, 5)
    axis.set_major_locator(matplotlib.ticker.LogLocator(subs=steps, numticks=50))
    axis.set_major_formatter(matplotlib.ticker.FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_formatter(matplotlib.ticker.NullFormatter())
