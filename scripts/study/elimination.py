#!/usr/bin/python3
"""What double rows cost in accuracy: errors of Gauss-Jordan elimination by variant, measure and pivoting.

Runs `glinpack-papers gauss-jordan` on random systems with several seeds and writes into a folder: elimination.csv, every result;
elimination.md, medians and worst over the seeds; log.txt, the reports. docs/papers/coprocessor.md says what came out.

  scripts/study/elimination.py --output-dir DIR [--n 64,128,256,512] [--seeds 5]

Only errors are kept, no times. Exit status: 0, 2 unusable input, 3 a run ended with an error.
"""
import argparse
import csv
import json
import os
import pathlib
import re
import shlex
import statistics
import subprocess
import sys
import tempfile

COLUMNS = ["n", "seed", "series", "residual", "difference", "passed", "failure"]


def order_list(text):
    if not re.fullmatch("[1-9][0-9]{0,5}(,[1-9][0-9]{0,5})*", text):
        raise argparse.ArgumentTypeError(f"'{text}' is not a list of whole numbers above 0, with commas")
    return text


def seed_count(text):
    if not re.fullmatch("[1-9][0-9]{0,2}", text):
        raise argparse.ArgumentTypeError(f"'{text}' is not a whole number from 1 to 999")
    return int(text)


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output-dir", metavar="DIR", required=True, type=pathlib.Path, help="made if missing")
    parser.add_argument("--n", metavar="N,...", type=order_list, default="64,128,256,512", help="orders")
    parser.add_argument("--seeds", metavar="COUNT", type=seed_count, default=5, help="seeds, from 1 on")
    parser.add_argument("--force", action="store_true", help="overwrite files that exist")
    options = parser.parse_args()
    for name in "elimination.csv", "elimination.md", "log.txt":
        if (options.output_dir / name).exists() and not options.force:
            parser.error(f"{options.output_dir / name} exists; choose another folder, or give --force")
    return options


def run(options, seed, folder, log):
    """The results of one seed, as rows of the CSV."""
    glinpack = os.environ.get("GLINPACK_PAPERS", "build/release/bin/glinpack-papers")
    file = pathlib.Path(folder) / f"{seed}.json"
    arguments = ["gauss-jordan", "--n", options.n, "--seed", str(seed), "--variant", "double-rows,plain", "--pivoting",
                 "all", "--measure", "all", "--repeat", "1", "--warm-up", "0"]
    outcome = subprocess.run([glinpack, *arguments, "--json", file], capture_output=True, text=True, check=False)
    log.append(f"$ glinpack-papers {shlex.join(arguments)}\n{outcome.stdout}{outcome.stderr}\n")
    if outcome.returncode not in (0, 1):  # 1: a check failed, which is a result
        print(f"elimination.py: exit status {outcome.returncode} of glinpack-papers {shlex.join(arguments)}\n{outcome.stderr}",
              file=sys.stderr, end="")
        sys.exit(3)
    for result in json.loads(file.read_text())["results"]:
        check = result["check"] or {}
        yield dict(zip(COLUMNS, [result["n"], seed, f"{result['variant']} {result['settings']}".strip(),
                                 check.get("error"), result["parameters"].get("error"), result["passed"],
                                 result["failure"] or ""], strict=True))


def number(values, choose):
    values = [value for value in values if value is not None]
    return f"{choose(values):.1e}" if values else "-"


def table(rows):
    seeds = len({row["seed"] for row in rows})
    text = (f"Random systems with one right-hand side, single precision, {seeds} seeds: median, and worst in brackets.\n"
            "Residual: ||A x - b|| / (eps (||A|| ||x|| + ||b||) n), which must not exceed 16. Difference: from LAPACK's\n"
            "solution in double precision, over its largest element. Failed: residual too large, or no pivot found.\n\n"
            "| N | variant | residual | difference | failed |\n| --- | --- | --- | --- | --- |\n")
    for n in sorted({row["n"] for row in rows}):
        for series in dict.fromkeys(row["series"] for row in rows):
            those = [row for row in rows if (row["n"], row["series"]) == (n, series)]
            cells = []
            for key in "residual", "difference":
                values = [row[key] for row in those]
                cells.append(f"{number(values, statistics.median)} ({number(values, max)})")
            failed = sum(not row["passed"] for row in those)
            text += f"| {n} | {series} | {cells[0]} | {cells[1]} | {failed} |\n"
    return text


def main():
    options = parse_arguments()
    rows, log = [], []
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(1, options.seeds + 1):
            rows += run(options, seed, folder, log)
    options.output_dir.mkdir(parents=True, exist_ok=True)
    with open(options.output_dir / "elimination.csv", "w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    (options.output_dir / "elimination.md").write_text(table(rows), encoding="utf-8")
    (options.output_dir / "log.txt").write_text("".join(log), encoding="utf-8")


if __name__ == "__main__":
    main()
