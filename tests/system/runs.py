#!/usr/bin/python3
"""Runs and their output: reports that HPL's parsers read, JSON, CSV, traces, solutions."""
import bisect
import csv
import fcntl
import io
import json
import os
import pathlib
import platform
import pty
import re
import struct
import subprocess
import termios
import time
import unittest

from launch import GLINPACK, GLINPACK_PAPERS, MPIEXEC, ROOT, GlinpackTest, hpl_dat_with, npy, read_npy

# The patterns of programs that parse HPL's output.
REFRAME = re.compile(r"^W[R|C]\S+\s+\d+\s+\d+\s+\d+\s+\d+\s+\d[\d.]+\s+(\d[\d.eE+]+)", re.MULTILINE)
RAMBLE = re.compile(r".*\s+([0-9]+)\s+([0-9]+)\s+([0-9]+)\s+([0-9]+)\s+([0-9]+\.[0-9]+)\s+([0-9].*)\n")
EASYBUILD = re.compile(r"(\d+) tests completed and passed")

TOO_SLOW = unittest.skipIf(os.environ.get("GLINPACK_TEST_QUICK"), "GLINPACK_TEST_QUICK is set: too slow in this build")
QUICK_START = ["--config", ROOT / "configs" / "quickstart.toml"]


class RunsTest(GlinpackTest):
    def passed(self, *arguments, runs=1, **options):
        outcome = self.glinpack("plu", *arguments, **options)
        self.assertEqual(outcome.status, 0, outcome)
        self.assertEqual([int(count) for count in EASYBUILD.findall(outcome.out)], [runs], outcome)
        self.assertEqual(outcome.out.count("PASSED"), runs, outcome)
        return outcome

    def json(self, name):
        return json.loads((self.folder / name).read_text())

    def preload(self, library):
        """The environment that loads the library of the test's variable `library` beside the others."""
        if library not in os.environ:
            self.skipTest(f"{library} names no library: its compiler cannot preload one")
        return {"LD_PRELOAD": f"{os.environ.get('LD_PRELOAD', '')} {os.environ[library]}"}


class Commands(RunsTest):
    def test_blocks_larger_than_the_matrix_need_no_extra_memory(self):
        for backend in "openblas", "gl-compute", "vk-compute":
            with self.subTest(backend=backend):
                outcome = self.glinpack("plu", "--n", "30", "--nb", "1000000", "--backend", backend)
                self.assertEqual(outcome.status, 0, outcome)
                self.assertIn("PASSED", outcome.out)

    def test_durations_do_not_follow_a_clock_that_is_set_back(self):
        start = time.monotonic()
        outcome = self.passed("--n", 400, "--nb", 32, "--grid", "1x2", "--watchdog", 20, "--checkpoint", "c",
                              "--checkpoint-every", 0.001, "--json", "t.json", environment=self.preload("CLOCK_SET_BACK"))
        seconds = time.monotonic() - start
        run = self.json("t.json")["runs"][0]
        self.assertLess(0, run["time"], outcome)
        self.assertLess(run["time"], seconds, outcome)
        for rank in run["ranks"]:
            phases = {phase["phase"]: phase["seconds"] for phase in rank["phases"]}
            self.assertLess(0, sum(phases.values()))
            self.assertTrue(all(0 <= duration < seconds for duration in phases.values()), phases)

    def fake_loader(self):
        """The environment in which tests/lost_device.cpp stands for Vulkan's loader."""
        if "LOST_DEVICE" not in os.environ:
            self.skipTest("LOST_DEVICE names no folder: there is no Vulkan, or sanitizers do not work with its fake")
        return {"LD_LIBRARY_PATH": f"{os.environ['LOST_DEVICE']}:{os.environ.get('LD_LIBRARY_PATH', '')}"}

    @TOO_SLOW
    def test_a_device_without_double_precision_factorises_in_single(self):
        environment = {**self.fake_loader(), "NO_DOUBLES": "1"}
        for precision in "single", "mixed":
            self.passed("--n", 100, "--nb", 16, "--backend", "vk-compute", "--precision", precision,
                        environment=environment, ranks=2)
        outcome = self.glinpack("plu", "--n", 100, "--backend", "vk-compute", ranks=2, environment=environment)
        self.assertEqual(outcome.status, 2, outcome)
        self.assertEqual((outcome.out + outcome.err).count("no double precision: use --precision single"), 1, outcome)
        devices = self.start([GLINPACK, "devices"], environment)
        self.assertRegex(devices.out, "precision +single and mixed by Vulkan")
        doctor = self.start([GLINPACK, "doctor", "--quick", "--backend", "vk-compute", "--burn-in", "0.005"], environment,
                            timeout=60)
        self.assertRegex(doctor.out, "(?m)^ok +burn-in ")

    def test_a_lost_vulkan_device_ends_all_ranks_with_one_message(self):
        environment = {**self.fake_loader(), "LOST_DEVICE_RANK": "1"}
        for submissions in 0, 40:
            with self.subTest(submissions=submissions):
                outcome = self.glinpack("plu", "--n", 300, "--nb", 32, "--grid", "1x2", "--backend", "vk-compute",
                                        ranks=2, timeout=60,
                                        environment={**environment, "LOST_DEVICE_AFTER": str(submissions)})
                self.assertEqual(outcome.status, 3, outcome)
                self.assertEqual((outcome.out + outcome.err).count("the device was lost"), 1, outcome)

    def test_the_quick_start_passes_and_its_json_is_valid(self):
        self.passed(*QUICK_START, "--json", "q.json", ranks=4, timeout=120)
        document = self.json("q.json")
        run = document["runs"][0]
        self.assertLessEqual({"n", "nb", "p", "q", "time", "gflops", "residual", "passed"}, run.keys())
        self.assertEqual((run["n"], run["p"], run["q"], run["passed"]), (1024, 2, 2, True))
        self.valid_json("q.json")

    def test_the_context_has_what_repeats_the_run(self):
        self.passed("--n", 100, "--backend", "openblas", "--json", "c.json", ranks=2)
        context = self.json("c.json")["context"]
        self.assertIn("plu", context["launcher"]["command_line"])
        self.assertIn("2", context["launcher"]["command_line"])
        self.assertEqual(context["environment"]["LP_NUM_THREADS"], os.environ.get("LP_NUM_THREADS", "0"))
        self.assertNotIn("PATH", context["environment"])
        self.assertEqual([node["host"] for node in context["nodes"]], context["hosts"])
        node = context["nodes"][0]
        self.assertEqual(node["kernel"], f"{platform.system()} {platform.release()}")
        for key in "sockets", "cores", "hardware_threads", "memory_bytes":
            self.assertGreater(node[key], 0, key)
        self.assertTrue(context["build"]["compiler"])
        self.assertTrue(any("openblas" in library for library in context["libraries"]), context["libraries"])

    @TOO_SLOW
    def test_netlib_s_hpl_dat_passes_all_its_864_runs(self):
        # its messages are too short for waits that sleep
        self.passed("--hpl-dat", ROOT / "tests" / "data" / "HPL.dat", "--backend", "openblas", ranks=4, runs=864,
                    timeout=600, environment={"LD_PRELOAD": ""})

    def test_the_hpl_dat_of_this_machine_is_written_and_read(self):
        automatic = ["--n", "auto", "--nb", "auto", "--grid", "auto", "--memory-fraction", 1e-3]
        arguments = ["plu", *automatic, "--backend", "openblas", "--write-hpl-dat", "HPL.dat"]
        outcome = self.glinpack(*arguments, ranks=2)
        self.assertEqual((outcome.status, outcome.messages, outcome.out), (0, [], "Wrote HPL.dat\n"), outcome)
        lines = [line.split()[0] for line in (self.folder / "HPL.dat").read_text().splitlines()]
        n, nb, p, q = lines[5], lines[7], lines[10], lines[11]
        self.assertEqual((p, q), ("1", "2"))
        planned = self.glinpack("plu", "--hpl-dat", "HPL.dat", "--backend", "openblas", "--dry-run", ranks=2)
        self.assertRegex(planned.out, rf"(?m)^ +1 +{n} +{nb} +1x2 +openblas ")
        again = self.glinpack(*arguments, ranks=2)
        self.assertEqual(again.status, 2, again)
        self.assertIn("--force", again.err)

    def test_hpl_dat_of_the_current_folder_is_read_unless_an_option_names_another_source_of_n(self):
        one_run = {5: "1", 6: "40", 7: "1", 8: "8", 10: "1", 12: "1", 14: "1", 16: "1", 20: "1"}
        self.write("HPL.dat", hpl_dat_with(one_run))
        said = "the runs are those of HPL.dat in the current folder"
        outcome = self.passed("--backend", "openblas", "--json", "h.json", ranks=2)
        self.assertIn(f"- {said}", outcome.out.split("PASSED")[0])
        document = self.json("h.json")
        self.assertEqual((document["runs"][0]["n"], document["context"]["configuration"]["hpl-dat"]), (40, "HPL.dat"))
        self.assertIn(said, self.glinpack("plu", "--dry-run", "--backend", "openblas").out)
        self.assertIn("HPL.dat in the current folder is not read: --n is given",
                      self.passed("--n", 50, "--backend", "openblas").out)
        self.write("HPL.dat", hpl_dat_with({**one_run, 6: "many"}))
        broken = self.glinpack("plu", "--backend", "openblas")
        self.assertEqual((broken.status, len(broken.messages)), (2, 1), broken)
        self.assertIn("HPL.dat:6: ", broken.err)
        self.assertIn("'many'", broken.err)

    @TOO_SLOW
    def test_every_block_size_and_grid_of_netlib_s_hpl_dat_passes_by_each_gpu_api(self):
        # compute devices ignore the lines of panels
        self.write("HPL.dat", hpl_dat_with({5: "2 Ns", 6: "30 35", 14: "1 PFACTs", 16: "1 NBMINs", 20: "1 RFACTs"}))
        for backend, precision in ("gl-compute", "double"), ("vk-compute", "single"), ("vk-compute", "double"):
            with self.subTest(backend=backend, precision=precision):
                self.passed("--backend", backend, "--precision", precision, ranks=4, runs=24, timeout=300)

    @TOO_SLOW
    def test_the_raster_backend_passes_row_by_row_and_by_blocks(self):
        for arguments in [], ["--pivoting", "partial"], ["--precision", "mixed"]:
            with self.subTest(arguments=arguments):
                outcome = self.passed("--n", 100, "--nb", 32, "--backend", "gl-raster", *arguments, "--breakdown", "roles",
                                      ranks=4, timeout=120)
                self.assertRegex(outcome.out, r"PREC +: +" + ("mixed" if "mixed" in arguments else "single"))
                self.assertRegex(outcome.out, r"PIVOT +: +" + ("partial" if "partial" in arguments else "local"))
                # on 2x2, rows of partial pivoting cross process rows: by blocks, with look-ahead
                depth = 1 if "partial" in arguments else 0
                self.assertRegex(outcome.out, rf"(?m)^DEPTH +: +{depth} *$")
                self.assertRegex(outcome.out, rf"(?m)^WR{depth}0R")

    def test_the_raster_backend_searches_while_the_device_reduces(self):
        self.passed("--n", 512, "--nb", 64, "--grid", "1x1", "--backend", "gl-raster", "--trace", "t.json",
                    environment={"LP_NUM_THREADS": "1"}, timeout=120)
        events = [event for event in self.json("t.json")["traceEvents"] if event["ph"] == "X"]
        started = sorted((event["ts"], event["dur"], event["name"]) for event in events
                            if event["cat"] == "gpu" and event["name"] in ("reduce", "transfer"))
        searches = sorted(event["ts"] for event in events if event["name"] == "panel" and event["cat"] == "cpu")
        search_before_read = 0
        overlapped = 0
        for (start, duration, name), (row_read, _, next_name) in zip(started, started[1:]):
            if name != "reduce":
                continue
            self.assertEqual(next_name, "transfer")
            search = searches[bisect.bisect(searches, start)]
            search_before_read += search < row_read
            overlapped += search < start + duration
        # The host starts every reduction before it searches the next pivot, and searches before it reads the row.
        # Whether a small reduction is still running at that time depends on the machine.
        self.assertEqual(search_before_read, 512)
        self.assertGreater(overlapped, 0)

    def test_a_process_bound_to_one_core_has_one_thread_for_any_binding_of_opengl_s_threads(self):
        core = min(os.sched_getaffinity(0))
        for backend in "openblas", "gl-compute":
            with self.subTest(backend=backend):
                outcome = self.start(["taskset", "--cpu-list", str(core), GLINPACK, "plu", "--n", "100", "--nb", "50",
                                      "--backend", backend, "--json", f"{backend}.json"])
                self.assertEqual(outcome.status, 0, outcome)
                self.assertEqual(self.json(f"{backend}.json")["runs"][0]["ranks"][0]["threads"], 1)

    @TOO_SLOW
    def test_result_files_are_written_if_the_report_is_lost(self):
        read_end, broken_pipe = os.pipe()
        os.close(read_end)
        commands = {"plu": [GLINPACK, "plu", "--n", "60,70", "--nb", "16", "--backend", "openblas"],
                    "network": [GLINPACK, "network", "--n", "60,70", "--nb", "16"],
                    "mode": [GLINPACK_PAPERS, "banded", "--n", "60,70", "--repeat", "1"]}
        full_disk = os.open("/dev/full", os.O_WRONLY)
        self.addCleanup(os.close, full_disk)
        self.addCleanup(os.close, broken_pipe)
        for sink in full_disk, broken_pipe:
            for name, command in commands.items():
                with self.subTest(name=name, sink=sink):
                    ended = subprocess.run([*command, "--json", f"{name}{sink}.json"], cwd=self.folder,
                                           stdout=sink, stderr=subprocess.PIPE, check=False, timeout=60)
                    self.assertEqual(ended.returncode, 3, ended)
                    self.assertIn(b"the report is incomplete", ended.stderr)
                    document = self.json(f"{name}{sink}.json")
                    self.assertEqual(sorted({run["n"] for run in document.get("runs", document.get("results"))}),
                                     [60, 70])
        result = f"plu{full_disk}.json"
        tools = {"doctor": ["doctor", "--quick"], "compare": ["compare", result, result],
                 "plan": ["plan", "--nodes", 1, "--backend", "openblas", "--n", 1000, "--from", result],
                 "peaks": ["peaks", "--backend", "openblas", "--repeat", 1, "--seconds", 0.01]}
        for sink in full_disk, broken_pipe:
            for name, command in tools.items():
                with self.subTest(name=name, sink=sink):
                    ended = subprocess.run([GLINPACK, *map(str, command), "--json", f"{name}{sink}.json"], cwd=self.folder,
                                           stdout=sink, stderr=subprocess.PIPE, check=False, timeout=60)
                    self.check_lost_text(ended, sink == broken_pipe)
                    self.assertEqual(self.json(f"{name}{sink}.json")["format"], 2 if name in ("doctor", "compare") else 1)
            for command in (["--help"], ["plu", "--help"], ["plu", "--dry-run", "--n", "60", "--backend", "openblas"],
                            ["devices"], ["devices", "--json"], ["slurm"], ["completion"],
                            ["man-pages", "--markdown"], ["report", result, "-o", "page.html", "--force"]):
                with self.subTest(command=command, sink=sink):
                    ended = subprocess.run([GLINPACK, *command], cwd=self.folder, stdout=sink, stderr=subprocess.PIPE,
                                           check=False, timeout=60)
                    self.check_lost_text(ended, sink == broken_pipe)

    def check_lost_text(self, ended, reader_has_ended):
        """A reader that has ended, such as head, is no error; a full disk is."""
        self.assertEqual(ended.returncode, 0 if reader_has_ended else 3, ended)
        self.assertEqual(b"cannot be written to standard output" in ended.stderr, not reader_has_ended, ended)

    def test_a_report_without_stdin_and_stdout_is_not_lost_in_silence(self):
        ended = subprocess.run(["bash", "-c", 'exec "$@" 0<&- 1>&-', "bash", GLINPACK, "plu", "--n", "100", "--backend",
                                "openblas"], cwd=self.folder, stderr=subprocess.PIPE, check=False, timeout=60)
        self.assertEqual(ended.returncode, 3, ended)
        self.assertIn(b"the report is incomplete", ended.stderr)

    def test_equal_runs_have_the_same_bits(self):
        solutions = set()
        for _ in range(3):  # messages arrive at other times
            self.passed("--n", 1500, "--nb", 64, "--grid", "1x2", "--backend", "openblas", "--threads", 1,
                        "--save-solution", "x.npy", "--force")
            solutions.add((self.folder / "x.npy").read_bytes())
        self.assertEqual(len(solutions), 1)

    def test_surplus_processes_idle(self):
        self.passed("--n", 100, "--nb", 16, "--grid", "1x2,2x1,1x1", "--backend", "reference", ranks=3, runs=3)

    @TOO_SLOW
    def test_automatic_sizes_and_grid_pass_and_are_reported(self):
        self.passed("--n", 8, "--backend", "openblas", "--json", "tiny.json")
        free = self.json("tiny.json")["runs"][0]["ranks"][0]["free_bytes"]
        fraction = (8 << 20) / free
        for backend in "reference", "openblas", "gl-compute", "gl-raster", "vk-compute":
            with self.subTest(backend=backend):
                outcome = self.passed("--n", "auto", "--nb", "auto", "--grid", "auto", "--memory-fraction",
                                      f"{fraction:.3e}", "--backend", backend, "--json", f"{backend}.json", ranks=4,
                                      timeout=120)
                document = self.json(f"{backend}.json")
                run = document["runs"][0]
                self.assertEqual([document["context"]["configuration"][key] for key in ("n", "nb", "grid")],
                                 ["auto"] * 3)
                self.assertEqual((run["p"], run["q"]), (2, 2))
                self.assertGreaterEqual(run["nb"], 8)
                self.assertGreater(run["n"], 200)
                self.assertLess(run["n"], 1100)
                self.assertIn(f"--n auto: N {run['n']} ", outcome.out)
                self.assertIn(f"--nb auto: NB {run['nb']} ", outcome.out)
                self.assertEqual([row[:4] for row in RAMBLE.findall(outcome.out)],
                                 [tuple(str(run[key]) for key in ("n", "nb", "p", "q"))])

    def test_plans_and_schedules_are_printed_without_a_run(self):
        for printed, *arguments in ["nothing is run", "--dry-run", "--json", "x.json"], ["Steps of the", "--explain-pass", 3]:
            outcome = self.glinpack("plu", "--n", 64, "--nb", 8, "--grid", "2x3", *arguments)
            self.assertEqual(outcome.status, 0, outcome)
            self.assertIn(printed, outcome.out)
        self.assertEqual(self.files(), [])

    def test_help_and_version_are_printed_once_for_all_processes(self):
        for arguments in (["--help"], ["plu", "--help"], ["network", "--help"], ["devices", "--help"],
                          ["peaks", "--help"], ["doctor", "--help"], ["tune", "--help"], ["--version"]):
            with self.subTest(arguments=arguments):
                outcome = self.glinpack(*arguments)
                self.assertEqual(outcome.status, 0, outcome)
                self.assertEqual(outcome.out.count("Usage:") + outcome.out.count("glinpack 0."), 1, outcome)

    def test_devices_are_listed_as_json(self):
        outcome = self.start([GLINPACK, "devices", "--json"])
        devices = json.loads(outcome.out)["devices"]
        self.assertEqual([device["index"] for device in devices], list(range(len(devices))))
        self.assertEqual(outcome.status, 0 if any(device["usable"] for device in devices) else 1)


class Peaks(RunsTest):
    BRIEFLY = ["--seconds", 0.002, "--repeat", 2, "--threads", 1, "--json", "c.json"]

    def measured(self, *arguments):
        outcome = self.start([GLINPACK, "peaks", *map(str, [*self.BRIEFLY, *arguments])])
        self.assertEqual((outcome.status, outcome.err), (0, ""), outcome)
        return outcome.out, self.valid_json("c.json", "peaks.schema.json")

    @TOO_SLOW
    def test_device_and_host_are_measured_with_units(self):
        for backend in "gl-compute", "vk-compute":
            text, document = self.measured("--backend", backend, "--force")
            for line in (r"copy, read \+ written .* GB/s .* by (a compute shader|the driver)", r"fma, double .* GFLOPS",
                         r"upload .* GB/s", r"dispatch .* us", r"read-back .* us", r"gemm, single .* GFLOPS"):
                self.assertRegex(text, rf"(?m)^  {line}")
            drawing = [key for key in ("fetches", "fill", "vertices") if key in document["device"]]
            self.assertEqual(len(drawing), 3 if backend == "gl-compute" else 0)
            self.assertEqual(document["host"]["threads"], 1)
            self.assertEqual(document["context"]["configuration"]["repeat"], 2)

    def test_openblas_measures_only_the_host(self):
        text, document = self.measured("--backend", "openblas")
        self.assertIsNone(document["device"])
        self.assertNotIn("device", text)


class Products(RunsTest):
    def test_plain_products_that_auto_takes_are_named_in_the_report(self):
        outcome = self.passed("--n", 64, "--nb", 16, "--backend", "gl-compute", "--products", "auto")
        self.assertIn("\n- --products auto takes plain products: ", outcome.out)


class Tune(RunsTest):
    @TOO_SLOW
    def test_the_tuned_tile_is_stored_and_is_the_default(self):
        backend = "gl-compute"
        cache = {"XDG_CACHE_HOME": str(self.folder / "cache")}
        device = self.software_device()
        outcome = self.start([GLINPACK, "tune", "--device", device, "--precision", "single", "--backend", backend,
                              "--json", "t.json", "--force"], cache, timeout=120)
        self.assertEqual((outcome.status, outcome.err), (0, ""), outcome)
        self.valid_json("t.json", "tune.schema.json")
        self.assertEqual(outcome.out.count("  <- taken"), 1)
        for tuning in self.json("t.json")["tunings"]:
            kept = pathlib.Path(tuning["file"])
            self.assertEqual(kept.read_text().splitlines()[0], tuning["taken"])
            self.assertEqual(kept.parent, self.folder / "cache" / "glinpack")
            self.assertTrue(all(trial["right"] for trial in tuning["trials"]))
            for tile in [], ["--tile", tuning["trials"][-1]["tile"]]:
                self.passed("--n", 150, "--nb", 32, "--backend", backend, "--device", device, *tile,
                            "--precision", tuning["precision"], environment=cache, timeout=60)

    def software_device(self):
        devices = json.loads(self.start([GLINPACK, "devices", "--json"]).out)["devices"]
        return str(next(device["index"] for device in devices if device["usable"]))


class MixedPrecision(RunsTest):
    ARGUMENTS = ["--n", 150, "--nb", 16, "--grid", "2x2", "--backend", "openblas", "--precision", "mixed", "--json", "m.json"]

    def test_hpl_mxp_has_its_matrix_and_title(self):
        outcome = self.passed("--n", 300, "--nb", 16, "--grid", "2x2", "--backend", "openblas", "--matrix", "mxp",
                              "--json", "m.json", ranks=4)
        self.assertIn("HPL-MxP mixed-precision benchmark", outcome.out)
        run = self.valid_json("m.json")["runs"][0]
        self.assertEqual((run["matrix"], run["precision"]), ("mxp", "mixed"))
        self.assertGreater(run["refinement"]["history"][0]["residual"], 16)
        self.assertLess(run["residual"], 16)

    def test_refinement_corrects_the_errors_of_growth(self):
        arguments = ["--matrix", "wilkinson", "--n", 200, "--nb", 16, "--grid", "2x1", "--backend", "openblas"]
        self.assertEqual(self.glinpack("plu", *arguments, "--precision", "double").status, 1)
        self.passed(*arguments, "--precision", "mixed")

    def test_without_a_check_it_is_refined_to_hpl_s_threshold(self):
        outcome = self.glinpack("plu", *self.ARGUMENTS, "--threshold", "-1", ranks=4)
        self.assertEqual(outcome.status, 0, outcome)
        run = self.json("m.json")["runs"][0]
        self.assertFalse(run["checked"])
        self.assertLess(run["refinement"]["history"][-1]["residual"], 16)

    def test_a_matrix_from_a_file_is_refined_in_double_precision(self):
        n = 40
        entries = "".join(f"{i + 1} {j + 1} {((i * 37 + j * 101 + i * j * 7) % 97) / 97.0 - 0.5!r}\n"
                          for i in range(n) for j in range(n))
        self.write("a.mtx", f"%%MatrixMarket matrix coordinate real general\n{n} {n} {n * n}\n{entries}")
        self.passed("--input", "a.mtx", "--nb", 8, "--grid", "2x2", "--backend", "openblas", "--precision", "mixed",
                    "--save-solution", "x.npy", ranks=4)
        solution = read_npy(self.folder / "x.npy")[1]
        # the elements are not single-precision numbers; rounding them alone would give an error of 1e-5
        self.assertLess(max(abs(x - 1) for x in solution), 1e-9)


class Checksums(RunsTest):
    COMMON = ["--grid", "2x2", "--backend", "openblas", "--abft", 1]
    RUN = ["--n", 500, "--nb", 32, *COMMON]

    def with_a_fault_on_rank_2(self, *arguments, **faults):
        return self.glinpack("plu", *arguments, ranks=4,
                             environment={**self.preload("FAULTY_GEMM"), "FAULTY_GEMM_RANK": "2", **faults})

    def test_a_clean_run_passes_with_its_checks_counted(self):
        outcome = self.passed(*self.RUN, "--json", "c.json", ranks=4)
        self.assertRegex(outcome.out, r"Checksums: 16 checks, every 1 pass and at the end, .*: no mismatch")
        checksums = self.json("c.json")["runs"][0]["checksums"]
        self.assertEqual((checksums["checks"], checksums["corrupted"]), (16, False))

    def test_a_flipped_bit_of_an_exponent_is_reported_with_its_rank_host_and_device(self):
        outcome = self.with_a_fault_on_rank_2(*self.RUN, "--json", "f.json")
        self.assertEqual(outcome.status, 1, outcome)
        failure = re.search(r"FAILED: CORRUPTED: rank 2 on (\S+), device (.+): trailing matrix after pass \d+, "
                            r"block row \d+: the sum of a row differs by", outcome.out)
        self.assertIsNotNone(failure, outcome)
        self.assertEqual(failure[1], platform.node())
        run = self.json("f.json")["runs"][0]
        self.assertTrue(run["checksums"]["corrupted"])
        self.assertEqual(failure[2], run["ranks"][2]["device"])
        self.valid_json("f.json")

    # with the first checkpoint long before the fault
    LONG = ["--n", 1000, "--nb", 16, *COMMON, "--checkpoint", "ck", "--checkpoint-every", "0.001"]
    FIRST = "30"

    def test_a_failed_check_goes_back_to_the_last_checkpoint(self):
        outcome = self.with_a_fault_on_rank_2(*self.LONG, "--json", "b.json", FAULTY_GEMM_FIRST=self.FIRST)
        self.assertEqual(outcome.status, 0, outcome)
        self.assertIn("PASSED", outcome.out)
        lines = re.search(r"After (\d+) pass(?:es)? it rolled back to the checkpoint after (\d+), \d+\.\d+ s lost: rank 2 on "
                          r"(\S+), device .*: trailing matrix after pass \d+, block row \d+: the sum of a row differs.*\n"
                          r"It rolled back 1 time; Time and Gflops include the .* s lost: not an HPL result\n"
                          r"Checksums: .*, before checkpoints and at the end, .*: no mismatch remains\n", outcome.out)
        self.assertIsNotNone(lines, outcome)
        self.assertEqual(lines[3], platform.node())
        run = self.json("b.json")["runs"][0]
        self.assertFalse(run["checksums"]["corrupted"])
        back, = run["checksums"]["rollbacks"]
        self.assertEqual((back["from"], back["to"], back["rank"]), (int(lines[1]), int(lines[2]), 2))
        self.assertLess(back["to"], back["from"])
        self.valid_json("b.json")
        self.assertEqual(list((self.folder / "ck").glob("pass-*")), [])

    def test_a_corrupted_run_keeps_the_last_checkpoint_whose_state_was_right(self):
        outcome = self.with_a_fault_on_rank_2(*self.LONG, FAULTY_GEMM_FIRST=self.FIRST,
                                              FAULTY_GEMM_EVERY="1")
        self.assertEqual(outcome.status, 1, outcome)
        self.assertIn("CORRUPTED: rank 2 ", outcome.out)
        self.assertNotIn("PASSED", outcome.out)
        self.assertGreaterEqual(outcome.out.count("it rolled back to the checkpoint"), 3)
        self.assertRegex(outcome.out, r"Its checkpoint after \d+ passes is in ck: the same options with --resume ck")
        outcome = self.passed(*self.LONG, "--resume", "ck", ranks=4)
        self.assertIn("no mismatch\n", outcome.out)


class ProgressLine(RunsTest):
    N = 700 if os.environ.get("GLINPACK_TEST_QUICK") else 1500  # about two seconds
    RUN = [GLINPACK, "plu", "--n", str(N), "--nb", "32", "--backend", "reference", "--doctor", "off"]
    REDRAW = "\r\x1b[K"

    def on_terminal(self, *command):
        """What the command writes to stderr if that is a terminal of 100 columns."""
        main, terminal = pty.openpty()
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 100, 0, 0))
        with subprocess.Popen([*map(str, command)], cwd=self.folder, stdin=subprocess.DEVNULL,
                              stdout=subprocess.DEVNULL, stderr=terminal) as process:
            os.close(terminal)
            text = b""
            try:
                while part := os.read(main, 4096):
                    text += part
            except OSError:  # the other end is closed
                pass
        os.close(main)
        self.assertEqual(process.returncode, 0, text)
        return text.decode()

    def test_a_terminal_has_one_line_that_comes_at_once_with_and_without_a_launcher(self):
        launcher = [MPIEXEC, "-np", 2]
        for command in [], launcher, [*launcher, "env", "A=1", "sh", "-c", '"$0" "$@"; exit $?']:
            with self.subTest(command=command):
                text = self.on_terminal(*command, *self.RUN)
                self.assertNotIn("\n", text)
                lines = text.split(self.REDRAW)
                self.assertEqual((lines[0], lines[-1]), ("", ""))
                self.assertTrue(lines[1].startswith(f"generating the matrix: N {self.N}, NB 32, grid 1x"), text)
                self.assertRegex(text, r"\d\.\d %, N left \d+, \d+\.\d GFLOPS now, \d+\.\d mean, \d+:\d\d:\d\d left: N " + str(self.N))

    def test_a_file_or_pipe_has_no_control_characters_though_the_launcher_is_at_a_terminal(self):
        for command in '"$0" "$@" 2>>log', '"$0" "$@" 2>&1 >>out | cat >>log':
            self.assertEqual(self.on_terminal(MPIEXEC, "-np", 2, "sh", "-c", command, *self.RUN, "--log-level", "debug"), "")
        log = (self.folder / "log").read_text()
        self.assertNotIn("\x1b", log)
        self.assertNotIn("\r", log)
        self.assertIn(" % done", log)


class Reports(RunsTest):
    def test_parsers_of_hpl_s_output_find_every_run_and_nothing_else_and_json_and_csv_agree(self):
        outcome = self.passed("--n", "120,150", "--nb", "16,32", "--backend", "openblas", "--breakdown", "roles", "--json",
                              "r.json", "--csv", "r.csv", runs=4)
        self.assertEqual(len(REFRAME.findall(outcome.out)), 4, outcome)
        rows = RAMBLE.findall(outcome.out + outcome.err)
        self.assertEqual([row[:4] for row in rows], [("120", "16", "1", "2"), ("120", "32", "1", "2"),
                                                     ("150", "16", "1", "2"), ("150", "32", "1", "2")], outcome)
        runs = self.json("r.json")["runs"]
        lines = list(csv.DictReader(io.StringIO((self.folder / "r.csv").read_text())))
        for row, run, line in zip(rows, runs, lines, strict=True):
            self.assertEqual(row[:4], tuple(str(run[key]) for key in ("n", "nb", "p", "q")))
            self.assertEqual(row[:4], tuple(line[key] for key in ("n", "nb", "p", "q")))
            self.assertEqual(float(row[5]), float(f"{run['gflops']:.4e}"))
            self.assertEqual(float(line["gflops"]), run["gflops"])

    def test_the_breakdown_names_every_role_and_phase_and_a_trace_has_the_intervals_of_every_rank(self):
        # direct exchange sends U in separate messages
        outcome = self.passed("--n", 200, "--nb", 16, "--grid", "2x2", "--backend", "openblas", "--breakdown", "roles",
                              "--row-swap", "direct", "--trace", "t.json", ranks=4)
        for word in ("pivot", "normalize", "eliminate", "reduce", "panel", "swap", "broadcast L", "broadcast U",
                     "transfer", "substitution", "exposed"):
            self.assertIn(word, outcome.out)
        events = [event for event in self.json("t.json")["traceEvents"] if event["ph"] == "X"]
        self.assertEqual({event["pid"] for event in events}, {0, 1, 2, 3})
        self.assertTrue(all(event["ts"] >= 0 and event["dur"] >= 0 for event in events))

    def test_a_sweep_of_more_than_ten_runs_has_no_breakdown_unless_it_is_named(self):
        for runs, options, expected in (10, [], 10), (11, [], 0), (11, ["--breakdown", "phases"], 11):
            with self.subTest(runs=runs, options=options):
                outcome = self.passed("--n", 50, "--nb", 16, "--backend", "openblas", "--doctor", "off", "--repeat", runs,
                                      *options, ranks=1, runs=runs)
                self.assertEqual(outcome.out.count("Where the time went"), expected)

    def test_the_rate_is_a_share_of_the_peak(self):
        outcome = self.passed("--n", 200, "--nb", 32, "--backend", "openblas", "--threads", 1, "--peak", "1000", "--json",
                              "s.json")
        run = self.json("s.json")["runs"][0]
        self.assertEqual(run["peak"], {"gflops": 2000, "source": "stated"})
        self.assertAlmostEqual(run["of_peak"], run["gflops"] / 2000)
        self.assertEqual((run["unit"], run["units"], run["gflops_per_unit"]), ("thread", 2, run["gflops"] / 2))
        self.assertIn("by each of 2 threads; ", outcome.out)
        self.assertIn(" % of the stated peak, 2000 GFLOPS", outcome.out)

    def run_with_peaks(self, name, *sizes):
        return self.passed(*sizes, "--backend", "openblas", "--threads", 1, "--json", f"{name}.json", "--force", ranks=1,
                           environment={"XDG_CACHE_HOME": str(self.folder / "cache")})

    def kept_peak(self):
        file, = (self.folder / "cache" / "glinpack").glob("*.peak")
        return file

    @TOO_SLOW
    def test_a_kept_peak_limits_n_by_time(self):
        small = ["--n", 100, "--nb", 32]
        for name, sizes in [("before", small), ("auto", [*small, "--peak", "auto"])]:
            outcome = self.run_with_peaks(name, *sizes)
            self.assertEqual("% of the measured peak" in outcome.out, name != "before", outcome)
        self.assertIsNone(self.json("before.json")["runs"][0]["peak"])
        self.assertGreater(self.json("auto.json")["runs"][0]["peak"]["gflops"], 0)
        self.kept_peak().write_text("1e12 0\n")
        for name, sizes in [("timed", ["--n", "auto", "--time", "0.005"]), ("after", small)]:
            self.assertIn("% of the measured peak, 1000 GFLOPS", self.run_with_peaks(name, *sizes).out)
            self.assertEqual(self.json(f"{name}.json")["runs"][0]["peak"], {"gflops": 1000, "source": "measured"})
        n, flops = self.json("timed.json")["runs"][0]["n"], 0.005 * 1e12
        self.assertLessEqual(2 / 3 * n**3, flops)
        self.assertGreater(2 / 3 * (n + 256)**3, flops)

    @TOO_SLOW
    def test_a_peak_of_a_busy_node_is_measured_again_and_the_best_rate_is_kept(self):
        small = ["--n", 100, "--nb", 32, "--peak", "auto"]
        self.run_with_peaks("first", *small)
        file = self.kept_peak()
        for load, is_measured in ("1000", True), ("", True), ("0", False):  # "": of a version that kept no load
            with self.subTest(load=load):
                file.write_text(f"1e15 {load}\na processor\n")
                self.run_with_peaks("again", *small)
                rate, *_ = file.read_text().split()
                self.assertEqual(float(rate), 1e15)
                self.assertEqual(" UTC, " in file.read_text(), is_measured)
        file.write_text("1e3 0\n")
        outcome = self.run_with_peaks("above", *small)
        self.assertIn("; above the measured peak, 1e-06 GFLOPS, which it replaces\n", outcome.out)
        run = self.json("above.json")["runs"][0]
        self.assertEqual((run["of_peak"], run["peak"]["gflops"]), (1, run["gflops"]))
        self.assertAlmostEqual(float(file.read_text().split()[0]), run["gflops"] * 1e9, delta=1e3)

    def test_a_variable_of_blas_limits_the_threads_of_every_rank(self):
        outcome = self.passed("--n", 100, "--nb", 32, "--backend", "openblas", "--json", "t.json",
                              environment={"OPENBLAS_NUM_THREADS": "2", "OMP_NUM_THREADS": "3"})
        self.assertEqual([rank["threads"] for rank in self.json("t.json")["runs"][0]["ranks"]], [2, 2])
        self.assertIn("threads of each process by OPENBLAS_NUM_THREADS=2; --threads overrides it", outcome.out)

    def test_roles_and_hpl_s_phases_of_real_runs_add_up_to_the_time(self):
        outcome = self.passed("--n", 600, "--nb", 100, "--grid", "2x2", "--backend", "openblas", "--pivoting", "local",
                              "--json", "r.json", ranks=4)
        run = self.json("r.json")["runs"][0]
        roles = {role["role"]: role for role in run["breakdown"]["roles"]}
        self.assertEqual(list(roles), ["pivot", "normalize", "eliminate", "reduce", "none"])
        # both wait in the broadcast of L while the pivot rank, and then the eliminate rank, computes it
        self.assertGreater(roles["normalize"]["waiting"]["mean"], 0)
        self.assertGreater(roles["reduce"]["waiting"]["mean"], 0)
        for rank in run["ranks"]:
            self.assertAlmostEqual(sum(role["seconds"] for role in rank["roles"]), run["time"], places=9)
            self.assertAlmostEqual(sum(role["idle"] for role in rank["roles"]), rank["idle_seconds"], places=9)
        phases = {phase["phase"]: phase for phase in run["breakdown"]["hpl_phases"]}
        self.assertEqual(list(phases), ["pfact", "bcast", "laswp", "trsm", "update", "ptrsv", "copies"])
        idle = run["breakdown"]["idle"]["mean"]
        self.assertAlmostEqual(sum(phase["seconds"]["mean"] for phase in phases.values()) + idle, run["time"], places=9)
        for name, phase in phases.items():
            self.assertGreater(phase["seconds"]["mean"] + phase["hidden"]["mean"], 0, name)
            self.assertRegex(outcome.out, rf"\n{name} +\S.* {phase['seconds']['mean'] * 1000:.2f} ")
        self.assertGreater(phases["update"]["gflops"], 0)
        self.assertGreater(phases["bcast"]["gigabytes_per_second"], 0)

    def test_an_output_folder_gets_report_json_and_csv(self):
        self.passed("--n", 100, "--nb", 16, "--backend", "openblas", "--output-dir", "out")
        self.assertEqual(self.files(), ["out", "out/report.txt", "out/results.csv", "out/results.json"])
        self.assertIn("PASSED", (self.folder / "out" / "report.txt").read_text())

    def test_a_threshold_of_0_means_no_check(self):
        outcome = self.glinpack("plu", "--n", 100, "--nb", 16, "--backend", "openblas", "--threshold", 0)
        self.assertEqual(outcome.status, 0, outcome)
        self.assertIn("The answer is not checked.", outcome.out)
        self.assertIn("1 tests completed without checking", outcome.out)

    def test_a_run_beyond_the_threshold_fails_with_exit_status_1(self):
        outcome = self.glinpack("plu", "--n", 100, "--nb", 16, "--backend", "openblas", "--threshold", "1e-12")
        self.assertEqual(outcome.status, 1, outcome)
        self.assertIn("FAILED", outcome.out)
        self.assertIn("1 tests completed and failed residual checks", outcome.out)

    def test_device_7_of_hpl_dat_sends_the_report_to_stderr(self):
        self.write("HPL.dat", hpl_dat_with({4: "7", 5: "1", 6: "30", 7: "1", 8: "4", 10: "1", 11: "1", 12: "2"}))
        outcome = self.glinpack("plu", "--hpl-dat", "HPL.dat", "--backend", "reference")
        self.assertEqual((outcome.status, "End of Tests." in outcome.out, "End of Tests." in outcome.err), (0, False, True), outcome)


class Log(RunsTest):
    RUN = ["--n", "200", "--nb", "64", "--grid", "1x2"]
    PLACE = r"(?m)^\d\d:\d\d:\d\d\.\d{3} \S+, rank %s, %s: %s"

    def test_at_trace_every_rank_logs_its_passes_on_stderr_and_stdout_has_only_the_report(self):
        begun = time.strftime("%T")
        outcome = self.passed(*self.RUN, "--backend", "openblas", "--log-level", "trace")
        times = re.findall(r"(?m)^(\d\d:\d\d:\d\d)\.\d{3} ", outcome.err)
        if begun <= (ended := time.strftime("%T")):  # not at midnight
            self.assertTrue(times and begun <= min(times) and max(times) <= ended, outcome)
        for rank in 0, 1:
            passes = re.findall(self.PLACE % (rank, "trace", r"pass (\d) of 4: \w+, panel .*, trailing matrix .* ms"),
                                outcome.err)
            self.assertEqual(passes, ["0", "1", "2", "3"], outcome)
        self.assertNotRegex(outcome.out, "(?m)(trace|debug|info|warning): |^glinpack: ")

    @TOO_SLOW
    def test_at_debug_device_programs_tile_algorithm_and_memory_are_explained(self):
        backend = "vk-compute"
        for origin in "compiled", "from the cache":
            outcome = self.passed(*self.RUN, "--backend", backend, "--verbose", timeout=120,
                                  environment={"XDG_CACHE_HOME": str(self.folder / backend)})
            for rank in 0, 1:
                for message in ("EGL device 0: ", f"device 0: chosen by local rank {rank}",
                                f"{backend} updates in tiles of .*, the default", "host threads: ",
                                f"backend {backend}: ", "N 200, .*memory taken: ",
                                "broadcasts along the process row: .*; down the process column: none"):
                    self.assertRegex(outcome.err, self.PLACE % (rank, "debug", message))
            self.assertRegex(outcome.err, self.PLACE % (0, "debug", "N 200, NB 64, .*broadcast ring, row swap "))
            self.assertRegex(outcome.err, r"(?m)^ +rank +host +\(p, q\) +device +cores$")
            for rank in 0, 1:
                self.assertRegex(outcome.err, rf"(?m)^ +{rank} +\S+ +\(0, {rank}\) +0: \S.* \d[\d,-]*$")
            self.assertRegex(outcome.err, self.PLACE % (r"\d", "debug", rf"program \S+: {origin} in "))
        self.assertNotIn(": compiled in ", outcome.err)
        self.assertNotIn("trace: ", outcome.err)

    def test_a_warning_names_host_and_rank_and_is_not_shown_at_error(self):
        self.write("zero.npy", npy(4, 4, [0] * 16))
        for level, count in ("info", 1), ("error", 0):
            outcome = self.glinpack("plu", "--input", "zero.npy", "--save-solution", "x.npy", "--backend", "openblas",
                                    "--log-level", level)
            self.assertEqual(outcome.status, 1, outcome)
            warnings = re.findall(r"(?m)^glinpack: warning: \S+, rank 0: the last run has no solution; x.npy is not "
                                  "written$", outcome.err)
            self.assertEqual(len(warnings), count, outcome)
            self.assertEqual(len(outcome.messages), count, outcome)

    def test_a_solver_in_one_process_logs_its_device(self):
        outcome = self.start([GLINPACK_PAPERS, "banded", "--n", "64", "--log-level", "debug"], timeout=120)
        self.assertEqual(outcome.status, 0, outcome)
        self.assertRegex(outcome.err, r"(?m)^\d\d:\d\d:\d\d\.\d{3} debug: device 0: chosen by local rank 0")
        self.assertNotIn("debug: ", outcome.out)


class Matrices(RunsTest):
    def test_a_matrix_from_a_file_has_the_solution_of_ones(self):
        n = 45
        values = [((i * 37 + j * 101 + i * j * 7) % 97) / 97.0 - 0.5 for i in range(n) for j in range(n)]
        self.write("a.npy", npy(n, n, values))
        columns = [values[i * n + j] for j in range(n) for i in range(n)]
        self.write("a.mtx", "%%MatrixMarket matrix array real general\n" + f"{n} {n}\n" +
                   "".join(f"{value!r}\n" for value in columns))
        for name in "a.npy", "a.mtx":
            with self.subTest(name=name):
                self.passed("--input", name, "--nb", 8, "--grid", "2x2", "--backend", "openblas", "--save-solution",
                            f"{name}.x.npy", ranks=4)
                solution = read_npy(self.folder / f"{name}.x.npy")[1]
                self.assertEqual(len(solution), n)
                # the condition number of the matrix is some thousands
                self.assertLess(max(abs(x - 1) for x in solution), 1e-9)

    def test_wilkinson_s_matrix_grows_with_every_pivoting(self):
        for pivoting in "partial", "local", "tournament":
            with self.subTest(pivoting=pivoting):
                outcome = self.glinpack("plu", "--matrix", "wilkinson", "--n", "8,200", "--nb", 16, "--grid", "2x1",
                                        "--backend", "openblas", "--pivoting", pivoting, "--json", "k.json", "--force",
                                        ranks=2)
                self.assertEqual(outcome.status, 1, outcome)
                small, large = self.json("k.json")["runs"]
                self.assertEqual((small["growth"], small["passed"], large["passed"]), (2**7, True, False))
                self.assertAlmostEqual(large["growth"] / 2**30, 1, places=9)

    def test_a_well_conditioned_matrix_may_need_the_rows_of_other_processes(self):
        n = 200  # Hilbert's plus 2^-10 on the diagonal, rows in reverse order
        self.write("reversed.npy", npy(n, n, [1 / (n - i + j) + (2**-10 if n - 1 - i == j else 0)
                                              for i in range(n) for j in range(n)]))
        for pivoting, status in ("partial", 0), ("tournament", 0), ("local", 1):
            outcome = self.glinpack("plu", "--input", "reversed.npy", "--nb", 16, "--grid", "2x1", "--backend", "openblas",
                                    "--pivoting", pivoting, "--json", "k.json", "--force")
            self.assertEqual(outcome.status, status, outcome)
            growth = self.json("k.json")["runs"][0]["growth"]
            self.assertGreater(growth, 1e6) if status else self.assertEqual(round(growth, 9), 1)

    def test_local_pivoting_may_report_a_regular_matrix_as_singular(self):
        n = 32  # two block rows, each with its ones in the columns of the other
        entries = "".join(f"{i + 1} {(i + 16) % n + 1} 1\n" for i in range(n))
        self.write("exchange.mtx", f"%%MatrixMarket matrix coordinate real general\n{n} {n} {n}\n{entries}")
        arguments = ["--input", "exchange.mtx", "--nb", 16, "--grid", "2x1", "--backend", "openblas"]
        self.passed(*arguments, "--pivoting", "partial")
        self.passed(*arguments, "--pivoting", "tournament")
        outcome = self.glinpack("plu", *arguments, "--pivoting", "local")
        self.assertEqual(outcome.status, 1, outcome)
        self.assertIn("Because: singular", outcome.out)


if __name__ == "__main__":
    unittest.main()
