#!/usr/bin/python3
"""Bad input ends every rank within seconds with a non-zero exit status. One message names file, line, value and
remedy. No output file is created."""
import itertools
import os
import shutil
import signal
import subprocess
import time
import unittest

from launch import GLINPACK, GLINPACK_PAPERS, MPIEXEC, ROOT, GlinpackTest, hpl_dat_with, npy

SMALL_RUN = ["--n", "64", "--nb", "16", "--backend", "reference"]


class BadInputTest(GlinpackTest):
    def rejected(self, arguments, *named, ranks=1, environment=None, status=(2,)):
        """Expects one message that names all of `named`, nothing on stdout and no file. A test of every stage of a
        start has two ranks: arguments, files, grids, outputs, memory, devices."""
        before = self.files()
        if ranks == 1:  # without a launcher, which takes longer than the program
            outcome = self.start([self.PROGRAM, *map(str, arguments)], environment)
        else:
            outcome = self.glinpack(*arguments, ranks=ranks, environment=environment)
        self.assertIn(outcome.status, status, outcome)
        self.assertEqual(len(outcome.messages), 1, outcome)
        self.assertEqual(outcome.out, "", outcome)
        for text in named:
            self.assertIn(str(text), outcome.err)
        self.assertEqual(self.files(), before, outcome)
        return outcome

    def rejected_on_one_line(self, arguments, *named, **options):
        outcome = self.rejected(arguments, *named, **options)
        self.assertEqual(len(outcome.err.splitlines()), 1, outcome)
        return outcome


class Subcommands(BadInputTest):
    def test_help_of_a_subcommand_is_that_of_its_option(self):
        for program, name in (GLINPACK, "plu"), (GLINPACK_PAPERS, "matmul"):
            with self.subTest(name=name):
                outcome = self.start([program, "help", name])
                self.assertEqual(outcome.status, 0, outcome)
                self.assertEqual(outcome.out, self.start([program, name, "--help"]).out)
        self.assertIn("did you mean plu?", self.start([GLINPACK, "help", "pul"]).err)

    def test_an_unknown_subcommand_gets_a_suggestion_on_one_line(self):
        outcome = self.start([GLINPACK, "pul"])
        self.assertEqual(outcome.status, 2, outcome)
        self.assertEqual(outcome.err, "glinpack: unknown subcommand 'pul' (did you mean plu?); glinpack --help lists all\n")
        self.assertIn("'xhpl' (did you mean plu?)", self.start([GLINPACK, "xhpl"]).err)

    def test_glinpack_names_the_program_of_a_solver(self):
        for arguments in ["matmul", "--n", "8"], ["poisson"], ["help", "paranoia"]:
            name = arguments[-1] if arguments[0] == "help" else arguments[0]
            with self.subTest(arguments=arguments):
                outcome = self.start([GLINPACK, *arguments])
                self.assertEqual((outcome.status, outcome.out), (2, ""), outcome)
                self.assertEqual(outcome.err, f"glinpack: the subcommand {name} is in glinpack-papers; "
                                              f"see glinpack-papers {name} --help\n")


class Papers(BadInputTest):
    PROGRAM = GLINPACK_PAPERS

    def test_solvers_reject_invalid_arguments(self):
        self.write("nan.mtx", "%%MatrixMarket matrix array real general\n1 1\nnan\n")
        self.write("huge.mtx", "%%MatrixMarket matrix array real general\n1 1\n1e300\n")
        self.write("wide.mtx", "%%MatrixMarket matrix array real general\n1 2\n1\n2\n")
        self.write("one.mtx", "%%MatrixMarket matrix array real general\n1 1\n1\n")
        self.write("tall.mtx", "%%MatrixMarket matrix array real general\n2 1\n1\n2\n")
        self.write("full.mtx", "%%MatrixMarket matrix coordinate real general\n3 3 1\n1 3 5\n")
        self.write("there.json", "{}")
        for arguments, named in [
            (["matmull"], ["'matmull'", "did you mean matmul"]),
            (["matmul", "--device", "77"], ["--device 77", "glinpack devices"]),
            (["matmul", "--fit"], ["--fit", "1 size is too few"]),
            (["matmul", "--shader-dir", "nowhere"], ["--shader-dir", "nowhere"]),
            (["matmul", "--json", "there.json"], ["--json", "there.json", "--force"]),
            (["matmul", "--output", "c.txt"], ["--output c.txt", ".npy"]),
            (["matmul", "--output", "no/c.npy"], ["--output", "no"]),
            (["matmul", "--input", "missing.npy"], ["missing.npy", "no such file"]),
            (["matmul", "--input", "nan.mtx"], ["nan.mtx", "row 1, column 1", "NaN"]),
            (["matmul", "--input", "huge.mtx"], ["huge.mtx", "row 1, column 1", "single precision"]),
            (["matmul", "--input", "wide.mtx"], ["wide.mtx", "2 columns", "1 rows"]),
            (["matmul", "--variant", "single-pass", "--packing", "1x1", "--shape", "2x1000000x2"],
             ["2x1000000x2", "single-pass", "texture", "a side"]),
            (["matmul", "--n", "3000000"], ["3000000", "available"]),
            (["banded", "--n", "5", "--diagonals", "10"], ["--diagonals 10", "order 5", "9"]),
            (["banded", "--n", "5", "--offsets", "0,5"], ["--offsets", "order 5", "-4 to 4"]),
            (["gauss-jordan", "--input", "wide.mtx"], ["wide.mtx:2", "1 x 2", "square"]),
            (["gauss-jordan", "--input", "one.mtx", "--input-b", "tall.mtx"], ["one.mtx", "tall.mtx", "1 rows", "2;"]),
            (["gauss-jordan", "--n", "2", "--rhs", "1000000"], ["2, rhs 1000000", "texture", "a side"]),
            (["gauss-jordan", "--n", "3000000"], ["3000000", "available"]),
            (["plu-packed", "--n", "3000000", "--variant", "openblas"], ["3000000", "available"]),
            (["lu-methods", "--n", "20000", "--methods", "M1"], ["order 20000", "M1", "a side"]),
            (["lu-methods", "--n", "3000000", "--methods", "compute"], ["3000000", "available"]),
            (["tridiagonal", "--systems", "1000000", "--n", "1000000"], ["1000000 systems", "available"]),
            (["tridiagonal", "--input", "nan.mtx"], ["nan.mtx", "row 1, column 1", "NaN"]),
            (["tridiagonal", "--input", "full.mtx"], ["full.mtx", "row 1, column 3", "tridiagonal"]),
            (["tridiagonal", "--input", "wide.mtx"], ["wide.mtx", "1 x 2", "square"]),
            (["tridiagonal", "--input", "huge.mtx"], ["huge.mtx", "row 1, column 1", "--precision double"]),
            (["tridiagonal", "--input", "one.mtx", "--input-b", "tall.mtx"], ["1 rows", "tall.mtx", "2"]),
            (["background", "--n", "1000000"], ["30 systems of size 1000000", "available"]),
            (["paranoia", "--n", "1000000"], ["--n 1000000", "available"]),
            (["poisson", "--watchdog", "60"], ["--watchdog", "one process"]),
            (["poisson", "--n", "3000000"], ["3000000", "available"]),
            (["banded", "--n", "90000000000"], ["90000000000", "31 bits"]),
            (["banded", "--n", "1000000000", "--diagonals", "99"], ["1000000000", "available"]),
        ]:
            with self.subTest(arguments=arguments):
                self.rejected_on_one_line(arguments, *named)

    def test_poisson_rejects_invalid_arguments_on_several_processes(self):
        self.write("there.json", "kept")
        for arguments, named in [
            (["--n", "many"], ["--n", "'many'"]),
            (["--n", "3000000"], ["3000000", "available"]),
            (["--json", "there.json"], ["--json", "there.json", "--force"]),
            (["--device", "4000"], ["--device 4000", "no such device"]),
            (["--watchdog", "0.5"], ["--watchdog", "'0.5'"]),
        ]:
            with self.subTest(arguments=arguments):
                self.rejected_on_one_line(["poisson", *arguments], *named, ranks=2)


class CommandLine(BadInputTest):
    def test_what_only_a_start_shows_is_named(self):
        for arguments, named, ranks in [
            (["plu", "--backnd", "openblas"], ["'--backnd'", "--backend"], 2),
            (["plu", "--grid", "1x1", "--node-grid", "1x1"], ["--node-grid 1x1", "1 processes on every host", "has 2"], 2),
            (["network", "--grid", "1x1", "--node-grid", "1x1"], ["--node-grid 1x1", "has 2"], 2),
            (["tune", "--device", "77"], ["--device 77", "glinpack devices"], 1),
            (["tune", "--json", "no/folder/t.json"], ["--json", "no/folder"], 1),
            (["doctor", "--json", "no/folder/d.json"], ["--json", "no/folder"], 1),
            (["peaks", "--device", "77"], ["--device 77", "glinpack devices"], 1),
            (["peaks", "--json", "no/folder/c.json"], ["--json", "no/folder"], 1),
            (["plu", *SMALL_RUN, "--precision", "mixed", "--compute-only"], ["mixed", "--compute-only"], 1),
            (["plu", *SMALL_RUN, "--pivoting", "tournament", "--compute-only"],
             ["--compute-only", "--pivoting tournament", "--pivoting partial"], 1),
            (["plu", *SMALL_RUN, "--save-solution", "x.npy", "--compute-only"], ["--save-solution", "--compute-only"], 1),
            (["plu", "--backend", "gl-raster", "--n", "80000", "--grid", "1x1", "--json", "x.json"],
             ["gl-raster", "80000", "rows", "texture", "--backend gl-compute"], 1),
        ]:
            with self.subTest(arguments=arguments):
                self.rejected_on_one_line(arguments, *named, ranks=ranks)

    def test_an_invalid_number_ends_every_process_before_a_file_is_made(self):
        self.rejected_on_one_line(["plu", "--n", "0", "--json", "out.json"], "--n", "'0'", ranks=2)

    def test_a_grid_larger_than_the_world_is_named_with_both_numbers(self):
        for ranks in 1, 2:
            with self.subTest(ranks=ranks):
                self.rejected_on_one_line(["plu", *SMALL_RUN, "--grid", "1x1,2x3", "--json", "out.json"],
                                         "2x3", "6", f"started with {ranks}", ranks=ranks)

    def test_n_auto_needs_the_processes_of_the_grid_and_room_for_a_matrix(self):
        self.rejected_on_one_line(["plu", "--n", "auto", "--grid", "2x3", "--backend", "openblas", "--dry-run"],
                                 "2x3", "6", "started with 2", ranks=2)
        self.rejected_on_one_line(["plu", "--n", "auto", "--backend", "openblas", "--memory-fraction", "1e-12"],
                                 "--n auto", "--memory-fraction", "1x1")

    def test_n_too_large_for_the_memory_is_rejected_before_any_allocation(self):
        for backend in "openblas", "gl-compute", "vk-compute":
            for n, ranks in ("2000000", 2), ("1000000000", 1):
                with self.subTest(backend=backend, n=n):
                    start = time.monotonic()
                    self.rejected_on_one_line(["plu", "--n", n, "--backend", backend, "--json", "out.json"], n,
                                             "available", ranks=ranks)
                    self.assertLess(time.monotonic() - start, 15)


class Network(BadInputTest):
    def test_errors_are_named(self):
        for arguments, named in [
            (["--grid", "2x3"], ["2x3", "6", "started with 2"]),
            (["--ping-pong", "0-2"], ["--ping-pong 0-2", "ranks 0 to 1"]),
            (["--n", "1000000000", "--nb", "1000000"], ["1000000000", "available"]),
        ]:
            with self.subTest(arguments=arguments):
                self.rejected_on_one_line(["network", "--json", "out.json", *arguments], *named, ranks=2)

    def test_control_characters_of_names_and_files_do_not_reach_the_terminal(self):
        self.write("escape.toml", 'input = "\\u001b]0;title\\u0007\\u001b[31m/none"\n')
        for arguments, ranks in ((["plu", "--config", "escape.toml"], 1), (["plu", "--config", "escape.toml"], 2),
                                 (["plu", "--config", "\x1b[31mnone"], 1), (["compare", "\x1b[31m", "b"], 1)):
            with self.subTest(arguments=arguments, ranks=ranks):
                outcome = self.glinpack(*arguments, ranks=ranks)
                self.assertEqual(outcome.status, 2, outcome)
                self.assertNotIn("\x1b", outcome.err + outcome.out)
                self.assertNotIn("\x07", outcome.err)


class InputFiles(BadInputTest):
    def test_an_unusable_file_ends_every_process(self):
        self.write("bad.toml", "n = [64\n")
        self.write("HPL.dat", hpl_dat_with({}))
        self.write("short.dat", "".join(hpl_dat_with({}).splitlines(keepends=True)[:12]))
        self.write("nan.npy", npy(2, 2, [1, 2, float("nan"), 4]))
        for arguments, named in [(["--config", "bad.toml"], ["bad.toml:"]), (["--hpl-dat", "short.dat"], ["short.dat:13"]),
                                 (["--hpl-dat", "HPL.dat"], ["HPL.dat", "4", "started with 2"]),
                                 (["--input", "nan.npy"], ["nan.npy", "row 2", "column 1", "nan"])]:
            with self.subTest(arguments=arguments):
                self.rejected_on_one_line(["plu", *arguments, "--backend", "reference", "--json", "out.json"], *named, ranks=2)

    def test_deep_keys_and_long_lists_are_named_with_their_line(self):
        for content, named in [("a." * 50000 + "a = 1\n", "10000 characters"), ("n = [" + "10," * 2000 + "\"x\"]\n", "n")]:
            self.write("bad.toml", content)
            self.rejected_on_one_line(["plu", "--config", "bad.toml"], "bad.toml:1", named)


class OutputFiles(BadInputTest):
    def test_an_existing_file_is_never_overwritten_without_force(self):
        options = {"--json": "j", "--csv": "c", "--trace": "t", "--save-solution": "x.npy"}
        rows = [(["plu", *SMALL_RUN], option, name) for option, name in options.items()]
        others = [([*command, "--n", "64"], "--json", "j") for command in (["network"], ["plan"])]
        for command, option, name in [*rows, *others]:
            with self.subTest(command=command[0], option=option):
                self.write(name, "precious")
                self.rejected_on_one_line([*command, option, name], option, name, "--force",
                                          ranks=2 if name == "j" and command[0] != "plan" else 1)
                self.assertEqual((self.folder / name).read_text(), "precious")
        outcome = self.glinpack("plu", *SMALL_RUN, *itertools.chain(*options.items()), "--force")
        self.assertEqual(outcome.status, 0, outcome)
        for name in options.values():
            self.assertNotEqual((self.folder / name).read_bytes(), b"precious", name)

    def test_only_regular_files_are_replaced(self):
        (self.folder / "link").symlink_to("nowhere")
        for name, reason in [("link", "link to nothing"), ("/dev/nothing", "cannot be written")]:
            with self.subTest(name=name):
                self.rejected_on_one_line(["plu", *SMALL_RUN, "--force", "--csv", name], "--csv", name, reason)

    def test_an_output_replaces_no_input(self):
        config = self.write("c.toml", "force = true\n")
        self.write("HPL.dat", hpl_dat_with({}))
        for arguments in (["plu", *SMALL_RUN, "--config", "c.toml", "--json", "c.toml"],
                          ["peaks", "--config", "c.toml", "--json", "c.toml"],
                          ["doctor", "--quick", "--config", "c.toml", "--json", "c.toml"],
                          ["tune", "--config", "c.toml", "--json", "c.toml"],
                          ["plan", "--n", "100", "--config", "c.toml", "--json", "c.toml"],
                          ["plan", "--n", "100", "--links", "c.toml", "--force", "--json", "c.toml"],
                          ["slurm", "--config", "c.toml", "--output", "c.toml"],
                          ["compare", "c.toml", "HPL.dat", "--force", "--json", "c.toml"],
                          ["slurm", "--ranks-per-node", "4", "--force", "--output", "HPL.dat", "--", "--hpl-dat", "HPL.dat"]):
            with self.subTest(arguments=arguments):
                self.rejected_on_one_line(arguments, "files to read")
        self.assertEqual(config.read_text(), "force = true\n")

    def test_a_symbolic_link_is_not_replaced(self):
        (self.folder / "target").write_text("old")
        (self.folder / "link").symlink_to("target")
        outcome = self.glinpack("plu", *SMALL_RUN, "--force", "--csv", "link")
        self.assertEqual(outcome.status, 0, outcome)
        self.assertTrue((self.folder / "link").is_symlink())
        self.assertNotEqual((self.folder / "target").read_text(), "old")

    def test_a_too_long_name_is_rejected_before_the_run(self):
        self.rejected_on_one_line(["plu", *SMALL_RUN, "--json", "x" * 300], "--json", "too long")

    def test_a_pipe_is_rejected_without_blocking(self):
        os.mkfifo(self.folder / "pipe")
        self.rejected_on_one_line(["plu", "--config", "pipe"], "pipe", "not a regular file")
        self.rejected_on_one_line(["plu", "--hpl-dat", "pipe"], "pipe", "not a regular file")
        self.rejected_on_one_line(["plu", "--input", "pipe"], "pipe", "not a regular file")

    def test_hpl_dat_s_output_file_is_overwritten_as_by_xhpl_but_not_hpl_dat_itself(self):
        self.write("HPL.out", "precious")
        self.write("HPL.dat", hpl_dat_with({4: "8", 10: "1", 11: "1", 12: "2"}))
        outcome = self.glinpack("plu", "--hpl-dat", "HPL.dat", "--backend", "reference", "--n", 30, "--nb", 4)
        self.assertEqual(outcome.status, 0, outcome)
        report = (self.folder / "HPL.out").read_text()
        self.assertNotIn("precious", report)
        self.assertIn("End of Tests.", report)
        self.assertNotIn("End of Tests.", outcome.out)
        self.write("HPL.dat", hpl_dat_with({3: "HPL.dat", 4: "8", 10: "1", 11: "1", 12: "1"}))
        self.rejected_on_one_line(["plu", "--hpl-dat", "HPL.dat", "--backend", "reference"], "HPL.dat", "files to read")


class Machine(BadInputTest):
    def rejected_by_the_machine(self, arguments, *named, backend="gl-compute", **options):
        """Errors of the input or of the machine."""
        return self.rejected_on_one_line(["plu", "--n", "64", "--backend", backend, "--json", "out.json", *arguments],
                                         *named, **options)

    def test_gl_compute_reports_missing_egl_devices(self):
        self.rejected_by_the_machine([], "EGL_VENDOR_LIBRARY_FILENAMES=/nonexistent.json, __EGL_VENDOR_LIBRARY_DIRS=/nowhere "
                                    "are set: correct or unset them, or use --backend openblas",
                                    ranks=2, environment={"__EGL_VENDOR_LIBRARY_DIRS": "/nowhere",
                                                          "__EGL_VENDOR_LIBRARY_FILENAMES": "/nonexistent.json"})

    def test_vk_compute_reports_missing_devices(self):
        self.rejected_by_the_machine([], "no Vulkan device was found; VK_ICD_FILENAMES=/nonexistent.json is set: correct "
                                     "or unset it, or use --backend openblas", backend="vk-compute",
                                     environment={"VK_ICD_FILENAMES": "/nonexistent.json"})

    def test_a_variable_that_hides_devices_is_named_first(self):
        for variable, values in {"EGL_VISIBLE_DEVICES": ("all", "-1", "0 1", "GPU-8f3b1c2e"), "GALLIUM_DRIVER": ("softpipe",),
                                 "LIBGL_DRIVERS_PATH": ("/nonexistent",), "MESA_GL_VERSION_OVERRIDE": ("3.0",)}.items():
            for value in values:
                with self.subTest(variable=variable, value=value):
                    environment = {variable: value, "VK_ICD_FILENAMES": "/nonexistent.json"}  # nor Vulkan's
                    cause = f"{variable}={value} is set: correct or unset it"
                    devices = self.start([GLINPACK, "devices"], environment)
                    if devices.status == 0:
                        continue  # this version of Mesa works all the same
                    self.assertIn(cause, devices.out)
                    self.rejected(["plu", *SMALL_RUN[:4], "--backend", "gl-compute"], cause, environment=environment)
                    doctor = self.start([GLINPACK, "doctor", "--quick"], environment)
                    evidence, remedy = doctor.out[doctor.out.index(" devices  "):].splitlines()[:2]
                    self.assertRegex(evidence, f"devices +[^;]*: the environment has {variable}={value}; ", doctor)
                    self.assertEqual(remedy.split(None, 1)[1], f"unset {variable}", doctor)

    @unittest.skipIf(os.getuid() != 0, "the limit is of a user, and root has none")
    def test_a_limit_of_threads_is_named(self):
        for command in [GLINPACK, "plu", "--n", "64", "--backend", "openblas"], [GLINPACK_PAPERS, "poisson", "--n", "16"]:
            outcome = self.start(["setpriv", "--reuid=54321", "--regid=54321", "--clear-groups", "prlimit", "--nproc=3",
                                  *command], {"OPENBLAS_NUM_THREADS": "1"})
            self.assertEqual(outcome.status, 3, outcome)
            self.assertRegex(outcome.err, r"only 2 of 4 threads can be started .*RLIMIT_NPROC, from 3 \(ulimit -u\)")
        outcome = self.start(["setpriv", "--reuid=54321", "--regid=54321", "--clear-groups", "prlimit", "--nproc=8", GLINPACK,
                              "plu", "--n", "64", "--backend", "openblas", "--threads", "16"], {"OPENBLAS_NUM_THREADS": "1"})
        self.assertRegex(outcome.err, r"only \d of 15 threads can be started")  # OpenBLAS hung

    def test_an_unknown_device_is_rejected(self):
        for backend in "gl-compute", "vk-compute", "auto":
            said = self.rejected_by_the_machine(["--device", "77"], "--device 77", "glinpack devices", backend=backend)
            self.assertEqual(self.rejected(["doctor", "--backend", backend, "--device", "77"]).err, said.err)
        self.rejected_by_the_machine(["--device", "77"], "--device 77", backend="auto", ranks=2)  # they choose together

    def test_gl_compute_reports_missing_gl_4_5(self):
        # Mesa can report an older version.
        self.rejected_by_the_machine([], "4.5", "--backend openblas", environment={"MESA_GL_VERSION_OVERRIDE": "4.1"})

    def test_a_broken_shader_is_reported_with_the_compiler_s_message(self):
        shaders = self.folder / "shaders"
        shutil.copytree(ROOT / "shaders", shaders)
        broken = shaders / "compute" / "update.comp"
        broken.write_text(broken.read_text() + "\nvoid broken( { nonsense\n")
        for backend in "gl-compute", "vk-compute":
            outcome = self.glinpack("plu", "--n", "64", "--nb", "16", "--backend", backend, "--shader-dir", shaders,
                                    "--json", "out.json")
            self.assertEqual(outcome.status, 2, outcome)
            self.assertIn("--shader-dir", outcome.err)
            self.assertIn("update.comp", outcome.err)
            self.assertIn("nonsense", outcome.err)
            self.assertFalse((self.folder / "out.json").exists())

    def test_a_shader_folder_without_the_backend_s_files_is_rejected(self):
        (self.folder / "shaders" / "raster").mkdir(parents=True)
        shutil.copy(ROOT / "shaders" / "raster" / "step.frag", self.folder / "shaders" / "raster")
        for backend in "gl-compute", "vk-compute":
            self.rejected_by_the_machine(["--shader-dir", "shaders"], "--shader-dir", "'shaders'",
                                         "compute/update.comp", "compute/copy.comp", backend=backend)
        self.rejected_by_the_machine(["--shader-dir", "nowhere"], "--shader-dir", "'nowhere'", "not a directory")

    def test_the_launcher_of_another_mpi_is_detected(self):
        # The variables that Open MPI's launcher sets for its processes.
        outcome = self.start([GLINPACK, "plu", *SMALL_RUN, "--json", "out.json"],
                             {"OMPI_COMM_WORLD_SIZE": "4", "OMPI_COMM_WORLD_RANK": "0"})
        self.assertEqual(outcome.status, 2, outcome)
        self.assertEqual(len(outcome.messages), 1, outcome)
        self.assertIn("mpirun", outcome.err)
        self.assertEqual(self.files(), [])

    @unittest.skipUnless(shutil.which("mpirun.openmpi") and "mpich" in MPIEXEC, "Open MPI is not installed here")
    def test_open_mpi_s_launcher_is_detected_by_an_mpich_binary(self):
        outcome = self.start(["mpirun.openmpi", "--allow-run-as-root", "--oversubscribe", "-np", "2", GLINPACK, "plu",
                              *SMALL_RUN, "--json", "out.json"])
        self.assertEqual(outcome.status, 2, outcome)
        self.assertEqual(len(outcome.messages), 1, outcome)
        self.assertEqual(self.files(), [])


@unittest.skipIf(os.environ.get("GLINPACK_TEST_QUICK"), "a sanitizer takes all of the address space")
class LimitedAddressSpace(BadInputTest):
    def limited(self, kibibytes, command, timeout=60, **environment):
        return self.start(["sh", "-c", f'ulimit -v {kibibytes}; exec "$@"', "sh", *command], environment, timeout)

    def test_whatever_the_limit_the_program_ends_and_passed_is_its_last_word(self):
        small = [GLINPACK, "plu", "--backend", "openblas", "--peak", "none", "--nb", "64", "--n"]
        step = 40_000
        for limit in range(300_000, 4_000_000, step):
            outcome = self.limited(limit, [*small, "100", "--threads", "2"])  # OpenBLAS hung
            self.assertEqual(outcome.status == 0, "PASSED" in outcome.out, outcome)
            if outcome.status == 0:
                break
        self.assertEqual(outcome.status, 0, outcome)
        for given in limit - step, limit:
            outcome = self.limited(given, [GLINPACK, "peaks", "--backend", "openblas", "--repeat", "1", "--seconds",
                                           "0.01"])
            self.assertNotIn("smaller N", outcome.err)
        job = [MPIEXEC, "-np", "4", *small]
        limit -= 160_000  # one thread has fewer buffers; a smaller matrix is solved sooner
        outcome = self.limited(limit, [*job, "20000", "--threads", "1"])
        self.assertRegex(outcome.err, r"the largest N that fits with this block size and grid is \d+")
        largest = str(int(outcome.err.split()[-1]) * 99 // 100)  # address spaces of two starts differ by some pages
        outcome = self.limited(limit, [*job, largest, "--threads", "1"])
        self.assertIn("PASSED", outcome.out, outcome)
        self.assertEqual(outcome.status, 0, outcome)

    def test_a_stack_that_is_too_small_for_openblas_is_refused_or_raised(self):
        run = [GLINPACK, "plu", "--n", "500", "--nb", "256", "--backend", "openblas", "--peak", "none"]  # crashed
        outcome = self.start(["sh", "-c", 'ulimit -s 2048; exec "$@"', "sh", *run], timeout=60)
        self.assertEqual(outcome.status, 3, outcome)
        self.assertIn("2048 KiB; raise it (ulimit -s 8192)", outcome.err)
        outcome = self.start(["sh", "-c", 'ulimit -S -s 2048; exec "$@"', "sh", *run], timeout=60)
        self.assertEqual(outcome.status, 0, outcome)

    def test_whatever_the_limit_commands_without_a_run_end(self):
        for limit in range(200_000, 1_000_000, 100_000):  # OpenBLAS hung at the end, Mesa crashed
            for command in (["--version"], ["devices"], ["peaks", "--repeat", "1", "--seconds", "0.01"]):
                outcome = self.limited(limit, [GLINPACK, *command], OPENBLAS_NUM_THREADS="2", LP_NUM_THREADS="2")
                self.assertIn(outcome.status, (0, 1, 2, 3), (limit, command, outcome))


class Signals(BadInputTest):
    """Of one process in its passes."""

    def run_until(self, signals, *options, **popen):
        """Exit status, stdout and stderr of a run of many short passes, to which the signals are sent."""
        with subprocess.Popen([GLINPACK, "plu", "--n", "4500", "--nb", "8", "--backend", "reference", "--peak", "none",
                               *options], cwd=self.folder, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, **popen) as process:
            try:
                seen = b""
                while b"% done" not in seen:
                    piece = process.stderr.read1()
                    self.assertTrue(piece, seen)
                    seen += piece
                for number in signals:
                    process.send_signal(number)
                    time.sleep(0.2)
                out, err = process.communicate(timeout=60)
            finally:
                process.kill()
        return process.returncode, out.decode(), (seen + err).decode()

    def test_a_hangup_ends_the_program_unless_nohup_started_it(self):
        status, out, err = self.run_until([signal.SIGHUP])
        self.assertEqual(status, -signal.SIGHUP, out + err)
        status, out, err = self.run_until([signal.SIGHUP, signal.SIGTERM],
                                          preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
        self.assertEqual(status, 4, out + err)
        self.assertIn("INCOMPLETE: SIGTERM", out)
        self.assertNotIn("ucx", (out + err).lower())  # its debug lines

    def test_a_signal_ends_a_run_without_messages(self):
        status, out, err = self.run_until([signal.SIGTERM], "--compute-only")
        self.assertEqual(status, 4, out + err)
        self.assertRegex(out, r"INCOMPLETE: SIGTERM ended the program after 0 of 1 runs\.\n.* ended after \d+ of 563 passes")


if __name__ == "__main__":
    unittest.main()
