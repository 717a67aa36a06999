#!/usr/bin/python3
"""glinpack-papers paranoia: the errors of arithmetic and of LU."""
import csv
import re
import unittest

from launch import GLINPACK_PAPERS, ROOT, GlinpackTest

OPERATIONS = ["addition", "subtraction", "multiplication", "division", "fma", "reciprocal"]
BRIEFLY = ["--threads", 1, "--samples", 2000]


class ParanoiaTest(GlinpackTest):
    def mode(self, *arguments, status=0):
        outcome = self.start([GLINPACK_PAPERS, "paranoia", *map(str, arguments)], timeout=300)
        self.assertEqual(outcome.status, status, outcome)
        return outcome

    def document(self, *arguments, status=0):
        """Returns the mode's JSON, which must be valid."""
        outcome = self.mode(*arguments, *BRIEFLY, "--log-level", "warn", "--json", "m.json", "--force", status=status)
        self.assertEqual(outcome.err, "")
        return self.valid_json("m.json", "solver.schema.json"), outcome


class Arithmetic(ParanoiaTest):
    def test_every_operation_is_measured_on_every_variant_and_passes(self):
        document, outcome = self.document("--part", "arithmetic")
        found = [(r["precision"], r["variant"], r["operation"]) for r in document["arithmetic"]]
        self.assertEqual(found, [(precision, variant, operation)
                                 for precision, variants in [("single", ("compute", "fragment", "cpu")),
                                                             ("double", ("compute", "cpu"))]
                                 for variant in variants for operation in OPERATIONS])
        for result in document["arithmetic"]:
            with self.subTest(result=result):
                self.assertTrue(result["passed"])
                self.assertEqual(result["random"], 2000)
                self.assertLessEqual(result["least_ulps"], 0)
                self.assertGreaterEqual(result["most_ulps"], 0)
                self.assertGreater(min(result["ordinary"], result["denormals"], result["special"]), 0)
                if result["variant"] == "cpu":
                    self.assertEqual(result["nearest"], result["ordinary"])
                    self.assertGreaterEqual(result["least_ulps"], -0.5)
                    self.assertLessEqual(result["most_ulps"], 0.5)
        self.assertEqual([(r["variant"], r["precision"]) for r in document["carried"]],
                         [("compute", "single"), ("fragment", "single"), ("compute", "double")])
        # next to the paper's Table 4
        self.assertRegex(outcome.out, r"(?m)^  division +compute .* \[-0\.5, 0\.5\] +\[-2\.5, 2\.5\] +\[-1\.19902, 1\.37442\]")
        self.assertEqual(document["results"], [])

    def test_a_wrong_shader_fails(self):
        shader = (ROOT / "shaders" / "solvers" / "arithmetic.comp").read_text()
        wrong = shader.replace("results[at] = result;", "results[at] = result * Real(1.0000002);")
        self.assertNotEqual(wrong, shader)
        (self.folder / "shaders" / "solvers").mkdir(parents=True)
        self.write("shaders/solvers/arithmetic.comp", wrong)
        document, outcome = self.document("--part", "arithmetic", "--variant", "compute", "--precision", "single",
                                          "--shader-dir", "shaders", status=1)
        self.assertRegex(outcome.out, r"(?m)^  addition +compute .*FAILED: \d+ of \d+ results are outside")
        self.assertRegex(outcome.out, r"FAILED: \d+ are others")
        self.assertFalse(document["arithmetic"][0]["passed"])


class Lu(ParanoiaTest):
    def test_device_and_host_errors_are_measured_on_the_same_matrix(self):
        document, outcome = self.document("--part", "lu", "--n", "1,20,48", "--matrix", "uniform")
        self.assertEqual([(r["precision"], r["n"], r["variant"]) for r in document["results"]],
                         [(precision, n, variant) for precision in ("single", "double") for n in (1, 20, 48)
                          for variant in ("gl-compute", "openblas")])
        for result in document["results"]:
            with self.subTest(result=result):
                self.assertTrue(result["passed"])
                self.assertIsNone(result["times"])
                self.assertGreaterEqual(result["parameters"]["forward_error"], 0)
                self.assertAlmostEqual(result["check"]["error"], result["parameters"]["backward_error"] / result["n"])
                if result["n"] == 48:
                    self.assertGreater(result["parameters"]["backward_error"], 0)
                    self.assertGreater(result["parameters"]["forward_error"], 0.5)
        self.assertEqual(len(re.findall(r"(?m)^  (?:single|double) .* passed$", outcome.out)), 12, outcome)

    def test_factors_with_large_growth_fail(self):
        document, outcome = self.document("--part", "lu", "--n", 60, "--matrix", "wilkinson", "--precision", "single",
                                          "--variant", "cpu", status=1)
        self.assertIn("FAILED: above HPL's 16", outcome.out)
        self.assertFalse(document["results"][0]["passed"])

    def test_csv_has_a_line_for_every_value(self):
        self.mode("--n", "8,9", "--csv", "m.csv", *BRIEFLY)
        rows = list(csv.DictReader((self.folder / "m.csv").read_text().splitlines()))
        self.assertEqual(len(rows), 5 * len(OPERATIONS) + 2 * 2 * 2 * 2)
        self.assertEqual({row["unit"] for row in rows}, {"ulp", "epsilon"})
        self.assertEqual({row["passed"] for row in rows}, {"true"})


if __name__ == "__main__":
    unittest.main()
