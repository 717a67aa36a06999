#!/usr/bin/python3
"""Benchmarks: the scripts print help and reject invalid arguments; the programs run. Tests do not check the rates."""
import json
import pathlib
import re
import unittest

from launch import GLINPACK, ROOT, GlinpackTest

SCRIPTS = sorted((ROOT / "scripts" / "bench").glob("*.sh"))
CPU = ROOT / "scripts" / "bench" / "cpu.sh"


class Scripts(GlinpackTest):
    def test_help_has_usage_and_an_example(self):
        self.assertGreaterEqual(len(SCRIPTS), 2)
        for script in SCRIPTS:
            with self.subTest(script=script.name):
                outcome = self.start([script, "--help"])
                self.assertEqual((outcome.status, outcome.err), (0, ""), outcome)
                self.assertIn(f"Usage: scripts/bench/{script.name}", outcome.out)
                self.assertIn(f"Example: scripts/bench/{script.name}", outcome.out)


class Cpu(GlinpackTest):
    def rejected(self, *arguments, environment=None):
        outcome = self.start([CPU, *arguments], environment)
        self.assertEqual((outcome.status, outcome.out), (2, ""), outcome)
        return outcome.err

    def test_invalid_arguments_are_rejected_before_any_run(self):
        for arguments, named in ((["--n"], "--n"), (["--n", "many"], "'many'"), (["--n", "0"], "'0'"),
                                 (["--n", "100001"], "100000"), (["--repetitions", "21"], "20"),
                                 (["--fast"], "'--fast'"), (["8000"], "'8000'")):
            with self.subTest(arguments=arguments):
                message = self.rejected(*arguments)
                self.assertRegex(message, r"^cpu\.sh: .*see --help\n$")
                self.assertIn(named, message)

    def test_missing_programs_are_named_with_their_packages(self):
        # the tools that the script itself needs, but neither MPI nor hpcc
        for tool in ("awk", "bash", "dirname", "env"):
            (self.folder / tool).symlink_to(f"/usr/bin/{tool}")
        message = self.rejected(environment={"PATH": str(self.folder)})
        for package in ("mpich", "openmpi-bin", "hpcc"):
            self.assertTrue(re.search(rf"^cpu\.sh: .* is missing: install {package}$", message, re.MULTILINE), message)
        message = self.rejected("--without-hpl", environment={"PATH": str(self.folder)})
        self.assertIn("install mpich", message)
        self.assertNotIn("hpcc", message)


PROGRAMS = pathlib.Path(GLINPACK).parent


@unittest.skipUnless((PROGRAMS / "operations_bench").exists(), "built without Google Benchmark")
class Programs(GlinpackTest):
    def benchmarks(self, program, *arguments):
        outcome = self.start([PROGRAMS / program, "--benchmark_format=json", "--benchmark_min_time=0.0001", *arguments])
        self.assertEqual(outcome.status, 0, outcome)
        return json.loads(outcome.out)["benchmarks"]

    def test_every_operation_has_a_rate_and_its_share_of_a_ceiling(self):
        operations = {"update", "update_few_rows", "solve_unit_lower", "solve_triangle", "substitute", "copy",
                      "copy_transposed", "move_rows", "upload", "download", "download_transposed", "gather_rows",
                      "scatter_rows", "panel_pivot", "panel_eliminate", "panel_solve_unit_lower", "panel_update"}
        for backend, precisions in (("gl-compute", "sd"), ("gl-raster", "s"), ("openblas", "sd"), ("reference", "sd")):
            with self.subTest(backend=backend):
                benchmarks = self.benchmarks("operations_bench", "--backend", backend, "--n", "24,40", "--nb", "8",
                                             "--ceiling-seconds", "0.001")
                names = {(*benchmark["name"].split("/")[:4],) for benchmark in benchmarks}
                self.assertEqual(names, {(operation, precision, n, "8") for operation in operations
                                         for precision in ("single", "double") if precision[0] in precisions
                                         for n in ("24", "40")})
                for benchmark in benchmarks:
                    self.assertGreater(benchmark.get("FLOPS", benchmark.get("bytes/s")), 0, benchmark)
                    self.assertGreater(benchmark["share"], 0, benchmark)

    def test_ceilings_can_be_omitted(self):
        for benchmark in self.benchmarks("operations_bench", "--backend", "openblas", "--n", "16", "--nb", "4",
                                         "--ceiling-seconds", "0", "--precision", "single"):
            self.assertNotIn("share", benchmark)

    def test_panels_have_rates(self):
        benchmarks = self.benchmarks("panel_bench", "--rows", "32", "--columns", "8")
        self.assertEqual(len(benchmarks), 2)
        for benchmark in benchmarks:
            self.assertGreater(benchmark["FLOPS"], 0, benchmark)

    def test_unknown_options_are_rejected(self):
        for program in "operations_bench", "panel_bench":
            with self.subTest(program=program):
                outcome = self.start([PROGRAMS / program, "--nonsense"])
                self.assertNotEqual(outcome.status, 0, outcome)
                self.assertIn("--nonsense", outcome.err)


if __name__ == "__main__":
    unittest.main()
