#!/usr/bin/python3
"""The Octave package: built, installed into an empty folder, its own tests, and what happens to it."""
import os
import pathlib
import re
import signal
import subprocess
import tempfile
import time
import unittest

from launch import GLINPACK, ROOT, Outcome

BUILD = pathlib.Path(GLINPACK).resolve().parents[1]
TARBALL = BUILD / "glinpack-octave.tar.gz"
PRODUCTS = "A = gpuMatrix (rand (1000)); for k = 1:40, A = A * A; A = A / norm (A, 1); end\n"  # seconds of work


def setUpModule():
    if "-fsanitize" in (BUILD / "CMakeCache.txt").read_text():
        raise unittest.SkipTest("Octave cannot load a library with a sanitizer")
    built = subprocess.run(["cmake", "--build", str(BUILD), "--target", "octave-package"], capture_output=True, text=True)
    if built.returncode != 0:
        raise RuntimeError(built.stdout + built.stderr)
    folder = tempfile.TemporaryDirectory(prefix="glinpack-test-")
    unittest.addModuleCleanup(folder.cleanup)
    OctaveTest.folder = pathlib.Path(folder.name)
    installed = octave("pkg install " + str(TARBALL), load=False)
    if installed.status != 0 or "error" in installed.out + installed.err:
        raise RuntimeError(str(installed))


def in_folder(commands, load=True):
    """Commands that use packages of the test's folder only, also if root calls them."""
    folder = OctaveTest.folder
    return (f"pkg prefix {folder}/packages {folder}/packages; pkg local_list {folder}/local; "
            f"pkg global_list {folder}/global; " + ("pkg load glinpack; " if load else "") + commands)


def environment(device, threads=1):
    return {**os.environ, "GLINPACK_DEVICE": device, "OPENBLAS_NUM_THREADS": str(threads), "LP_NUM_THREADS": "0"}


def octave(commands, load=True, device="openblas", arguments=(), cwd=None, timeout=120, threads=1):
    completed = subprocess.run(["octave-cli", "-qfH", *arguments, "--eval", in_folder(commands, load)], cwd=cwd,
                               stdin=subprocess.DEVNULL, capture_output=True, env=environment(device, threads), timeout=timeout,
                               check=False)
    return Outcome(completed)


class OctaveTest(unittest.TestCase):
    folder = None

    def run_octave(self, commands, **options):
        outcome = octave(commands, **options)
        self.assertEqual(outcome.status, 0, outcome)
        return outcome


class Package(OctaveTest):
    def test_the_line_of_the_document_installs_and_solves(self):
        line = re.search(r'octave --eval "(.*)"', (ROOT / "docs" / "octave.md").read_text())[1]
        name = "build/release/glinpack-octave.tar.gz"
        self.assertIn(name, line)
        outcome = self.run_octave(line.replace(name, str(TARBALL)), load=False)
        self.assertLess(float(outcome.out.split()[-1]), 1e-8, outcome)

    def test_the_example_of_the_document_runs(self):
        example = re.search(r"```octave\n(.*?)```", (ROOT / "docs" / "octave.md").read_text(), re.DOTALL)[1]
        outcome = self.run_octave(example)
        self.assertEqual(outcome.out.split(), ["1", "1000", "500"], outcome)

    def test_the_document_names_every_function(self):
        text = (ROOT / "docs" / "octave.md").read_text()
        operators = {"plus", "minus", "times", "rdivide", "ldivide", "power", "uplus", "uminus", "transpose", "ctranspose",
                     "mtimes", "mldivide", "mrdivide", "mpower", "eq", "ne", "lt", "le", "gt", "ge", "subsref", "subsasgn",
                     "horzcat", "vertcat"}
        source = (ROOT / "bindings" / "octave" / "inst" / "gpuMatrix.m").read_text()
        public = re.sub(r"  methods \([^)]*(?:Access = private|Hidden)\).*?\n  end\n", "", source, flags=re.DOTALL)
        names = set(re.findall(r"^    function (?:.* = )?(\w+)\(", public, re.MULTILINE)) - operators
        self.assertGreater(len(names), 30)
        for name in names:
            self.assertRegex(text, rf"[`.]{name}\b", name)

    def test_its_own_tests_pass_on_each_device(self):
        for device in ("openblas", "software"):
            with self.subTest(device=device):
                outcome = self.run_octave("pkg test glinpack", device=device, cwd=self.folder)
                self.assertRegex(outcome.out, r"PASS +[1-9]\d", outcome)
                self.assertRegex(outcome.out, r"FAIL +0\n", outcome)

    def test_packing_2x2_solves_in_single_precision(self):
        outcome = self.run_octave("gpuMatrix.device ('software', 0, '2x2'); A = gpuMatrix (rand (9) + 9 * eye (9)); "
                                  "[L, U, P] = lu (A); r = inv (A) * (P' * (L * U)); disp (class (gather (r))); "
                                  "disp (max (max (abs (double (r) - eye (9)))) < 1e-4); A * ones (9) \\ ones (9, 1)")
        self.assertEqual(outcome.out.split()[:2], ["single", "1"], outcome)
        outcome = octave("gpuMatrix.device ('software', 0, '2x2'); double (inv (gpuMatrix ([0, 1; 1, 0])))")
        self.assertIn("singular", outcome.err, outcome)

    def test_help_and_the_demonstration_print_what_they_should(self):
        self.assertIn("in the background", " ".join(self.run_octave("help gpuMatrix").out.split()))
        outcome = self.run_octave("demo gpuMatrix")
        self.assertRegex(outcome.out, r"speed-up over Octave alone: \d", outcome)

    def test_it_is_built_with_an_installed_library(self):
        folder, prefix = self.folder / "source", self.folder / "prefix"
        subprocess.run(["cmake", "--install", str(BUILD), "--component", "library", "--prefix", str(prefix)], check=True,
                       stdout=subprocess.DEVNULL)
        subprocess.run(["cp", "-r", str(ROOT / "bindings" / "octave"), str(folder)], check=True)
        subprocess.run(["rm", "-rf", str(folder / "src" / "lib")], check=True)
        pkg_config = next(prefix.rglob("glinpack.pc")).parent
        for path, status in ((pkg_config, 0), (self.folder, 2)):
            made = subprocess.run(["make", "-C", str(folder / "src"), "clean", "all"], capture_output=True, text=True,
                                  env={**os.environ, "PKG_CONFIG_PATH": str(path)}, check=False)
            self.assertEqual(made.returncode, status, made.stdout + made.stderr)
            if status == 0:
                outcome = self.run_octave(f"addpath ('{folder}/inst', '{folder}/src'); disp (double (gpuMatrix (2) * 3))",
                                          load=False)
                self.assertEqual(outcome.out, "6\n", outcome)
            else:
                self.assertIn("install libglinpack and set PKG_CONFIG_PATH", made.stdout)

    def test_a_device_that_does_not_exist_is_an_error(self):
        outcome = self.run_octave("try, gpuMatrix (1), catch e, disp (e.identifier), disp (e.message), end", device="17")
        self.assertRegex(outcome.out, r"^glinpack:device\nno OpenGL device 17", outcome)


class CleanedUp(OctaveTest):
    def test_ten_thousand_temporaries_do_not_grow_memory(self):
        outcome = self.run_octave("""
          function m = megabytes ()
            file = fopen ("/proc/self/statm");  pages = fscanf (file, "%d");  fclose (file);  m = pages(2) / 256;
          end
          A = gpuMatrix (rand (50));
          for k = 1:1000, t = (A + A) * A - 1; end, wait (t);
          before = megabytes ();
          for k = 1:3333, t = (A + A) * A - 1; end, wait (t);
          printf ("%g %d %d", megabytes () - before, gpuMatrix.info ().matrices, gpuMatrix.info ().pending);""")
        growth, matrices, pending = map(float, outcome.out.split())
        self.assertLess(growth, 20)  # each step has three results of 20 kB: 200 MB
        self.assertEqual((matrices, pending), (2, 0))

    def test_pending_results_are_limited(self):
        outcome = self.run_octave("""A = gpuMatrix (rand (1000, 500));  most = 0;
          for k = 1:400, B{mod (k, 3) + 1} = A + k;  most = max (most, gpuMatrix.info ().pending); end
          disp (most)""")
        self.assertLess(float(outcome.out), 280)  # 1 GiB of 4 MB each

    def test_an_error_in_a_script_and_clear_free_matrices(self):
        outcome = self.run_octave("""
          function fails (), a = gpuMatrix (1);  b = a + 1;  error ("test:id", "stop"); end
          try, fails (), catch, end
          x = gpuMatrix (2);  y = x * x;  n = gpuMatrix.info ().matrices;  clear x y
          printf ("%d %d", n, gpuMatrix.info ().matrices)""")
        self.assertEqual(outcome.out, "2 0", outcome)

    def test_clearing_the_gateway_ends_the_thread_and_frees_all(self):
        for clear in ("clear glinpack_gateway", "clear all"):
            with self.subTest(clear=clear):
                outcome = self.run_octave(f"""
                  threads = @() numel (dir ("/proc/self/task"));
                  a = gpuMatrix (ones (300));  b = inv (a + eye (300));  c = b * b;  printf ("%d ", threads ());
                  {clear}
                  printf ("%d ", numel (dir ("/proc/self/task")));
                  if exist ("a", "var"), try, double (a), catch e, printf ("%s ", e.identifier); end, end
                  disp (double (gpuMatrix (2) * 3))""")
                before, after, *rest = outcome.out.split()
                self.assertEqual(int(after), int(before) - 1, outcome)
                self.assertEqual(rest, ["glinpack:freed"] * ("all" not in clear) + ["6"], outcome)
                self.assertEqual(outcome.err, "")

    def test_exit_does_not_wait_for_pending_work(self):
        for device in ("openblas", "software"):
            for end in ("", "exit (0)", "clear functions"):
                with self.subTest(device=device, end=end):
                    products = PRODUCTS.replace("1000", "1000" if device == "openblas" else "100")
                    outcome = self.run_octave(products + "disp (gpuMatrix.info ().pending > 1); " + end, device=device,
                                              timeout=30)
                    self.assertEqual((outcome.out, outcome.err), ("1\n", ""))

    def interrupt(self, commands, interactive):
        """Ctrl-C after the commands print `waiting`. Returns the exit status and what is printed after it."""
        mode = ["--interactive", "--no-line-editing"] if interactive else ["--eval", in_folder(commands)]
        with subprocess.Popen(["octave-cli", "-qfH", *mode], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, env=environment("openblas")) as process:
            if interactive:
                process.stdin.write(in_folder(commands))
                process.stdin.flush()
            while "waiting" not in (line := process.stdout.readline()):
                self.assertTrue(line, "Octave ended")
            time.sleep(0.5)  # the last command does wait
            process.send_signal(signal.SIGINT)
            out, _ = process.communicate("printf ('%d left\\n', gpuMatrix.info ().matrices)\n" * interactive, timeout=30)
            return process.returncode, out

    def test_ctrl_c_ends_a_wait_and_frees_the_function_s_matrices(self):
        for waits in ("wait (A)", "double (A)", "A == 1", "for k = 1:500, B{mod (k, 3) + 1} = A + k; end, wait (A)"):
            with self.subTest(waits=waits):
                function = f"function f ()\n{PRODUCTS} printf ('waiting\\n'); fflush (stdout); {waits}; disp ('too late')\nend\nf\n"
                status, out = self.interrupt(function, interactive=True)
                self.assertEqual(status, 0, out)
                self.assertIn("0 left", out)
                self.assertNotIn("too late", out)

    def test_ctrl_c_ends_a_program(self):
        status, out = self.interrupt(PRODUCTS + "printf ('waiting\\n'); fflush (stdout); wait (A); disp ('too late')", False)
        self.assertNotEqual(status, 0)
        self.assertNotIn("too late", out)

    def test_octave_starts_programs_while_threads_of_openblas_compute(self):
        outcome = self.run_octave(PRODUCTS.replace("40", "10") + """pending = gpuMatrix.info ().pending;
          [in, out, pid] = popen2 ("cat", {});  fclose (in);  fclose (out);  waitpid (pid);
          printf ("%d %d", pending > 1, wait (A, 60))""", threads=2)
        self.assertEqual(outcome.out, "1 1", outcome)


class Errors(OctaveTest):
    def test_too_little_memory_is_an_error_with_the_size_and_other_matrices_stay_valid(self):
        for device in ("openblas", "software"):
            with self.subTest(device=device):
                outcome = self.run_octave("""a = gpuMatrix (5);  z = gpuMatrix.zeros (1e6);
                  for f = {@() wait(z), @() double(z + 1), @() double(z(1, 1))}
                    try, f{1} (), catch e, printf ("%s %s\\n", e.identifier, e.message); end
                  end
                  disp (double (a + 1))""", device=device)
                *lines, value = outcome.out.splitlines()
                self.assertEqual(len(lines), 3)
                for line in lines:
                    self.assertRegex(line, "^glinpack:memory out of memory: .* of 1000000 x 1000000, 7450.58 GiB$")
                self.assertEqual(value, "6")

    def test_a_handle_of_the_constructor_is_warned_of_once_it_broke_the_class(self):
        outcome = self.run_octave("""a = gpuMatrix (eye (2));  b = a * a;  f = @gpuMatrix;  f (3);
          for f = {@() a * 3, @() double(a), @() gpuMatrix(2)}
            try, f{1} (), disp ("works"), catch e, disp (e.message), end
          end""")
        lines = outcome.out.splitlines()
        self.assertEqual(len(lines), 3, outcome)
        for line in lines:  # a later Octave may have no such bug
            self.assertRegex(line, r"^works$|begin a new session, and write @\(x\) gpuMatrix \(x\)$")

    def test_messages_are_octave_s_own(self):
        for operation in ("{} * ones (3)", "{} \\ ones (3)", "{} / ones (3)", "{} + ones (3)", "{} .* ones (3)",
                          "{} ./ ones (3)", "inv ({}(1, :))", "det ({}(1, :))", "{}(1, :) ^ 2"):
            with self.subTest(operation=operation):
                outcome = self.run_octave("".join(
                    f"try, {operation.format(operand)}; catch e, disp (e.message), end\n"
                    for operand in ("ones (2)", "gpuMatrix (ones (2))")))
                own, ours = outcome.out.splitlines()
                self.assertEqual(own, ours)

    def test_warnings_are_octave_s_own(self):
        for matrix in ("[1, 2; 2, 4]", "zeros (3)", "[1, 2; 2, 4 + 2e-15]", "single ([1, 2; 2, 4 + 1e-7])", "eye (3)"):
            with self.subTest(matrix=matrix):
                outcome = self.run_octave(f"a = {matrix};" + "".join(
                    f"lastwarn (''); {inverse}; printf ('%s|\\n', lastwarn ());"
                    for inverse in ("inv (a)", "gather (inv (gpuMatrix (a)))")))
                own, ours = outcome.out.splitlines()
                number = r"rcond = (\S+)\|"
                self.assertEqual(re.sub(number, "", own), re.sub(number, "", ours))
                for first, second in zip(re.findall(number, own), re.findall(number, ours)):
                    self.assertAlmostEqual(float(first), float(second), delta=float(first))


if __name__ == "__main__":
    unittest.main()
