#!/usr/bin/python3
"""Energy in reports: with powercap folders that replace the machine's, and without sensors. Reports with a power log."""
import csv
import importlib.util
import io
import json
import re
import unittest

from launch import GLINPACK, MPIEXEC, ROOT, GlinpackTest

RUN = ["plu", "--n", "1000", "--nb", "64", "--backend", "openblas", "--breakdown", "none"]


def make_package(root, zone, name):
    """Creates the powercap folder of a package. Its counter is the CPU time of the reading process in nanoseconds."""
    folder = root / "sys" / "class" / "powercap" / zone
    folder.mkdir(parents=True)
    (folder / "name").write_text(name + "\n")
    (folder / "max_energy_range_uj").write_text(f"{1 << 62}\n")
    (folder / "energy_uj").symlink_to("/proc/self/schedstat")


class Energy(GlinpackTest):
    def machine(self, name, boot_id):
        root = self.folder / name
        boot = root / "proc" / "sys" / "kernel" / "random" / "boot_id"
        boot.parent.mkdir(parents=True)
        boot.write_text(boot_id + "\n")
        return root

    def run_on(self, root, *arguments, **options):
        outcome = self.glinpack(*RUN, "--json", "r.json", "--force", *arguments,
                                environment={"GLINPACK_SENSORS_ROOT": str(root)}, **options)
        self.assertEqual(outcome.status, 0, outcome)
        return outcome, self.valid_json("r.json")["runs"][-1]

    def test_two_ranks_of_a_machine_count_its_packages_once(self):
        root = self.machine("a", "boot-a")
        make_package(root, "intel-rapl:0", "package-0")
        make_package(root, "intel-rapl:1", "package-1")
        outcome, run = self.run_on(root, "--csv", "r.csv", "--repeat", 3)
        energy = run["energy"]
        self.assertEqual([sensor["id"] for sensor in energy["sensors"]], ["package-0", "package-1"])
        self.assertEqual({sensor["rank"] for sensor in energy["sensors"]}, {0})
        self.assertGreater(energy["joules"], 0)
        self.assertEqual(energy["scope"], "1 node: CPU packages by RAPL; not: memory, network, power supplies")
        self.assertIn(energy["scope"], outcome.out)
        self.assertEqual(outcome.out.count("\nEnergy: "), 3)
        lines = list(csv.DictReader(io.StringIO((self.folder / "r.csv").read_text())))
        self.assertEqual(float(lines[-1]["gflops_per_watt"]), energy["gflops_per_watt"])
        self.assertEqual(float(lines[-1]["energy_joules"]), energy["joules"])

    def test_each_of_two_machines_counts_its_own_packages(self):
        roots = [self.machine(name, f"boot-{name}") for name in ("a", "b")]
        for root in roots:
            make_package(root, "intel-rapl:0", "package-0")
        command = [MPIEXEC]
        for place, root in enumerate(roots):
            command += [":"] if place else []
            command += ["-np", "1", "env", f"GLINPACK_SENSORS_ROOT={root}", GLINPACK, *RUN, "--json", "r.json"]
        outcome = self.start(command)
        self.assertEqual(outcome.status, 0, outcome)
        energy = json.loads((self.folder / "r.json").read_text())["runs"][0]["energy"]
        self.assertEqual([(sensor["rank"], sensor["id"]) for sensor in energy["sensors"]],
                         [(0, "package-0"), (1, "package-0")])
        self.assertEqual(energy["nodes"], {"there": 2, "read": 2})
        self.assertIsNotNone(energy["gflops_per_watt"])

    @unittest.skipUnless(importlib.util.find_spec("matplotlib"),
                         "matplotlib is not installed: scripts/install-deps.sh --test")
    def test_power_over_time_is_plotted_from_the_trace(self):
        root = self.machine("a", "boot-a")
        make_package(root, "intel-rapl:0", "package-0")
        self.run_on(root, "--trace", "t.json", "--repeat", 2)
        events = json.loads((self.folder / "t.json").read_text())["traceEvents"]
        self.assertEqual({(event["name"], event["pid"]) for event in events if event["ph"] == "C"},
                         {("package-0 W", 0)})
        script = ROOT / "scripts" / "plot" / "power.py"
        outcome = self.start([script, "t.json", "--run", "1", "-o", "p.svg", "-o", "p.png"], timeout=120)
        self.assertEqual(outcome.status, 0, outcome)
        picture = (self.folder / "p.svg").read_text()
        for text in "package-0", "power, W", "time, seconds":
            self.assertIn(text, picture)
        self.run_on(self.machine("b", "boot-b"), "--trace", "n.json")
        outcome = self.start([script, "n.json", "-o", "n.svg"], timeout=120)
        self.assertEqual(outcome.status, 2, outcome)
        self.assertIn("no readings of power", outcome.err)


class PowerLog(GlinpackTest):
    def report(self, record, offset):
        """A report with a log from a minute before the run until a minute after it: 200 W, and 500 W during the run.
        `offset`: of the log's times, in seconds."""
        start, seconds = record["start_time"] + offset, record["time"]
        lines = ["time,watts,scope"]
        lines += [f"{start + t:.6f},{500 if 0 <= t <= seconds else 200},{record['ranks'][0]['host']}"
                  for t in [*range(-60, 0), -1e-3, 0, seconds / 2, seconds, seconds + 1e-3,
                            *(seconds + t for t in range(1, 60))]]
        self.write("power.csv", "\n".join(lines))
        return self.start([GLINPACK, "report", "--power-log", "power.csv", "r.json"])

    def test_gives_gflops_per_watt_of_the_power_during_the_run(self):
        outcome = self.glinpack(*RUN, "--json", "r.json")
        self.assertEqual(outcome.status, 0, outcome)
        record = json.loads((self.folder / "r.json").read_text())["runs"][0]
        outcome = self.report(record, offset=-2 * 3600)  # of another time zone
        self.assertEqual(outcome.status, 2, outcome)
        self.assertIn("with times in their zone", outcome.err)
        self.assertFalse((self.folder / "report.html").exists())
        outcome = self.report(record, offset=0)
        self.assertEqual(outcome.status, 0, outcome)
        rate, watts = re.search(r"(\S+) GFLOPS/W at (\S+) W\n", outcome.out).groups()
        self.assertAlmostEqual(float(watts), 500, delta=1)
        self.assertAlmostEqual(float(rate) * float(watts) / record["gflops"], 1, delta=1e-3)


if __name__ == "__main__":
    unittest.main()
