#!/usr/bin/python3
"""Man pages and completion: man reads the pages without warnings, and bash completes."""
import os
import re
import subprocess
import unittest

from launch import GLINPACK, GLINPACK_PAPERS, GlinpackTest

DRIVER = r"""
source "$1"
shift
PATH=bin:$PATH
COMP_WORDS=("$@")
COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
$(complete -p "$1" | sed 's/.*-F \([^ ]*\) .*/\1/')
printf '%s\n' "${COMPREPLY[@]}"
"""


def run(*command, **keywords):
    return subprocess.run([str(part) for part in command], check=True, capture_output=True, text=True, timeout=60,
                          env=dict(os.environ, OPENBLAS_CORETYPE="Haswell", LC_ALL="C"), **keywords)


class ManualTest(GlinpackTest):
    def subcommands(self, program=GLINPACK):
        names = re.findall(r"^  ([a-z][\w-]+)  +[A-Z]", run(program, "--help").stdout, re.MULTILINE)
        self.assertGreater(len(names), 10)
        return names


class Help(ManualTest):
    def test_the_help_of_a_program_fits_a_screen_and_shows_the_first_steps(self):
        for program in GLINPACK, GLINPACK_PAPERS:
            self.assertLessEqual(len(run(program, "--help").stdout.splitlines()), 50)
        examples = run(GLINPACK, "--help").stdout.partition("Examples:")[2]
        for first_step in "plu --hpl-dat HPL.dat", "devices", "doctor", "plan --nodes", "compare a.json b.json":
            self.assertIn("glinpack " + first_step, examples)


class ManPages(ManualTest):
    def test_every_subcommand_has_a_page_that_man_formats_without_warnings(self):
        folder = self.folder / "man"
        expected = []
        for program in GLINPACK, GLINPACK_PAPERS:
            run(program, "man-pages", "--output-dir", folder)
            own = os.path.basename(program)
            expected += [f"{own}.1", *(f"{own}-{name}.1" for name in self.subcommands(program))]
        pages = sorted(page.name for page in folder.iterdir())
        self.assertEqual(pages, sorted(expected))
        for page in pages:
            with self.subTest(page=page):
                shown = run("man", "--warnings", "-l", folder / page)
                self.assertEqual(shown.stderr, "")
                of_program = [] if "-" in page.removeprefix("glinpack-papers") else ["ENVIRONMENT", "FILES"]
                for part in ("NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "EXAMPLES", "EXIT STATUS", "SEE ALSO",
                             *of_program):
                    self.assertRegex(shown.stdout, f"(?m)^{part}$")

    def test_pages_are_overwritten_only_with_force(self):
        run(GLINPACK, "man-pages", "--output-dir", self.folder)
        again = self.start([GLINPACK, "man-pages", "--output-dir", self.folder])
        self.assertEqual(again.status, 2, again)
        self.assertIn("glinpack.1 exists and is not overwritten; use --force", again.err)
        run(GLINPACK, "man-pages", "--output-dir", self.folder, "--force")

    def test_rejected_arguments_create_no_folder_and_no_page(self):
        self.write("file", "")
        rejected = self.start([GLINPACK, "man-pages", "--output-dir", "file/man"])
        self.assertEqual(rejected.status, 2, rejected)
        self.assertRegex(rejected.err, "^glinpack: --output-dir: .*file is not a folder\n$")
        (self.folder / "man" / "glinpack-plu.1").mkdir(parents=True)
        rejected = self.start([GLINPACK, "man-pages", "--output-dir", "man", "--force"])
        self.assertEqual(rejected.status, 2, rejected)
        self.assertIn("man/glinpack-plu.1 is a folder", rejected.err)
        self.assertEqual(self.files(), ["file", "man", "man/glinpack-plu.1"])

    def test_errors_name_only_options_of_the_command(self):
        for program, command, has_option in (GLINPACK, "plan", False), (GLINPACK_PAPERS, "matmul", True):
            rejected = self.start([program, command, "--n", "1000", "--json", "none/r.json"])
            self.assertEqual(rejected.status, 2, rejected)
            self.assertIn("folder none does not exist; make it", rejected.err)
            self.assertEqual("--output-dir" in rejected.err, has_option, rejected)


class Completion(ManualTest):
    def setUp(self):
        super().setUp()
        self.script = self.folder / "glinpack.bash"
        self.script.write_text("".join(run(program, "completion").stdout for program in (GLINPACK, GLINPACK_PAPERS)))
        (self.folder / "bin").symlink_to(os.path.dirname(os.path.realpath(GLINPACK)))

    def complete(self, *words, command="glinpack"):
        """Returns bash's completions of the last word. As in bash, "=" separates words."""
        return run("bash", "-c", DRIVER, "bash", self.script, command, *words, cwd=self.folder).stdout.split()

    def test_subcommands_are_completed(self):
        self.assertEqual(self.complete(""), [*self.subcommands(), "help"])
        self.assertEqual(self.complete("help", ""), self.subcommands())
        self.assertEqual(self.complete("gauss"), [])
        self.assertEqual(self.complete("gauss", command="glinpack-papers"), ["gauss-jordan"])
        self.assertEqual(self.complete("--v"), ["--version"])

    def test_options_are_those_of_the_subcommand(self):
        for program in GLINPACK, GLINPACK_PAPERS:
            for name in self.subcommands(program):
                with self.subTest(subcommand=name):
                    options = re.findall(r"^  (?:-\w,)?(--[\w-]+)", run(program, name, "--help").stdout, re.MULTILINE)
                    self.assertEqual(self.complete(name, "--", command=os.path.basename(program)), options)
        self.assertEqual(self.complete("plu", "--checkpoint-e"), ["--checkpoint-every"])

    def test_options_are_completed_after_a_launcher(self):
        for launcher in "mpirun", "mpiexec.hydra", "srun":
            self.assertEqual(self.complete("-n", "2", "bin/glinpack", "plu", "--checkpoint-e", command=launcher),
                             ["--checkpoint-every"])
            self.assertEqual(self.complete("-n", "2", "bin/glinpack-papers", "matmul", "--pass", command=launcher),
                             ["--pass-length"])
            self.assertEqual(self.complete("-n", "2", "gl", command=launcher), [])

    def test_values_are_completed(self):
        self.assertEqual(self.complete("plu", "--precision", ""), ["single", "fp32", "double", "fp64", "mixed"])
        self.assertEqual(self.complete("plu", "--backend", "gl-"), ["gl-compute", "gl-raster"])
        self.assertEqual(self.complete("plu", "--precision", "=", "m"), ["mixed"])
        self.assertEqual(self.complete("plu", "--precision", "="), ["single", "fp32", "double", "fp64", "mixed"])
        self.assertEqual(self.complete("matmul", "--packing", "2x2,4", command="glinpack-papers"),
                         ["2x2,4x1"])
        self.assertEqual(self.complete("plu", "--seed", ""), [])

    def test_files_and_folders_are_completed(self):
        (self.folder / "runs.toml").touch()
        (self.folder / "results").mkdir()
        self.assertEqual(self.complete("plu", "--config", "ru"), ["runs.toml"])
        self.assertEqual(self.complete("plu", "--output-dir", "r"), ["results"])
        self.assertEqual(self.complete("report", "ru"), ["runs.toml"])
        self.assertEqual(self.complete("plu", "ru"), [])

    def test_the_values_are_those_that_the_program_accepts(self):
        """The error message of an option lists its values, which must equal the values in its type."""
        asked = 0
        sections = []
        for program in GLINPACK, GLINPACK_PAPERS:
            text = run(program, "man-pages", "--markdown").stdout
            own = re.split(r"^## ([\w-]+)\n", text, flags=re.MULTILINE)[1:]
            sections += [(program, *section) for section in zip(own[::2], own[1::2])]
        for program, name, text in sections:
            for option, kind in re.findall(r"^\| `(--[\w-]+)` \| `(\S+\|\S+)`", text, re.MULTILINE):
                choices = kind.removesuffix(",...").split("\\|")
                with self.subTest(subcommand=name, option=option):
                    rejected = self.start([program, name, option, "?", "--no-such-option"],
                                         {"OPENBLAS_CORETYPE": "Haswell"})
                    self.assertEqual(rejected.status, 2, rejected)
                    if "is not one of" not in rejected.err:
                        continue
                    asked += 1
                    for word in re.split(r", | or ", re.split(r" is not one of ", rejected.err)[1].split(" nor ")[0]):
                        self.assertIn(word.strip(" ,\n").split(" (did")[0].split(";")[0], choices)
        self.assertGreater(asked, 30)


if __name__ == "__main__":
    unittest.main()
