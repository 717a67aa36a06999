#!/usr/bin/python3
"""glinpack network and --compute-only: printed reports and files."""
import csv
import io
import unittest

from launch import GLINPACK, GlinpackTest

BROADCASTS = ["ring", "ring-modified", "two-rings", "two-rings-modified", "long", "long-modified", "ibcast",
              "ring-pipelined"]
NO_LINKS = ["--ping-pong", "never", "--screen", "never"]


class FileTest(GlinpackTest):
    def document(self, name, schema):
        """Returns the content of a JSON file that is valid by its schema."""
        return self.valid_json(name, schema)

    def done(self, *arguments, **options):
        outcome = self.glinpack(*arguments, **options)
        self.assertEqual(outcome.status, 0, outcome)
        return outcome


class Network(FileTest):
    def network(self, *arguments, **options):
        return self.done("network", *arguments, **{"timeout": 120, **options})

    def test_four_processes_show_runs_communicators_sizes_and_links(self):
        # direct exchange sends U in separate messages
        outcome = self.network("--n", 2048, "--nb", 256, "--grid", "2x2", "--row-swap", "direct", "--json", "n.json",
                               ranks=4)
        for text in ("N 2048, NB 256, grid 2x2", "row 0", "row 1", "column 0", "column 1", "pivot candidates",
                     "rows exchanged", "L along process rows", "U down process columns",
                     "rows of the matrix change their process row", "Ping-pong between rank 0",
                     "Screening: 6 of 6 pairs"):
            self.assertIn(text, outcome.out)
        document = self.document("n.json", "network.schema.json")
        run = document["runs"][0]
        self.assertGreater(run["time"], 0)
        self.assertGreater(run["network_share"], 0.1)
        # every byte is in one communicator, of one size, received by one rank
        for parts in "communicators", "sizes", "ranks":
            self.assertEqual(sum(part["bytes"] for part in run[parts]), run["traffic"]["bytes"])
            self.assertEqual(sum(part["messages"] for part in run[parts]), run["traffic"]["messages"])
        # each of the 8 passes sends the panel to the other process column in both process rows
        rows = [part for part in run["communicators"] if part["line"] == "row"]
        self.assertEqual(sum(part["messages"] for part in rows), 16)
        self.assertEqual(len(document["screening"]["links"]), 6)
        sizes = [entry["bytes"] for entry in document["ping_pong"][0]["sizes"]]
        self.assertEqual((sizes[0], sizes[-1]), (8, 4 * 2**20))

    def test_every_broadcast_moves_the_same_bytes(self):
        self.network("--n", 200, "--nb", 16, "--grid", "1x3", "--broadcast", "all", "--repeat", 2, "--json", "n.json",
                     "--csv", "n.csv", *NO_LINKS, ranks=3)
        document = self.document("n.json", "network.schema.json")
        runs = document["runs"]
        self.assertEqual([run["broadcast"] for run in runs], [name for name in BROADCASTS for _ in range(2)])
        self.assertEqual({(run["traffic"]["bytes"], run["traffic"]["messages"]) for run in runs},
                         {(runs[0]["traffic"]["bytes"], 2 * 13)})
        self.assertEqual((document["ping_pong"], document["screening"]), ([], None))
        lines = list(csv.DictReader(io.StringIO((self.folder / "n.csv").read_text())))
        self.assertEqual([float(line["bytes"]) for line in lines], [run["traffic"]["bytes"] for run in runs])
        self.assertEqual([float(line["time"]) for line in lines], [run["time"] for run in runs])

    def test_local_pivoting_exchanges_no_rows(self):
        outcome = self.network("--n", 300, "--nb", 32, "--grid", "2x1", "--pivoting", "local", "--precision", "single",
                               "--json", "n.json", *NO_LINKS)
        self.assertNotIn("rows exchanged", outcome.out)
        run = self.document("n.json", "network.schema.json")["runs"][0]
        self.assertEqual({size["phase"] for size in run["sizes"]}, {"broadcast U"})
        self.assertEqual(run["rows_exchanged"], 0)

    def test_messages_equal_those_of_a_whole_run(self):
        for pivoting in "local", "partial", "tournament":
            arguments = ["--n", 250, "--nb", 24, "--grid", "2x2", "--pivoting", pivoting]
            self.network(*arguments, "--json", "n.json", "--force", *NO_LINKS, ranks=4)
            self.done("plu", *arguments, "--backend", "openblas", "--threads", 1, "--json", "p.json", "--force", ranks=4)
            alone = self.document("n.json", "network.schema.json")["runs"][0]
            whole = self.document("p.json", "result.schema.json")["runs"][0]
            phases = ["broadcast L", "broadcast U", "panel"]  # the row exchanges depend on the matrix
            sent = {phase: sum(size["bytes"] for size in alone["sizes"] if size["phase"] == phase) for phase in phases}
            expected = {phase: sum(line["bytes"] for line in whole["breakdown"]["phases"]
                                   if line["phase"] == phase and line["lane"] == "net") for phase in phases}
            self.assertEqual(sent, expected, pivoting)

    def test_one_process_has_nothing_to_send(self):
        outcome = self.start([GLINPACK, "network", "--n", "200", "--nb", "32", "--screen", "always", "--json", "n.json"])
        self.assertEqual(outcome.status, 0, outcome)
        self.assertIn("One process: no communication", outcome.out)
        document = self.document("n.json", "network.schema.json")
        self.assertEqual(document["runs"][0]["traffic"]["messages"], 0)
        self.assertEqual((document["ping_pong"], document["screening"]), ([], None))

    def test_surplus_processes_idle_but_their_links_are_measured(self):
        outcome = self.network("--n", 100, "--nb", 16, "--grid", "1x2", "--ping-pong", "2-1", "--screen-together",
                               "--json", "n.json", ranks=3)
        self.assertIn("Ping-pong between rank 2", outcome.out)
        document = self.document("n.json", "network.schema.json")
        self.assertEqual(len(document["runs"][0]["ranks"]), 2)
        self.assertEqual(len(document["screening"]["links"]), 3)
        self.assertTrue(document["screening"]["together"])

    def test_the_screening_ends_within_its_time_limit(self):
        outcome = self.network("--n", 50, "--nb", 16, "--screen", "always", "--screen-seconds", "1e-9", ranks=2)
        self.assertIn("Screening: 0 of 1 pairs", outcome.out)

    def test_a_configuration_file_and_an_output_folder_are_used(self):
        self.write("n.toml", "n = [60, 70]\nnb = 16\nbroadcast = ['ring', 'ibcast']\nping-pong = 'never'\n"
                             "screen = 'never'\noutput-dir = 'out'\n")
        self.network("--config", "n.toml", "--n", "80")
        self.assertEqual(self.files(), ["n.toml", "out", "out/report.txt", "out/results.csv", "out/results.json"])
        runs = self.document("out/results.json", "network.schema.json")["runs"]
        self.assertEqual([(run["n"], run["broadcast"]) for run in runs], [(80, "ring"), (80, "ibcast")])


class ComputeOnly(FileTest):
    def compute_only(self, *arguments, **options):
        outcome = self.done("plu", "--compute-only", "--json", "c.json", "--force", *arguments,
                            **{"timeout": 120, **options})
        run = self.document("c.json", "result.schema.json")["runs"][0]
        self.assertEqual((run["compute_only"], run["checked"], run["solve_seconds"]), (True, False, 0))
        self.assertEqual(run["time"], run["factor_seconds"])
        self.assertEqual(run["breakdown"]["network"]["total"]["max"], 0)
        return outcome, run

    def test_every_process_does_its_arithmetic_and_sends_nothing(self):
        for backend in "openblas", "gl-compute", "vk-compute":
            for pivoting in ("partial",) if backend == "vk-compute" else ("local", "partial"):
                with self.subTest(backend=backend, pivoting=pivoting):
                    arguments = ["--n", 200, "--nb", 16, "--grid", "2x2", "--pivoting", pivoting, "--backend", backend,
                                 "--threads", 1]
                    _, run = self.compute_only(*arguments, ranks=4)
                    self.done("plu", *arguments, "--json", "p.json", "--force", ranks=4)
                    whole = self.document("p.json", "result.schema.json")["runs"][0]
                    self.assertFalse(whole["compute_only"])
                    self.assertEqual(self.operations(run), self.operations(whole))

    @staticmethod
    def operations(run):
        """Operations by role and phase, without the solution."""
        lines = [line for line in run["breakdown"]["phases"] if line["role"] != "none" and line["flops"] > 0]
        return {(line["role"], line["phase"]): (line["flops"], line["ranks"]) for line in lines}

    def test_one_process_with_one_block_is_only_the_pivot(self):
        outcome, run = self.compute_only("--n", 128, "--nb", 128, "--pivoting", "local", "--backend", "openblas", ranks=1)
        self.assertRegex(outcome.out, r"(?m)^  N 128: \S+ GFLOPS in \S+ s, NB 128, grid 1x1,")
        self.assertNotRegex(outcome.out, r"(?m)^W[RC]")
        self.assertEqual({line["role"] for line in run["breakdown"]["phases"]}, {"pivot"})
        self.assertAlmostEqual(run["gflops"] * run["time"] * 1e9 / (2 / 3 * 128**3 + 128**2 / 2), 1)


if __name__ == "__main__":
    unittest.main()
