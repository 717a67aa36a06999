#!/usr/bin/python3
"""Runs that are killed and go on from their checkpoints, and checkpoints that cannot be used.

GLINPACK_TEST_KILLS: the number of kills (50 in the full test), by default a few. GLINPACK_TEST_SEED: of their moments."""
import os
import pathlib
import random
import re
import signal
import subprocess
import time
import unittest

from launch import GLINPACK, MPIEXEC, GlinpackTest, read_npy, wait_for

KILLS = int(os.environ.get("GLINPACK_TEST_KILLS", "6"))
SEED = int(os.environ.get("GLINPACK_TEST_SEED", "1"))
TIMEOUT = 120
# what does not belong to the run
QUIET = ["--doctor", "off", "--peak", "none", "--breakdown", "none", "--log-level", "warn", "--force"]


def run(n=400, nb=4, backend="openblas"):
    """A run of many short passes."""
    return ["plu", "--n", n, "--nb", nb, "--backend", backend, "--threads", 1, *QUIET]


RUN = run()
LONG = run(2000)  # a signal that is sent in its first passes is taken before its last
OFTEN = ["--checkpoint", "ck", "--checkpoint-every", "0.001"]


class CheckpointTest(GlinpackTest):
    def command(self, *arguments, ranks):
        return [MPIEXEC, "-np", str(ranks), GLINPACK, *map(str, arguments)]

    def begin(self, *arguments, ranks):
        """A job in the background."""
        with (self.folder / "out.txt").open("wb") as out:
            job = subprocess.Popen(self.command(*arguments, ranks=ranks), cwd=self.folder, stdin=subprocess.DEVNULL,
                                   stdout=out, stderr=subprocess.STDOUT,
                                   env={**os.environ, "OPENBLAS_NUM_THREADS": "1",
                                        "GLINPACK_TEST_JOB": str(self.folder)})
        self.addCleanup(job.wait)
        self.addCleanup(job.kill)
        return job

    def begin_passes(self, *arguments, ranks=4):
        """A job that is in its passes, where it takes signals."""
        options = list(arguments)
        options[options.index("--log-level") + 1] = "trace"
        job = self.begin(*options, ranks=ranks)
        self.assertTrue(wait_for(lambda: " pass 1 of " in self.out() or job.poll() is not None))
        self.assertIsNone(job.poll(), self.out())
        return job

    def out(self):
        return (self.folder / "out.txt").read_text(errors="replace")

    def ranks(self):
        """The processes of this test's job."""
        found = []
        mark = f"GLINPACK_TEST_JOB={self.folder}".encode()
        for process in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                if os.path.samefile(process / "exe", GLINPACK) and mark in (process / "environ").read_bytes().split(b"\0"):
                    found.append(int(process.name))
            except OSError:
                continue
        return sorted(found)

    def run_all(self, *arguments, ranks=4):
        outcome = self.start(self.command(*arguments, ranks=ranks), {"OPENBLAS_NUM_THREADS": "1"}, TIMEOUT)
        self.assertEqual(outcome.status, 0, outcome)
        return outcome

    def refused(self, *arguments, ranks=4, **environment):
        """Expects one message and no work."""
        environment["OPENBLAS_NUM_THREADS"] = "1"
        outcome = self.start(self.command(*arguments, ranks=ranks), environment, TIMEOUT)
        self.assertEqual(outcome.status, 2, outcome)
        self.assertEqual(len(outcome.messages), 1, outcome)
        self.assertNotIn("WR", outcome.out)
        return outcome.messages[0]

    def solution(self, name):
        return read_npy(self.folder / name)

    def generations(self, folder="ck"):
        return sorted(path.name for path in (self.folder / folder).glob("pass-*"))

    def interrupted(self):
        """A run that a signal ends, with a checkpoint; returns its report."""
        job = self.begin_passes(*LONG, *OFTEN)
        job.send_signal(signal.SIGTERM)
        self.assertEqual(job.wait(timeout=TIMEOUT), 4, self.out())
        return self.out()


class Kills(CheckpointTest):
    CASES = [
        (1, [*run(), "--grid", "1x1", "--pivoting", "partial", "--lookahead", "1"]),
        (4, [*run(), "--grid", "2x2", "--pivoting", "partial", "--lookahead", "1", "--abft", "7"]),
        (2, [*run(200, 8, "vk-compute"), "--grid", "1x2", "--precision", "single", "--pivoting", "partial"]),
        (6, [*run(), "--grid", "3x2", "--pivoting", "tournament", "--lookahead", "0"]),
        (4, [*run(), "--grid", "2x2", "--pivoting", "local", "--lookahead", "1"]),
        (2, [*run(nb=16, backend="gl-compute"), "--grid", "1x2", "--precision", "single", "--pivoting", "partial"]),
        (6, [*run(), "--grid", "3x2", "--pivoting", "partial", "--lookahead", "1", "--precision", "mixed"]),
        (4, [*run(), "--grid", "2x2", "--pivoting", "tournament", "--lookahead", "1"]),
        (1, [*run(100, 4, "gl-raster"), "--grid", "1x1", "--pivoting", "local"]),
        (6, [*run(), "--grid", "3x2", "--pivoting", "partial", "--lookahead", "0"]),
        (4, [*run(200, 8, "gl-compute"), "--grid", "2x2", "--pivoting", "tournament", "--lookahead", "1", "--abft",
             "3"]),
        (6, [*run(100, 8, "gl-compute"), "--grid", "3x2", "--pivoting", "local", "--lookahead", "0"]),
        (1, [*run(200, 8, "gl-compute"), "--grid", "1x1", "--pivoting", "partial", "--lookahead", "0"]),
    ]

    def test_a_run_killed_at_any_moment_goes_on_with_the_same_bits(self):
        moments = random.Random(SEED)
        resumed = 0
        for ranks, options in (self.CASES * KILLS)[:max(1, KILLS // 2)]:
            with self.subTest(options=options, seed=SEED):
                begun = time.monotonic()
                self.run_all(*options, "--save-solution", "whole.npy", ranks=ranks)
                seconds = time.monotonic() - begun
                for _ in range(2):
                    self.kill_a_rank([*options, *OFTEN, *self.resumption()], ranks,
                                     seconds * moments.uniform(0.2, 1.5), moments)
                    resumed += bool(self.resumption())
                outcome = self.run_all(*options, *OFTEN, *self.resumption(), "--save-solution", "x.npy", ranks=ranks)
                self.assertIn("PASSED", outcome.out)
                self.assertEqual(self.solution("x.npy"), self.solution("whole.npy"))
                if "Checkpoints written: " in outcome.out:
                    self.assertIn(" passes; in the background: ranks waited ", outcome.out)
                self.assertEqual(self.generations(), [])
        if KILLS >= 20:  # a kill may come before the first checkpoint, or after the report
            self.assertGreaterEqual(resumed, KILLS // 4)

    def resumption(self):
        """Options to go on if there is a complete checkpoint: a folder with its name."""
        return ["--resume", "ck"] if any(not name.endswith(".part") for name in self.generations()) else []

    def kill_a_rank(self, command, ranks, seconds, moments):
        """After so many seconds, or soon after the first checkpoint was begun: most of a short run is its start."""
        before = self.generations()
        job = self.begin(*command, ranks=ranks)
        if moments.random() < 0.5:
            time.sleep(seconds)
        else:
            while self.generations() == before and job.poll() is None:
                time.sleep(0.005)
            time.sleep(moments.uniform(0, 0.05))
        processes = self.ranks()
        if processes:
            try:
                os.kill(moments.choice(processes), signal.SIGKILL)
            except ProcessLookupError:
                pass
        job.wait(timeout=TIMEOUT)
        self.assertTrue(wait_for(lambda: not self.ranks()), "processes remain")


class Signals(CheckpointTest):
    def test_sigterm_writes_a_checkpoint_from_which_ranks_placed_otherwise_go_on(self):
        self.run_all(*LONG, "--save-solution", "whole.npy")
        out = self.interrupted()
        self.assertIn("INCOMPLETE: SIGTERM", out)
        self.assertRegex(out, r"Its checkpoint after \d+ passes is in ck: the same options with --resume ck continue it")
        outcome = self.run_all(*LONG, "--resume", "ck", "--broadcast", "ibcast",
                               "--save-solution", "x.npy")
        self.assertRegex(outcome.out, r"resumed from ck/pass-\d+-[0-9a-f]{8} after \d+ of 500 passes")
        self.assertIn("Time and Gflops are of the passes after the checkpoint and of the solution: not an HPL result",
                      outcome.out)
        self.assertEqual(self.solution("x.npy"), self.solution("whole.npy"))
        self.assertEqual(len(self.generations()), 1)  # only --checkpoint removes
        outcome = self.run_all("plu", *QUIET, "--resume", "ck", "--save-solution", "y.npy")
        self.assertEqual(self.solution("y.npy"), self.solution("whole.npy"))
        parts = re.search(r"All parts of the run: (\S+) s before the checkpoint, (\S+) s after it: (\S+) GFLOPS; not an "
                          "HPL result", outcome.out)
        seconds = float(parts[1]) + float(parts[2])
        self.assertAlmostEqual(float(parts[3]) * seconds / ((2 / 3 * 2000**3 + 3 / 2 * 2000**2) * 1e-9), 1, delta=0.05)


class Copies(CheckpointTest):
    def test_ranks_wait_for_the_disk_if_there_is_no_memory_for_a_copy(self):
        with open("/proc/meminfo", encoding="ascii") as lines:
            kibibytes = next(int(line.split()[1]) for line in lines if line.startswith("MemAvailable"))
        most = int((1024 * kibibytes / 8) ** 0.5)
        plan = ["plu", "--backend", "openblas", "--nb", "auto", "--checkpoint", "ck", "--dry-run"]
        note = "ranks wait while checkpoints are written"
        self.assertIn(note, self.run_all(*plan, "--n", int(0.8 * most), ranks=2).out)
        self.assertNotIn(note, self.run_all(*plan, "--n", most // 4, ranks=2).out)


class Refusals(CheckpointTest):
    def test_what_does_not_fit_is_refused_with_what_differs(self):
        (self.folder / "loop").symlink_to("loop")
        for options, text in (
                (["--resume", "missing"], "--resume: missing is not a folder"),
                (["--resume", "m" * 300], f"--resume: {'m' * 300} is not a folder"),
                (["--resume", "loop"], "loop is not a folder (Too many levels of symbolic links)"),
                (["--checkpoint-every", 5], "name their folder"),
                (["--checkpoint", "/proc/none/ck"], "--checkpoint: /proc/none/ck cannot be made: "),
                (["--checkpoint", "ck", "--compute-only"], "--compute-only")):
            self.assertIn(text, self.refused(*RUN, *options, ranks=1))
        self.interrupted()
        self.assertIn("--n: 2000 in the checkpoint, 2004 now", self.refused(*run(2004), "--resume", "ck"))
        self.assertRegex(self.refused(*LONG, "--resume", "ck", OPENBLAS_CORETYPE="Nehalem"),
                         "BLAS: OpenBLAS .* in the checkpoint, OpenBLAS .* with kernels for Nehalem now")
        self.assertIn("resume from it with --resume", self.refused(*LONG, "--checkpoint", "ck"))
        self.assertIn("4 runs are planned", self.refused(*run("400,500"), "--resume", "ck", "--repeat", 2))

    def test_two_runs_do_not_share_a_folder(self):
        job = self.begin_passes(*run(3000), *OFTEN, ranks=1)
        self.assertTrue(wait_for(self.generations))
        os.kill(self.ranks()[0], signal.SIGSTOP)
        for options in ["--checkpoint", "ck"], ["--resume", "ck"]:
            self.assertIn("another run has its checkpoints in this folder", self.refused(*RUN, *options, ranks=1))
        os.kill(self.ranks()[0], signal.SIGKILL)
        self.assertNotEqual(job.wait(timeout=TIMEOUT), 0)

    def test_a_limit_of_file_sizes_costs_a_checkpoint_but_not_the_run(self):
        job = self.command(*run(1800, 64), *OFTEN, ranks=1)  # a file has 26 MB; MPI itself makes smaller ones
        limited = ["bash", "-c", 'ulimit -f 20000; exec "$@"', "bash", *job]
        outcome = self.start(limited, {"OPENBLAS_NUM_THREADS": "1"}, TIMEOUT)
        self.assertRegex(outcome.err, r"checkpoint after \d+ passes is not written: .*File too large")
        self.assertEqual(outcome.status, 0, outcome)
        self.assertEqual(self.generations(), [])

    @unittest.skipUnless(os.geteuid() == 0, "only root mounts a read-only folder")
    def test_a_run_goes_on_from_a_folder_that_it_cannot_write(self):
        self.interrupted()
        (self.folder / "ck" / "lock").unlink()
        mounts = (["mount", "--bind", self.folder / "ck", self.folder / "ck"],
                  ["mount", "-o", "remount,ro,bind", self.folder / "ck"])
        self.addCleanup(subprocess.run, ["umount", "-ql", self.folder / "ck"], check=False)
        if any(subprocess.run(mount, check=False).returncode != 0 for mount in mounts):
            self.skipTest("mounting is not allowed")
        self.assertIn("PASSED", self.run_all(*LONG, "--resume", "ck").out)


if __name__ == "__main__":
    unittest.main()
