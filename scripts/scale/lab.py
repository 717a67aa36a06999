#!/usr/bin/python3
"""Real runs on the cluster in a box (scripts/netlab) against the replay of `glinpack plan`.

4, 9 and 16 nodes of one rank, three rates of their links. The replay's figures are fitted to runs of as many ranks on
one node, and its links to ping-pongs in the lab; no run that is predicted is in the fit. Prints, and writes into a
folder, a line for each run; every command's output goes into lab.log. Needs root and an idle machine.

  scripts/scale/lab.py --output-dir results/scale [--ranks 4,9,16] [--rates 10mbit,25mbit,50mbit] [--n 2048] [--nb 128]

GLINPACK names the program. Exit status: 0, 1 a replay is more than 10 per cent off, 2 unusable input, 3 a run failed.
"""
import argparse
import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
NETLAB = ROOT / "scripts" / "netlab"
GLINPACK = os.environ.get("GLINPACK", str(ROOT / "build" / "release" / "bin" / "glinpack"))
MOST = 0.10


class Lab:
    def __init__(self, output, n, nb):
        self.log = (output / "lab.log").open("w")
        self.folder = tempfile.TemporaryDirectory()
        self.n, self.nb = n, nb

    def run(self, *command):
        command = list(map(str, command))
        self.log.write("$ " + " ".join(command) + "\n")
        self.log.flush()
        done = subprocess.run(command, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=self.log, stderr=subprocess.STDOUT,
                              env={**os.environ, "OPENBLAS_NUM_THREADS": "1"}, check=False)
        if done.returncode != 0:
            print(f"lab.py: {' '.join(command)}: exit status {done.returncode}; see lab.log", file=sys.stderr)
            sys.exit(3)

    def path(self, name):
        return pathlib.Path(self.folder.name) / name

    def json(self, name):
        return json.loads(self.path(name).read_text())

    def on(self, nodes, ranks_of_a_node, *command):
        self.run(NETLAB / "run", nodes, ranks_of_a_node, "--", GLINPACK, *command)

    def plu(self, nodes, ranks, sizes, blocks, name):
        side = math.isqrt(ranks)
        self.on(nodes, ranks // nodes, "plu", "--n", sizes, "--nb", blocks, "--grid", f"{side}x{side}", "--backend",
                "openblas", "--broadcast", "ring", "--repeat", "2", "--breakdown", "always", "--json", self.path(name),
                "--force")

    def compare(self, ranks, rate):
        self.run(NETLAB / "rate", rate)
        self.on(ranks, 1, "network", "--n", 64, "--nb", 16, "--screen", "never", "--ping-pong", "auto", "--json",
                self.path("links.json"), "--force")
        self.plu(ranks, ranks, self.n, self.nb, "run.json")
        measured = min(run["time"] for run in self.json("run.json")["runs"])
        side = math.isqrt(ranks)
        self.run(GLINPACK, "plan", "--nodes", ranks, "--n", self.n, "--nb", self.nb, "--grid", f"{side}x{side}",
                 "--backend", "openblas", "--from", self.path("fit.json"), "--links", self.path("links.json"),
                 "--replay", "--json", self.path("plan.json"), "--force")
        replay = self.json("plan.json")["replay"]
        expected = replay["factor_seconds"] + replay["solve_seconds"]
        return {"ranks": ranks, "rate": rate, "measured": measured, "replay": expected, "ratio": measured / expected}


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output-dir", required=True, type=pathlib.Path, metavar="DIR")
    parser.add_argument("--ranks", default="4,9,16", metavar="COUNTS", help="squares")
    parser.add_argument("--rates", default="10mbit,25mbit,50mbit")
    parser.add_argument("--n", default=2048, type=int)
    parser.add_argument("--nb", default=128, type=int)
    options = parser.parse_args()
    options.ranks = [int(count) for count in options.ranks.split(",")]
    if any(math.isqrt(count) ** 2 != count for count in options.ranks):
        parser.error("--ranks: squares such as 4,9,16 are expected")
    return options


def main():
    options = arguments()
    options.output_dir.mkdir(parents=True, exist_ok=True)
    lab = Lab(options.output_dir, options.n, options.nb)
    lines = ["| ranks | link | measured, s | replay, s | measured / replay |", "| --- " * 5 + "|"]
    worst = 0
    try:
        for ranks in options.ranks:
            lab.run(NETLAB / "up", ranks, options.rates.split(",")[0])
            smaller = options.n // 2
            lab.plu(1, ranks, f"{smaller},{options.n}", f"{options.nb // 2},{options.nb}", "fit.json")
            for rate in options.rates.split(","):
                row = lab.compare(ranks, rate)
                worst = max(worst, abs(row["ratio"] - 1))
                lines.append(f"| {row['ranks']} | {row['rate']} | {row['measured']:.3f} | {row['replay']:.3f} | "
                             f"{row['ratio']:.2f} |")
                print(lines[-1], flush=True)
    finally:
        lab.run(NETLAB / "down")
    (options.output_dir / "lab.md").write_text("\n".join(lines) + "\n")
    sys.exit(1 if worst > MOST else 0)


if __name__ == "__main__":
    main()
