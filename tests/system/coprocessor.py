#!/usr/bin/python3
"""The commands tridiagonal and background: reports, files, exit status, plots."""
import importlib.util
import re
import unittest

from launch import GLINPACK_PAPERS, ROOT, read_npy
from modes import BRIEFLY, ModesTest

MATRIX = "%%MatrixMarket matrix coordinate real general\n3 3 7\n1 1 2\n1 2 1\n2 1 1\n2 2 3\n2 3 1\n3 2 1\n3 3 4\n"
RIGHT = "%%MatrixMarket matrix array real general\n3 2\n4\n10\n14\n3\n5\n5\n"  # the solutions are 1, 2, 3 and 1, 1, 1


class CoprocessorTest(ModesTest):
    def results(self, *arguments):
        document, outcome = super().results(*arguments)
        return document["results"], outcome


class Tridiagonal(CoprocessorTest):
    def test_every_variant_solves_every_size(self):
        results, _ = self.results("tridiagonal", "--variant", "all", "--systems", "5,3", "--n", "9,20")
        self.assertEqual([(result["variant"], result["size"]) for result in results],
                         [(variant, size) for size in ("5x9", "5x20", "3x9", "3x20")
                          for variant in ("lapack", "raster", "compute", "cyclic-reduction")])

    def test_double_precision_is_computed_and_checked_in_double_precision(self):
        results, _ = self.results("tridiagonal", "--variant", "compute,cyclic-reduction,lapack", "--precision", "double",
                                  "--systems", 4, "--n", 33)
        self.assertEqual(len(results), 3)
        for result in results[1:]:
            self.assertLess(result["check"]["error"], 1e-13)

    def test_systems_are_read_from_files_and_solutions_written_to_a_file(self):
        self.write("a.mtx", MATRIX)
        self.write("b.mtx", RIGHT)
        for variant in "raster", "lapack":
            with self.subTest(variant=variant):
                results, _ = self.results("tridiagonal", "--variant", variant, "--input", "a.mtx", "--input-b", "b.mtx",
                                          "--output", "x.npy")
                self.assertEqual(results[-1]["size"], "2x3")
                for computed, expected in zip(read_npy(self.folder / "x.npy")[1], (1, 1, 2, 1, 3, 1), strict=True):
                    self.assertAlmostEqual(computed, expected, places=5)

    def test_a_zero_pivot_is_reported_with_system_and_row_and_fails_the_run(self):
        # without pivoting, the second pivot is 0; LAPACK interchanges rows and solves the system
        self.write("a.mtx", "%%MatrixMarket matrix coordinate real general\n3 3 6\n1 1 1\n1 2 1\n2 1 1\n2 2 1\n2 3 1\n3 2 1\n")
        outcome = self.mode("tridiagonal", "--variant", "raster,compute", "--input", "a.mtx", "--systems", 2, *BRIEFLY, status=1)
        for variant in "raster", "compute":
            self.assertRegex(outcome.out, rf"(?m)^{variant} .*FAILED: zero pivot: system 1, row 2")
        self.assertRegex(outcome.out, r"(?m)^lapack .* passed$")


class Background(CoprocessorTest):
    def test_systems_are_divided_by_the_ratio_and_averages_are_per_system(self):
        for ratio, on_gpu in (0, 12), (0.5, 8), (100, 0):
            with self.subTest(ratio=ratio):
                results, outcome = self.results("background", "--n", 16, "--systems", 12, "--ratio", ratio)
                self.assertEqual([result["variant"] for result in results], ["cpu", "gpu", "both"])
                cpu, gpu, both = results
                parameters = both["parameters"]
                self.assertEqual((parameters["on_gpu"], parameters["on_cpu"]), (on_gpu, 12 - on_gpu))
                self.assertGreaterEqual(parameters["total_seconds"],
                                        parameters["cpu_seconds"] + parameters["waiting_seconds"])
                seconds = [result["times"]["compute"]["median"] for result in results]
                self.assertAlmostEqual(both["speedup"], seconds[0] / seconds[2])
                printed = re.search(r"CPU alone (\S+) s, GPU alone (\S+) s, both (\S+) s; speed-up (\S+)", outcome.out)
                for text, value in zip(printed.groups(), [*seconds, seconds[0] / seconds[2]]):
                    self.assertAlmostEqual(float(text), value, delta=max(0.006, 1e-3 * value))

    def test_every_operation_solves_every_size_by_either_kind_of_shader(self):
        for operation in "plu-packed", "matmul":
            for variant in "raster", "compute":
                with self.subTest(operation=operation, variant=variant):
                    results, _ = self.results("background", "--operation", operation, "--n", "12,17", "--systems", 3, "--variant", variant)
                    self.assertEqual([result["n"] for result in results], [12] * 3 + [17] * 3)
                    self.assertEqual({(result["parameters"]["operation"], result["parameters"]["shaders"]) for result in results},
                                     {(operation, variant)})
                    for result in results:
                        self.assertGreater(result["check"]["error"], 0)


@unittest.skipUnless(importlib.util.find_spec("matplotlib"), "matplotlib is not installed: scripts/install-deps.sh --test")
class Plot(CoprocessorTest):
    def plot(self, *arguments, script="background.py", status=0):
        outcome = self.start([ROOT / "scripts" / "plot" / script, *map(str, arguments)], timeout=120)
        self.assertEqual(outcome.status, status, outcome)
        return outcome

    def test_time_shares_are_plotted_against_n(self):
        self.results("background", "--n", "16,24", "--systems", 4)
        self.plot("m.json", "-o", "p.svg", "-o", "p.png")
        text = (self.folder / "p.svg").read_text()
        for part in "both, total", "waits for the GPU", "CPU alone", "GPU alone", "4 systems, ":
            self.assertIn(part, text)
        self.assertTrue((self.folder / "p.png").read_bytes().startswith(b"\x89PNG"))

    def test_times_and_speed_ups_are_plotted_for_every_number_of_systems(self):
        self.results("tridiagonal", "--n", "5,9", "--systems", "2,3", "--variant", "raster,compute")
        self.plot("m.json", "-o", "p.svg", "-o", "p.png", script="tridiagonal.py")
        text = (self.folder / "p.svg").read_text()
        for part in "2 systems", "3 systems", "raster, with packing", "speed-up", "equations of a system":
            self.assertIn(part, text)
        self.plot("m.json", "-o", "c.svg", "--variant", "compute", script="tridiagonal.py")
        self.assertIn("compute, with packing", (self.folder / "c.svg").read_text())
        for arguments, part in (["--variant", "lapack"], "raster, compute"), ([], "exists"):
            self.assertIn(part, self.plot("m.json", *arguments, "-o", "n.svg" if arguments else "p.svg",
                                          script="tridiagonal.py", status=2).err)
        self.results("background", "--n", 8, "--systems", 2)
        self.assertIn("glinpack-papers tridiagonal", self.plot("m.json", "-o", "n.svg", script="tridiagonal.py", status=2).err)

    def test_the_study_writes_reports_and_plots_with_the_papers_speed_ups(self):
        study = ROOT / "scripts" / "study" / "coprocessor.py"
        arguments = [study, "--output-dir", "study", "--sizes", "quick"]
        outcome = self.start(arguments, {"GLINPACK_PAPERS": GLINPACK_PAPERS}, timeout=300)
        self.assertEqual((outcome.status, outcome.err), (0, ""), outcome)
        folder = self.folder / "study"
        commands = outcome.out.splitlines()
        reports = [path.read_text() for path in folder.glob("*.txt")]
        self.assertEqual(sorted(report.splitlines()[0] for report in reports),
                         sorted(f"$ {command}" for command in commands))
        self.assertNotIn("FAILED", "".join(reports))
        table = (folder / "coprocessor.md").read_text()
        for speedup in "1.96", "31.29", "3.04", "14.25", "1.07", "4.27", "1.48", "7.55", "125", "1.68", "319":
            self.assertIn(f"| {speedup} ", table)
        self.assertNotIn("failed", table)
        self.assertEqual(len(list(folder.glob("*figure-*.png"))), 8)
        again = self.start(arguments, {"GLINPACK_PAPERS": GLINPACK_PAPERS})
        self.assertEqual(again.status, 2, again)
        self.assertIn("exists", again.err)
        self.assertEqual(self.start([*arguments, "--redraw"], {"GLINPACK_PAPERS": "false"}, timeout=120).status, 0)
        self.assertEqual((folder / "coprocessor.md").read_text(), table)

    def test_other_files_are_rejected(self):
        self.results("tridiagonal", "--n", 5, "--systems", 2)
        for name, part in ("m.json", "glinpack-papers background"), ("missing.json", "No such file"):
            self.assertIn(part, self.plot(name, "-o", "p.svg", status=2).err)


if __name__ == "__main__":
    unittest.main()
