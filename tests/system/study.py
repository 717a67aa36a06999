#!/usr/bin/python3
"""The studies of pivoting and of hard matrices: their output, redrawing of plots, and rejected input."""
import csv
import json
import unittest

from launch import GLINPACK, MPIEXEC, ROOT, GlinpackTest

STUDY = ROOT / "scripts" / "study" / "pivoting.py"
SMALL = ["--n", "40,64", "--nb", "8", "--grid", "1x1,2x1", "--seeds", "1"]
PLOTS = [f"{value}-{axis}" for value in ("growth", "residual") for axis in "pn"]


class PivotingStudy(GlinpackTest):
    def study(self, *arguments, glinpack=GLINPACK):
        return self.start([STUDY, "--output-dir", "out", "--glinpack", glinpack, "--mpiexec", MPIEXEC,
                           *map(str, arguments)], timeout=600)

    def rejected(self, arguments, *named, **options):
        outcome = self.study(*arguments, **options)
        self.assertEqual((outcome.status, outcome.out), (2, ""), outcome)
        for text in named:
            self.assertIn(text, outcome.err)

    def test_every_kind_precision_and_pivoting_is_in_the_table_and_plot(self):
        outcome = self.study("--quick", *SMALL)
        self.assertEqual(outcome.status, 0, outcome)
        out = self.folder / "out"
        names = {"log.txt", "pivoting.json", "pivoting.csv", "pivoting.md",
                 *[f"{plot}.{suffix}" for plot in PLOTS for suffix in ("png", "svg")]}
        self.assertEqual({path.name for path in out.iterdir()}, names)

        study = json.loads((out / "pivoting.json").read_text())
        pivotings = study["settings"]["pivotings"]
        self.assertLessEqual({"partial", "local"}, set(pivotings))
        for missing in study["settings"]["pivotings_missing"]:
            self.assertIn(f"{missing} pivoting is not part of this study", outcome.out)
            self.assertIn(f"no {missing} pivoting", (out / "pivoting.md").read_text())
        self.assertEqual(len(study["runs"]), 6 * 2 * len(pivotings) * 2 * 2)
        found = {(run["matrix"], run["precision"], run["pivoting"], run["n"], run["p"]): run for run in study["runs"]}
        self.assertEqual(len(found), len(study["runs"]))
        for (kind, precision, _, n, p), run in found.items():
            alone = found[kind, precision, "partial", n, 1]
            # the same pivots on every grid, except for roundoff; with local pivoting, only if one process has all rows
            if precision == "double" and (run["pivoting"] == "partial" or p == 1):
                self.assertLess(abs(run["growth"] / alone["growth"] - 1), 1e-6, run)
        self.assertFalse(found["hilbert-reversed", "double", "local", 64, 2]["passed"])
        self.assertTrue(found["hilbert-reversed", "double", "partial", 64, 2]["passed"])

        with open(out / "pivoting.csv", encoding="utf-8") as file:
            lines = list(csv.DictReader(file))
        self.assertEqual([(line["matrix"], line["pivoting"], float(line["growth"])) for line in lines],
                         [(run["matrix"], run["pivoting"], run["growth"]) for run in study["runs"]])
        for plot in PLOTS:
            self.assertTrue((out / f"{plot}.png").read_bytes().startswith(b"\x89PNG"))
            self.assertIn("<svg", (out / f"{plot}.svg").read_text())

        self.rejected(["--quick"], "out/pivoting.json", "--force")
        before = (out / "pivoting.md").read_bytes(), (out / "growth-p.svg").read_bytes()
        self.assertEqual(self.study("--redraw").status, 0)
        self.assertEqual(((out / "pivoting.md").read_bytes(), (out / "growth-p.svg").read_bytes()), before)

    def test_bad_input_is_rejected_before_any_work(self):
        self.rejected(["--n", "64,x"], "--n", "64,x")
        self.rejected(["--grid", "2"], "--grid", "'2'", "PxQ")
        self.rejected(["--seeds", "0"], "--seeds", "'0'")
        self.rejected(["--matrix", "hpl,hilbret"], "--matrix", "'hilbret'", "hilbert-reversed")
        self.rejected(["--redraw"], "out/pivoting.json", "No such file")
        if self.start([GLINPACK, "plu", "--n", "1", "--pivoting", "tournament", "--dry-run"]).status != 0:
            self.rejected(["--pivoting", "tournament"], "--pivoting", "tournament")
        self.assertEqual(self.files(), [])
        self.rejected(["--quick"], "./missing", "--glinpack", glinpack="./missing")

    def test_a_pivoting_is_included_once_glinpack_supports_it(self):
        program = self.write("glinpack", "#!/bin/sh\ncase \"$*\" in *--dry-run*) exit 0 ;; esac\nexit 3\n")
        program.chmod(0o755)
        outcome = self.study("--quick", *SMALL, glinpack=program)
        self.assertEqual(outcome.status, 3, outcome)  # that program runs nothing, and the study reports that
        self.assertNotIn("not part of this study", outcome.out)
        self.assertIn("exit status 3 of ", outcome.err)


class HardMatricesStudy(GlinpackTest):
    def study(self, *arguments):
        return self.start([ROOT / "scripts" / "study" / "hard_matrices.py", "--output-dir", "out", "--glinpack", GLINPACK,
                           "--mpiexec", MPIEXEC, "--quick", "--n", "24", "--grid", "2x1", *arguments], timeout=600)

    def test_local_pivoting_fails_where_partial_passes_and_singular_matrices_have_their_column(self):
        outcome = self.study("--matrix", "fiedler", "dlatb4_7", "--pivoting", "partial", "local")
        self.assertEqual(outcome.status, 0, outcome)
        with open(self.folder / "out" / "runs.csv", encoding="utf-8") as file:
            runs = {(run["matrix"], run["pivoting"]): run for run in csv.DictReader(file)}
        self.assertEqual({key: run["passed"] for key, run in runs.items()},
                         {("fiedler", "partial"): "True", ("fiedler", "local"): "False",
                          ("dlatb4_7", "partial"): "True", ("dlatb4_7", "local"): "True"})
        self.assertEqual(runs["dlatb4_7", "local"]["singular_column"], "12")
        self.assertGreater(float(runs["fiedler", "local"]["resid1"]), 30)
        table = (self.folder / "out" / "README.md").read_text()
        self.assertIn("| local, 2x1 | 1 | 1: fiedler |", table)
        self.assertIn("| dlatb4_7 |  | singular at 12 | singular at 12 |", table)

        outcome = self.study("--matrix", "fiedler")
        self.assertEqual(outcome.status, 2, outcome)
        self.assertIn("out/runs.csv exists and is not overwritten; use --force", outcome.err)


if __name__ == "__main__":
    unittest.main()
