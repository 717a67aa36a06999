#!/usr/bin/python3
"""glinpack plan: default costs equal the committed results, JSON is valid by its schema, the replay of every rank takes
SimGrid's time, runs report their predicted times, and bad input is rejected."""
import json
import re
import shutil
import unittest

from launch import GLINPACK, ROOT, GlinpackTest

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
    def test_the_example_of_the_help_is_planned(self):
        document = self.planned("--nodes", 16, "--gpus-per-node", 4, "--memory", "80G", "--network", "100Gb/s")
        plan = document["plan"]
        self.assertEqual(plan["p"] * plan["q"], 64)
        self.assertLess(document["device_bytes"], 0.8 * 80e9)
        self.assertGreater(plan["gflops"], 0)
        self.assertGreater(len(document["others"]), 1)

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

    def test_default_costs_are_scaled_to_measured_ceilings(self):
        """Each is scaled by the ratio to the ceiling of the H200 in results/h200/logs.md ceilings."""
        outcome = self.start([GLINPACK, "peaks", "--backend", "gl-compute", "--repeat", "1", "--threads", "1",
                              "--seconds", "0.001", "--json", "ceilings.json"])
        self.assertEqual(outcome.status, 0, outcome)
        here = json.loads((self.folder / "ceilings.json").read_text())
        text = (ROOT / "results" / "h200" / "ceilings.txt").read_text()

        def slower(part, key, line):
            standing_in, = re.findall(rf"^  {line} +([\d.]+) (?:GB/s|GFLOPS|us) ", text.split("\nhost ")[part == "host"],
                                      re.MULTILINE)
            ratio = float(standing_in) / here[part][key]["median"]
            return 1 / ratio if key == "dispatch" else ratio

        device = {"seconds_per_byte": slower("device", "copy", "copy, read \\+ written"),
                  "seconds_per_step": slower("device", "dispatch", "dispatch")}
        copied = {"seconds_per_byte": slower("device", "download", "download")}
        for precision in DEFAULTS:
            run = ["--n", 32768, "--precision", precision]
            unscaled = {figure["work"]: figure for figure in self.planned(*run)["figures"]}
            figures = self.planned(*run, "--peaks", "ceilings.json")["figures"]
            self.assertEqual([figure["work"] for figure in figures], list(unscaled))
            fma = {**device, "seconds_per_flop": slower("device", f"fma_{precision}", f"fma, {precision}")}
            host = dict.fromkeys(fma, slower("host", f"gemm_{precision}", f"gemm, {precision}"))
            others = {"panel of the host": host, "transfer": copied, "memory of a node": {}}
            for figure in figures:
                factors = others.get(figure["work"], fma)
                self.assertEqual("scaled to ceilings.json" in figure["source"], bool(factors), figure)
                for key in "seconds_per_flop", "seconds_per_byte", "seconds_per_step":
                    with self.subTest(precision=precision, work=figure["work"], key=key):
                        expected = unscaled[figure["work"]][key] * factors.get(key, 1)
                        self.assertAlmostEqual(figure[key], expected, delta=1e-9 * expected)

    def test_bad_input_is_rejected(self):
        self.write("other.json", '{"runs": []}')
        for arguments, named in (
                (["--nodes", 0, "--memory", "80G"], ["--nodes", "'0'"]),
                (["--memory", 80], ["--memory", "'80'", "no unit"]),
                (["--nodes", 2, "--n", 100, "--network", 100], ["--network", "'100'", "no unit"]),
                (["--nodes", 2, "--n", 100], ["--network"]),
                (["--n", 100, "--from", "other.json"], ["other.json", "glinpack plu --json"]),
                (["--n", 100, "--from", "none.json"], ["none.json"]),
                (["--n", 100, "--json", "other.json"], ["other.json", "--force"])):
            with self.subTest(arguments=arguments):
                outcome = self.plan(*arguments)
                self.assertEqual(outcome.status, 2, outcome)
                self.assertEqual((len(outcome.messages), outcome.out), (1, ""), outcome)
                for part in named:
                    self.assertIn(part, outcome.messages[0])


SIMGRID = ROOT / "scripts" / "scale" / "simgrid.sh"
ON_HOSTS = ["--backend", "openblas", "--precision", "single", "--nb", 128, "--grid", "8x8", "--latency", "10us",
            "--network", "1Gb/s"]


class Replays(PlanningTest):
    def plan_on_hosts(self, *arguments):
        """With the costs of one node of CPUs, as committed."""
        runs = self.committed("paper/openblas") / "runs"
        one_node = [runs / f"table1-n{n}-nb{nb}-4procs-1nodes-openblas.json"
                    for n, nb in ((2048, 128), (2048, 512), (4096, 256), (4096, 1024))]
        return self.plan(*ON_HOSTS, "--from", ",".join(map(str, one_node)), *arguments)

    def test_a_replay_says_what_bounds_the_run_and_what_would_help(self):
        document = self.planned("--machine", ROOT / "examples" / "cluster-1000.toml", "--nodes", 4, "--gpus-per-node",
                                2, "--n", 48000, "--topology", "fat-tree:2:1", "--replay")
        replay = document["replay"]
        self.assertEqual((replay["ranks"], replay["passes"]), (8, 94))
        self.assertGreater(replay["messages"], replay["passes"])
        for bound in replay["bounds"]:
            parts = bound["compute"] + bound["panel"] + bound["network"]
            self.assertAlmostEqual(parts, bound["seconds"], delta=1e-9 * parts)
        changes = {change["name"]: change["ratio"] for change in replay["changes"]}
        self.assertLess(changes["links twice as fast"], 1)
        self.assertGreater(changes["fat tree of 2 nodes a leaf, tapered 4:1"], 1)
        self.assertEqual([point["processes"] for point in replay["scaling"]], [1, 4, 16, 64, 256, 1024, 4096, 10000])
        rates = [choice["gflops"] for choice in replay["choices"]]
        self.assertEqual(rates, sorted(rates, reverse=True))
        names = " ".join(choice["name"] for choice in replay["choices"])
        for name in ("as planned", "broadcast ibcast", "row swap mix", "NB 512", "NB 768"):
            self.assertIn(name, names)

    def test_simgrid_takes_the_time_of_the_replay_of_64_ranks(self):
        if shutil.which("smpirun") is None:
            self.skipTest("SimGrid is missing: apt-get install libsimgrid-dev")
        for name, arguments in (
                ("nodes", ["--nodes", 64, "--pivoting", "partial", "--n", 2048]),
                ("shared", ["--nodes", 16, "--gpus-per-node", 4, "--pivoting", "tournament", "--n", 4096]),
                ("tapered", ["--nodes", 64, "--pivoting", "local", "--n", 8192, "--topology", "fat-tree:4:2"])):
            with self.subTest(name=name):
                outcome = self.plan_on_hosts(*arguments, "--lookahead", 0, "--replay", "--traces", name)
                self.assertEqual(outcome.status, 0, outcome)
                simulated = self.start([SIMGRID, name], timeout=120)
                self.assertEqual(simulated.status, 0, simulated)
                ratio = float(re.search(r"ratio ([\d.]+)", simulated.out).group(1))
                self.assertAlmostEqual(ratio, 1, delta=0.05)

    def test_traces_that_simgrid_cannot_replay_are_refused(self):
        (self.folder / "there").mkdir()
        for arguments, named in ((["--lookahead", 1, "--traces", "t"], "--lookahead 0"),
                                 (["--lookahead", 0, "--traces", "there"], "there")):
            outcome = self.plan_on_hosts("--nodes", 64, "--n", 4096, *arguments, "--replay")
            self.assertEqual((outcome.status, len(outcome.messages)), (2, 1), outcome)
            self.assertIn(named, outcome.messages[0])


class Runs(PlanningTest):
    def test_every_report_has_the_predicted_time(self):
        outcome = self.glinpack("plu", "--n", "192", "--nb", "16", "--backend", "openblas", "--grid", "1x2",
                                "--repeat", "2", "--json", "run.json")
        self.assertEqual(outcome.status, 0, outcome)
        runs = self.valid_json("run.json")["runs"]
        first, second = (run["prediction"] for run in runs)
        self.assertEqual((first["from"], first["part"], first["runs"]), ("first passes", "factorization", 0))
        self.assertEqual((second["from"], second["part"], second["runs"]), ("earlier runs", "run", 1))
        for run, prediction in zip(runs, (run["prediction"] for run in runs)):
            part = "factor_seconds" if prediction["part"] == "factorization" else "time"
            self.assertEqual(prediction["measured_seconds"], run[part])
            self.assertAlmostEqual(prediction["ratio"], run[part] / prediction["expected_seconds"])
        self.assertNotIn("The model expected", outcome.out)  # runs of less than 10 s


if __name__ == "__main__":
    unittest.main()
