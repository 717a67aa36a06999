#!/usr/bin/python3
"""Jobs that hang, lose a process or receive a signal: the watchdog, signals, and the files on disk."""
import contextlib
import os
import pathlib
import random
import signal
import socket
import subprocess
import time
import unittest

from launch import GLINPACK, GLINPACK_PAPERS, MPIEXEC, GlinpackTest, is_hydra

# Runs of about one second each; tests end the sweep early.
SWEEP = ["plu", "--n", "2000", "--nb", "16", "--repeat", "5000", "--backend", "openblas", "--precision", "single",
         "--threads", "1", "--log-level", "warn", "--breakdown", "none"]
# A run of 1500 passes that takes minutes.
N, NB = (6000, 4) if os.environ.get("GLINPACK_TEST_QUICK") else (12000, 8)
LONG_RUN = ["plu", "--n", str(N), "--nb", str(NB), "--backend", "reference", "--precision", "single"]
TIMEOUT = 120  # seconds, long enough for a busy machine
HOST = socket.gethostname()


class Job:
    """A job in the background; the end of the test kills it."""

    def __init__(self, test, arguments, in_a_shell=False):
        """With `in_a_shell`, a shell starts the last rank and outlives it: the launcher does not see the rank end."""
        self.test = test
        self.program = GLINPACK_PAPERS if arguments[0] == "poisson" else GLINPACK
        program = [self.program, *arguments]
        shell = ["sh", "-c", f'"$@"; exec sleep {TIMEOUT}', "sh"]
        ranks = ["-np", "3", *program, ":", "-np", "1", *shell, *program] if in_a_shell else ["-np", "4", *program]
        self.out = test.folder / "out.txt"
        self.err = test.folder / "err.txt"
        with self.out.open("wb") as out, self.err.open("wb") as err:
            self.process = subprocess.Popen(
                [MPIEXEC, *ranks], cwd=test.folder, stdin=subprocess.DEVNULL, stdout=out, stderr=err,
                env={**os.environ, "OPENBLAS_NUM_THREADS": "1", "GLINPACK_TEST_JOB": str(test.folder)})
        test.addCleanup(self.remove)

    def ranks(self):
        """The process ids of the job, by rank."""
        found = {}
        mark = f"GLINPACK_TEST_JOB={self.test.folder}".encode()
        for folder in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                variables = (folder / "environ").read_bytes().split(b"\0")
                is_program = os.path.samefile(folder / "exe", self.program)
            except OSError:
                continue
            ranks = [value for value in variables if value.startswith(b"PMI_RANK=")]
            if mark in variables and ranks and is_program:
                found[int(ranks[0].split(b"=")[1])] = int(folder.name)
        return found

    def wait_for(self, condition, what):
        end = time.monotonic() + TIMEOUT
        while not (value := condition()):
            self.test.assertIsNone(self.process.poll(), f"ended before {what}:\n{self}")
            self.test.assertLess(time.monotonic(), end, f"no {what}:\n{self}")
            time.sleep(0.05)
        return value

    def has_finished_a_run(self):
        self.wait_for(lambda: "PASSED" in self.out.read_text(), "finished run")
        return self

    def is_watched(self, rank):
        """Whether the rank has left MPI_Init, and has a thread of the watchdog."""
        for thread in pathlib.Path(f"/proc/{self.ranks().get(rank)}/task").glob("*/comm"):
            with contextlib.suppress(OSError):  # a thread that has ended since
                if thread.read_text() == "watchdog\n":
                    return True
        return False

    def send(self, rank, number):
        os.kill(self.ranks()[rank], number)

    def end(self):
        """Returns the launcher's exit status. No process of the job may remain."""
        status = self.process.wait(timeout=TIMEOUT)
        end = time.monotonic() + 30
        while self.ranks() and time.monotonic() < end:
            time.sleep(0.05)
        self.test.assertEqual(self.ranks(), {}, f"processes remain after\n{self}")
        return status

    def remove(self):
        self.process.kill()
        self.process.wait()
        for process in self.ranks().values():
            try:
                os.kill(process, signal.SIGKILL)
            except ProcessLookupError:
                pass

    def __str__(self):
        return f"--- stdout\n{self.out.read_text()}\n--- stderr\n{self.err.read_text()}"


@unittest.skipUnless(is_hydra(), f"{MPIEXEC} is not MPICH's, whose ranks these tests know how to find")
class JobTest(GlinpackTest):
    def job(self, *arguments):
        return Job(self, [*SWEEP, *arguments])

    def long_run(self, *arguments, **options):
        """Starts the long run and waits until it is in its passes."""
        job = Job(self, [*LONG_RUN, *arguments], **options)
        job.wait_for(lambda: "% done" in job.err.read_text(), "progress")
        return job

    def results(self, schema="result.schema.json"):
        return self.valid_json("r.json", schema)


class Watchdog(JobTest):
    def assert_ended(self, job):
        """Expects the watchdog's exit code 5; leaks reported by a sanitizer may change it."""
        status = job.end()
        self.assertNotEqual(status, 0, job)
        if not os.environ.get("GLINPACK_TEST_QUICK"):
            self.assertEqual(status, 5, job)

    def assert_reported(self, job, first, ranks=range(4)):
        """Expects one verdict, and a line for every rank."""
        verdicts = [line for line in job.err.read_text().splitlines() if line.startswith("glinpack: watchdog: ")]
        self.assertEqual(len(verdicts), 1, job)
        self.assertRegex(verdicts[0], first)
        for rank in ranks:
            self.assertRegex(job.err.read_text(), rf"(?m)^  rank {rank} on {HOST} \(process \d+\): .*no progress for ")

    def test_a_job_that_makes_progress_is_not_ended(self):
        for grid in "2x2", "1x2":  # on the second grid, two ranks are idle
            with self.subTest(grid=grid):
                outcome = self.glinpack("plu", "--n", 300, "--nb", 16, "--grid", grid, "--backend", "openblas",
                                        "--watchdog", 30, "--json", "r.json", "--force", ranks=4, timeout=TIMEOUT)
                self.assertEqual(outcome.status, 0, outcome)
                self.assertEqual(outcome.messages, [], outcome)
                self.assertEqual(self.results()["context"]["configuration"]["watchdog"], 30)
                self.assertNotIn("incomplete", self.results())

    def test_a_single_process_watches_itself(self):
        outcome = self.glinpack("plu", "--n", 100, "--backend", "openblas", "--watchdog", 30, ranks=1)
        self.assertEqual(outcome.status, 0, outcome)

    def test_a_stopped_rank_is_reported_with_the_state_of_all_ranks(self):
        for rank in 2, 0:  # also rank 0, which reports
            with self.subTest(rank=rank):
                job = self.job("--watchdog", "2").has_finished_a_run()
                job.send(rank, signal.SIGSTOP)
                self.assert_ended(job)
                self.assert_reported(job, rf"rank {rank} on {HOST} \(process \d+\): no heartbeat for .* stopped")

    def test_a_rank_that_stops_at_a_random_moment_of_the_start_ends_the_job(self):
        seed = random.randrange(1 << 32)
        moments = random.Random(seed)
        for command in ([*LONG_RUN, "--checkpoint", "checkpoints", "--peak", "auto"],
                        ["plu", "--n", "1000", "--repeat", "1000"], ["poisson", "--n", "2048"],
                        ["doctor", "--burn-in", "30"]):
            for last in 0, 0.5:
                rank, delay = moments.randrange(4), moments.uniform(0, last)
                with self.subTest(command=command, rank=rank, delay=delay, seed=seed):
                    job = Job(self, [*command, "--watchdog", "2"])
                    job.wait_for(lambda job=job, rank=rank: job.is_watched(rank), "MPI")
                    time.sleep(delay)
                    job.send(rank, signal.SIGSTOP)
                    self.assert_ended(job)
                    self.assertIn("no heartbeat", job.err.read_text())

    def test_a_killed_rank_is_reported_and_ends_the_job(self):
        # an idle rank: MPI itself ends the job if it detects the loss during a message
        job = self.long_run("--grid", "1x3", "--watchdog", "20", in_a_shell=True)
        job.send(3, signal.SIGKILL)
        self.assert_ended(job)
        self.assert_reported(job, rf"rank 3 on {HOST} \(process \d+\) has ended without a word")

    def test_the_watchdog_covers_message_only_runs(self):
        job = Job(self, ["network", "--n", "4000", "--nb", "16", "--repeat", "5000", "--watchdog", "2", "--log-level",
                         "warn"])
        job.wait_for(lambda: "ring" in job.out.read_text(), "finished run")
        job.send(1, signal.SIGSTOP)
        self.assert_ended(job)
        self.assert_reported(job, rf"rank 1 on {HOST} .*: no heartbeat for")


class Signals(JobTest):
    def test_a_signal_ends_a_sweep_with_a_report_of_the_finished_runs(self):
        for number in signal.SIGUSR1, signal.SIGTERM:
            with self.subTest(signal=number.name):
                job = self.job("--json", "r.json", "--csv", "r.csv", "--force").has_finished_a_run()
                job.process.send_signal(number)
                self.assertEqual(job.end(), 4, job)
                finished = job.out.read_text().count("PASSED")
                self.assertRegex(job.out.read_text(),
                                 rf"INCOMPLETE: {number.name} ended the program after {finished} of 5000 runs\.")
                self.assertIn(f"{finished} tests completed and passed", job.out.read_text())
                self.assertIn("End of Tests.", job.out.read_text())
                self.assertIn(f"glinpack: {number.name}: ends at the next pass", job.err.read_text())
                document = self.results()
                self.assertEqual(len(document["runs"]), finished)
                self.assertEqual(document["incomplete"]["signal"], number.name)
                self.assertEqual(document["incomplete"]["runs_planned"], 5000)
                self.assertEqual(document["incomplete"]["runs_finished"], finished)
                self.assertEqual(len((self.folder / "r.csv").read_text().splitlines()), 1 + finished)

    def test_a_signal_to_one_rank_ends_all_ranks(self):
        job = self.long_run("--json", "r.json")
        job.send(2, signal.SIGTERM)
        self.assertEqual(job.end(), 4, job)
        ended = self.results()["incomplete"]["ended_run"]
        self.assertEqual((ended["n"], ended["nb"], ended["passes"]), (N, NB, 1500))
        self.assertGreater(ended["passes_done"], 0)
        self.assertLess(ended["passes_done"], 1500)
        self.assertEqual(self.results()["runs"], [])

    def test_a_signal_ends_the_link_measurements_with_a_report_of_the_finished_ones(self):
        pairs = ",".join(["0-1"] * 500)
        job = Job(self, ["network", "--n", "200", "--nb", "50", "--json", "r.json", "--ping-pong", pairs])
        job.wait_for(lambda: "Latency" in job.out.read_text(), "ping-pong")
        job.send(3, signal.SIGTERM)
        self.assertEqual(job.end(), 4, job)
        self.assertIn("INCOMPLETE: SIGTERM ended the program after 1 of 1 runs, before it was done with the links.",
                      job.out.read_text())
        document = self.results("network.schema.json")
        self.assertEqual(document["incomplete"], {"signal": "SIGTERM", "runs_planned": 1, "runs_finished": 1,
                                                  "links_left": True, "ended_run": None})
        self.assertEqual(len(document["runs"]), 1)
        self.assertGreater(len(document["ping_pong"]), 0)
        self.assertIsNone(document["screening"])

    def test_finished_runs_are_on_disk_before_the_end(self):
        job = self.job("--json", "r.json", "--csv", "r.csv")
        job.wait_for(lambda: (self.folder / "r.json").exists() and (self.folder / "r.csv").exists(), "file")
        job.send(0, signal.SIGKILL)
        self.assertNotEqual(job.end(), 0, job)
        document = self.results()
        self.assertIsNone(document["incomplete"]["signal"])
        self.assertEqual(len(document["runs"]), document["incomplete"]["runs_finished"])
        self.assertGreater(len(document["runs"]), 0)


if __name__ == "__main__":
    unittest.main()
