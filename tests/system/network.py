#!/usr/bin/python3
"""glinpack network and --compute-only: printed reports and files."""
import unittest

from launch import GLINPACK, GlinpackTest


class Network(GlinpackTest):
    def network(self, *arguments, **options):
        """The report and the JSON of a run that ends well."""
        outcome = self.glinpack("network", *arguments, "--json", "n.json", timeout=120, **options)
        self.assertEqual(outcome.status, 0, outcome)
        return outcome.out, self.valid_json("n.json", "network.schema.json")

    def test_four_processes_show_runs_communicators_sizes_and_links(self):
        # direct exchange sends U in separate messages
        report, document = self.network("--n", 2048, "--nb", 256, "--grid", "2x2", "--row-swap", "direct", ranks=4)
        for text in ("N 2048, NB 256, grid 2x2", "row 0", "row 1", "column 0", "column 1", "pivot candidates",
                     "rows exchanged", "L along process rows", "U down process columns",
                     "rows of the matrix change their process row", "Ping-pong between rank 0",
                     "Screening: 6 of 6 pairs"):
            self.assertIn(text, report)
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

    def test_one_process_has_nothing_to_send(self):
        outcome = self.start([GLINPACK, "network", "--n", "200", "--nb", "32", "--screen", "always", "--json", "n.json"])
        self.assertEqual(outcome.status, 0, outcome)
        self.assertIn("One process: no communication", outcome.out)
        document = self.valid_json("n.json", "network.schema.json")
        self.assertEqual(document["runs"][0]["traffic"]["messages"], 0)
        self.assertEqual((document["ping_pong"], document["screening"]), ([], None))

    def test_surplus_processes_idle_but_their_links_are_measured(self):
        report, document = self.network("--n", 100, "--nb", 16, "--grid", "1x2", "--ping-pong", "2-1", "--screen-together",
                                        ranks=3)
        self.assertIn("Ping-pong between rank 2", report)
        self.assertEqual(len(document["runs"][0]["ranks"]), 2)
        self.assertEqual(len(document["screening"]["links"]), 3)
        self.assertTrue(document["screening"]["together"])


class ComputeOnly(GlinpackTest):
    def test_one_process_with_one_block_is_only_the_pivot(self):
        outcome = self.glinpack("plu", "--compute-only", "--n", 128, "--nb", 128, "--pivoting", "local", "--backend",
                                "openblas", "--json", "c.json", ranks=1)
        self.assertEqual(outcome.status, 0, outcome)
        run = self.valid_json("c.json")["runs"][0]
        self.assertEqual((run["compute_only"], run["checked"], run["solve_seconds"]), (True, False, 0))
        self.assertEqual(run["time"], run["factor_seconds"])
        self.assertEqual(run["breakdown"]["network"]["total"]["max"], 0)
        self.assertRegex(outcome.out, r"(?m)^  N 128: \S+ GFLOPS in \S+ s, NB 128, grid 1x1,")
        self.assertNotRegex(outcome.out, r"(?m)^W[RC]")
        self.assertEqual({line["role"] for line in run["breakdown"]["phases"]}, {"pivot"})
        self.assertAlmostEqual(run["gflops"] * run["time"] * 1e9 / (2 / 3 * 128**3 + 128**2 / 2), 1)


if __name__ == "__main__":
    unittest.main()
