"""Tables and plots of the pivoting study, from its JSON alone."""
import math
import pathlib
import statistics
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "plot"))
import plotting  # noqa: E402, after the path that it is found by

PLOTS = [(value, axis) for value in ("growth", "residual") for axis in ("p", "n")]
FILES = ["pivoting.md"] + [f"{value}-{axis}.{suffix}" for value, axis in PLOTS for suffix in ("png", "svg")]
THRESHOLD = 16.0

VALUE_LABELS = {"growth": "pivot growth max |u| / max |a|", "residual": "scaled residual"}
# Thin and dark lies on thick and light, so that lines that coincide are all seen, in grey, too.
STYLES = {"partial": dict(color=plotting.COLOURS[5], marker="o", linewidth=4.5, markersize=10, zorder=2),
          "tournament": dict(color=plotting.COLOURS[2], marker="^", linewidth=2.4, markersize=8, zorder=3),
          "local": dict(color=plotting.COLOURS[1], marker="s", linewidth=1.2, markersize=4.5, zorder=4)}
DASHES = {"double": "-", "single": (0, (2, 1.5))}


def text_of(value):
    """Three digits, as short as they go."""
    if value is None:
        return "-"
    return f"{value:.3g}" if 1e-2 <= abs(value) < 1e5 or value == 0 else f"{value:.1e}"


def chosen(study, **wanted):
    return [run for run in study["runs"] if all(run[key] == value for key, value in wanted.items())]


def largest_p(study):
    return max(run["p"] for run in study["runs"] if run["q"] == 1)


def drawn_axes(study):
    """ "p" always, "n" where there are several orders."""
    return ["p", "n"] if len(study["settings"]["n"]) > 1 else ["p"]


def spread(runs, value):
    """Median, least and most over seeds; None where no run has the value."""
    values = [run[value] for run in runs if run[value] is not None]
    return (statistics.median(values), min(values), max(values)) if values else None


def cell(runs, value):
    over_seeds = spread(runs, value)
    if over_seeds is None:
        return "-"
    median, _, most = over_seeds
    return text_of(median) + (f" ({text_of(most)})" if len(runs) > 1 else "")


def failures(runs):
    return f"{sum(not run['passed'] for run in runs)} of {len(runs)}"


def table(study, precision, head, rows):
    """One line for each kind and row; `rows`: (text, what picks its runs)."""
    pivotings = study["settings"]["pivotings"]
    columns = [f"{name} {pivoting}" for name in ("growth", "residual", "FAILED") for pivoting in pivotings]
    lines = [["matrix", head, *columns]]
    for kind in study["settings"]["kinds"]:
        for text, wanted in rows:
            groups = [chosen(study, matrix=kind, precision=precision, pivoting=pivoting, **wanted)
                      for pivoting in pivotings]
            lines.append([kind, text, *[cell(runs, value) for value in ("growth", "residual") for runs in groups],
                          *[failures(runs) for runs in groups]])
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    lines.insert(1, ["-" * width for width in widths])
    return "\n".join("| " + " | ".join(part.ljust(width) for part, width in zip(line, widths)) + " |" for line in lines)


def write_tables(path, study):
    settings, context = study["settings"], study["context"]
    n, p = max(settings["n"]), largest_p(study)
    by_grid = [(grid, dict(n=n, p=int(grid.split("x")[0]), q=int(grid.split("x")[1]))) for grid in settings["grid"]]
    by_order = [(str(order), dict(n=order, p=p, q=1)) for order in settings["n"]]
    text = "# Pivoting: growth and residual\n\n"
    text += (f"glinpack {context['version']}, commit {context['git_commit']}; NB = {settings['nb']}, "
             f"backend {settings['backend']}. Growth is max |u| / max |a|,\n"
             f"the residual HPL's, scaled; a run FAILED where it is not below {THRESHOLD:g}. Of random matrices the\n"
             f"median over {settings['seeds']} seed{'s' if settings['seeds'] > 1 else ''}, in parentheses the largest. "
             "- : no factors, or no number.\n")
    for missing in settings["pivotings_missing"]:
        text += f"There is no {missing} pivoting here: this glinpack does not have it.\n"
    for precision in settings["precisions"]:
        text += f"\n## {precision.capitalize()} precision, N = {n}, by process grid\n\n"
        text += table(study, precision, "PxQ", by_grid) + "\n"
        if "n" in drawn_axes(study):
            text += f"\n## {precision.capitalize()} precision, P = {p}, Q = 1, by order\n\n"
            text += table(study, precision, "N", by_order) + "\n"
    path.write_text(text, encoding="utf-8")


def draw_lines(axes, study, kind, value, axis):
    """The lines of one kind of matrix; whether some run of it has no value."""
    settings = study["settings"]
    fixed = dict(n=max(settings["n"])) if axis == "p" else dict(p=largest_p(study))
    incomplete = False
    for precision in settings["precisions"]:
        for pivoting in settings["pivotings"]:
            runs = chosen(study, matrix=kind, precision=precision, pivoting=pivoting, q=1, **fixed)
            places = sorted({run[axis] for run in runs})
            found = [(place, spread([run for run in runs if run[axis] == place], value)) for place in places]
            incomplete |= any(run[value] is None for run in runs)
            found = [(place, over_seeds) for place, over_seeds in found if over_seeds]
            if not found:
                continue
            medians = [median for _, (median, _, _) in found]
            bars = [[median - least for _, (median, least, _) in found],
                    [most - median for _, (median, _, most) in found]]
            style = STYLES[pivoting]
            axes.errorbar([place for place, _ in found], medians, yerr=bars, label=f"{pivoting}, {precision}",
                          linestyle=DASHES[precision],
                          markerfacecolor=style["color"] if precision == "double" else "white",
                          capsize=style["markersize"] / 2, elinewidth=style["linewidth"] / 1.5, **style)
    return incomplete


def set_limits(axes, value):
    """Growth from 1 on; residuals with the threshold; three decades at least: a factor of 2 is no catastrophe."""
    low, high = axes.get_ylim()
    if value == "growth":
        decades = max(3, 1.08 * math.log10(high))
        axes.set_ylim(10 ** (-0.08 * decades), 10**decades)
    else:
        low, high = min(low, 1), max(high, 4 * THRESHOLD)
        axes.set_ylim(low, max(1.5 * high, 1000 * low))


def draw(folder, study, value, axis):
    settings = study["settings"]
    kinds = settings["kinds"]
    rows = 1 if len(kinds) <= 3 else 2
    columns = math.ceil(len(kinds) / rows)
    figure, grid = plotting.pyplot.subplots(rows, columns, figsize=(11 if columns > 2 else 8.5, 1.2 + 2.7 * rows),
                                            squeeze=False)
    incomplete = False
    for axes, kind in zip(grid.flat, kinds):
        incomplete |= draw_lines(axes, study, kind, value, axis)
        axes.set_xscale("log", base=2)
        axes.set_yscale("log")
        plotting.whole_ticks(axes.xaxis, [run[axis] for run in study["runs"] if run["q"] == 1])
        if value == "residual":
            axes.axhline(THRESHOLD, color="black", linewidth=0.9, linestyle="-.", label=f"{THRESHOLD:g}: FAILED above")
        set_limits(axes, value)
        axes.set_title(kind)
    for axes in grid.flat[len(kinds):]:
        axes.set_visible(False)
    for axes in grid[-1]:
        axes.set_xlabel("P, process rows" if axis == "p" else "N, order of the matrix")
    for axes in grid[:, 0]:
        axes.set_ylabel(VALUE_LABELS[value])
    fixed = f"N = {max(settings['n'])}" if axis == "p" else f"P = {largest_p(study)}"
    figure.suptitle(f"{VALUE_LABELS[value]}, {fixed}, Q = 1, NB = {settings['nb']}")
    note = f"Bars: least and most over {settings['seeds']} seeds. " if settings["seeds"] > 1 else ""
    note += "Vertical axes differ."
    note += " Runs without a result are left out: see the table." if incomplete else ""
    handles, labels = grid[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="lower center", ncol=len(labels), frameon=False, bbox_to_anchor=(0.5, 0.025))
    figure.text(0.5, 0.01, note, ha="center")
    figure.tight_layout(rect=(0, 0.075 * 6.6 / figure.get_figheight(), 1, 1))
    plotting.save(figure, [folder / f"{value}-{axis}.{suffix}" for suffix in ("png", "svg")])


def write(folder, study):
    """FILES; without the plots over N where there is only one."""
    write_tables(folder / "pivoting.md", study)
    for value, axis in PLOTS:
        if axis in drawn_axes(study):
            draw(folder, study, value, axis)
