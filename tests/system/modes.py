#!/usr/bin/python3
"""The standalone modes: reports, files, exit status. bad_input.py tests bad input."""
import csv
import importlib.util
import itertools
import json
import re
import signal
import subprocess
import tempfile
import unittest

from launch import GLINPACK_PAPERS, MPIEXEC, ROOT, GlinpackTest, read_npy, wait_for

BRIEFLY = ["--repeat", 2, "--warm-up", 0, "--threads", 1]


# of compiled shaders
CACHE = tempfile.TemporaryDirectory(prefix="glinpack-cache-")


class ModesTest(GlinpackTest):
    """The tests share a cache. A test with --tune, whose choices are stored there, has its own."""

    PROGRAM = GLINPACK_PAPERS

    def setUp(self):
        super().setUp()
        self.cache = CACHE.name

    def mode(self, *arguments, status=0, timeout=120, ranks=None):
        launcher = [MPIEXEC, "-np", str(ranks)] if ranks else []
        outcome = self.start([*launcher, GLINPACK_PAPERS, *map(str, arguments)],
                             {"XDG_CACHE_HOME": self.cache}, timeout)
        self.assertEqual(outcome.status, status, outcome)
        return outcome

    def results(self, *arguments, ranks=None):
        """Returns the results from the mode's JSON, which must be valid and have only passed checks."""
        outcome = self.mode(*arguments, *BRIEFLY, "--log-level", "warn", "--json", "m.json", "--force", ranks=ranks)
        self.assertEqual(outcome.err, "")
        document = self.valid_json("m.json", "solver.schema.json")
        for result in document["results"]:
            self.assertTrue(result["passed"], result)
        return document, outcome


class Common(ModesTest):
    def test_a_signal_keeps_complete_results_and_no_partial_file(self):
        command = [GLINPACK_PAPERS, "matmul", "--n", "16,2000", "--variant", "compute", "--repeat", "50", "--warm-up", "0",
                   "--output-dir", "out", "--log-level", "warn"]
        process = subprocess.Popen(list(map(str, command)), cwd=self.folder, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        report = self.folder / "out" / "report.txt"
        measured = re.compile(r"^compute .* 16 .* passed$", re.MULTILINE)
        self.assertTrue(wait_for(lambda: report.exists() and measured.search(report.read_text()), 60))
        process.terminate()
        self.assertEqual(process.wait(timeout=30), -signal.SIGTERM)
        self.assertRegex(report.read_text(), measured)
        self.assertEqual(self.files(), ["out", "out/report.txt"])

    def test_every_mode_has_help_and_is_in_the_program_s_help(self):
        text = self.mode("--help").out
        modes = re.search(r"Solvers of the papers:\n(.*?)\n\n", text, re.DOTALL)[1]
        names = [line.split()[0] for line in modes.splitlines()]
        self.assertIn("matmul", names)
        papers = "".join(page.read_text() for page in (ROOT / "docs" / "papers").glob("*.md"))
        for name in names:
            with self.subTest(mode=name):
                text = self.mode(name, "--help").out
                timed = [] if name == "paranoia" else ["GFLOPS", "--fit"]
                for part in "Usage: glinpack-papers " + name, "Examples:", "Exit code:", "--json", *timed:
                    self.assertIn(part, text)
                self.assertIn(f"glinpack-papers {name} ", papers, "a page of docs/papers shows its command")

    def test_under_a_launcher_the_first_process_runs_alone(self):
        outcome = self.glinpack("matmul", "--variant", "openblas", "--n", 8, ranks=2)
        self.assertEqual((outcome.status, outcome.out.count("glinpack-papers matmul")), (0, 1), outcome)

    def test_output_dir_holds_report_json_and_csv_with_every_result(self):
        outcome = self.mode("matmul", "--variant", "single-pass,compute", "--n", "8,9", *BRIEFLY, "--output-dir", "out")
        self.assertEqual(self.files(), ["out", "out/report.txt", "out/results.csv", "out/results.json"])
        self.assertEqual((self.folder / "out" / "report.txt").read_text(), outcome.out)
        rows = list(csv.DictReader((self.folder / "out" / "results.csv").read_text().splitlines()))
        self.assertEqual([(row["variant"], row["n"]) for row in rows],
                         [(variant, n) for n in ("8", "9") for variant in ("openblas", "single-pass", "compute")])
        for row in rows:
            self.assertEqual(row["passed"], "true")
            self.assertGreater(float(row["seconds"]), 0)


class Matmul(ModesTest):
    def test_all_variants_and_packings_pass_on_a_ragged_shape(self):
        document, _ = self.results("matmul", "--variant", "all", "--packing", "all", "--pass-length", "1,3", "--shape",
                                   "13x21x6")
        settings = [(result["variant"], result["settings"]) for result in document["results"]]
        self.assertEqual(len(settings), 1 + 4 + 4 + 2 * 4 * 2 + 4 + 4 + 1)
        self.assertEqual(len(set(settings)), len(settings))
        self.assertEqual({result["size"] for result in document["results"]}, {"13x21x6"})
        # each BLAS has its name there
        self.assertEqual({result["check"]["against"].removeprefix(document["host"]["blas"].split()[0])
                          for result in document["results"]}, {"sums in double precision", " gemm"})

    def test_double_precision_is_computed_and_checked_in_double_precision(self):
        document, _ = self.results("matmul", "--variant", "compute,openblas", "--precision", "double", "--n", 33)
        self.assertEqual([result["variant"] for result in document["results"]], ["openblas", "compute"])
        for result in document["results"]:
            self.assertLess(result["check"]["tolerance"], 1e-13)

    def test_matrices_are_read_from_files_and_the_product_written_to_a_file(self):
        self.write("a.mtx", "%%MatrixMarket matrix array real general\n2 3\n1\n4\n2\n5\n3\n6\n")
        self.write("b.mtx", "%%MatrixMarket matrix coordinate real general\n3 2 3\n1 1 1\n2 2 1\n3 1 2\n")
        files = ["--input", "a.mtx", "--input-b", "b.mtx", *BRIEFLY]
        self.mode("matmul", "--variant", "single-pass", *files, "--output", "c.npy")
        self.assertEqual(read_npy(self.folder / "c.npy"), ([2, 2], (7, 2, 16, 5)))
        self.mode("matmul", "--variant", "openblas", *files, "--output", "c.mtx")
        self.assertEqual((self.folder / "c.mtx").read_text().split("\n")[1:6], ["2 2", "7", "16", "2", "5"])

    def test_the_tuned_variant_is_stored_and_is_the_default(self):
        self.cache = str(self.folder / "cache")
        outcome = self.mode("matmul", "--tune", "--variant", "multi-pass,single-pass", "--n", 16, *BRIEFLY)
        choice = re.search(r"fastest at 16: (\S+) (\S+?)(?:, pass (\d+))?; kept in", outcome.out)
        self.assertIsNotNone(choice, outcome)
        document, _ = self.results("matmul", "--n", 20)
        taken = document["results"][1]
        self.assertEqual((taken["variant"], taken["parameters"]["packing"]), choice.groups()[:2])
        document, _ = self.results("matmul", "--n", 20, "--variant", "compute")
        self.assertEqual(document["results"][1]["variant"], "compute")

    def test_compute_shaders_are_the_default_without_tuning(self):
        document, _ = self.results("matmul", "--n", 20)
        self.assertEqual([result["variant"] for result in document["results"]], ["openblas", "compute"])


class DenseSystems(ModesTest):
    def setUp(self):
        super().setUp()
        # 2 x + y = 5, x + 3 y = 10, and the doubled right-hand side
        self.write("a.mtx", "%%MatrixMarket matrix array real general\n2 2\n2\n1\n1\n3\n")
        self.write("b.mtx", "%%MatrixMarket matrix array real general\n2 2\n5\n10\n10\n20\n")
        self.write("zero.mtx", "%%MatrixMarket matrix coordinate real general\n3 3 2\n1 1 1\n2 3 1\n")

    def test_every_combination_is_measured_and_checked(self):
        document, outcome = self.results("gauss-jordan", "--n", "17,20", "--rhs", 3, "--variant", "all", "--pivoting",
                                         "all", "--measure", "all")
        series = {(result["variant"], result["settings"]) for result in document["results"]}
        self.assertEqual(series, {("openblas", ""), ("rref", "")} | {(variant, pivoting + measure)
                                                       for pivoting in ("partial", "full")
                                                       for variant, measure in [("double-rows", ""), ("plain", ""),
                                                                                ("double-rows", ", signed"),
                                                                                ("compute", ""),
                                                                                ("compute", ", signed")]})
        self.assertEqual(len(document["results"]), 2 * len(series))
        for result in document["results"]:
            self.assertGreater(result["check"]["error"], 0)
            self.assertEqual(result["check"]["tolerance"], 16)
            self.assertLess(result["parameters"]["error"], 1e-3)
        self.assertIn("double-rows full, signed", outcome.out[outcome.out.index("Errors:"):])

    def test_the_fastest_work_group_is_kept_for_later_runs(self):
        modes = ("gauss-jordan", ()), ("plu-packed", ()), ("tridiagonal", ("--systems", 70, "--equations", "16"))
        for (mode, more), tuning in itertools.product(modes, (["--tune"], ["--group", "all"])):
            with self.subTest(mode=mode, tuning=tuning):
                self.cache = str(self.folder / f"cache {mode} {tuning[0]}")
                arguments = [mode, "--n", 40, "--variant", "compute", *more]
                document, outcome = self.results(*arguments)
                self.assertNotIn("group", document["results"][1]["parameters"])
                document, outcome = self.results(*arguments, *tuning)
                self.assertEqual(len(document["results"]), 5)  # LAPACK, four numbers of invocations
                fastest = re.search(r"(?m)^fastest at .*40: compute .*group (\d+); kept in", outcome.out)[1]
                document, _ = self.results(*arguments)
                self.assertEqual([result["parameters"].get("group") for result in document["results"]], [None, int(fastest)])

    def test_all_variants_in_double_precision_are_those_that_do_not_draw_with_a_residual_of_its_own(self):
        compute = ["openblas", "compute"]
        for mode, variants, more in (("gauss-jordan", ["openblas", "rref", "compute"], ()), ("plu-packed", compute, ()),
                                     ("plu-packed", compute, ("--rhs", 0))):
            with self.subTest(mode=mode, more=more):
                document, outcome = self.results(mode, "--n", 17, "--precision", "double", "--variant", "all", *more)
                self.assertEqual([(result["variant"], result["precision"]) for result in document["results"]],
                                 [(variant, "double") for variant in variants])
                self.assertIn("the others draw into single-precision textures", outcome.out)
                self.assertLess(document["results"][-1]["check"]["error"], 16)

    def test_inverses_and_factors_are_computed_alone(self):
        document, _ = self.results("gauss-jordan", "--n", 15, "--inverse", "--variant", "all")
        self.assertEqual({result["size"] for result in document["results"]}, {"15, inverse"})
        document, _ = self.results("plu-packed", "--n", 15, "--rhs", 0, "--variant", "all")
        self.assertEqual([result["check"] is None for result in document["results"]], [True, False, False, False])

    def test_systems_are_read_from_files_and_the_solution_written_to_a_file(self):
        for mode, variant in ("gauss-jordan", "double-rows"), ("gauss-jordan", "openblas"), ("plu-packed", "compute"):
            with self.subTest(mode=mode, variant=variant):
                self.mode(mode, "--variant", variant, "--input", "a.mtx", "--input-b", "b.mtx", "--output", "x.npy",
                          "--force", *BRIEFLY)
                shape, values = read_npy(self.folder / "x.npy")
                self.assertEqual(shape, [2, 2])
                for value, expected in zip(values, (1, 2, 3, 6), strict=True):
                    self.assertAlmostEqual(value, expected, places=5)

    @unittest.skipUnless(importlib.util.find_spec("numpy"), "numpy is not installed: scripts/install-deps.sh --test")
    def test_the_factors_and_the_order_of_rows_are_written(self):
        import numpy
        n = 7
        a = numpy.random.default_rng(2).uniform(-0.5, 0.5, (n, n)).astype(numpy.float32).astype(float)
        numpy.save(self.folder / "a.npy", a)
        for variant, steps in ("double-rows", 4), ("plain", 7), ("compute", 4):
            with self.subTest(variant=variant):
                document, _ = self.results("plu-packed", "--rhs", 0, "--variant", variant, "--input", "a.npy", "--output", "lu.npy")
                factors = numpy.load(self.folder / "lu.npy")
                product = (numpy.tril(factors, -1) + numpy.eye(n)) @ numpy.triu(factors)
                parameters = document["results"][-1]["parameters"]
                self.assertEqual(parameters["steps"], steps)
                error = numpy.abs(product - a[parameters["row_order"]]).max()
                self.assertLess(error, 16 * n * 2**-24 * numpy.abs(a).sum(axis=1).max())

    def test_a_singular_system_fails_with_its_step_and_writes_no_solution(self):
        for mode, variants in ("gauss-jordan", 5), ("plu-packed", 4):
            with self.subTest(mode=mode):
                outcome = self.mode(mode, "--variant", "all", "--input", "zero.mtx", "--output", "x.npy", *BRIEFLY,
                                    "--json", "s.json", "--force", status=1)
                self.assertEqual(len(re.findall(r"FAILED: singular.* step \d of \d", outcome.out)), variants, outcome)
                self.assertFalse((self.folder / "x.npy").exists())
                for result in json.loads((self.folder / "s.json").read_text())["results"]:
                    self.assertFalse(result["passed"])
                    self.assertIsNone(result["times"])

    def test_the_study_of_errors_has_a_row_for_every_order_and_variant(self):
        study = ROOT / "scripts" / "study" / "elimination.py"
        outcome = self.start([study, "--output-dir", "study", "--n", "9,12", "--seeds", "2"],
                             {"GLINPACK_PAPERS": GLINPACK_PAPERS})
        self.assertEqual((outcome.status, outcome.out, outcome.err), (0, "", ""), outcome)
        rows = list(csv.DictReader((self.folder / "study" / "elimination.csv").read_text().splitlines()))
        self.assertEqual(len(rows), 2 * 2 * 7)  # seeds, orders; LAPACK and six variants
        self.assertEqual({row["passed"] for row in rows}, {"True"})
        lines = (self.folder / "study" / "elimination.md").read_text().splitlines()
        self.assertEqual(len([line for line in lines if re.match(r"\| (9|12) \|", line)]), 2 * 7)
        again = self.start([study, "--output-dir", "study", "--seeds", "1"], {"GLINPACK_PAPERS": GLINPACK_PAPERS})
        self.assertEqual(again.status, 2, again)
        self.assertIn("exists", again.err)


class LuMethods(ModesTest):
    def test_the_example_of_the_readme_passes_and_prints_the_paper_s_tables(self):
        outcome = self.mode("lu-methods", "--n", "16,32", "--methods", "all", *BRIEFLY)
        self.assertEqual(len(re.findall(r"^(?:M[1-4]|compute) .* passed$", outcome.out, re.MULTILINE)), 2 * 9, outcome)
        for part in "the paper's Table 1", "the paper's Table 3", "Accesses alone", "waits after", "Errors:", "Loop orders":
            self.assertIn(part, outcome.out)
        # the counted passes and copies, and the paper's
        self.assertRegex(outcome.out, r"(?m)^M1 copy +16 +32 +32 +30 .* 32 +32 +43520 +43520$")
        self.assertRegex(outcome.out, r"(?m)^M4 switch +16 +64 +64 .* 0 +0 +0 +0$")

    def test_results_have_counts_errors_and_times(self):
        document, _ = self.results("lu-methods", "--n", "20,21")
        self.assertGreater(document["texel_fetch_bytes_per_second"], 0)
        self.assertGreater(document["multiply_add_flops_per_second"], 0)
        self.assertEqual(len(document["results"]), 2 * 10)
        for result in document["results"]:
            parameters = result["parameters"]
            if result["rival"]:
                self.assertIsNone(result["check"])
                continue
            self.assertEqual(result["check"]["tolerance"], 16)
            self.assertLess(parameters["difference"], 1e-5)
            self.assertLess(parameters["solution_residual"], 16)
            if result["variant"] == "compute":
                continue
            self.assertEqual(parameters["passes_of_table_1"] is None, result["n"] == 21 and result["variant"] in ("M3", "M4"))
            parts = parameters["breakdown"]
            self.assertEqual((parts["source"], parts["copy_seconds"] is None), ("waiting", result["settings"] == "switch"))
            self.assertAlmostEqual(parameters["share_of_peak"], 2 * result["n"]**3 / 3 / parts["whole_seconds"] /
                                   document["multiply_add_flops_per_second"])
            self.assertGreater(parameters["access"]["bytes"], 0)

    def test_a_matrix_is_read_from_a_file_and_its_factors_written_to_a_file(self):
        self.write("a.mtx", "%%MatrixMarket matrix array real general\n3 3\n2\n4\n2\n1\n5\n7\n1\n3\n10\n")
        for method in "M1", "compute", "crout":
            with self.subTest(method=method):
                self.mode("lu-methods", "--methods", method, "--strategy", "switch", "--input", "a.mtx", "--output",
                          "lu.npy", "--force", *BRIEFLY)
                shape, values = read_npy(self.folder / "lu.npy")
                self.assertEqual((shape, values), ([3, 3], (2, 1, 1, 2, 3, 1, 1, 2, 7)))

    @unittest.skipUnless(importlib.util.find_spec("numpy"), "numpy is not installed: scripts/install-deps.sh --test")
    def test_errors_by_step_are_numpy_s_differences(self):
        import numpy
        n = 16
        a = numpy.random.default_rng(5).uniform(-0.5, 0.5, (n, n)) + n * numpy.eye(n)
        a = a.astype(numpy.float32).astype(float)
        numpy.save(self.folder / "a.npy", a)
        document, outcome = self.results("lu-methods", "--input", "a.npy", "--methods", "M3,compute", "--strategy", "switch",
                                         "--division", "all", "--output", "lu.npy")
        self.assertIn("Errors by the step", outcome.out)
        exact = a.copy()
        for k in range(n):
            exact[k + 1:, k] /= exact[k, k]
            exact[k + 1:, k + 1:] -= numpy.outer(exact[k + 1:, k], exact[k, k + 1:])
        self.assertEqual([result["settings"] for result in document["results"]], ["pivoting", "switch", "switch, reciprocal", "blocks of 64", "blocks of 64, reciprocal"])
        errors = numpy.abs(numpy.load(self.folder / "lu.npy") - exact)
        expected = [max(errors[k, k:].max(), errors[k:, k].max()) / numpy.abs(exact).max() for k in range(1, n, 2)]
        parameters = document["results"][-1]["parameters"]
        numpy.testing.assert_allclose(parameters["errors_by_step"], expected, rtol=1e-6, atol=1e-12)
        # L alone, over its largest element; its last column is empty
        lower, largest = numpy.tril(errors, -1), numpy.abs(numpy.tril(exact, -1)).max()
        numpy.testing.assert_allclose(parameters["errors_of_l_by_step"][:-1], lower.max(axis=0)[1:-1:2] / largest, rtol=1e-6)
        self.assertIsNone(parameters["errors_of_l_by_step"][-1])
        self.assertAlmostEqual(parameters["difference_of_l"], lower.max() / largest, delta=1e-6 * lower.max() / largest)

    def test_a_folder_may_override_only_the_drawing_shaders(self):
        folder = self.folder / "shaders" / "solvers"
        folder.mkdir(parents=True)
        (folder / "lu_methods.frag").write_text((ROOT / "shaders" / "solvers" / "lu_methods.frag").read_text())
        document, _ = self.results("lu-methods", "--n", 8, "--shader-dir", "shaders")
        self.assertEqual(len(document["results"]), 10)

    def test_a_matrix_that_needs_pivoting_fails_with_its_step_and_writes_no_factors(self):
        self.write("turned.mtx", "%%MatrixMarket matrix array real general\n3 3\n1\n0\n0\n0\n0\n1\n0\n1\n0\n")
        outcome = self.mode("lu-methods", "--input", "turned.mtx", "--output", "lu.npy", *BRIEFLY, "--json", "t.json",
                            status=1)
        self.assertEqual(len(re.findall(r"FAILED: step 2 of 3: the pivot, .* too small", outcome.out)), 9, outcome)
        self.assertFalse((self.folder / "lu.npy").exists())
        self.assertEqual([result["passed"] for result in json.loads((self.folder / "t.json").read_text())["results"]],
                         [True] + [False] * 9)


class Banded(ModesTest):
    def test_the_example_of_the_readme_passes(self):
        outcome = self.mode("banded", "--n", 4096, "--diagonals", 10)
        for variant in "diagonals", "compute", "csr":
            self.assertRegex(outcome.out, rf"(?m)^{variant} .* 4096 .* passed$")

    def test_conjugate_gradients_solve_on_both(self):
        document, outcome = self.results("banded", "--solve", "--n", "30,300")
        self.assertEqual([result["variant"] for result in document["results"]], ["csr", "cg"] * 2)
        self.assertTrue(all(result["passed"] and result["parameters"]["iterations"] > 0
                            for result in document["results"]))
        self.mode("banded", "--solve", "--op", "+", status=2)

    def test_a_matrix_is_read_from_a_file_and_the_product_written_to_a_file(self):
        self.write("a.mtx", "%%MatrixMarket matrix coordinate real symmetric\n3 3 3\n1 1 2\n3 1 4\n2 2 0\n")
        products = []
        for variant in "diagonals", "csr":
            self.mode("banded", "--variant", variant, "--input", "a.mtx", "--output", "y.npy", "--force", *BRIEFLY)
            shape, y = read_npy(self.folder / "y.npy")
            self.assertEqual((shape, y[1]), ([3, 1], 0))
            self.assertNotEqual(y[2], 0)
            products.append(y)
        for y in products:
            self.assertAlmostEqual(y[0], products[0][0], places=5)
            self.assertAlmostEqual(y[2], products[0][2], places=5)


class Poisson(ModesTest):
    def test_the_table_of_the_paper_is_reproduced(self):
        document, outcome = self.results("poisson", "--n", "32", "--memory", "all", "--host", "all")
        for variant in "serial", "threads", "global", "shared":
            self.assertRegex(outcome.out, rf"(?m)^ +32 +1024  {variant} +none +(?:walk|-) +double +3.0128e-03 +48 ")
        self.assertIn("global and shared: textures hold single", outcome.out)
        self.assertEqual(len(document["results"]), 4)
        for result in document["results"]:
            parameters = result["parameters"]
            self.assertEqual(parameters["iterations"], 48)
            self.assertEqual(parameters["least_bytes_per_iteration"], 8 * 8 * 32**2)
            self.assertLessEqual(parameters["relative_residual"], 1e-6)
            self.assertAlmostEqual(parameters["true_residual"], parameters["relative_residual"], delta=1e-12)
            self.assertGreater(parameters["share_of_copy"], 0)
            self.assertIn("the paper", result["check"]["against"])

    def test_help_lists_the_exit_code_of_the_watchdog(self):
        self.assertIn("5 ended by --watchdog", self.mode("poisson", "--help").out)
        self.assertNotIn("5 ended", self.mode("matmul", "--help").out)

    def test_multigrid_has_results_of_its_own(self):
        document, outcome = self.results("poisson", "--n", "17", "--memory", "all", "--host", "serial", "--precision",
                                         "single", "--preconditioner", "all")
        self.assertIn("multigrid works in storage buffers by kernel walk", outcome.out)
        found = [(result["variant"], result["settings"]) for result in document["results"]]
        self.assertEqual([variant for variant, settings in found if settings != "multigrid"],
                         ["serial", "global", "texture1d", "texture2d", "shared"])
        multigrid = [result for result in document["results"] if result["settings"] == "multigrid"]
        self.assertEqual([result["variant"] for result in multigrid], ["serial", "global", "shared"])
        for result in multigrid:
            self.assertIn("bounds", result["check"]["against"])
            self.assertGreater(result["parameters"]["least_bytes_per_iteration"], 20 * 4 * 17**2)

    @unittest.skipUnless(importlib.util.find_spec("numpy"), "numpy is not installed: scripts/install-deps.sh --test")
    def test_algorithm_1_of_the_paper_gives_numpy_s_iterates(self):
        import numpy
        n, tolerance = 12, 1e-3

        def times_a(v):
            padded = numpy.pad(v, 1)
            return 4 * v - padded[:-2, 1:-1] - padded[2:, 1:-1] - padded[1:-1, :-2] - padded[1:-1, 2:]

        x = numpy.arange(1, n + 1) / (n + 1)
        sine, cosine = numpy.sin(numpy.pi * x)**2, numpy.cos(2 * numpy.pi * x)
        b = -2 * numpy.pi**2 * (numpy.outer(cosine, sine) + numpy.outer(sine, cosine)) / (n + 1)**2
        guess = numpy.random.default_rng(3).uniform(-0.1, 0.1, (n, n))
        numpy.save(self.folder / "g.npy", guess)
        u = guess.copy()
        p = r = b - times_a(u)
        iterations, rho = 0, (r * r).sum()
        while rho > tolerance**2 * (b * b).sum():
            iterations += 1
            q = times_a(p)
            alpha = rho / (p * q).sum()
            u, r = u + alpha * p, r - alpha * q
            rho, old = (r * r).sum(), rho
            p = r + rho / old * p
        for kernel, memory, precision in [("paper", "global", "double"), ("paper", "shared", "double"),
                                          ("paper", "texture1d", "single"), ("paper", "texture2d", "single"),
                                          ("walk", "global", "double")]:
            with self.subTest(kernel=kernel, memory=memory):
                document, _ = self.results("poisson", "--n", n, "--kernel", kernel, "--memory", memory, "--precision", precision,
                                           "--host", "none", "--first-guess", "g.npy", "--tolerance", tolerance, "--output",
                                           "u.npy")
                self.assertEqual(document["results"][0]["parameters"]["iterations"], iterations)
                error = numpy.abs(numpy.load(self.folder / "u.npy") - u).max()
                self.assertLess(error, n**2 * (2**-53 if precision == "double" else 2**-24))

    def test_max_iterations_ends_with_a_warning(self):
        document, outcome = self.results("poisson", "--n", 32, "--host", "serial", "--kernel", "paper", "--max-iterations", 9)
        self.assertEqual(outcome.out.count("ended by --max-iterations 9"), 2)
        for result in document["results"]:
            self.assertEqual((result["parameters"]["iterations"], result["parameters"]["converged"]), (9, False))
            self.assertIsNone(result["check"])

    def test_the_solution_is_written_to_a_file(self):
        self.mode("poisson", "--n", "5,3", "--memory", "none", "--host", "serial", "--output", "u.npy", *BRIEFLY)
        shape, u = read_npy(self.folder / "u.npy")
        self.assertEqual(shape, [3, 3])
        self.assertEqual(max(u), u[4])
        for e in range(9):  # symmetric
            self.assertAlmostEqual(u[e], u[8 - e])

    def test_the_square_is_divided_among_processes(self):
        n, iterations, error = 32, 48, "3.0128e-03"
        for ranks, host, memory in (2, "serial", "global"), (4, "threads", "none"):
            with self.subTest(ranks=ranks):
                document, outcome = self.results("poisson", "--n", n, "--host", host, "--memory", memory, ranks=ranks)
                variants = [name for name in (host, memory) if name != "none"]
                self.assertEqual([result["variant"] for result in document["results"]], variants)
                self.assertEqual(outcome.out.count("glinpack-papers poisson"), 1)
                self.assertIn(f"{ranks} ranks", outcome.out)
                for variant in variants:
                    self.assertRegex(outcome.out, rf"(?m)^ +{n} +{n * n}  {variant} +none +(?:walk|-) +double +{error} +{iterations} ")
                    self.assertRegex(outcome.out, rf"(?m)^ +{n}  {variant} +{ranks}( +[\d.e+-]+){{4}}$")
                for result in document["results"]:
                    parameters = result["parameters"]
                    self.assertEqual(parameters["iterations"], iterations)
                    self.assertIn("the paper", result["check"]["against"])
                    self.assertEqual(parameters["ranks"], ranks)
                    self.assertTrue(result["settings"].startswith(f"{ranks} ranks"), result["settings"])
                    self.assertAlmostEqual(parameters["true_residual"], parameters["relative_residual"], delta=1e-12)
                    self.assertGreater(parameters["exchange_seconds"], 0)
                    self.assertLessEqual(parameters["exposed_seconds"], parameters["exchange_seconds"])
                    self.assertGreater(parameters["sums_seconds"], 0)

    def test_an_error_of_one_process_ends_all(self):
        program = [GLINPACK_PAPERS, "poisson", "--n", "8", "--json", "p.json"]
        outcome = self.start([MPIEXEC, "-np", "1", *program, ":", "-np", "1", "-env", "EGL_VISIBLE_DEVICES", "99", *program])
        self.assertEqual((outcome.status, len(outcome.messages), outcome.out), (2, 1, ""), outcome)
        self.assertIn("rank 1: no usable OpenGL device", outcome.err)
        self.assertEqual(self.files(), [])


@unittest.skipUnless(importlib.util.find_spec("matplotlib"), "matplotlib is not installed: scripts/install-deps.sh --test")
class Pages(ModesTest):
    def test_every_command_of_every_page_begins_with_a_program(self):
        found = importlib.util.spec_from_file_location("papers", ROOT / "scripts" / "papers.py")
        papers = importlib.util.module_from_spec(found)
        found.loader.exec_module(papers)
        for page in papers.PAGES:
            for command in papers.commands_of(page):
                program = command.split()[0]
                self.assertTrue(program in papers.PROGRAMS or (ROOT / program).is_file(), command)

    def test_a_script_repeats_every_command_of_a_page(self):
        outcome = self.start([ROOT / "scripts" / "papers.py", "--quick", "matmul"], {"GLINPACK_PAPERS": GLINPACK_PAPERS},
                             timeout=300)
        self.assertEqual((outcome.status, outcome.err), (0, ""), outcome)
        lines = outcome.out.splitlines()
        page = (ROOT / "docs" / "papers" / "matmul.md").read_text()
        self.assertEqual(len(lines), len(re.findall(r"`(?:glinpack-papers|scripts)[^`]+`",
                                                    "".join(re.findall(r"^\|.*\|$", page, re.MULTILINE)))))
        folder = self.folder / "papers" / "matmul"
        for number, line in enumerate(lines, 1):
            self.assertRegex(line, rf"^papers/matmul/{number}\.txt: passed: (?:glinpack-papers|scripts)")
            if "glinpack-papers" in line:
                self.assertIn("passed", (folder / f"{number}.txt").read_text())
        self.assertEqual(len(list(folder.glob("*.png"))), 2)
        script = ROOT / "scripts" / "results.py"
        self.start([script, "pack", "m.jsonl.gz", *folder.glob("*.txt"), *folder.glob("*.json")])
        outcome = self.start([script, "table", "m.jsonl.gz"])
        self.assertRegex(outcome.out, r"(?m)^\| papers/matmul/\d+ \| matmul \| single-pass 2x2 \| single \| 16 \| ")


@unittest.skipUnless(importlib.util.find_spec("matplotlib"), "matplotlib is not installed: scripts/install-deps.sh --test")
class Plots(ModesTest):
    def plot(self, *arguments, status=0):
        outcome = self.start([ROOT / "scripts" / "plot" / "mode_times.py", *map(str, arguments)], timeout=120)
        self.assertEqual(outcome.status, status, outcome)
        return outcome

    def test_times_and_speed_ups_are_plotted_with_the_fits(self):
        self.results("matmul", "--variant", "single-pass,compute", "--n", "8,16,24,32,40", "--fit")
        self.plot("m.json", "-o", "t.svg", "-o", "t.png")
        for word in "single-pass 2x2", "compute", "openblas", "time, seconds", "matmul", "40":
            self.assertIn(word, self.svg_text("t.svg"))
        self.assertGreater((self.folder / "t.png").stat().st_size, 5000)
        self.plot("m.json", "--quantity", "speedup", "--with-all", "-o", "s.svg")
        text = self.svg_text("s.svg")
        self.assertIn("speed-up over the processor with packing and transfer", text)
        self.assertNotIn("openblas", text)
        self.plot("m.json", "--quantity", "gflops", "--log", "-o", "g.svg")
        self.plot("m.json", "--quantity", "element", "-o", "e.svg")
        self.assertIn("time of an element of the product", self.svg_text("e.svg"))
        self.results("gauss-jordan", "--n", 8)
        self.assertIn("no result has", self.plot("m.json", "--quantity", "element", "-o", "n.svg", status=2).err)

    def test_the_methods_of_lu_are_plotted_as_in_their_paper(self):
        self.results("lu-methods", "--n", "8,16", "--methods", "M1,M4,compute")
        script = ROOT / "scripts" / "plot" / "lu_methods.py"
        outcome = self.start([script, self.folder / "m.json", "-o", "f.svg", "-o", "f.png"], timeout=120)
        self.assertEqual((outcome.status, outcome.err), (0, ""), outcome)
        for word in "M1", "M4", "compute", "copying", "switching", "GFLOPS", "16":
            self.assertIn(word, self.svg_text("f.svg"))
        self.write("x.json", '{"runs": []}')
        outcome = self.start([script, self.folder / "x.json", "-o", "g.svg"], timeout=120)
        self.assertEqual((outcome.status, len(outcome.err.splitlines())), (2, 1), outcome)

    def test_time_per_iteration_and_surfaces_are_plotted(self):
        self.results("poisson", "--n", "4,8", "--memory", "shared", "--host", "serial", "--output", "u.npy")
        self.plot("m.json", "--quantity", "iteration", "--log", "-o", "i.svg")
        for word in "shared", "serial", "time per iteration, seconds":
            self.assertIn(word, self.svg_text("i.svg"))
        script = ROOT / "scripts" / "plot" / "poisson_surfaces.py"
        outcome = self.start([script, "u.npy", "-o", "u.png", "-o", "u.svg"], timeout=120)
        self.assertEqual(outcome.status, 0, outcome)
        self.assertGreater((self.folder / "u.png").stat().st_size, 5000)
        self.assertIn("N = 8", self.svg_text("u.svg"))
        self.write("x.npy", "u")
        outcome = self.start([script, "x.npy", "-o", "x.png"], timeout=120)
        self.assertEqual((outcome.status, len(outcome.err.splitlines())), (2, 1), outcome)
        self.results("matmul", "--variant", "compute", "--n", "8")
        self.assertIn("no result has", self.plot("m.json", "--quantity", "iteration", "-o", "n.svg", status=2).err)

    def test_unplottable_results_are_rejected(self):
        self.write("x.json", '{"runs": []}')
        for arguments, word in ((["x.json", "-o", "a.svg"], "standalone mode"), (["none.json", "-o", "a.svg"], "No such"),
                                (["x.json", "-o", "a.pdf"], ".svg")):
            outcome = self.plot(*arguments, status=2)
            self.assertIn(word, outcome.err)
            self.assertEqual(len(outcome.err.splitlines()), 1, outcome)


if __name__ == "__main__":
    unittest.main()
