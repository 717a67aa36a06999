#!/usr/bin/python3
"""The study of pivoting: its output, redrawing of plots, and rejected input."""
import csv
import json
import unittest

from launch import GLINPACK, MPIEXEC, ROOT, GlinpackTest

STUDY = ROOT / "scripts" / "study" / "pivoting.py"
SMALL = ["--n", "40,64", "--nb", "16", "--grid", "1x1,2x1", "--seeds", "1", "--matrix", "hpl,orthogonal"]
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

    def test_every_precision_and_pivoting_is_in_the_table_and_plot(self):
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
        self.assertEqual(len(study["runs"]), 2 * 2 * len(pivotings) * 2 * 2)
        found = {(run["matrix"], run["precision"], run["pivoting"], run["n"], run["p"]): run for run in study["runs"]}
        self.assertEqual(len(found), len(study["runs"]))
        for (kind, precision, _, n, p), run in found.items():
            alone = found[kind, precision, "partial", n, 1]
            # the same pivots on every grid, except for roundoff; with local pivoting, only if one process has all rows
            if precision == "double" and (run["pivoting"] == "partial" or p == 1):
                self.assertLess(abs(run["growth"] / alone["growth"] - 1), 1e-6, run)
        local, partial = (found["orthogonal", "double", pivoting, 64, 2]["growth"] for pivoting in ("local", "partial"))
        self.assertGreater(local, 10 * partial)

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
        self.rejected(["--matrix", "hpl,hilbret"], "--matrix", "'hilbret'", "hilbert")
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


if __name__ == "__main__":
    unittest.main()
