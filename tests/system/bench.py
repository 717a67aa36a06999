#!/usr/bin/python3
"""The scripts that measure: what they say of themselves and what they refuse. Nothing is measured here."""
import re
import unittest

from launch import ROOT, GlinpackTest

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
    def refused(self, *arguments, environment=None):
        outcome = self.start([CPU, *arguments], environment)
        self.assertEqual((outcome.status, outcome.out), (2, ""), outcome)
        return outcome.err

    def test_unusable_arguments_are_refused_before_anything_runs(self):
        for arguments, named in ((["--n"], "--n"), (["--n", "many"], "'many'"), (["--n", "0"], "'0'"),
                                 (["--n", "100001"], "100000"), (["--repetitions", "21"], "20"),
                                 (["--fast"], "'--fast'"), (["8000"], "'8000'")):
            with self.subTest(arguments=arguments):
                message = self.refused(*arguments)
                self.assertRegex(message, r"^cpu\.sh: .*see --help\n$")
                self.assertIn(named, message)

    def test_everything_that_is_missing_is_named_with_its_package(self):
        # the tools of the script itself, but neither MPI nor hpcc
        for tool in ("awk", "bash", "dirname", "env"):
            (self.folder / tool).symlink_to(f"/usr/bin/{tool}")
        message = self.refused(environment={"PATH": str(self.folder)})
        for package in ("mpich", "openmpi-bin", "hpcc"):
            self.assertTrue(re.search(rf"^cpu\.sh: .* is missing: install {package}$", message, re.MULTILINE), message)
        message = self.refused("--without-hpl", environment={"PATH": str(self.folder)})
        self.assertIn("install mpich", message)
        self.assertNotIn("hpcc", message)


if __name__ == "__main__":
    unittest.main()
