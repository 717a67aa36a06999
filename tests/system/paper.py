#!/usr/bin/python3
"""scripts/plot draws glinpack's results. scripts/paper/paper.py reproduces the white paper's tables and reports omissions."""
import csv
import importlib.util
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import time
import unittest

from launch import GLINPACK, MPIEXEC, ROOT, GlinpackTest

PAPER = ROOT / "scripts" / "paper" / "paper.py"
PLOT = ROOT / "scripts" / "plot"
HAS_MATPLOTLIB = importlib.util.find_spec("matplotlib") is not None
needs_matplotlib = unittest.skipUnless(HAS_MATPLOTLIB, "matplotlib is not installed: scripts/install-deps.sh --test")

sys.path[:0] = [str(ROOT / "scripts" / "paper"), str(ROOT / "scripts")]
import cells as plan  # noqa: E402, needs the path above
import places  # noqa: E402
import results  # noqa: E402
import tables  # noqa: E402

DATA = results.read(ROOT / "tests" / "data" / "paper.jsonl.gz")


def why_no_netlab():
    return "needs root" if os.geteuid() != 0 else places.why_no_netlab()


class PaperTest(GlinpackTest):
    def rejected(self, outcome, *words):
        """Expects exit status 2 and one line with all words."""
        self.assertEqual(outcome.status, 2, outcome)
        lines = [line for line in outcome.err.splitlines() if not line.startswith(("usage: ", " "))]
        self.assertEqual(len(lines), 1, outcome)
        for word in words:
            self.assertIn(word, lines[0])

    def expect_png(self, name):
        content = (self.folder / name).read_bytes()
        self.assertEqual(content[:8], b"\x89PNG\r\n\x1a\n")
        width, height = (int.from_bytes(content[start:start + 4], "big") for start in (16, 20))
        self.assertGreater(min(width, height), 200)
        self.assertGreater(len(content), 5000, "an empty picture")

    def paper(self, *arguments, timeout=600, **environment):
        return self.start([PAPER, *map(str, arguments)], environment, timeout)

    def plot(self, script, *arguments):
        return self.start([PLOT / f"{script}.py", *map(str, arguments)], timeout=120)


@needs_matplotlib
class Plots(PaperTest):
    """Each test has r.json and t.json, the results and the trace of one sweep."""

    files_of_sweep = {}

    def setUp(self):
        super().setUp()
        if not self.files_of_sweep:
            outcome = self.glinpack("plu", "--n", "96,160", "--nb", "16,32", "--grid", "2x2", "--backend", "openblas",
                                    "--threads", 1, "--pivoting", "local", "--json", "r.json", "--trace", "t.json", ranks=4,
                                    timeout=120)
            self.assertEqual(outcome.status, 0, outcome)
            self.files_of_sweep.update({name: (self.folder / name).read_text() for name in self.files()})
        for name, text in self.files_of_sweep.items():
            self.write(name, text)

    def test_passes_are_drawn_in_the_colours_of_the_roles(self):
        outcome = self.plot("passes", "t.json", "--run", 3, "-o", "p.png", "-o", "p.svg")
        self.assertEqual(outcome.status, 0, outcome)
        self.expect_png("p.png")
        text = self.svg_text("p.svg")
        for word in ("pivot", "normalize", "eliminate", "reduce", "rank 3 (1,1)", "seconds", "N 160, NB 32", "cpu", "net"):
            self.assertIn(word, text)
        drawing = (self.folder / "p.svg").read_text()
        hatched = {colour: name for name, colour in
                   re.findall(r'<pattern id="(\w+)"[^>]*>\s*<rect [^>]*fill="(#\w+)"', drawing)}
        for colour in ("#0b2e59", "#c8501e", "#58b39d", "#f3d77c"):
            uses = drawing.count(f"url(#{hatched[colour]})" if colour in hatched else f"fill: {colour}")
            self.assertGreater(uses, 1, f"{colour} is only in the legend")

    def test_parts_of_a_trace_are_selected_by_pass_and_rank(self):
        outcome = self.plot("passes", "t.json", "--passes", "1-2", "--ranks", "0-1", "-o", "p.svg")
        self.assertEqual(outcome.status, 0, outcome)
        text = self.svg_text("p.svg")
        self.assertIn("rank 1", text)
        self.assertNotIn("rank 2", text)
        self.assertNotIn("outside the passes", text)

    def test_the_same_data_gives_the_same_picture(self):
        for name in "a.svg", "b.svg":
            self.assertEqual(self.plot("passes", "t.json", "-o", name).status, 0)
        self.assertEqual((self.folder / "a.svg").read_text(), (self.folder / "b.svg").read_text())

    def test_help_has_examples(self):
        outcome = self.plot("passes", "--help")
        self.assertEqual(outcome.status, 0, outcome)
        self.assertIn("scripts/plot/passes.py", outcome.out)

    def test_invalid_arguments_are_rejected(self):
        self.write("text.json", "not JSON")
        self.write("there.svg", "mine")
        self.rejected(self.plot("passes", "t.json", "-o", "x.pdf"), "x.pdf", ".png", ".svg")
        self.rejected(self.plot("passes", "t.json", "-o", "none/x.svg"), "none/x.svg", "no folder")
        self.rejected(self.plot("passes", "t.json", "-o", "there.svg"), "there.svg", "--force")
        self.rejected(self.plot("passes", "none.json", "-o", "x.svg"), "none.json", "No such file")
        self.rejected(self.plot("passes", "text.json", "-o", "x.svg"), "text.json", "not JSON")
        self.rejected(self.plot("passes", "r.json", "-o", "x.svg"), "r.json", "no trace")
        self.rejected(self.plot("passes", "t.json", "-o", "x.svg", "--run", 9), "--run 9", "4 runs")
        self.rejected(self.plot("passes", "t.json", "-o", "x.svg", "--passes", "99"), "nothing to draw")
        self.rejected(self.plot("passes", "t.json", "-o", "x.svg", "--passes", "a-b"), "a-b")
        self.assertEqual(self.files(), ["r.json", "t.json", "text.json", "there.svg"])
        self.assertEqual((self.folder / "there.svg").read_text(), "mine")


class WithoutMatplotlib(PaperTest):
    def test_the_remedy_is_named(self):
        self.write("matplotlib.py", "raise ImportError")
        outcome = self.start([PLOT / "passes.py", "t.json", "-o", "x.svg"], {"PYTHONPATH": str(self.folder)}, timeout=120)
        self.rejected(outcome, "apt-get install python3-matplotlib")
        self.rejected(self.paper("--quick", PYTHONPATH=str(self.folder)), "python3-matplotlib", "--no-plots")


class WhitePaper(unittest.TestCase):
    """Values of the paper that its text gives."""

    def test_rates_in_the_text_follow_from_the_tables(self):
        best = {table: max(plan.gflops(row["n"], seconds) for row in plan.paper_rows(table)
                           for seconds in row["seconds"].values()) for table in (1, 2, 4)}
        self.assertAlmostEqual(best[1], 3.5, delta=0.05)
        self.assertAlmostEqual(best[2], 4.2, delta=0.05)  # so n = 8192
        self.assertAlmostEqual(best[4], 4.6, delta=0.05)

    def test_tables_have_all_rows(self):
        self.assertEqual([len(plan.paper_rows(table)) for table in plan.TABLES], [16, 12, 4, 5])
        self.assertEqual([row["processes"] for row in plan.paper_rows(2)], [4] * 4 + [16] * 4 + [64] * 4)

    def test_no_block_is_larger_than_a_process_s_part(self):
        for table in 1, 2, 3:
            for row in plan.paper_rows(table):
                self.assertLessEqual(row["subsize"] ** 2 * row["processes"], row["n"] ** 2, row)


class Cells(unittest.TestCase):
    def cells(self, table, **options):
        return plan.cells_of(table, **{"backend": "gl-raster", "pivot_backends": ["gl-raster", "openblas"], "quick": False,
                                       "most_nodes": 4, "place": "netlab", "largest_n": None, **options})

    def test_processes_are_assigned_in_blocks_with_more_on_the_first_nodes(self):
        self.assertEqual(plan.placement(4, 3), [2, 1, 1])
        self.assertEqual(plan.placement(64, 4), [16] * 4)
        self.assertEqual([cell["placement"] for cell in self.cells(1)[:4]], [[4], [2, 2], [2, 1, 1], [1, 1, 1, 1]])

    def test_every_cell_of_the_paper_is_planned(self):
        self.assertEqual([len(self.cells(table)) for table in plan.TABLES], [64, 12, 16, 10])
        for table in plan.TABLES:
            for cell in self.cells(table):
                self.assertIsNotNone(cell["white_paper_seconds"])
                self.assertEqual(cell["status"], "not run")

    def test_omitted_cells_have_a_reason(self):
        cells = self.cells(1, largest_n=512, most_nodes=3)
        for cell in cells:
            expected = "--largest-n 512" if cell["n"] > 512 else "--nodes netlab has 3" if cell["nodes"] == 4 else ""
            if cell["nodes"] == 4 and cell["n"] > 512:
                expected = "--nodes netlab has 3"
            self.assertEqual(cell["status"], "left out" if expected else "not run")
            self.assertIn(expected, cell["reason"])

    def test_network_only_and_openblas_in_table_4_have_no_largest_n(self):
        self.assertEqual({cell["status"] for cell in self.cells(3, largest_n=64)}, {"not run"})
        omitted = [cell for cell in self.cells(4, largest_n=64) if cell["status"] == "left out"]
        self.assertEqual({cell["backend"] for cell in omitted}, {"gl-raster"})
        self.assertEqual({cell["n"] for cell in omitted}, {256, 1024, 2048, 4096})

    def test_a_quick_row_has_the_paper_s_values_only_if_the_paper_has_the_row(self):
        for table in plan.TABLES:
            printed = {(row["n"], row["processes"], row["subsize"]): row["seconds"] for row in plan.paper_rows(table)}
            for cell in self.cells(table, quick=True):
                seconds = printed.get((cell["n"], cell["processes"], cell["subsize"]), {})
                self.assertEqual(cell["white_paper_seconds"], seconds.get(cell["nodes"]))

    def test_four_nodes_are_read_from_a_host_file(self):
        folder = pathlib.Path(os.environ.get("TMPDIR", "/tmp")) / f"glinpack-hosts-{os.getpid()}"
        folder.write_text("# the cluster\na:4\n\nb  # slow\nc:2 binding=rr\n")
        self.addCleanup(folder.unlink)
        hosts = places.Hosts("mpirun", places.hosts_of_file(folder), "file")
        self.assertEqual(hosts.most_nodes, 3)
        self.assertEqual(hosts.command([2, 1, 1], 60), ["mpirun", "-hosts", "a:2,b:1,c:1", "-n", "4"])
        self.assertEqual(hosts.command([1], 60), ["mpirun", "-hosts", "a:1", "-n", "1"])


class Layout(PaperTest):
    """Text, CSV and pictures generated from recorded JSON."""

    def document(self, table):
        return DATA[f"paper/table{table}.json"]

    def test_the_text_has_the_paper_s_layout_and_values(self):
        for table in plan.TABLES:
            with self.subTest(table=table):
                self.assertEqual(tables.text(self.document(table)), DATA[f"paper/table{table}.txt"])

    def test_csv_has_a_line_for_each_cell(self):
        for table in plan.TABLES:
            document = self.document(table)
            lines = list(csv.DictReader(tables.csv_text(document).splitlines()))
            self.assertEqual(len(lines), len(document["cells"]))
            for line, cell in zip(lines, document["cells"]):
                self.assertEqual(line["table"], str(table))
                self.assertEqual(line["status"], cell["status"])
                self.assertEqual(line["seconds"], "" if cell["seconds"] is None else str(cell["seconds"]))
                self.assertEqual(line["reason"], cell["reason"])

    @needs_matplotlib
    def test_pictures_are_redrawn_from_the_json(self):
        for table in plan.TABLES:
            self.write(f"table{table}.json", json.dumps(self.document(table)))
        outcome = self.paper("--render", ".")
        self.assertEqual(outcome.status, 0, outcome)
        for table in plan.TABLES:
            self.expect_png(f"table{table}.png")
            text = self.svg_text(f"table{table}.svg")
            for word in f"Table {table}", "time, seconds", "glinpack":
                self.assertIn(word, text)
            has_figures = any(cell["white_paper_seconds"] for cell in self.document(table)["cells"])
            self.assertEqual("white paper (2007)" in text, has_figures)
            self.assertEqual((self.folder / f"table{table}.txt").read_text(), DATA[f"paper/table{table}.txt"])
        self.rejected(self.paper("--render", "."), "table1.txt exists", "--force")


class WrongArguments(PaperTest):
    def test_they_are_rejected_before_any_work(self):
        no_plots = "--no-plots"
        self.rejected(self.paper("--tables", "5"), "'5'", "1,2,3,4")
        self.rejected(self.paper("--largest-n", "big"), "'big'", "whole number")
        self.rejected(self.paper("--bakend", "openblas"), "--bakend")
        self.rejected(self.paper(no_plots, "--nodes", "local", "--rate", "1gbit"), "--rate", "netlab")
        self.rejected(self.paper(no_plots, "--nodes", "local", "--hostfile", "h"), "--hostfile", "hosts")
        self.rejected(self.paper(no_plots, "--nodes", "hosts", "--hostfile", "none"), "none", "No such file")
        self.rejected(self.paper(no_plots, "--nodes", "local", "--backend", "openblass"), "openblass", "openblas")
        self.rejected(self.paper(no_plots, "--nodes", "local", GLINPACK="/none/glinpack"), "/none/glinpack", "cmake")
        self.rejected(self.paper(no_plots, "--nodes", "local", MPIEXEC="/none/mpirun"), "/none/mpirun", "MPIEXEC")
        self.rejected(self.paper(no_plots, "--render", "."), "table1.json")
        self.write("hosts", "# none\n")
        self.rejected(self.paper(no_plots, "--nodes", "hosts", "--hostfile", "hosts"), "names no host")
        self.write("table1.json", "mine")
        self.rejected(self.paper(no_plots, "--nodes", "local", "--output", "."), "table1.json exists", "--force")
        self.assertEqual(self.files(), ["hosts", "table1.json"])

    @unittest.skipIf("SLURM_JOB_NODELIST" in os.environ, "inside a Slurm allocation")
    def test_hosts_must_be_named(self):
        self.rejected(self.paper("--no-plots", "--nodes", "hosts"), "--hostfile", "Slurm")

    def test_help_has_examples(self):
        outcome = self.paper("--help")
        self.assertEqual(outcome.status, 0, outcome)
        self.assertIn("scripts/paper/paper.py --quick", outcome.out)


class MeasuredTest(PaperTest):
    """Measures small tables. Failing scripts may replace the launcher and the program."""

    def table(self, number, folder="out"):
        return json.loads((self.folder / folder / f"table{number}.json").read_text())

    def packed(self):
        """The logs and JSON documents of all runs, by name."""
        return results.read(self.folder / "out" / "runs.jsonl.gz")

    def recorded(self, cell):
        return self.packed()[cell["log"].replace(".log", ".json")]

    def stand_in(self, name, lines):
        path = self.write(name, "#!/usr/bin/env bash\n" + lines)
        path.chmod(0o755)
        return str(path)

    def measure(self, *arguments, **options):
        return self.paper("--quick", "--no-plots", "--backend", "openblas", "--repeat", 1, "--output", "out", *arguments,
                          **options)

    def assert_ended(self):
        for pid in (self.folder / "pids").read_text().split():
            self.assertFalse(pathlib.Path("/proc", pid).exists(), f"process {pid} is still there")

    def interrupted(self, *arguments):
        """Interrupts a table of four rows in its second row."""
        program = self.stand_in("program", 'case "$*" in *--dry-run*) ;; *"--nb 64 "*) echo $$ >> '
                                           f'{self.folder}/pids; exec sleep 600;; esac\nexec {GLINPACK} "$@"')
        with open(self.folder / "said", "w") as said:
            process = subprocess.Popen([PAPER, "--quick", "--no-plots", "--backend", "openblas", "--tables", "1",
                                        "--output", "out", *arguments], cwd=self.folder, stdout=said, stderr=said,
                                       env={**os.environ, "GLINPACK": program})
        deadline = time.monotonic() + 120
        while not (self.folder / "pids").exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(timeout=60), 130, (self.folder / "said").read_text())
        self.assertIn("interrupted", (self.folder / "out" / "table1.txt").read_text())
        return [cell["status"] for cell in self.table(1)["cells"]]


class OneMachine(MeasuredTest):
    def test_tables_are_measured_on_one_machine_and_labelled_so(self):
        outcome = self.measure("--nodes", "local", "--tables", "1,2")
        self.assertEqual(outcome.status, 0, outcome)
        cells = self.table(1)["cells"]
        self.assertEqual([cell["status"] for cell in cells], ["measured", "left out", "left out", "left out"] * 4)
        for cell in cells[::4] + self.table(2)["cells"]:
            self.assertGreater(cell["seconds"], 0)
            self.assertAlmostEqual(cell["gflops"], 2 / 3 * cell["n"] ** 3 / cell["seconds"] * 1e-9)
            self.assertLess(cell["residual"], 16)
            self.assertTrue(0 < cell["network_percent"] + cell["waiting_percent"] <= 100)
            recorded = self.recorded(cell)
            run = recorded["runs"][0]
            self.assertEqual((run["n"], run["nb"], run["pivoting"], run["precision"], run["broadcast"]),
                             (cell["n"], cell["subsize"], "local", "single", "ibcast"))
            self.assertEqual(cell["samples"], [run["factor_seconds"]])
            self.assertEqual(cell["seconds"], run["factor_seconds"])
            self.assertEqual(len(run["ranks"]), cell["processes"])
        text = (self.folder / "out" / "table1.txt").read_text()
        self.assertIn("processes of one machine, no network between them", text)
        self.assertIn("left out: 4 nodes: --nodes local has 1", text)
        self.assertIn("On 1 node instead of four", (self.folder / "out" / "table2.txt").read_text())

    def test_a_failed_run_has_a_marked_cell_and_a_log(self):
        program = self.stand_in("program", f'case "$*" in *--dry-run*) ;; *"--nb 64 "*) echo "glinpack: broken" >&2; exit 3;;'
                                           f' esac\nexec {GLINPACK} "$@"')
        outcome = self.measure("--nodes", "local", "--tables", "1", GLINPACK=program)
        self.assertEqual(outcome.status, 1, outcome)
        failed = [cell for cell in self.table(1)["cells"] if cell["status"] == "failed"]
        self.assertEqual([(cell["n"], cell["subsize"]) for cell in failed], [(128, 64), (512, 64)])
        for cell in failed:
            self.assertIn("glinpack: broken", cell["reason"])
            self.assertIn("glinpack: broken", self.packed()[cell["log"]])
        text = " ".join((self.folder / "out" / "table1.txt").read_text().split())
        self.assertIn("failed exit status 3: glinpack: broken: n 128, subsize 64, 4 processes, 1 node; n 512, subsize 64,",
                      text)

    def test_a_run_with_a_wrong_result_keeps_its_time_and_is_marked(self):
        program = self.stand_in("program", f'exec {GLINPACK} "$@" --threshold 1e-30')
        outcome = self.measure("--nodes", "local", "--tables", "1", GLINPACK=program)
        self.assertEqual(outcome.status, 1, outcome)
        cell = self.table(1)["cells"][0]
        self.assertEqual(cell["status"], "doubtful")
        self.assertIn("residual", cell["reason"])
        self.assertRegex((self.folder / "out" / "table1.txt").read_text(), r"128 +8 +\| +!0\.\d{5}")

    def test_a_job_that_fails_after_its_results_keeps_them_with_a_note(self):
        program = self.stand_in("program", f'{GLINPACK} "$@"; case "$*" in *--dry-run*) ;; *) exit 9;; esac')
        outcome = self.measure("--nodes", "local", "--tables", "4", "--pivot-backends", "openblas", GLINPACK=program)
        self.assertEqual(outcome.status, 0, outcome)
        for cell in self.table(4)["cells"]:
            self.assertEqual((cell["status"], cell["remark"]),
                             ("measured", "the job did not end well after its last result, exit status 9"))
        text = " ".join((self.folder / "out" / "table4.txt").read_text().split())
        self.assertIn("after its last result, exit status 9: n 64, openblas; n 256, openblas", text)

    def test_a_run_is_ended_at_its_timeout(self):
        program = self.stand_in("program", 'case "$*" in *--dry-run*) exit 0;; esac\necho $$ >> '
                                           f"{self.folder}/pids; exec sleep 600")
        start = time.monotonic()
        outcome = self.measure("--nodes", "local", "--tables", "1", "--time-limit", 1, GLINPACK=program, timeout=300)
        self.assertEqual(outcome.status, 1, outcome)
        self.assertLess(time.monotonic() - start, 250)
        self.assertIn("the time limit", self.table(1)["cells"][0]["reason"])
        self.assert_ended()

    def test_an_interrupted_run_ends_its_job_and_writes_its_results(self):
        self.assertEqual(self.interrupted("--nodes", "local")[::4], ["measured", "not run", "not run", "not run"])
        self.assert_ended()

    def test_processes_on_too_few_hosts_are_not_measured(self):
        launcher = self.stand_in("launcher", f'echo "$@" >> {self.folder}/launched; shift 2; exec {MPIEXEC} "$@"')
        self.write("hosts", "one\ntwo\nthree\n")
        outcome = self.measure("--nodes", "hosts", "--hostfile", "hosts", "--tables", "1", "--time-limit", 60,
                               MPIEXEC=launcher)
        self.assertEqual(outcome.status, 1, outcome)
        statuses = [cell["status"] for cell in self.table(1)["cells"][:4]]
        self.assertEqual(statuses, ["measured", "failed", "failed", "left out"])
        self.assertEqual(self.table(1)["cells"][1]["reason"], "ran on 1 host, not on 2")
        self.assertIsNone(self.table(1)["cells"][1]["seconds"])
        launched = (self.folder / "launched").read_text().splitlines()
        self.assertTrue(launched[2].startswith("-hosts one:2,two:1,three:1 -n 4 "), launched[2])


@unittest.skipIf(why_no_netlab(), f"no cluster in a box: {why_no_netlab()}")
class Namespaces(MeasuredTest):
    """Runs on network namespaces as nodes."""

    def assert_no_namespaces(self):
        listed = subprocess.run(["ip", "netns", "list"], check=True, capture_output=True, text=True).stdout
        self.assertNotIn("glinpack", listed)

    def test_every_cell_is_measured_on_the_number_of_nodes_of_its_column(self):
        outcome = self.measure("--nodes", "netlab", "--rate", "1gbit", "--tables", "1", timeout=600)
        self.assertEqual(outcome.status, 0, outcome)
        for cell in self.table(1)["cells"]:
            self.assertEqual(cell["status"], "measured")
            recorded = self.recorded(cell)
            hosts = [rank["host"] for rank in recorded["runs"][0]["ranks"]]
            self.assertEqual(hosts, [f"node{node + 1}" for node, count in enumerate(cell["placement"])
                                     for _ in range(count)])
        self.assertIn("links of 1gbit", (self.folder / "out" / "table1.txt").read_text())
        self.assert_no_namespaces()

    def test_an_interrupted_run_removes_the_namespaces(self):
        self.assertEqual(self.interrupted("--nodes", "netlab")[:5], ["measured"] * 4 + ["not run"])
        self.assert_no_namespaces()

    def test_an_impossible_rate_is_rejected(self):
        self.rejected(self.measure("--nodes", "netlab", "--rate", "fast", "--tables", "1"), "'fast'", "mbit")
        self.assertEqual(self.files(), [])
        self.assert_no_namespaces()

    def test_a_running_lab_is_not_removed(self):
        self.start([places.NETLAB / "up", "1", "unlimited"])
        self.addCleanup(self.start, [places.NETLAB / "down"])
        self.rejected(self.measure("--nodes", "netlab", "--tables", "1"), "scripts/netlab/down first")
        self.assertEqual(self.start([places.NETLAB / "run", "1", "1", "--", "hostname"]).out, "node1\n")


if __name__ == "__main__":
    unittest.main()
