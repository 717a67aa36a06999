#!/usr/bin/python3
"""Packs the logs and JSON files of a study into one file, a line of JSON for each: {"file", "json"} or {"file", "text"}.

  scripts/results.py pack results/h200/runs.jsonl.gz results/h200/before/*   # adds files, named from the archive's folder
  scripts/results.py unpack results/h200/runs.jsonl.gz DIR                   # writes them below DIR
  scripts/results.py table results/h200/runs.jsonl.gz                        # a line for each run, as Markdown

`pack` removes what it packed. Exit status: 0, 2 unusable input.
"""
import gzip
import json
import os
import pathlib
import re
import statistics
import sys


def read(archive):
    """{file: JSON document, or text}; empty without an archive."""
    if not archive.exists():
        return {}
    with gzip.open(archive, "rt", encoding="utf-8") as lines:
        entries = [json.loads(line) for line in lines]
    return {entry["file"]: entry.get("json", entry.get("text")) for entry in entries}


def log(folder, name):
    """The text of a section of the folder's logs.md."""
    text = (folder / "logs.md").read_text(encoding="utf-8")
    return re.search(rf"^## {re.escape(name)}\n\n(?:\w[^\n]*\n+)*(```+)text\n(.*?)^\1$", text, re.MULTILINE | re.DOTALL)[2]


def pack(archive, files):
    """Adds files to an archive, or replaces them there, and removes them from the disk."""
    contents = read(archive)
    for file in files:
        text = file.read_text(encoding="utf-8", errors="replace")
        name = os.path.relpath(file, archive.parent)
        contents[name] = json.loads(text) if file.suffix == ".json" and text else text
    partial = archive.with_name(archive.name + ".partial")
    with open(partial, "wb") as out, gzip.GzipFile("", "wb", 9, out, mtime=0) as packed:
        for name, content in sorted(contents.items()):
            entry = {"file": name, "text" if isinstance(content, str) else "json": content}
            packed.write(json.dumps(entry, ensure_ascii=False, separators=(",", ":")).encode() + b"\n")
    partial.replace(archive)
    for file in files:
        file.unlink()


def unpack(archive, folder):
    """Writes the files below a folder; returns their paths."""
    if not archive.exists():
        raise FileNotFoundError(f"{archive}: no such file")
    paths = []
    for name, content in read(archive).items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content if isinstance(content, str) else json.dumps(content, indent=2), encoding="utf-8")
        paths.append(path)
    return paths


def run_rows(document):
    """The runs of a result of plu, repetitions in one row with the median time."""
    groups = {}
    for run in document["runs"]:
        grid = f"{run['p']}x{run['q']}"
        precision = run.get("precision", "")
        groups.setdefault((run.get("backend", ""), precision, run.get("pivoting", ""), run["n"], run["nb"], grid),
                          []).append(run)
    for key, runs in groups.items():
        yield [*map(str, key), str(len(runs)), f"{statistics.median(run['time'] for run in runs):.4g}",
               f"{statistics.median(run['gflops'] for run in runs):.4g}"]


def text_rows(text):
    """HPL's result lines of a report, repetitions in one row. A log of several commands has none."""
    groups = {}
    if not re.search(r"^T/V ", text, re.MULTILINE):
        return
    for line in re.findall(r"^W[RC]\w+ +(\d+ +\d+ +\d+ +\d+ +\S+ +\S+)$", text, re.MULTILINE):
        n, nb, p, q, seconds, gflops = line.split()
        groups.setdefault((n, nb, f"{p}x{q}"), []).append((float(seconds), float(gflops)))
    for key, runs in groups.items():
        yield ["", "", "", *key, str(len(runs)), *(f"{statistics.median(values):.4g}" for values in zip(*runs))]


def solver_rows(document):
    """The results of a solver of the papers."""
    for result in document["results"]:
        seconds = result["times"]["compute"]["median"] if result["times"] else None
        iteration = result["parameters"].get("seconds_per_iteration")
        yield [document["mode"], " ".join(filter(None, [result["variant"], result["settings"]])), result["precision"],
               result["size"], *(f"{value:.4g}" if value else "" for value in
                                 (seconds, iteration and 1e6 * iteration, result["gflops"], result["speedup"]))]


def markdown(head, rows):
    return [f"| {' | '.join(row)} |" for row in [head, ["---"] * len(head), *rows]] + [""] if rows else []


def table(contents):
    plu, solvers, others = [], [], []
    for name, content in contents.items():
        stem = name.rsplit(".", 1)[0]
        rows, is_solver = [], isinstance(content, dict) and "mode" in content and "results" in content
        if isinstance(content, str):
            rows = [] if f"{stem}.json" in contents else list(text_rows(content))
        elif is_solver:
            rows = list(solver_rows(content))
        elif "runs" in content and content["runs"] and "gflops" in content["runs"][0]:
            rows = list(run_rows(content))
        (solvers if is_solver else plu).extend([stem, *row] for row in rows)
        if not rows and not (isinstance(content, str) and f"{stem}.json" in contents):
            others.append(f"`{name}`")
    lines = markdown(["file", "backend", "precision", "pivoting", "N", "NB", "grid", "runs", "time, s", "GFLOPS"], plu)
    lines += markdown(["file", "solver", "variant", "precision", "size", "time, s", "us/iteration", "GFLOPS", "speed-up"],
                      solvers)
    return "\n".join(lines + (["Other files: " + ", ".join(others) + "."] if others else [])).rstrip("\n") + "\n"


def main(arguments):
    try:
        command, archive, *files = arguments
        archive, files = pathlib.Path(archive), [pathlib.Path(file) for file in files]
        if command == "pack" and files:
            pack(archive, files)
        elif command == "unpack" and len(files) == 1:
            unpack(archive, *files)
        elif command == "table" and not files:
            print(table(read(archive)), end="")
        else:
            raise ValueError
    except ValueError:
        print(__doc__, file=sys.stderr)
        return 2
    except OSError as error:
        print(f"results.py: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
