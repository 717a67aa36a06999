#!/usr/bin/python3
"""What a way of pivoting costs: residual and growth over process grids, orders and kinds of matrices.

Runs glinpack, gathers its JSON, and writes into a folder: every run as JSON and CSV, tables (Markdown), plots (PNG and
SVG), and the log with all commands. docs/algorithm.md says what came out.

  scripts/study/pivoting.py --output-dir DIR            the whole study: about half an hour on 2 cores
  scripts/study/pivoting.py --output-dir DIR --quick    the same for small matrices: half a minute
  scripts/study/pivoting.py --output-dir DIR --redraw   tables and plots again from DIR/pivoting.json

Only numbers that do not depend on the machine's load are kept; any number of processes may share a core. A run that
fails its check is a result like others. Exit status: 0, 2 unusable input, 3 a run ended with an error.
"""
import argparse
import csv
import json
import math
import os
import pathlib
import re
import shlex
import statistics
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "plot"))
import plotting  # noqa: E402, after the path that it is found by

KINDS = ["hpl", "uniform", "dominant", "wilkinson", "hilbert", "kahan", "graded", "orthogonal"]
SEEDED = ["hpl", "uniform", "graded"]  # kinds whose pivots depend on the seed; of the others the first one is enough
PIVOTINGS = ["partial", "local", "tournament"]
PRECISIONS = ["double", "single"]
RUN_KEYS = ["matrix", "seed", "precision", "pivoting", "n", "nb", "p", "q", "growth", "residual", "passed",
            "singular_column", "failure"]


class StudyError(plotting.Refusal):
    """Ends the study with a message and an exit status."""

    def __init__(self, message, status=2):
        super().__init__(message)
        self.status = status


# Tables and plots, from the JSON alone.

PLOTS = [(value, axis) for value in ("growth", "residual") for axis in ("p", "n")]
REPORT_FILES = ["pivoting.md"] + [f"{value}-{axis}.{suffix}" for value, axis in PLOTS for suffix in ("png", "svg")]
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


def write_report(folder, study):
    """REPORT_FILES; without the plots over N where there is only one."""
    write_tables(folder / "pivoting.md", study)
    for value, axis in PLOTS:
        if axis in drawn_axes(study):
            draw(folder, study, value, axis)


# Runs

def whole_numbers(text):
    numbers = [int(part) if re.fullmatch("[1-9][0-9]{0,8}", part) else 0 for part in text.split(",")]
    if 0 in numbers:
        raise argparse.ArgumentTypeError(f"'{text}' is not a list of whole numbers above 0, with commas")
    return numbers


def whole_number(text):
    numbers = whole_numbers(text)
    if len(numbers) != 1:
        raise argparse.ArgumentTypeError(f"'{text}' is not one whole number")
    return numbers[0]


def grids(text):
    for part in text.split(","):
        if not re.fullmatch("[1-9][0-9]{0,3}x[1-9][0-9]{0,3}", part):
            raise argparse.ArgumentTypeError(f"'{part}' is not a grid PxQ such as 2x1")
    return text.split(",")


def names_of(known):
    def names(text):
        for part in text.split(","):
            if part not in known:
                raise argparse.ArgumentTypeError(f"'{part}' is not one of {', '.join(known)}")
        return text.split(",")
    return names


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output-dir", metavar="DIR", required=True, type=pathlib.Path, help="made if missing")
    parser.add_argument("--quick", action="store_true", help="small matrices, few grids, one seed")
    parser.add_argument("--redraw", action="store_true", help="run nothing: tables and plots from DIR/pivoting.json")
    parser.add_argument("--force", action="store_true", help="overwrite files that exist")
    parser.add_argument("--matrix", metavar="KIND,...", type=names_of(KINDS), default=KINDS, help="[all]")
    parser.add_argument("--precision", metavar="NAME,...", type=names_of(PRECISIONS), default=PRECISIONS, help="[all]")
    parser.add_argument("--pivoting", metavar="NAME,...", type=names_of(PIVOTINGS), default=PIVOTINGS,
                        help="[all that this glinpack has]")
    parser.add_argument("--n", metavar="N,...", type=whole_numbers, help="orders [256,512,1024,2048; quick: 64,128]")
    parser.add_argument("--nb", metavar="NB", type=whole_number, help="block size [32; quick: 8]")
    parser.add_argument("--grid", metavar="PxQ,...", type=grids,
                        help="process grids [1x1,2x1,2x2,4x1,8x1,16x1; quick: 1x1,2x1,4x1]")
    parser.add_argument("--seeds", metavar="COUNT", type=whole_number,
                        help="seeds, from 100 on, for the random matrices [5; quick: 1]")
    parser.add_argument("--glinpack", metavar="FILE", default="build/release/bin/glinpack", help="[%(default)s]")
    parser.add_argument("--mpiexec", metavar="COMMAND", default="mpirun.mpich", help="MPI's launcher [%(default)s]")
    parser.add_argument("--timeout", metavar="SECONDS", type=whole_number, default=900,
                        help="a start of glinpack may take [%(default)s]")
    arguments = parser.parse_args()
    quick = arguments.quick
    arguments.n = arguments.n or ([64, 128] if quick else [256, 512, 1024, 2048])
    arguments.nb = arguments.nb or (8 if quick else 32)
    arguments.grid = arguments.grid or (["1x1", "2x1", "4x1"] if quick else
                                        ["1x1", "2x1", "2x2", "4x1", "8x1", "16x1"])
    arguments.seeds = arguments.seeds or (1 if quick else 5)
    return arguments


def prepare_folder(folder, names, force):
    """Makes the folder; refuses to overwrite."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StudyError(f"--output-dir: {folder} cannot be made: {error.strerror}") from error
    if not os.access(folder, os.W_OK):
        raise StudyError(f"--output-dir: {folder} cannot be written to")
    existing = [name for name in names if (folder / name).exists()]
    if existing and not force:
        raise StudyError(f"{folder / existing[0]} exists and is not overwritten; use --force, or another --output-dir")


class Log:
    """Lines for the user, and for log.txt."""

    def __init__(self, path):
        self.file = open(path, "w", encoding="utf-8")

    def line(self, text):
        print(text, flush=True)
        print(text, file=self.file, flush=True)


def start(command, timeout):
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    try:
        return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace",
                              timeout=timeout, check=False, env=environment)
    except OSError as error:
        raise StudyError(f"{command[0]} cannot be started: {error.strerror}; see --glinpack and --mpiexec") from error
    except subprocess.TimeoutExpired as error:
        raise StudyError(f"took longer than --timeout {timeout}: {shlex.join(command)}", 3) from error


def known_pivotings(glinpack):
    """Those of PIVOTINGS that this glinpack has."""
    known = []
    for pivoting in PIVOTINGS:
        if start([glinpack, "plu", "--n", "1", "--pivoting", pivoting, "--dry-run"], 60).returncode == 0:
            known.append(pivoting)
    if "partial" not in known:
        raise StudyError(f"--glinpack: {glinpack} does not know plu --pivoting partial; is it the program?")
    return known


def study_command(arguments, kind, seed, precision, pivoting):
    processes = max(int(grid.split("x")[0]) * int(grid.split("x")[1]) for grid in arguments.grid)
    return [*shlex.split(arguments.mpiexec), "-np", str(processes), arguments.glinpack, "plu",
            "--matrix", kind, "--seed", str(seed), "--precision", precision, "--pivoting", pivoting,
            "--n", ",".join(map(str, arguments.n)), "--nb", str(arguments.nb), "--grid", ",".join(arguments.grid),
            "--backend", "openblas", "--threads", "1", "--log-level", "warn", "--breakdown", "none"]


def run_one(command, seed, timeout):
    """The runs of one start of glinpack, and its context."""
    with tempfile.TemporaryDirectory(prefix="pivoting-") as folder:
        path = pathlib.Path(folder) / "results.json"
        completed = start([*command, "--json", str(path)], timeout)
        if completed.returncode not in (0, 1) or not path.exists():  # 1: a run failed its check
            raise StudyError(f"exit status {completed.returncode} of {shlex.join(command)}\n"
                             f"{completed.stderr.strip() or completed.stdout[-2000:]}", 3)
        document = json.loads(path.read_text(encoding="utf-8"))
    runs = []
    for run in document["runs"]:
        kept = {key: seed if key == "seed" else run[key] for key in RUN_KEYS}
        if run["singular_column"] is not None:
            kept["growth"] = None  # the factorisation stopped: there is no U
        runs.append(kept)
    return runs, document["context"]


def run_study(arguments, pivotings, log):
    missing = [pivoting for pivoting in arguments.pivoting if pivoting not in pivotings]
    pivotings = [pivoting for pivoting in pivotings if pivoting in arguments.pivoting]
    for pivoting in missing:
        log.line(f"# {pivoting} pivoting is not part of this study: glinpack plu --pivoting does not know it yet")
    runs, context = [], {}
    for kind in arguments.matrix:
        for seed in range(100, 100 + (arguments.seeds if kind in SEEDED else 1)):
            for precision in arguments.precision:
                for pivoting in pivotings:
                    command = study_command(arguments, kind, seed, precision, pivoting)
                    log.line(shlex.join(command))
                    found, context = run_one(command, seed, arguments.timeout)
                    failed = sum(not run["passed"] for run in found)
                    log.line(f"  {len(found)} runs, {failed} FAILED; growth up to "
                             f"{text_of(max((r['growth'] or 0) for r in found))}")
                    runs += found
    return {"format": 1,
            "context": {key: context[key] for key in ("version", "git_commit", "mpi_library", "blas_kernels")},
            "settings": {"n": arguments.n, "nb": arguments.nb, "grid": arguments.grid, "seeds": arguments.seeds,
                         "quick": arguments.quick, "pivotings": pivotings, "pivotings_missing": missing,
                         "kinds": arguments.matrix, "precisions": arguments.precision, "backend": "openblas"},
            "runs": runs}


def write_runs(folder, study):
    with open(folder / "pivoting.json", "w", encoding="utf-8") as file:
        head = {key: value for key, value in study.items() if key != "runs"}
        lines = ",\n".join("    " + json.dumps(run) for run in study["runs"])
        file.write(json.dumps(head, indent=2)[:-2] + ',\n  "runs": [\n' + lines + "\n  ]\n}\n")
    with open(folder / "pivoting.csv", "w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, RUN_KEYS, lineterminator="\n")
        writer.writeheader()
        for run in study["runs"]:
            writer.writerow({**run, "passed": str(run["passed"]).lower()})


def read_runs(folder):
    path = folder / "pivoting.json"
    study = plotting.read_json(path)
    if not isinstance(study, dict) or study.get("format") != 1:
        raise StudyError(f"--redraw: {path} is not what this study writes")
    return study


def main():
    arguments = parse_arguments()
    folder = arguments.output_dir
    if arguments.redraw:
        study = read_runs(folder)
    else:
        pivotings = known_pivotings(arguments.glinpack)
        if not set(pivotings) & set(arguments.pivoting):
            raise StudyError(f"--pivoting: glinpack plu does not know {', '.join(arguments.pivoting)} yet")
        prepare_folder(folder, ["pivoting.json", "pivoting.csv", "log.txt", *REPORT_FILES], arguments.force)
        log = Log(folder / "log.txt")
        log.line("# " + shlex.join(sys.argv))
        study = run_study(arguments, pivotings, log)
        write_runs(folder, study)
        if study["context"]["git_commit"].endswith("-dirty"):
            log.line("# the program was built from sources that are not committed: these figures cannot be repeated")
    write_report(folder, study)


if __name__ == "__main__":
    try:
        main()
    except plotting.Refusal as error:
        print(f"pivoting.py: {error}", file=sys.stderr)
        sys.exit(getattr(error, "status", 2))
