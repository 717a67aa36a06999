#!/usr/bin/python3
"""The Python module: bindings/python/tests by pytest, the lines of docs/python.md, and an installed copy."""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ["GLINPACK"]).resolve().parent.parent
ENVIRONMENT = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"}


def setUpModule():
    if not list(BUILD.glob("python/glinpack/_core.*")):
        raise RuntimeError(f"{BUILD} has no Python module: cmake --build {BUILD} --target python-module")


class PythonModule(unittest.TestCase):

    def run_python(self, folder, *arguments):
        ended = subprocess.run([sys.executable, *arguments], check=False, capture_output=True, text=True, timeout=600,
                               env={**ENVIRONMENT, "PYTHONPATH": str(folder)})
        self.assertEqual(ended.returncode, 0, ended.stdout + ended.stderr)
        return ended.stdout

    def test_the_modules_own_tests_pass(self):
        passed = self.run_python(BUILD / "python", "-m", "pytest", "-q", "-p", "no:cacheprovider",
                                 ROOT / "bindings/python/tests")
        self.assertRegex(passed, r"\d+ passed")

    def test_the_lines_of_the_document_print_what_it_says(self):
        document = (ROOT / "docs/python.md").read_text()
        code = re.search(r"^```python\n(.*?)^```$", document, re.MULTILINE | re.DOTALL)[1]
        printed = self.run_python(BUILD / "python", "-c", code).split()
        self.assertEqual(printed[0], "True")

    def test_an_installed_copy_needs_no_build_folder(self):
        with tempfile.TemporaryDirectory() as prefix:
            for component in ("library", "python"):
                subprocess.run(["cmake", "--install", BUILD, "--component", component, "--prefix", prefix], check=True,
                               stdout=subprocess.DEVNULL)
            site = next(pathlib.Path(prefix).rglob("glinpack/_core.*")).parent.parent
            code = "import glinpack as g; print(g.__file__, open('/proc/self/maps').read()); g.eye(2).det().wait()"
            loaded = self.run_python(site, "-c", code)
            self.assertIn(f"{prefix}/lib", loaded)
            self.assertNotIn(str(BUILD), loaded)


if __name__ == "__main__":
    unittest.main()
