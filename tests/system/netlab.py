#!/usr/bin/python3
"""The emulated cluster, scripts/netlab: jobs on it, traffic on its links, and complete removal.
Needs root and a kernel with namespaces; otherwise prints the reason and skips all tests."""
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import time
import unittest

from launch import GLINPACK, MPIEXEC, ROOT, GlinpackTest, is_hydra, skip_all, wait_for

NETLAB = ROOT / "scripts" / "netlab"

# An Ethernet frame of 1514 bytes carries 1448 of a TCP message; one without data, an acknowledgement, has 66.
FRAME_DATA = 1448
FRAME_HEADERS = 66


def namespaces():
    listed = subprocess.run(["ip", "netns", "list"], check=True, capture_output=True, text=True).stdout
    return sorted(line.split()[0] for line in listed.splitlines() if line.startswith("glinpack-"))


def interfaces():
    return sorted(os.listdir("/sys/class/net"))


def processes(namespace):
    """The process ids in a namespace."""
    listed = subprocess.run(["ip", "netns", "pids", namespace], check=False, capture_output=True, text=True).stdout
    return [int(number) for number in listed.split()]


def program_of(process):
    try:
        return pathlib.Path(os.readlink(f"/proc/{process}/exe")).name
    except OSError:  # it has ended
        return ""


def setUpModule():
    try:
        check = subprocess.run([NETLAB / "up", "--check"], check=False, capture_output=True, text=True)
    except OSError as error:
        skip_all(str(error))
    if check.returncode != 0:
        skip_all(check.stderr.strip())
    if not is_hydra():
        skip_all(f"{MPIEXEC} is not MPICH's, which the lab is made for")
    if namespaces():
        raise RuntimeError("a lab is up, which these tests would take down: scripts/netlab/down first")


class NetlabTest(GlinpackTest):
    def netlab(self, command, *arguments, environment=None, timeout=60):
        return self.start([NETLAB / command, *map(str, arguments)], environment, timeout)

    def done(self, command, *arguments, **options):
        outcome = self.netlab(command, *arguments, **options)
        self.assertEqual(outcome.status, 0, outcome)
        return outcome

    def rejected(self, command, *arguments, names, environment=None):
        self.assert_refused(self.netlab(command, *arguments, environment=environment), f"netlab/{command}: ", *names)


class LabTest(NetlabTest):
    """Each test has a new lab of four nodes, with unlimited links by default."""

    def setUp(self):
        super().setUp()
        self.addCleanup(self.netlab, "down")
        self.done("up", 4, "unlimited")

    def plu(self, nodes, per_node, *arguments, **options):
        """Runs glinpack, expects it to pass, and returns the run from its JSON."""
        outcome = self.done("run", "--timeout", 120, nodes, per_node, "--", GLINPACK, "plu", "--backend", "openblas",
                            "--precision", "single", "--pivoting", "local", "--json", "r.json", "--force", *arguments,
                            timeout=150, **options)
        self.assertIn("PASSED", outcome.out)
        return json.loads((self.folder / "r.json").read_text())

    def counters(self):
        """The bytes that each node has sent and received."""
        rows = [line.split() for line in self.done("counters").out.splitlines()[1:]]
        return {row[0]: (int(row[1]), int(row[2])) for row in rows}

    def counted_during(self, action):
        """The result of action(), and the bytes that each node sent and received during it."""
        before = self.counters()
        result = action()
        after = self.counters()
        return result, {node: tuple(b - a for a, b in zip(before[node], after[node])) for node in after}

    def background(self, *arguments):
        process = subprocess.Popen([NETLAB / "run", *map(str, arguments)], cwd=self.folder, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def running(self, node, name):
        """Waits for the process of this program on a node."""
        def find():
            return [process for process in processes(f"glinpack-node{node}") if program_of(process) == name]
        found = wait_for(find)
        self.assertTrue(found, f"no {name} on node{node}")
        return found[0]

    def assert_idle(self):
        def left():
            return [program_of(process) for namespace in namespaces() for process in processes(namespace)]
        wait_for(lambda: not left(), 5)
        self.assertEqual(left(), [])


def received(rank, *phases):
    """The bytes that a rank received in these phases according to the report."""
    return sum(line["bytes"] for line in rank["phases"] if line["lane"] == "net" and line["phase"] in phases)


class Arguments(NetlabTest):
    def test_every_command_has_help(self):
        for command in "up", "rate", "run", "counters", "down":
            with self.subTest(command=command):
                outcome = self.done(command, "--help")
                self.assertTrue(outcome.out.startswith(f"usage: scripts/netlab/{command}"), outcome)
                self.assertEqual(outcome.err, "")

    def test_invalid_arguments_are_rejected_before_any_work(self):
        for command, arguments, name in (
                ("up", ["0"], "'0'"), ("up", ["four"], "'four'"), ("up", ["251"], "250"),
                ("up", ["4", "100"], "'100'"), ("up", ["4", "100Mbit"], "'100Mbit'"), ("up", ["4", "1kbit"], "100kbit"),
                ("up", ["4", "200gbit"], "100gbit"), ("up", ["4", "1gbit", "x"], "'x'"), ("up", ["--fast"], "'--fast'"),
                ("up", ["--latency"], "50us"), ("up", ["4", "1gbit", "--latency", "5"], "'5'"),
                ("rate", ["1gbit"], "no lab is up"), ("rate", [], "RATE"), ("rate", ["1gbit", "2gbit"], "RATE"),
                ("run", ["4", "1", "--", "hostname"], "no lab is up"), ("run", ["4", "--", "hostname"], "PPN"),
                ("run", ["4", "1"], "no command"), ("run", ["4", "1", "--"], "no command"),
                ("run", ["4", "1", "hostname"], "--"), ("run", ["4", "0", "--", "hostname"], "PPN '0'"),
                ("run", ["4", "1", "--", "./absent"], "'./absent'"),
                ("run", ["4", "1", "--", "/etc/passwd"], "'/etc/passwd'"),
                ("run", ["--timeout", "0", "4", "1", "--", "hostname"], "--timeout '0'"),
                ("run", ["--timeout"], "--timeout 60"), ("counters", [], "no lab is up"), ("counters", ["x"], "'x'"),
                ("down", ["4"], "'4'")):
            with self.subTest(command=command, arguments=arguments):
                self.rejected(command, *arguments, names=[name])
                self.assertEqual(namespaces(), [])

    def test_root_is_required(self):
        stranger = ["unshare", "--user"]  # without a mapping, the user is `nobody`
        if self.start([*stranger, "true"]).status != 0:
            self.skipTest("user namespaces are not allowed here")
        for command in (["up"], ["rate", "1gbit"], ["counters"], ["down"], ["run", "1", "1", "--", "hostname"]):
            with self.subTest(command=command):
                outcome = self.start([*stranger, NETLAB / command[0], *command[1:]])
                self.assertEqual(outcome.status, 2, outcome)
                self.assertRegex(outcome.err, rf"\Anetlab/{command[0]}: needs root\b.*\n\Z")


class NodeGrids(LabTest):
    def test_columns_of_the_process_grid_stay_on_a_node(self):
        for shape, same in ("2x1", "column"), ("1x2", "row"):
            run = self.plu(2, 2, "--n", 200, "--nb", 16, "--grid", "2x2", "--node-grid", shape)["runs"][0]
            self.assertEqual(run["node_grid"], {"p": int(shape[0]), "q": int(shape[2])})
            lines = {}
            for rank in run["ranks"]:
                lines.setdefault(rank[same], set()).add(rank["host"])
            self.assertEqual(sorted(lines), [0, 1])
            self.assertEqual(sorted(host for hosts in lines.values() for host in hosts), ["node1", "node2"])

    def test_a_node_with_other_processes_is_rejected_before_any_work(self):
        outcome = self.netlab("run", "--timeout", 60, 2, 2, "--", GLINPACK, "plu", "--n", 200, "--backend", "openblas",
                              "--grid", "2x1", "--node-grid", "2x1", "--json", "x.json", timeout=90)
        self.assertEqual(outcome.status, 0, outcome)  # the second node idles
        outcome = self.netlab("run", "--timeout", 60, 2, 2, "--", GLINPACK, "plu", "--n", 200, "--backend", "openblas",
                              "--grid", "1x4", "--node-grid", "1x4", "--json", "y.json", timeout=90)
        self.assertEqual(outcome.status, 2, outcome)
        self.assertEqual(len(outcome.messages), 1, outcome)
        self.assertIn("--node-grid 1x4 needs 4 processes on every host, but node1 has 2", outcome.err)
        self.assertFalse((self.folder / "y.json").exists())


class Setup(NetlabTest):
    def setUp(self):
        super().setUp()
        self.addCleanup(self.netlab, "down")

    def test_up_twice_and_down_twice_remove_everything(self):
        before = interfaces()
        self.done("up", 4, "100mbit")
        self.done("up", 3, "1gbit")
        self.assertEqual(namespaces(), ["glinpack-node1", "glinpack-node2", "glinpack-node3", "glinpack-switch"])
        self.assertEqual(interfaces(), before)
        self.done("run", 3, 1, "--", "hostname")
        self.done("down")
        self.done("down")
        self.assertEqual(namespaces(), [])
        self.assertEqual(interfaces(), before)

    def test_a_failed_up_removes_everything(self):
        # a tc that fails for the third node
        tc = self.write("tc", '#!/bin/sh\ncase "$*" in *node3*) echo "Error: no third" >&2; exit 2 ;; esac\n'
                              'exec /usr/sbin/tc "$@"\n')
        tc.chmod(0o755)
        outcome = self.netlab("up", 4, environment={"PATH": f"{self.folder}:{os.environ['PATH']}"})
        self.assertEqual(outcome.status, 3, outcome)
        self.assertRegex(outcome.err, r"\Anetlab/up: .*Error: no third\n\Z")
        self.assertEqual(namespaces(), [])

    def test_a_partial_lab_is_removed_and_rebuilt(self):
        self.done("up", 3, "unlimited")
        subprocess.run(["ip", "netns", "delete", "glinpack-switch"], check=True)
        self.rejected("run", 2, 1, "--", "hostname", names=["scripts/netlab/up"])
        self.done("up", 2, "unlimited")
        self.done("run", 2, 1, "--", "hostname")
        subprocess.run(["ip", "netns", "delete", "glinpack-node1"], check=True)
        self.rejected("run", 1, 1, "--", "hostname", names=["scripts/netlab/up"])
        self.done("down")
        self.assertEqual(namespaces(), [])


class Jobs(LabTest):
    def test_a_job_on_four_nodes_passes_and_reports_four_hosts(self):
        os.symlink(GLINPACK, self.folder / "glinpack")
        self.done("rate", "100mbit")
        outcome = self.done("run", 4, 1, "--", "./glinpack", "plu", "--n", 1024, "--nb", 128, "--grid", "2x2",
                            "--backend", "openblas", "--precision", "single", "--pivoting", "local", "--json", "r.json")
        self.assertIn("PASSED", outcome.out)
        document = json.loads((self.folder / "r.json").read_text())
        self.assertEqual([rank["host"] for rank in document["runs"][0]["ranks"]], ["node1", "node2", "node3", "node4"])
        self.assert_idle()

    def test_several_processes_of_a_node_share_its_name(self):
        outcome = self.done("run", 3, 2, "--", "sh", "-c", 'echo "$PMI_RANK" "$(hostname)" "two  words"')
        self.assertEqual(sorted(outcome.out.splitlines()),
                         [f"{rank} node{rank // 2 + 1} two  words" for rank in range(6)])

    def test_nodes_may_have_different_numbers_of_processes(self):
        outcome = self.done("run", 3, "2,1,1", "--", "sh", "-c", 'echo "$PMI_RANK" "$(hostname)"')
        self.assertEqual(sorted(outcome.out.splitlines()), ["0 node1", "1 node1", "2 node2", "3 node3"])
        self.rejected("run", 3, "2,2", "--", "hostname", names=["'2,2'", "2 numbers", "NODES 3"])
        self.rejected("run", 2, "2,", "--", "hostname", names=["PPN ''"])

    def test_a_job_of_many_processes_ends_soon_even_if_mpi_finalize_hangs(self):
        outcome = self.done("run", 4, 4, "--", GLINPACK, "plu", "--n", 64, "--nb", 8, "--backend", "openblas", "--json",
                            "r.json")
        self.assertIn("End of Tests.", outcome.out)
        self.assertNotIn("BAD TERMINATION", outcome.out + outcome.err)
        seconds_to_end = time.time() - (self.folder / "r.json").stat().st_mtime
        self.assertLess(seconds_to_end, 4, "as long as MPI_Finalize's time limit")

    def test_the_exit_status_of_the_command_is_returned(self):
        self.assertEqual(self.netlab("run", 2, 1, "--", "sh", "-c", "exit 7").status, 7)
        outcome = self.netlab("run", 2, 1, "--", GLINPACK, "plu", "--n", "ten")
        self.assertEqual(outcome.status, 2, outcome)
        self.assertEqual(len(outcome.messages), 1, outcome)

    def test_more_nodes_than_the_lab_has_are_rejected(self):
        self.rejected("run", 5, 1, "--", "hostname", names=["NODES 5", "4", "scripts/netlab/up 5"])

    def test_one_job_runs_at_a_time(self):
        self.background("--timeout", 60, 2, 1, "--", "sleep", 50)
        self.running(2, "sleep")
        self.rejected("run", 2, 1, "--", "hostname", names=["a job runs", "scripts/netlab/down"])
        self.rejected("up", names=["a job runs", "scripts/netlab/down"])
        self.done("rate", "1gbit")


class Termination(LabTest):

    def test_a_run_that_lost_a_node_goes_on_on_the_other_nodes(self):
        run = [GLINPACK, "plu", "--n", 1500, "--nb", 8, "--grid", "2x2", "--backend", "openblas", "--threads", 1,
               "--doctor", "off", "--checkpoint", "ck", "--checkpoint-every", 0.05]
        process = self.background("--timeout", 100, 4, 1, "--", *run)
        rank = self.running(3, pathlib.Path(GLINPACK).resolve().name)
        complete = [f"row{i}-column{j}" for i in range(2) for j in range(2)]
        self.assertTrue(wait_for(lambda: any(all((generation / file).exists() for file in complete)
                                             for generation in (self.folder / "ck").glob("pass-*-????????"))))
        os.kill(rank, signal.SIGKILL)
        start = time.monotonic()
        self.assertNotEqual(process.wait(timeout=110), 0)
        self.assertLess(time.monotonic() - start, 30)
        self.assert_idle()
        outcome = self.done("run", "--timeout", 100, 2, 2, "--", *run, "--resume", "ck", timeout=120)
        self.assertIn("resumed from ck/pass-", outcome.out)
        self.assertIn("PASSED", outcome.out)

    def test_a_lost_node_is_ended_by_the_time_limit(self):
        # the MPI launcher does not detect that its proxy was killed
        process = self.background("--timeout", 4, 2, 1, "--", "sleep", 50)
        self.running(2, "sleep")
        os.kill(self.running(2, "hydra_pmi_proxy"), signal.SIGKILL)
        self.assertEqual(process.wait(timeout=30), 124)
        self.assertRegex(process.stderr.read().decode(), r"netlab/run: ended after 4 s.*--timeout")
        self.assert_idle()

    def test_down_ends_the_job(self):
        process = self.background("--timeout", 60, 2, 2, "--", "sleep", 50)
        self.running(2, "sleep")
        self.done("down")
        self.assertEqual(process.wait(timeout=10), 137)
        self.assertEqual(namespaces(), [])

    def test_no_process_outlives_a_killed_or_interrupted_run(self):
        for number in signal.SIGKILL, signal.SIGTERM, signal.SIGINT:
            with self.subTest(signal=number.name):
                process = self.background("--timeout", 60, 2, 1, "--", "sleep", 50)
                self.running(2, "sleep")
                if number == signal.SIGINT:  # a terminal sends it to the process group
                    os.killpg(process.pid, number)
                    self.assertEqual(process.wait(timeout=20), 130)
                else:
                    process.send_signal(number)
                    self.assertEqual(process.wait(timeout=20), -number)
                self.assert_idle()
                self.done("run", 2, 1, "--", "hostname")


class Watchdog(LabTest):
    def watched(self):
        """A run that takes minutes, and has begun."""
        (self.folder / "r.json").unlink(missing_ok=True)
        process = self.background("--timeout", 100, 4, 1, "--", GLINPACK, "plu", "--n", 2000, "--nb", 16, "--repeat",
                                  5000, "--grid", "2x2", "--backend", "openblas", "--precision", "single",
                                  "--log-level", "warn", "--watchdog", 3, "--json", "r.json")
        program = pathlib.Path(GLINPACK).resolve().name
        for node in 1, 2, 3, 4:
            self.running(node, program)
        self.assertTrue(wait_for((self.folder / "r.json").exists, 90), "no run has finished")
        return process

    def assert_reported(self, process, first):
        self.assertNotIn(process.wait(timeout=110), (0, 124), "the lab's timeout ended the job")
        text = process.stderr.read().decode()
        self.assertRegex(text, rf"(?m)^glinpack: watchdog: {first}")
        for rank in range(4):
            self.assertRegex(text, rf"(?m)^  rank {rank} on node{rank + 1} \(process \d+\): .*no progress for ")
        self.assert_idle()

    def test_a_disconnected_node_is_reported(self):
        for node in 3, 1:
            with self.subTest(node=node):
                process = self.watched()
                subprocess.run(["ip", "-n", "glinpack-switch", "link", "set", f"port{node}", "down"], check=True)
                self.assert_reported(process,
                                     rf"rank {node - 1} on node{node} \(process \d+\): no heartbeat for ")
                subprocess.run(["ip", "-n", "glinpack-switch", "link", "set", f"port{node}", "up"], check=True)


class Links(LabTest):
    def test_reported_bytes_cross_the_links_once(self):
        document, crossed = self.counted_during(
            lambda: self.plu(4, 1, "--n", 2048, "--nb", 64, "--grid", "2x2"))
        ranks = document["runs"][0]["ranks"]
        everything = "panel", "swap", "broadcast L", "broadcast U"
        counted = {rank["host"]: received(rank, *everything) for rank in ranks}
        self.assertEqual(sorted(counted), sorted(crossed))
        total = document["runs"][0]["breakdown"]["network_bytes"]
        # the rest belongs to the substitution, which also counts sent messages
        self.assertLess(total - sum(counted.values()), 0.01 * total)
        # not in the report: MPI's start, the gathered report, the residual's vectors, retransmissions
        uncounted = 256 * 1024
        for node, (sent, got) in crossed.items():
            with self.subTest(node=node, counted=counted[node], got=got):
                self.assertGreaterEqual(got, counted[node])
                headers = counted[node] / FRAME_DATA * FRAME_HEADERS
                acknowledgements = sent / FRAME_DATA * FRAME_HEADERS  # at most one acknowledgement per frame
                self.assertLess(got, counted[node] + headers + acknowledgements + uncounted)
        self.assertGreaterEqual(sum(sent for sent, _ in crossed.values()), sum(counted.values()))

    def test_messages_within_a_node_do_not_cross_its_link(self):
        # row-major order: each row of the 2x2 grid is on one node, columns cross the link
        document, crossed = self.counted_during(
            lambda: self.plu(2, 2, "--n", 1024, "--nb", 64, "--grid", "2x2"))
        ranks = document["runs"][0]["ranks"]
        self.assertEqual([rank["host"] for rank in ranks], ["node1", "node1", "node2", "node2"])
        for node in "node1", "node2":
            with self.subTest(node=node):
                here = [rank for rank in ranks if rank["host"] == node]
                down = sum(received(rank, "broadcast U", "swap", "panel") for rank in here)
                along = sum(received(rank, "broadcast L") for rank in here)
                self.assertGreater(along, 0.9 * down)
                self.assertGreaterEqual(crossed[node][1], down)
                self.assertLess(crossed[node][1], down + along / 2)
        self.assertLess(max(crossed["node3"] + crossed["node4"]), 10000)

    def test_a_panel_crosses_the_link_to_a_node_once(self):
        # of four panels, each node receives two from the other, for its two processes; a ring sends three
        document, crossed = self.counted_during(
            lambda: self.plu(2, 2, "--n", 2048, "--nb", 64, "--grid", "1x4"))
        for node in "node1", "node2":
            with self.subTest(node=node):
                here = [rank for rank in document["runs"][0]["ranks"] if rank["host"] == node]
                along = sum(received(rank, "broadcast L") for rank in here)
                self.assertGreater(along, 10e6)
                self.assertGreater(crossed[node][1], 0.3 * along)
                self.assertLess(crossed[node][1], 0.42 * along)

    def test_no_message_is_faster_than_the_rate(self):
        self.done("rate", "20mbit")
        run = self.plu(4, 1, "--n", 1024, "--nb", 64, "--grid", "2x2")["runs"][0]
        most = max(received(rank, "broadcast L", "broadcast U") for rank in run["ranks"])
        self.assertGreater(run["time"], most * 8 / 20e6)

    def test_a_new_rate_replaces_the_old_one(self):
        for rate, shown in (("1gbit", "1Gbit"), ("10gbit", "10Gbit"), ("250kbit", "250Kbit"), ("unlimited", None)):
            with self.subTest(rate=rate):
                self.done("rate", rate)
                for namespace, interface in (("glinpack-node2", "eth0"), ("glinpack-switch", "port2")):
                    queue = self.start(["tc", "-n", namespace, "qdisc", "show", "dev", interface]).out
                    self.assertEqual(re.findall(r"tbf .*\brate (\S+)", queue), [shown] if shown else [], queue)

    def test_a_latency_is_added_or_rejected(self):
        has_netem = self.start("unshare --net tc qdisc add dev lo root netem delay 1ms".split()).status == 0
        if not has_netem:
            self.rejected("rate", "100mbit", "--latency", "20ms", names=["--latency 20ms", "netem"])
            return
        self.done("rate", "100mbit", "--latency", "20ms")
        # a connection to a closed port is refused after one round trip
        attempt = ("import socket, time; start = time.monotonic()\n"
                   "try: socket.create_connection(('198.18.0.2', 9), 10)\n"
                   "except ConnectionRefusedError: print(time.monotonic() - start)\n")
        command = ["ip", "netns", "exec", "glinpack-node1", sys.executable, "-c", attempt]
        self.start(command)  # address resolution (ARP)
        self.assertGreaterEqual(float(self.start(command).out), 0.040)
        self.done("rate", "100mbit")
        self.assertNotIn("netem", self.start("tc -n glinpack-node1 qdisc show dev eth0".split()).out)


if __name__ == "__main__":
    unittest.main()
