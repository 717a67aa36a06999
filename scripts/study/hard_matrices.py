#!/usr/bin/python3
"""What pivoting costs on hard matrices: LAPACK's eight ratios, growth and residual of every kind of --matrix.

Runs `glinpack plu --check full` for every kind, precision, way of pivoting and grid, and writes into a folder: every run
(runs.csv), tables (README.md), and the log with all commands. docs/algorithm.md has a summary.

  scripts/study/hard_matrices.py --output-dir DIR            about ten minutes on 2 idle cores
  scripts/study/hard_matrices.py --output-dir DIR --quick    small matrices, partial pivoting in double precision

Any number of processes may share a core. A run that fails its check is a result like others. Exit status: 0, 2 unusable
input, 3 a run ended with an error.
"""
import argparse
import csv
import json
import os
import pathlib
import shlex
import subprocess
import sys
import tempfile

PRECISIONS = ["double", "single", "mixed"]
PIVOTINGS = ["partial", "local", "tournament"]
DETERMINISTIC = ("hilbert hilbert-reversed wilkinson dominant zeros ones identity ij jordan jordanT chebspec circul "
                 "fiedler gfpp kms orthog riemann ris zielkeNS minij hilb frank lehmer lotkin redheff triw tridiag "
                 "toeppen pei parter moler cauchy chow clement gcdmat").split()
RANDOM = ("hpl rand rands randn randb randr rands_dominant rands_zerocol0.5 rands_ufl rands_ofl rands_small "
          "rands_large").split()
SPECTRA = [f"{base}_{spectrum}" for base in ("svd", "heev", "poev") for spectrum in
           "logrand arith geo cluster0 cluster1 rgeo".split()] + ["svd_geo_cond1e12", "svd_rand", "diag_geo"]
LAPACK = [f"dlatb4_{number}" for number in range(1, 12)]
KINDS = RANDOM + LAPACK + SPECTRA + DETERMINISTIC
KEYS = ["matrix", "precision", "pivoting", "n", "nb", "p", "q", "passed", "growth", "residual", "singular_column",
        "expected_singular", "rcond", *[f"resid{i}" for i in range(1, 9)], "failure"]


class StudyError(Exception):
    """Ends the study with a message and an exit status."""

    def __init__(self, message, status=2):
        super().__init__(message)
        self.status = status


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output-dir", metavar="DIR", required=True, type=pathlib.Path, help="made if missing")
    parser.add_argument("--quick", action="store_true", help="N = 60, NB = 8, partial pivoting, double precision")
    parser.add_argument("--force", action="store_true", help="overwrite files that exist")
    parser.add_argument("--matrix", metavar="KIND", nargs="+", default=KINDS, help="[all]")
    parser.add_argument("--precision", nargs="+", choices=PRECISIONS, help="[double single; quick: double]")
    parser.add_argument("--pivoting", nargs="+", choices=PIVOTINGS, help="[all; quick: partial]")
    parser.add_argument("--n", type=int, help="order [100; quick: 60]")
    parser.add_argument("--nb", type=int, help="block size [16; quick: 8]")
    parser.add_argument("--grid", metavar="PxQ", nargs="+", default=["1x1", "2x2", "3x2"], help="[1x1 2x2 3x2]")
    parser.add_argument("--backend", metavar="NAME", default="openblas", help="[%(default)s]")
    parser.add_argument("--glinpack", metavar="FILE", default="build/release/bin/glinpack", help="[%(default)s]")
    parser.add_argument("--mpiexec", metavar="COMMAND", default="mpirun.mpich", help="MPI's launcher [%(default)s]")
    parser.add_argument("--timeout", metavar="SECONDS", type=int, default=900,
                        help="a start of glinpack may take [%(default)s]")
    arguments = parser.parse_args()
    quick = arguments.quick
    arguments.precision = arguments.precision or (["double"] if quick else ["double", "single"])
    arguments.pivoting = arguments.pivoting or (["partial"] if quick else PIVOTINGS)
    arguments.n = arguments.n or (60 if quick else 100)
    arguments.nb = arguments.nb or (8 if quick else 16)
    return arguments


def command_of(arguments, kind, precision, way):
    processes = max(int(grid.split("x")[0]) * int(grid.split("x")[1]) for grid in arguments.grid)
    return [*shlex.split(arguments.mpiexec), "-np", str(processes), arguments.glinpack, "plu", "--check", "full",
            "--matrix", kind, "--precision", precision, "--pivoting", way, "--n", str(arguments.n),
            "--nb", str(arguments.nb), "--grid", ",".join(arguments.grid), "--backend", arguments.backend,
            "--threads", "1", "--progress", "never", "--breakdown", "none", "--doctor", "off", "--power-interval", "0"]


def kept(run):
    check = run["full_check"]
    values = {key: run[key] for key in KEYS if key in run}
    values.update({f"resid{i + 1}": ratio for i, ratio in enumerate(check["ratios"])})
    values.update(expected_singular=check["expected_singular"], rcond=check["rcond"])
    if run["singular_column"] is not None:
        values.update(growth=None, rcond=None)
    return values


def run_one(command, timeout):
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    with tempfile.TemporaryDirectory(prefix="hard-matrices-") as folder:
        path = pathlib.Path(folder) / "results.json"
        try:
            completed = subprocess.run([*command, "--json", str(path)], stdin=subprocess.DEVNULL, capture_output=True,
                                       text=True, errors="replace", timeout=timeout, check=False, env=environment)
        except OSError as error:
            raise StudyError(f"{command[0]} cannot be started: {error.strerror}; see --glinpack, --mpiexec") from error
        except subprocess.TimeoutExpired as error:
            raise StudyError(f"took longer than --timeout {timeout}: {shlex.join(command)}", 3) from error
        if completed.returncode not in (0, 1) or not path.exists():  # 1: a run failed its check
            raise StudyError(f"exit status {completed.returncode} of {shlex.join(command)}\n"
                             f"{completed.stderr.strip() or completed.stdout[-2000:]}", 3)
        document = json.loads(path.read_text(encoding="utf-8"))
    return [kept(run) for run in document["runs"]], document["context"]


def number(value):
    return "" if value is None else f"{value:.2g}"


def cell(run):
    """What went wrong, or the largest ratio; then the growth."""
    if run["passed"] and run["singular_column"] is not None:
        return f"singular at {run['singular_column']}"
    ratios = [(run[f"resid{i}"], i) for i in range(1, 9) if run[f"resid{i}"] is not None]
    if run["passed"]:
        return f"{number(max(ratios)[0])}; {number(run['growth'])}"
    if run["singular_column"] is not None:
        return f"FAILED: zero pivot at {run['singular_column']}"
    failed = [f"{i}: {number(ratio)}" for ratio, i in sorted(ratios, key=lambda pair: pair[1]) if ratio >= 30]
    return f"FAILED {', '.join(failed) or 'residual'}; {number(run['growth'])}"


def tables(arguments, runs, context):
    ways = [(way, grid) for way in arguments.pivoting for grid in arguments.grid]
    text = ["# Hard matrices", "",
            f"`plu --check full`, N = {arguments.n}, NB = {arguments.nb}, `{arguments.backend}`, "
            f"glinpack {context['version']} {context['git_commit']}. A cell has the largest of LAPACK's eight ratios, "
            "which pass below 30, and the growth max |u| / max |a|; or the ratios that FAILED, by number.", ""]
    by_key = {(r["matrix"], r["precision"], r["pivoting"], f"{r['p']}x{r['q']}"): r for r in runs}
    for precision in arguments.precision:
        of_it = [run for run in runs if run["precision"] == precision]
        text += [f"## {precision}", "", "| pivoting, grid | passed | FAILED |", "| --- | --- | --- |"]
        for way, grid in ways:
            here = [run for run in of_it if run["pivoting"] == way and f"{run['p']}x{run['q']}" == grid]
            failed = [run["matrix"] for run in here if not run["passed"]]
            text.append(f"| {way}, {grid} | {len(here) - len(failed)} | {len(failed)}: {', '.join(failed)} |")
        text += ["", "| matrix | rcond | " + " | ".join(f"{way} {grid}" for way, grid in ways) + " |",
                 "| --- | --- |" + " --- |" * len(ways)]
        for kind in arguments.matrix:
            row = [by_key[kind, precision, way, grid] for way, grid in ways]
            text.append(f"| {kind} | {number(row[0]['rcond'])} | " + " | ".join(cell(run) for run in row) + " |")
        text.append("")
    return "\n".join(text)


def prepare_folder(folder, names, force):
    """Makes the folder; refuses to overwrite."""
    existing = [name for name in names if (folder / name).exists()]
    if existing and not force:
        raise StudyError(f"{folder / existing[0]} exists and is not overwritten; use --force, or another --output-dir")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StudyError(f"--output-dir: {folder} cannot be made: {error.strerror}") from error


def main():
    arguments = parse_arguments()
    folder = arguments.output_dir
    prepare_folder(folder, ["runs.csv", "README.md", "log.txt"], arguments.force)
    with open(folder / "log.txt", "w", encoding="utf-8") as log:
        def tell(line):
            print(line, flush=True)
            print(line, file=log, flush=True)

        tell("# " + shlex.join(sys.argv))
        runs, context = [], {}
        for kind in arguments.matrix:
            for precision in arguments.precision:
                for way in arguments.pivoting:
                    command = command_of(arguments, kind, precision, way)
                    tell(shlex.join(command))
                    found, context = run_one(command, arguments.timeout)
                    for run in found:
                        if not run["passed"]:
                            tell(f"  {run['p']}x{run['q']} FAILED: {run['failure']}")
                    runs += found
        tell(f"# {len(runs)} runs, {sum(not run['passed'] for run in runs)} FAILED")
    with open(folder / "runs.csv", "w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, KEYS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(runs)
    (folder / "README.md").write_text(tables(arguments, runs, context), encoding="utf-8")


if __name__ == "__main__":
    try:
        main()
    except StudyError as error:
        print(f"hard_matrices.py: {error}", file=sys.stderr)
        sys.exit(error.status)
