#!/usr/bin/python3
"""The model of `glinpack plan`: beside runs in network namespaces, and for up to 10,000 GPUs.

Writes into a folder: check.md, what the model predicts of runs between nodes with the figures of runs on one node,
beside what was measured (results/paper/openblas), and the largest N on more and more nodes; the latter also as
scaling.csv, scaling.png and scaling.svg; log.txt, every command with its plan. docs/planning.md says what came out. Nothing is
measured.

  scripts/study/planning.py --output-dir DIR

GLINPACK in the environment names the program. Exit status: 0, 2 unusable input, 3 a plan ended with an error.
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

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "scripts" / "plot"), str(ROOT / "scripts")]
import plotting  # noqa: E402, needs the path above
import results  # noqa: E402

GLINPACK = os.environ.get("GLINPACK", str(ROOT / "build" / "release" / "bin" / "glinpack"))
STUDIES = ("paper", "h200", "h200-x4")  # whose runs are read, from results/STUDY/runs.jsonl.gz
RUNS = "paper/openblas/runs"
# Links of scripts/netlab at 100mbit, of which Ethernet's frames leave 94 per cent for data, and their latency.
LAB = ["--network", "94mbit", "--latency", "10us"]
LAB_RUN = ["--backend", "openblas", "--precision", "single", "--pivoting", "local", "--broadcast", "ibcast",
           "--lookahead", "0"]
ONE_NODE = [f"{RUNS}/table1-n{n}-nb{nb}-4procs-1nodes-openblas.json"
            for n, sizes in ((2048, (128, 256, 512)), (4096, (256, 512, 1024))) for nb in sizes]
BETWEEN_NODES = [(n, nb, 4, nodes) for n, sizes in ((512, (32, 64, 128)), (2048, (128, 256, 512, 1024)),
                                                    (4096, (256, 512, 1024, 2048))) for nb in sizes for nodes in (2, 4)]
LARGER = [(8192, nb, processes, 4) for processes in (4, 16) for nb in (256, 512, 1024)]

GPUS_PER_NODE = 4
# (nodes, link, grid); the largest plan is on one grid, which saves minutes
CLUSTERS = [(1, "100Gb/s", None), (4, "100Gb/s", None), (16, "100Gb/s", None), (64, "100Gb/s", None),
            (256, "100Gb/s", None), (2500, "100Gb/s", "50x200"), (256, "400Gb/s", None)]
H200 = [f"h200/single-{n}.json" for n in (16384, 32768, 49152)] + [
    "h200/partial-32768.json", "h200-x4/gpus-2-1x2.json", "h200-x4/gpus-4-1x4.json"]
CLUSTER = ["--gpus-per-node", str(GPUS_PER_NODE), "--memory", "80G", "--precision", "single", "--pivoting",
           "tournament", "--from", ",".join(H200)]
COLUMNS = ["network", "gpus", "grid", "n", "nb", "seconds", "gflops", "efficiency"]


class Plans:
    def __init__(self, log):
        self.log = log
        self.folder = tempfile.TemporaryDirectory()
        for study in STUDIES:
            results.unpack(ROOT / "results" / study / "runs.jsonl.gz", pathlib.Path(self.folder.name) / study)

    def plan(self, *arguments):
        """The plan as JSON. Paths begin with the study's."""
        file = pathlib.Path(self.folder.name) / "plan.json"
        arguments = ["plan", *map(str, arguments)]
        done = subprocess.run([GLINPACK, *arguments, "--json", str(file), "--force"], cwd=self.folder.name, check=False,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True)
        self.log.write(f"$ glinpack {shlex.join(arguments)}\n{done.stdout}{done.stderr}\n")
        if done.returncode != 0:
            print(f"planning.py: glinpack {shlex.join(arguments)}: {done.stderr}", file=sys.stderr)
            sys.exit(3)
        return json.loads(file.read_text())["plan"]


def measured(plans, n, nb, processes, nodes):
    table = 1 if n < 8192 else 2
    name = f"{RUNS}/table{table}-n{n}-nb{nb}-{processes}procs-{nodes}nodes-openblas.json"
    return json.loads((pathlib.Path(plans.folder.name) / name).read_text())["runs"][0]["time"]


def check(plans):
    lines = ["| N | NB | grid | nodes | predicted, s | measured, s | measured / predicted |", "| --- " * 7 + "|"]
    for n, nb, processes, nodes in BETWEEN_NODES + LARGER:
        side = int(processes ** 0.5)
        plan = plans.plan("--nodes", nodes, "--gpus-per-node", processes // nodes, "--n", n, "--nb", nb,
                          "--grid", f"{side}x{side}", *LAB, *LAB_RUN, "--from", ",".join(map(str, ONE_NODE)))
        time = measured(plans, n, nb, processes, nodes)
        lines.append(f"| {n} | {nb} | {side}x{side} | {nodes} | {plan['seconds']:.3f} | {time:.3f} | "
                     f"{time / plan['seconds']:.2f} |")
    return lines


def scale(plans):
    rows, one = [], None  # one: GFLOPS of a GPU of one node
    for nodes, network, grid in CLUSTERS:
        gpus = nodes * GPUS_PER_NODE
        plan = plans.plan("--nodes", nodes, *CLUSTER, *(["--network", network] if nodes > 1 else []),
                          *(["--grid", grid] if grid else []))
        one = one or plan["gflops"] / gpus
        rows.append({"network": network, "gpus": gpus, "grid": f"{plan['p']}x{plan['q']}", "n": plan["n"],
                     "nb": plan["nb"], "seconds": f"{plan['seconds']:.4g}", "gflops": f"{plan['gflops']:.4g}",
                     "efficiency": f"{plan['gflops'] / gpus / one:.3f}"})
    return rows


def write_tables(checked, rows, output):
    with (output / "scaling.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    lines = ["", "## Scaling", "", "| link of a node | GPUs | grid | N | time, s | TFLOPS | efficiency |", "| --- " * 7 + "|"]
    for row in rows:
        lines.append(f"| {row['network']} | {row['gpus']} | {row['grid']} | {row['n']} | {row['seconds']} | "
                     f"{float(row['gflops']) / 1e3:.4g} | {row['efficiency']} |")
    (output / "check.md").write_text("\n".join(checked + lines) + "\n")


def draw(rows, paths):
    figure, axes = plotting.pyplot.subplots(figsize=(6, 4))
    for index, network in enumerate(sorted({row["network"] for row in rows})):
        points = [(row["gpus"], float(row["efficiency"])) for row in rows if row["network"] == network]
        axes.plot(*zip(*points), label=f"{network} a node", **plotting.line_look(index))
    axes.set_xscale("log")
    plotting.whole_ticks(axes.xaxis, [row["gpus"] for row in rows])
    axes.set_ylim(bottom=0)
    axes.set_xlabel("GPUs, four a node")
    axes.set_ylabel("efficiency: GFLOPS of a GPU, beside those with fewest")
    axes.set_title("Scaling as the model has it, single precision, figures of an H200")
    axes.legend()
    plotting.save(figure, paths)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output-dir", required=True, type=pathlib.Path, metavar="DIR")
    output = parser.parse_args().output_dir
    try:
        output.mkdir(parents=True, exist_ok=True)
        log = (output / "log.txt").open("w")
    except OSError as error:
        print(f"planning.py: --output-dir {output}: {error.strerror}", file=sys.stderr)
        sys.exit(2)
    with log:
        plans = Plans(log)
        checked = check(plans)
        rows = scale(plans)
    write_tables(checked, rows, output)
    draw(rows, [output / "scaling.png", output / "scaling.svg"])


if __name__ == "__main__":
    main()
