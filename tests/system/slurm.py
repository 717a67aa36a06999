#!/usr/bin/python3
"""Batch scripts for Slurm, tested without Slurm: the output of glinpack slurm, and rejected input of scripts/slurm."""
import os
import unittest

from launch import GLINPACK, ROOT, GlinpackTest

SWEEP = ROOT / "scripts" / "slurm" / "sweep.sbatch"


class SlurmTest(GlinpackTest):
    def slurm(self, *arguments, status=0):
        outcome = self.start([GLINPACK, "slurm", *map(str, arguments)])
        self.assertEqual(outcome.status, status, outcome)
        return outcome

    def outside_slurm(self, script, *arguments, status):
        environment = {name: "" for name in ("SLURM_JOB_ID", "SLURM_ARRAY_TASK_ID")}
        outcome = self.start(["bash", script, *arguments], environment)
        self.assertEqual(outcome.status, status, outcome)
        return outcome


class Generated(SlurmTest):
    def test_every_script_passes_shellcheck(self):
        self.write("a run's.toml", "n = 100\n")
        for arguments in [
            [],
            ["--nodes", "4", "--gpus-per-node", "a100:4", "--time", "1:00:00", "--partition", "gpu", "--account", "a",
             "--qos", "q", "--constraint", "h100&ib", "--nodelist", "n[1-4]", "--cores-per-rank", "8", "--", "--n", "65536", "--nb", "256,512", "--grid", "4x4"],
            ["--launcher", "hydra", "--signal-lead", "0", "--program", "/a b/$(c)/it's\n", "--", "--config",
             "a run's.toml"],
        ]:
            with self.subTest(arguments=arguments):
                script = self.write("run.sbatch", self.slurm(*arguments).out)
                for checker in ["shellcheck", "bash -n"]:
                    checked = self.start([*checker.split(), script])
                    self.assertEqual(checked.status, 0, checked)
                    self.assertEqual(checked.out, "", checked)

    def test_arguments_are_in_the_script_unchanged(self):
        # executes the head of the script, up to the first command that needs Slurm
        self.write("a run's.toml", "n = 100\n")
        script = self.slurm("--program", "/a b/$(c)/it's\n", "--", "--config", "a run's.toml", "--save-solution",
                            "`x`\t\\.txt").out
        head = script[:script.index("\nset -euo pipefail\n")]
        self.write("head", head + '\nprintf "%s|" "$GLINPACK" "$@"\n')
        read = self.start(["bash", "head", "--n", "200"], {"GLINPACK": ""})
        self.assertEqual(read.out, "/a b/$(c)/it's\n|--config|a run's.toml|--save-solution|`x`\t\\.txt|--n|200|")


class Sweep(SlurmTest):
    def test_outside_slurm_it_lists_its_combinations(self):
        listed = self.outside_slurm(SWEEP, "--n", "100,200", "--backend", "openblas", "--nb=16,32,64", "--force",
                                  status=0).out.splitlines()
        self.assertEqual(listed[:-1], [f"{number}  --n {n} --backend openblas --nb={nb} --force" for number, (n, nb) in
                                     enumerate((n, nb) for n in (100, 200) for nb in (16, 32, 64))])
        self.assertIn("6 combinations: sbatch --array 0-5", listed[-1])

    def test_without_lists_there_is_one_combination(self):
        self.assertEqual(self.outside_slurm(SWEEP, "--n", "100", status=0).out.splitlines()[0], "0  --n 100")
        self.assertIn("1 combinations", self.outside_slurm(SWEEP, status=0).out)

    def test_a_list_with_an_empty_element_is_rejected(self):
        for argument in ("1,,2", ",1", "1,", "--nb=1,"):
            with self.subTest(argument=argument):
                rejected = self.outside_slurm(SWEEP, "--n", argument, status=2)
                self.assertIn(argument, rejected.err)
                self.assertEqual(rejected.out, "")


class Submitted(SlurmTest):
    def test_outside_slurm_it_explains_how_to_submit(self):
        rejected = self.outside_slurm(ROOT / "scripts" / "slurm" / "glinpack.sbatch", status=2)
        self.assertEqual(len(rejected.err.splitlines()), 1, rejected)
        self.assertIn("sbatch", rejected.err)
        self.assertEqual(self.files(), [])

    def test_a_job_that_was_put_back_goes_on_from_its_checkpoint(self):
        for name, text in (("srun", 'echo "${@: -4}"'), ("scontrol", "true"), ("glinpack", "true")):
            (self.folder / name).write_text(f"#!/usr/bin/env bash\n{text}\n", encoding="utf-8")
            (self.folder / name).chmod(0o755)
        job = {"PATH": f"{self.folder}:{os.environ['PATH']}", "SLURM_JOB_ID": "7", "SLURM_JOB_CPUS_PER_NODE": "2",
               "SLURM_JOB_NUM_NODES": "1", "SLURM_JOB_NODELIST": "n1"}
        script = ROOT / "scripts" / "slurm" / "glinpack.sbatch"
        incomplete = self.folder / "ck" / "pass-12-5f3a01c2.part"
        incomplete.mkdir(parents=True)
        (incomplete / "row0-column0").touch()
        for arguments in "--n 9 --checkpoint ck", "--checkpoint ck --resume ck":
            outcome = self.start([script, "--n", "9", "--checkpoint", "ck"], job)
            self.assertEqual(outcome.status, 0, outcome)
            self.assertEqual(outcome.out.splitlines()[-1], arguments)
            if incomplete.exists():
                incomplete.rename(incomplete.with_suffix(""))


if __name__ == "__main__":
    unittest.main()
