#!/usr/bin/python3
"""glinpack doctor: without a launcher, under the launcher, under the launcher of another MPI, and with each problem.
Also the notes of its quick checks in the report of a run."""
import json
import os
import re
import shutil
import signal
import subprocess
import time
import unittest

from launch import GLINPACK, MPIEXEC, GlinpackTest, wait_for

CHECKS = ["mpi", "affinity", "kernels", "load", "clocks", "devices", "renderer", "gpu-map", "memory", "network", "gemm",
          "burn-in"]
BRIEFLY = ["--gemm-seconds", 0.01, "--network-seconds", 2]
CORES = len(os.sched_getaffinity(0))


class DoctorTest(GlinpackTest):
    def findings(self, outcome):
        """Returns verdict and evidence by check, one line each, in order."""
        lines = re.findall(r"^(ok|warn|fail|n/a) +([a-z-]+) +(\S.*)$", outcome.out, re.MULTILINE)
        self.assertEqual([check for _, check, _ in lines], CHECKS, outcome)
        return {check: (verdict, evidence) for verdict, check, evidence in lines}

    def remedies(self, outcome):
        return re.findall(r"^ +-> (\S.*)$", outcome.out, re.MULTILINE)

    def document(self, name):
        return self.valid_json(name, "doctor.schema.json")

    def doctor(self, *arguments, ranks=1, **options):
        """Expects exit status 0: no check fails on the test machines."""
        outcome = self.glinpack("doctor", *arguments, ranks=ranks, **{"timeout": 120, **options})
        self.assertEqual(outcome.status, 0, outcome)
        return outcome


class Doctor(DoctorTest):
    def test_one_process_runs_every_check_and_json_agrees(self):
        outcome = self.start([GLINPACK, "doctor", *map(str, BRIEFLY), "--json", "d.json"], timeout=120)
        self.assertEqual((outcome.status, outcome.err), (0, ""), outcome)
        findings = self.findings(outcome)
        self.assertEqual(findings["network"][0], "n/a")
        self.assertEqual(findings["gemm"][0], "ok")
        self.assertNotIn("started by", findings["mpi"][1])
        document = self.document("d.json")
        self.assertEqual({entry["check"]: (entry["verdict"], entry["evidence"]) for entry in document["checks"]}, findings)
        self.assertEqual(sum((entry["remedies"] for entry in document["checks"]), []), self.remedies(outcome))
        rank = document["ranks"][0]
        self.assertEqual(rank["processor"]["processors"], sorted(os.sched_getaffinity(0)))
        self.assertEqual(rank["host"], os.uname().nodename)
        self.assertGreater(rank["gemm"]["host"], 1e8)
        counts = [sum(verdict == wanted for verdict, _ in findings.values()) for wanted in ("ok", "warn", "fail", "n/a")]
        self.assertIn("\n{} ok, {} warn, {} fail, {} n/a\n".format(*counts), outcome.out)

    def test_four_ranks_are_checked_and_their_links_measured(self):
        outcome = self.doctor(*BRIEFLY, "--json", "d.json", ranks=4)
        findings = self.findings(outcome)
        self.assertRegex(findings["mpi"][1], "started by ")
        self.assertTrue(findings["mpi"][1].endswith("; 4 processes on 1 node"), findings)
        document = self.document("d.json")
        self.assertEqual([rank["process"]["rank"] for rank in document["ranks"]], [0, 1, 2, 3])
        self.assertEqual(document["screening"]["pairs"], 6)
        self.assertGreater(len(document["screening"]["links"]), 0)
        self.assertNotEqual(findings["network"][0], "n/a")
        self.assertTrue(all(rank["gemm"]["host"] > 0 for rank in document["ranks"]))

    @unittest.skipIf("HWLOC_PLUGINS_PATH" in os.environ, "hwloc reads XML by a plugin")
    def test_threads_take_the_fast_cores_and_the_check_names_them(self):
        node = 'nodeset="0x1" complete_nodeset="0x1"'
        cores = "".join(
            f'<object type="Core" os_index="{i}" cpuset="{1 << i:#x}" complete_cpuset="{1 << i:#x}" {node} gp_index="{2 * i + 3}">'
            f'<object type="PU" os_index="{i}" cpuset="{1 << i:#x}" complete_cpuset="{1 << i:#x}" {node} '
            f'gp_index="{2 * i + 4}"/></object>' for i in range(4))
        kinds = "".join(f'<cpukind cpuset="{cpuset}"><info name="FrequencyMaxMHz" value="{megahertz}"/></cpukind>'
                        for cpuset, megahertz in (("0x3", 1800), ("0xc", 2400)))
        (self.folder / "node.xml").write_text('<?xml version="1.0" encoding="UTF-8"?><!DOCTYPE topology SYSTEM "hwloc2.dtd">'
                   '<topology version="2.0"><object type="Machine" os_index="0" cpuset="0xf" complete_cpuset="0xf" '
                   f'allowed_cpuset="0xf" {node} allowed_nodeset="0x1" gp_index="1"><object type="NUMANode" os_index="0" '
                   f'cpuset="0xf" complete_cpuset="0xf" {node} gp_index="2" local_memory="1073741824"/>{cores}</object>'
                   f'{kinds}</topology>')
        environment = {"HWLOC_XMLFILE": str(self.folder / "node.xml"), "OPENBLAS_NUM_THREADS": "", "OMP_NUM_THREADS": ""}
        outcome = self.start([GLINPACK, "doctor", "--quick"], environment=environment, timeout=60)
        self.assertEqual(self.findings(outcome)["affinity"],
                         ("ok", "1 rank x 2 threads on 4 of 4 cores, of which 2 are fast"), outcome)

    @unittest.skipIf(CORES > 16, "too many cores to outnumber")
    def test_oversubscription_gives_one_warning_with_the_remedy(self):
        ranks = CORES + 1
        outcome = self.doctor("--quick", ranks=ranks)
        findings = self.findings(outcome)
        self.assertEqual(findings["affinity"][0], "warn", outcome)
        self.assertIn(f"{ranks} ranks share ", findings["affinity"][1])
        self.assertRegex(outcome.out, rf"-> (mpirun -np|srun -n) {CORES} glinpack")
        self.assertNotIn("threads", findings["affinity"][1])
        outcome = self.doctor("--quick", "--threads", 64, ranks=ranks)
        self.assertIn("64 threads", self.findings(outcome)["affinity"][1])

    def test_the_quick_part_measures_nothing(self):
        outcome = self.doctor("--quick", "--json", "d.json", ranks=2)
        findings = self.findings(outcome)
        for check in "network", "gemm", "load", "clocks":
            self.assertEqual(findings[check][0], "n/a", outcome)
        document = self.document("d.json")
        self.assertTrue(document["quick"])
        self.assertIsNone(document["screening"])

    def test_software_opengl_is_measured_only_on_request(self):
        outcome = self.doctor(*BRIEFLY, "--backend", "gl-compute", "--json", "d.json")
        findings = self.findings(outcome)
        if self.document("d.json")["ranks"][0]["device"]["software"]:
            self.assertEqual(findings["renderer"][0], "warn", outcome)
            self.assertIn("the processor computes", findings["renderer"][1])
        self.assertIn("update", findings["gemm"][1])

    def test_the_host_backend_skips_opengl_checks(self):
        findings = self.findings(self.doctor("--quick", "--backend", "openblas"))
        for check in "devices", "renderer", "gpu-map":
            self.assertEqual(findings[check][0], "n/a")


class BurnIn(DoctorTest):
    RANK = r"(?m)^ +(\d) +(\d+) +([\d.]+) +([\d.]+) +([\d.]+) +(\d+) +(-|\d+)  (\S+), (\S.*)$"

    def test_a_rank_that_computes_wrongly_and_a_slow_one_are_named_with_host_and_device(self):
        if "FAULTY_GEMM" not in os.environ:
            self.skipTest("FAULTY_GEMM names no library: its compiler cannot preload one")
        outcome = self.glinpack("doctor", "--quick", "--backend", "openblas", "--burn-in", 0.04, "--json", "d.json",
                                ranks=4, timeout=120,
                                environment={"LD_PRELOAD": os.environ["FAULTY_GEMM"], "OPENBLAS_NUM_THREADS": "1",
                                             "FAULTY_GEMM_RANK": "2", "FAULTY_GEMM_EVERY": "100",
                                             "SLOW_GEMM_RANK": "1"})
        self.assertEqual(outcome.status, 1, outcome)
        verdict, evidence = self.findings(outcome)["burn-in"]
        self.assertEqual(verdict, "fail", outcome)
        burn_in = [rank["burn_in"] for rank in self.document("d.json")["ranks"]]
        device = re.escape(burn_in[0]["device"])
        where = re.escape(os.uname().nodename)
        self.assertRegex(evidence, rf"{where}, rank 2: {device} computes wrongly: \d+ failed checks?, the first in loop \d+, ")
        self.assertRegex(evidence, rf"{where}, rank 1: {device}: [\d.]+ GFLOPS, 0\.\d+ of the median of 4 such devices, ")
        self.assertEqual(len(re.findall(r", rank \d: ", evidence)), 2, outcome)
        self.assertEqual([each["mismatches"] > 0 for each in burn_in], [False, False, True, False])
        rows = re.findall(self.RANK, outcome.out)
        self.assertEqual([row[0] for row in rows], ["0", "1", "2", "3"], outcome)
        self.assertTrue(all(int(row[1]) > 0 and float(row[2]) <= float(row[3]) <= float(row[4]) for row in rows), outcome)

    def test_a_signal_ends_it_with_a_report_of_the_loops_done(self):
        with (self.folder / "err.txt").open("wb") as err:
            job = subprocess.Popen([GLINPACK, "doctor", "--quick", "--backend", "openblas", "--burn-in", "30",
                                    "--log-level", "debug"], cwd=self.folder, stdout=subprocess.PIPE, stderr=err)
        self.addCleanup(job.kill)
        self.assertTrue(wait_for(lambda: "N 1024, " in (self.folder / "err.txt").read_text() or job.poll() is not None))
        time.sleep(0.5)
        job.send_signal(signal.SIGTERM)
        out = job.communicate(timeout=60)[0].decode()
        self.assertEqual(job.returncode, 4, out)
        self.assertRegex(out, r"(?m)^Burn-in of 0\.\d+ minutes, ended by SIGTERM: N \d+, ")
        self.assertRegex(out, self.RANK)

    def test_a_device_burns_in_with_the_shaders(self):
        for backend in "gl-compute", "vk-compute":
            outcome = self.doctor("--quick", "--backend", backend, "--burn-in", 0.01)
            verdict, evidence = self.findings(outcome)["burn-in"]
            self.assertEqual(verdict, "ok", outcome)
            self.assertRegex(evidence, r"1 device, [\d.]+ GFLOPS \(median\), compared over time alone: too few peers")
            self.assertRegex(outcome.out, r"(?m)^ +0 +\d+ .* 0 +(-|\d+)  \S+, device \d+, ")


class Problems(DoctorTest):
    def test_a_container_without_graphics_is_detected_by_its_variable(self):
        outcome = self.glinpack("doctor", "--quick", environment={"NVIDIA_DRIVER_CAPABILITIES": "compute,utility"})
        verdict, evidence = self.findings(outcome)["devices"]
        if verdict == "ok":
            self.skipTest("NVIDIA's OpenGL works here all the same")
        self.assertIn("NVIDIA_DRIVER_CAPABILITIES=compute,utility", evidence)
        self.assertIn("NVIDIA_DRIVER_CAPABILITIES=all", "\n".join(self.remedies(outcome)))

    def test_kernels_for_an_older_processor_give_a_warning(self):
        outcome = self.start([GLINPACK, "doctor", "--quick", "--backend", "openblas"], {"OPENBLAS_CORETYPE": "Nehalem"})
        flags = next(line for line in open("/proc/cpuinfo", encoding="ascii") if line.startswith("flags"))
        if "avx2" not in flags.split() or "Nehalem" not in outcome.out:
            self.skipTest("no processor that has better kernels")
        self.assertEqual(self.findings(outcome)["kernels"][0], "warn", outcome)
        self.assertRegex("\n".join(self.remedies(outcome)), "export OPENBLAS_CORETYPE=[A-Z]")

    def test_a_launcher_of_another_mpi_is_detected_by_the_number_of_processes(self):
        outcome = self.start([GLINPACK, "doctor", "--quick", "--backend", "openblas"],
                             {"OMPI_COMM_WORLD_SIZE": "4", "OMPI_COMM_WORLD_RANK": "0"})
        self.assertEqual(outcome.status, 1, outcome)
        self.assertEqual(self.findings(outcome)["mpi"][0], "fail")
        silent = self.start([GLINPACK, "doctor", "--quick", "--backend", "openblas"],
                            {"OMPI_COMM_WORLD_SIZE": "4", "OMPI_COMM_WORLD_RANK": "2"})
        self.assertEqual((silent.status, silent.out), (0, ""), silent)

    @unittest.skipUnless(shutil.which("mpirun.openmpi") and "mpich" in MPIEXEC, "Open MPI is not installed here")
    def test_under_the_launcher_of_another_mpi_one_process_names_the_matching_launcher(self):
        outcome = self.start(["mpirun.openmpi", "--allow-run-as-root", "--oversubscribe", "-np", "3", GLINPACK, "doctor",
                              "--quick"], timeout=60)
        self.assertNotEqual(outcome.status, 0, outcome)
        self.assertEqual(self.findings(outcome)["mpi"][0], "fail")
        self.assertTrue(any(remedy.startswith("mpirun.mpich -np 3") for remedy in self.remedies(outcome)), outcome)


class BeforeARun(DoctorTest):
    RUN = ["--n", 64, "--nb", 16, "--backend", "openblas", "--threads", 1]

    def notes(self, *arguments, ranks=1):
        """Returns the notes of the doctor in the report. The JSON must have the same ones."""
        outcome = self.glinpack("plu", *self.RUN, *arguments, "--json", "p.json", "--force", ranks=ranks, timeout=60)
        self.assertEqual(outcome.status, 0, outcome)
        notes = json.loads((self.folder / "p.json").read_text())["context"]["notes"]
        said = [note for note in notes if note.startswith("doctor, ")]
        self.assertEqual(len(re.findall(r"^- doctor, ", outcome.out, re.MULTILINE)), len(said), outcome)
        return said

    @unittest.skipIf(CORES > 16, "too many cores to outnumber")
    def test_oversubscription_gives_one_note_unless_disabled(self):
        ranks = CORES + 1
        notes = [note for note in self.notes(ranks=ranks) if "cores" in note or "threads" in note]
        self.assertEqual(len(notes), 1, notes)
        self.assertRegex(notes[0], f"{ranks} ranks share .*; try: ")
        self.assertEqual(self.notes("--doctor", "off", ranks=ranks), [])

    def test_a_dry_run_runs_no_checks(self):
        outcome = self.glinpack("plu", *self.RUN, "--dry-run")
        self.assertEqual(outcome.status, 0, outcome)
        self.assertNotIn("doctor", outcome.out)


if __name__ == "__main__":
    unittest.main()
