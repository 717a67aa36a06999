#!/usr/bin/python3
"""The batch scripts in a real Slurm on four emulated nodes, scripts/slurm/lab, and its complete removal.
Needs root, slurmctld and munge; otherwise prints the reason and skips all tests."""
import json
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

from launch import GLINPACK, MPIEXEC, ROOT, GlinpackTest, hpl_dat_with, is_hydra, skip_all, wait_for

SCRIPTS = ROOT / "scripts" / "slurm"
LAB = SCRIPTS / "lab"
SMALL = ["--n", 300, "--nb", 32, "--backend", "openblas"]
# seconds after which the lab of the tests ends without `down`
LIFETIME = 1500
# timeout in seconds, long enough for a busy machine
TIMEOUT = 200


def lab(command, *arguments, timeout=TIMEOUT):
    return subprocess.run([LAB / command, *map(str, arguments)], check=False, capture_output=True, text=True,
                          timeout=timeout, stdin=subprocess.DEVNULL)


def setUpModule():
    folder = tempfile.TemporaryDirectory(prefix="glinpack-slurm-")
    unittest.addModuleCleanup(folder.cleanup)
    os.environ["GLINPACK_SLURM_LAB"] = os.path.join(folder.name, "lab")
    check = lab("up", "--check")
    if check.returncode != 0:
        skip_all(check.stderr.strip())
    if not is_hydra():
        skip_all(f"{MPIEXEC} is not MPICH's, which the lab is made for")
    unittest.addModuleCleanup(lab, "down")  # even after an error
    up = lab("up", "--lifetime", LIFETIME)
    if up.returncode != 0:
        raise RuntimeError(f"the lab does not start:\n{up.stdout}{up.stderr}")
    unittest.addModuleCleanup(end_lab, pathlib.Path(os.environ["GLINPACK_SLURM_LAB"]))


def processes_of(namespace):
    """The process ids in a process namespace, named as in /proc."""
    found = []
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if os.readlink(process / "ns" / "pid") == namespace:
                found.append(process.name)
        except OSError:  # it has ended
            pass
    return found


def end_lab(folder):
    """Ends the lab while a job runs in it. No process may outlive it."""
    namespace = (folder / "namespace").read_text().strip()
    lab("enter", "sbatch", "--nodes", 4, "--ntasks-per-node", 2, "--output", "/dev/null", "--wrap", "srun sleep 300")
    # munged, slurmctld, four slurmds and their parents; eight ranks and their parents
    many = wait_for(lambda: len(processes_of(namespace)) > 20, TIMEOUT)
    down = lab("down")
    left = processes_of(namespace)
    if not many or down.returncode != 0 or left or folder.exists():
        raise AssertionError(f"job ran: {many}; left: {left}, folder: {folder.exists()}\n{down.stdout}{down.stderr}")
    if lab("enter", "squeue").returncode != 2 or lab("down").returncode != 0:
        raise AssertionError("a lab that has ended can be entered, or a second `down` fails")


def text_of(path):
    """The text of a file; empty if the file does not exist."""
    return path.read_text() if path.exists() else ""


class LabTest(GlinpackTest):
    """Submits jobs from the test's folder, which gets their results."""

    def run_job(self, *arguments, status=0, environment=None):
        """Submits a job, waits for its end, and returns its output."""
        outcome = self.start([LAB / "run", "--timeout", str(TIMEOUT), *map(str, arguments)],
                             {"GLINPACK": GLINPACK, **(environment or {})}, timeout=TIMEOUT + 60)
        self.assertEqual(outcome.status, status, outcome)
        return outcome.out

    def slurm(self, *arguments, environment=None):
        """Runs a command of Slurm."""
        outcome = self.start([LAB / "enter", *map(str, arguments)], {"GLINPACK": GLINPACK, **(environment or {})},
                             timeout=TIMEOUT)
        self.assertEqual(outcome.status, 0, outcome)
        return outcome.out.strip()

    def submit(self, *arguments, **options):
        """Submits a job without waiting and returns its number."""
        job = self.slurm("sbatch", "--parsable", *arguments, **options)
        self.addCleanup(self.slurm, "scancel", job)
        return job

    def fields_of(self, job):
        """The fields of a job, with Slurm's names."""
        return dict(field.split("=", 1) for field in self.slurm("scontrol", "show", "job", job).split() if "=" in field)

    def wait_for_state(self, job, *states):
        self.assertTrue(wait_for(lambda: self.fields_of(job)["JobState"] in states, TIMEOUT), self.fields_of(job))

    def result(self, folder="glinpack-*"):
        """Returns the JSON of the only result folder that matches; the folder must be complete."""
        found, = (path for path in self.folder.glob(folder) if path.is_dir())
        self.assertEqual(sorted(path.name for path in found.iterdir()),
                         ["job.txt", "report.txt", "results.csv", "results.json"])
        self.assertIn("PASSED", (found / "report.txt").read_text())
        return json.loads((found / "results.json").read_text())

    def program(self, lines):
        """Writes a script that replaces glinpack and returns its path."""
        path = self.write("program", "#!/bin/bash\n" + lines)
        path.chmod(0o755)
        return str(path)


class Glinpack(LabTest):
    def test_both_launchers_start_one_world_on_all_nodes(self):
        for launcher in "srun", "hydra":
            with self.subTest(launcher=launcher):
                said = self.run_job("--nodes", 4, "--ntasks-per-node", 1, SCRIPTS / "glinpack.sbatch", *SMALL,
                                    environment={"GLINPACK_LAUNCHER": launcher})
                run, = self.result(re.search(r"results in (\S+)", said)[1])["runs"]
                self.assertEqual((run["p"], run["q"], run["passed"]), (2, 2, True))
                self.assertEqual([rank["host"] for rank in run["ranks"]], ["node1", "node2", "node3", "node4"])

    def test_there_is_one_rank_per_gpu_with_its_share_of_the_cores(self):
        program = self.program(f'echo "rank of $(hostname) $SRUN_CPUS_PER_TASK $CUDA_VISIBLE_DEVICES"\n'
                               f'exec {GLINPACK} "$@"\n')
        # srun binds a GPU to each rank; Hydra gets all cores and GPUs of the node, and the ranks share them
        for launcher, cores, seen in ("srun", 2, ("0", "1")), ("hydra", 4, ("0,1", "0,1")):
            for gpus in ["--gpus-per-node=lab:2"], []:  # requested, or part of the whole node
                with self.subTest(launcher=launcher, gpus=gpus):
                    said = self.run_job("--nodes", 2, *gpus, SCRIPTS / "glinpack.sbatch", *SMALL,
                                        environment={"GLINPACK_LAUNCHER": launcher, "GLINPACK": program})
                    self.assertEqual(sorted(line for line in said.splitlines() if line.startswith("rank of ")),
                                     [f"rank of node{node} {cores} {gpu}" for node in (1, 2) for gpu in seen])
                    self.assertIn("4 ranks on node[1-2], 2 cores each", said)
                    self.assertIn("PASSED", said)

    def test_hpl_dat_and_toml_are_read_from_the_folder_of_sbatch(self):
        self.write("HPL.dat", hpl_dat_with({5: "1", 6: "200", 7: "1", 8: "32", 10: "1", 11: "2", 12: "2", 14: "1", 16: "1",
                                            20: "1", 22: "1", 24: "1"}))
        self.write("run.toml", 'n = 200\nnb = 32\ngrid = "2x2"\nbackend = "openblas"\n')
        for option, file in ("--hpl-dat", "HPL.dat"), ("--config", "run.toml"):
            with self.subTest(file=file):
                said = self.run_job("--nodes", 2, "--ntasks", 4, SCRIPTS / "glinpack.sbatch", option, file,
                                    "--backend", "openblas")
                self.assertRegex(said, r"\nWR\S+ +200 +32 +2 +2 ")
                self.assertIn("PASSED", said)

    def test_the_exit_status_of_the_program_is_returned(self):
        self.assertIn("'ten'", self.run_job("--nodes", 2, SCRIPTS / "glinpack.sbatch", "--n", "ten", status=2))
        said = self.run_job("--nodes", 2, SCRIPTS / "glinpack.sbatch", status=2,
                            environment={"GLINPACK": "missing-glinpack"})
        self.assertIn("'missing-glinpack'", said)

    def test_a_killed_rank_ends_the_job(self):
        # after the other rank has started: Hydra fails if a rank dies before all nodes have connected
        program = self.program('begun=begun-$SLURM_JOB_ID\n'
                               'if [ "$PMI_RANK" = 1 ]; then\n'
                               '  until [ -e "$begun" ]; do sleep 0.1; done\n'
                               '  kill -KILL $$\n'
                               'fi\n'
                               'touch "$begun"\n'
                               'sleep 300\n')
        for launcher in "srun", "hydra":
            with self.subTest(launcher=launcher):
                job = self.submit("--nodes", 2, SCRIPTS / "glinpack.sbatch",
                                  environment={"GLINPACK_LAUNCHER": launcher, "GLINPACK": program})
                self.wait_for_state(job, "FAILED")

    def test_a_signalled_job_reports_its_finished_runs(self):
        # before the time limit, Slurm sends USR1 only to the batch script, like scancel here, and TERM to all processes
        ways = [("SIGUSR1", ["--batch", "--signal=USR1"], "FAILED"), ("SIGTERM", [], "CANCELLED")]
        for launcher in "srun", "hydra":
            for number, selection, state in ways:
                with self.subTest(launcher=launcher, signal=number):
                    job = self.submit("--nodes", 2, SCRIPTS / "glinpack.sbatch", *SMALL, "--repeat", 50000,
                                      environment={"GLINPACK_LAUNCHER": launcher})
                    folder = self.folder / f"glinpack-{job}"
                    self.assertTrue(wait_for(lambda: "PASSED" in text_of(folder / "report.txt"), TIMEOUT))
                    self.slurm("scancel", *selection, job)
                    self.assertTrue(wait_for(lambda: not self.slurm("squeue", "--noheader", "--jobs", job), TIMEOUT))
                    self.assertEqual(self.fields_of(job)["JobState"], state,
                                     text_of(self.folder / f"glinpack-{job}.out"))
                    if state == "FAILED":
                        self.assertEqual(self.fields_of(job)["ExitCode"], "4:0")
                    document = self.result(folder.name)
                    self.assertEqual(document["incomplete"]["signal"], number)
                    self.assertEqual(document["incomplete"]["runs_finished"], len(document["runs"]))
                    self.assertGreater(len(document["runs"]), 0)
                    self.assertIn("INCOMPLETE", text_of(folder / "report.txt"))

    def test_a_requeued_job_does_not_change_its_earlier_files(self):
        program = self.program('[ -n "$SLURM_RESTART_COUNT" ] || { echo begun >"$3/begun"; sleep 300; }\n'
                               f'exec {GLINPACK} "$@"\n')
        job = self.submit("--nodes", 2, SCRIPTS / "glinpack.sbatch", *SMALL, environment={"GLINPACK": program})
        begun = self.folder / f"glinpack-{job}" / "begun"
        self.assertTrue(wait_for(begun.exists, TIMEOUT))
        self.slurm("scontrol", "requeue", job)
        self.wait_for_state(job, "PENDING")
        # not in the second in which its credentials were revoked; by default, Slurm waits for two minutes
        self.slurm("scontrol", "update", f"JobId={job}", "StartTime=now+3")
        self.wait_for_state(job, "COMPLETED")
        self.assertEqual(begun.read_text(), "begun\n")
        self.assertTrue(self.result(f"glinpack-{job}-restart1")["runs"][0]["passed"])
        log = (self.folder / f"glinpack-{job}.out").read_text()
        self.assertIn(f"results in glinpack-{job}\n", log)
        self.assertIn(f"results in glinpack-{job}-restart1\n", log)


class Generated(LabTest):
    def test_a_generated_script_runs_with_its_options(self):
        written = self.start([GLINPACK, "slurm", "--nodes", "4", "--gpus-per-node", "lab:1", "--partition", "debug",
                              "--time", "10", "--launcher", "hydra", "-o", "run.sbatch", "--", *map(str, SMALL)])
        self.assertEqual(written.status, 0, written)
        said = self.run_job("run.sbatch", "--repeat", 2, environment={"GLINPACK": ""})
        self.assertIn("4 ranks on node[1-4], 4 cores each, by hydra", said)
        document = self.result()
        self.assertEqual([(run["n"], run["passed"]) for run in document["runs"]], [(300, True)] * 2)


class Sweep(LabTest):
    def test_each_task_runs_its_combination(self):
        self.run_job("--array", "0-3", "--nodes", 1, "--ntasks", 2, SCRIPTS / "sweep.sbatch", "--n", "100,200",
                     "--nb=16,32", "--backend", "openblas")
        for task, (n, nb) in enumerate((n, nb) for n in (100, 200) for nb in (16, 32)):
            with self.subTest(task=task):
                self.assertEqual([(run["n"], run["nb"], run["passed"]) for run in
                                  self.result(f"glinpack-*_{task}")["runs"]], [(n, nb, True)])

    def test_surplus_tasks_are_rejected(self):
        said = self.run_job("--array", "4-5", "--nodes", 1, SCRIPTS / "sweep.sbatch", "--n", "100,200", "--nb=16,32",
                            status=2)
        self.assertIn("no combination 4: --array 0-3 has all 4", said)
        self.assertEqual([path for path in self.folder.iterdir() if path.is_dir()], [])

    def test_it_requires_an_array(self):
        self.assertIn("--array 0-1", self.run_job("--nodes", 1, SCRIPTS / "sweep.sbatch", "--n", "100,200", status=2))


class TheLab(LabTest):
    def rejected(self, command, *arguments, names):
        self.assert_refused(self.start([LAB / command, *arguments]), f"slurm/lab/{command}: ", *names)

    def test_unsupported_arguments_are_rejected(self):
        self.rejected("up", "4", names=["'4'", "--help"])
        self.rejected("up", "--lifetime", "soon", names=["--lifetime", "'soon'"])
        self.rejected("down", "now", names=["'now'"])
        self.rejected("enter", names=["no command"])
        self.rejected("run", names=["no script"])
        self.rejected("run", "--timeout", "x", "script", names=["--timeout", "'x'"])

    def test_a_job_ends_at_the_time_limit(self):
        outcome = self.start([LAB / "run", "--timeout", "1", "--nodes", "1", "--wrap", "sleep 300"], timeout=TIMEOUT)
        self.assertEqual(outcome.status, 124, outcome)
        self.assertIn("--timeout", outcome.err)


if __name__ == "__main__":
    unittest.main()
