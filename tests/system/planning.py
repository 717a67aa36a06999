#!/usr/bin/python3
"""glinpack plan: default costs equal the committed results, JSON is valid by its schema, runs of several GPUs take the
planned times, and runs report their predicted times."""
import functools
import json
import re
import statistics
import unittest

from launch import GLINPACK, ROOT, GlinpackTest, results

DEFAULTS = {
    "single": ["h200/single-16384", "h200/single-32768", "h200/single-49152", "h200/partial-32768",
               "h200-x4/gpus-2-1x2", "h200-x4/gpus-4-1x4"],
    "double": ["h200/double-32768", "h200/double-32768-nb768"],
}


class PlanningTest(GlinpackTest):
    def plan(self, *arguments):
        return self.start([GLINPACK, "plan", *map(str, arguments)], timeout=120)

    def planned(self, *arguments):
        outcome = self.plan(*arguments, "--json", "plan.json", "--force")
        self.assertEqual(outcome.status, 0, outcome)
        return self.valid_json("plan.json", "plan.schema.json")


class Plans(PlanningTest):

    def test_assumed_figures_are_named_first(self):
        run = ["--nodes", 1, "--n", 32768, "--precision", "single"]
        second_line = self.plan(*run).out.splitlines()[1]
        self.assertRegex(second_line, r"^Assumed, not measured here: .*reduce.* of an H200\. --from RESULTS")
        fitted = self.plan(*run, "--from", self.committed("h200") / "single-32768.json").out.splitlines()[1]
        self.assertNotIn("reduce", fitted)

    def test_default_costs_equal_the_committed_results(self):
        folders = {study: self.committed(study) for study in ("h200", "h200-x4")}
        for precision, names in DEFAULTS.items():
            files = [folders[study] / f"{name}.json" for study, name in (name.split("/") for name in names)]
            run = ["--n", 32768, "--precision", precision, "--pivoting", "tournament"]
            standing_in = {figure["work"]: figure for figure in self.planned(*run)["figures"]}
            fitted = self.planned(*run, "--from", ",".join(map(str, files)))["figures"]
            of_files = [figure for figure in fitted if figure["source"].startswith("fitted to")]
            self.assertGreaterEqual(len(of_files), 5)
            for figure in of_files:
                for key in "seconds_per_flop", "seconds_per_byte", "seconds_per_step":
                    with self.subTest(precision=precision, work=figure["work"], key=key):
                        here = standing_in[figure["work"]][key]
                        self.assertAlmostEqual(here, figure[key], delta=5e-3 * figure[key])

    def test_a_run_is_planned_from_its_own_results(self):
        outcome = self.glinpack("plu", "--n", "96,192", "--nb", "16", "--backend", "openblas", "--json", "run.json",
                                ranks=1)
        self.assertEqual(outcome.status, 0, outcome)
        document = self.planned("--n", 192, "--backend", "openblas", "--from", "run.json")
        self.assertEqual(document["plan"]["nb"], 16)
        self.assertEqual([run["n"] for run in document["fitted"]], [96, 192])

    def test_links_are_the_measured_ones(self):
        outcome = self.glinpack("network", "--n", "64", "--nb", "16", "--screen", "never", "--json", "links.json")
        self.assertEqual(outcome.status, 0, outcome)
        document = self.planned("--n", 1000, "--gpus-per-node", 2, "--precision", "single", "--links", "links.json")
        memory, = [figure for figure in document["figures"] if figure["work"] == "memory of a node"]
        self.assertIn("links.json", memory["source"])
        best = json.loads((self.folder / "links.json").read_text())["ping_pong"][0]["sizes"]
        self.assertAlmostEqual(1e-9 / memory["seconds_per_byte"], max(size["gigabytes_per_second"] for size in best))


# Logs of runs of several GPUs of one host, by the commits whose panels the GPUs of a process column gather.
LOGS = ("h100-x4/process-grids", "h100-x4/one-gpu-and-four", "h100-x4/first-runs",
        "h100-x2/process-rows", "h200-x2/process-rows")
# The same by vk-compute, whose GPUs copy to each other.
LOGS_OF_COPYING_GPUS = ("h100-x4/four-gpus-packed-products", "h200-x2/two-gpus", "h200-x2/two-gpus-one-piece",
                        "h200-x2/two-gpus-windows")


def logged_runs(text):
    """((precision, pivoting, N, NB, P, Q), seconds) of each run but the first of its process."""
    options, repeated = {"precision": "single", "pivoting": "partial"}, False
    n, group = "0", None
    for line in text.splitlines():
        here = dict(re.findall(r"--(precision|pivoting|row-swap-pieces|row-swap|n) (\w[\w-]*)", line))
        if line.startswith(("$", "==")):
            options, repeated = {"precision": "single", "pivoting": "partial"} | here, False
        n = here.get("n", n)
        if {"row-swap", "row-swap-pieces"} & set(options):
            continue
        if re.match(r"W[RC]\d", line):
            _, order, nb, p, q, seconds, _ = line.split()
            if repeated:
                yield (options["precision"], options["pivoting"], int(order), int(nb), int(p), int(q)), float(seconds)
            repeated = True
        elif group := re.match(r"\s*branch[ -](\d)x(\d)[ -]([pt])\w*(?: +NB |-)(\d+) +[\d.]+((?: [\d.]+)+)", line):
            pivoting = {"p": "partial", "t": "tournament"}[group[3]]
            for seconds in group[5].split():
                yield ("single", pivoting, int(n), int(group[4]), int(group[1]), int(group[2])), float(seconds)
        elif group := re.match(r"\d (?!.*(?:products|mxp))(--n .*--grid (\d)x(\d).*):((?: \d+\.\d\d\b)+)", line):
            given = dict(re.findall(r"--(n|nb|precision|pivoting) (\S+)", group[1]))
            order = int(given["n"])
            flops = 2 / 3 * order**3 + 3 / 2 * order**2
            for tflops in group[4].split():
                yield ((given["precision"], given.get("pivoting", "partial"), order, int(given["nb"]), int(group[2]),
                        int(group[3])), flops / float(tflops) / 1e12)
        elif group := re.match(r"after +(single|double) (\d)x(\d): [\d.]+((?: [\d.]+)+)", line):
            for seconds in group[4].split():
                yield (group[1], "partial", int(n), 512, int(group[2]), int(group[3])), float(seconds)


# Three hosts of one kind took 2.3, 2.9 and 3.3 s for this run: a plan cannot be within 15 per cent of all.
SLOW_HOSTS = {("h100-x4/first-runs", "2x2"): 1.2, ("h100-x4/one-gpu-and-four", "2x2"): 1.4}

# The logs of 2x2 are of programs that copied the root's rows of L for their broadcast later: by the replay of that
# schedule, single 2.472 s instead of 2.425, double 5.156 instead of 5.048.
SECONDS_OF_EARLIER_SCHEDULE = 1.02


class Logs(PlanningTest):
    """The plan with the costs of one H200 against runs of two and four H100 and H200 of a host."""

    def measured(self):
        """{log: {run: median}}."""
        logs = {}
        for log in (*LOGS, *LOGS_OF_COPYING_GPUS):
            study, name = log.split("/")
            logs[log] = list(logged_runs(results.log(ROOT / "results" / study, name)))
        for log in "h200-x2/gpus-2-1x2", "h200-x4/gpus-2-1x2", "h200-x4/gpus-4-1x4":
            study, name = log.split("/")
            _, *runs = json.loads((self.committed(study) / f"{name}.json").read_text())["runs"]
            keys = "precision", "pivoting", "n", "nb", "p", "q"
            logs[log] = [(tuple(run[key] for key in keys), run["time"]) for run in runs]
        times = {}
        for log, runs in logs.items():
            for run, seconds in runs:
                if run[4] * run[5] > 1:
                    times.setdefault(log, {}).setdefault(run, []).append(seconds)
        self.assertEqual(set(times), set(logs))
        return {log: {run: statistics.median(of_run) for run, of_run in runs.items()} for log, runs in times.items()}

    @functools.cache
    def planned_grids(self, log, run, backend):
        """{(P, Q): seconds}, the recommended grid first; without `log` in the fit."""
        precision, pivoting, n, nb, p, q = run
        options = ["--gpus-per-node", p * q, "--n", n, "--nb", nb, "--precision", precision, "--pivoting", pivoting,
                   "--backend", backend]
        if p > q:
            options += ["--grid", f"{p}x{q}"]
        if log:
            files = [name.split("/") for name in DEFAULTS[precision] if name != log]
            options += ["--from", ",".join(str(self.committed(study) / f"{name}.json") for study, name in files)]
        document = self.planned(*options)
        return {(plan["p"], plan["q"]): plan["seconds"] for plan in (document["plan"], *document["others"])}

    def compared(self):
        """(log, run, measured, planned seconds, recommended grid)."""
        for log, runs in self.measured().items():
            for run, seconds in runs.items():
                copying = log in LOGS_OF_COPYING_GPUS
                grids = self.planned_grids(log if log in DEFAULTS[run[0]] else None, run,
                                           "vk-compute" if copying else "gl-compute")
                earlier = SECONDS_OF_EARLIER_SCHEDULE if min(run[4:]) > 1 and not copying else 1
                yield log, run, seconds, grids[run[4:]] * earlier, next(iter(grids))

    def test_runs_of_several_gpus_take_the_planned_time_on_the_recommended_grid(self):
        bests = {}
        for log, run, seconds, planned, recommended in self.compared():
            with self.subTest(log=log, run=run):
                tolerance = 0.20 if log in LOGS_OF_COPYING_GPUS else 0.15  # theirs have one figure more, for all messages
                self.assertGreater(seconds / planned, 1 - tolerance)
                slow = run[0] == "single" and SLOW_HOSTS.get((log, f"{run[4]}x{run[5]}"))
                self.assertLess(seconds / planned, slow or 1 + tolerance)
            times, grids = bests.setdefault((log, *run[:3], run[4] * run[5]), ({}, set()))
            times[seconds] = run[4:]
            if run[4] <= run[5]:
                grids.add(recommended)
        for runs, (times, grids) in bests.items():
            if len(set(times.values())) > 1:
                with self.subTest(runs=runs):
                    self.assertEqual(grids, {times[min(times)]})


class Replays(PlanningTest):
    def test_a_replay_says_what_bounds_the_run_and_what_would_help(self):
        document = self.planned("--config", ROOT / "examples" / "cluster-1000.toml", "--nodes", 4, "--gpus-per-node",
                                2, "--n", 48000, "--replay")
        replay = document["replay"]
        self.assertEqual((replay["ranks"], replay["passes"]), (8, 94))
        self.assertGreater(replay["messages"], replay["passes"])
        for bound in replay["bounds"]:
            parts = bound["compute"] + bound["panel"] + bound["network"]
            self.assertAlmostEqual(parts, bound["seconds"], delta=1e-9 * parts)
        changes = {change["name"]: change["ratio"] for change in replay["changes"]}
        self.assertLess(changes["links twice as fast"], 1)
        self.assertGreater(changes["nodes differ, log-normal, 5 %"], 1)
        rates = [choice["gflops"] for choice in replay["choices"]]
        self.assertEqual(rates, sorted(rates, reverse=True))
        names = " ".join(choice["name"] for choice in replay["choices"])
        for name in ("as planned", "broadcast ibcast", "row swap mix"):
            self.assertIn(name, names)


if __name__ == "__main__":
    unittest.main()
