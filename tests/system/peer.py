#!/usr/bin/env python3
"""Messages between GPUs without the host's memory, on Mesa's lavapipe and tests/fake_cuda.cpp. FAKE_CUDA names the
folder of its libcuda.so.1."""
import functools
import os
import re
import subprocess
import unittest

from launch import GLINPACK, GlinpackTest

SYSTEM = ["--n", "160", "--nb", "16", "--precision", "double", "--backend", "vk-compute", "--panel", "device",
          "--save-solution", "x.npy", "--force", "--log-level", "debug"]


@functools.cache
def uuid():
    listed = subprocess.run([GLINPACK, "devices"], capture_output=True, text=True, check=True).stdout
    return re.search(r"UUID +([0-9a-f]{32})", listed)[1]


@unittest.skipUnless("FAKE_CUDA" in os.environ, "FAKE_CUDA names no folder: sanitizers do not work with the fake")
class Peers(GlinpackTest):
    def run_grid(self, grid, *options, environment=None, timeout=120):
        rows, columns = map(int, grid.split("x"))
        libraries = f"{os.environ['FAKE_CUDA']}:{os.environ.get('LD_LIBRARY_PATH', '')}"
        return self.glinpack("plu", *SYSTEM, "--grid", grid, *options, ranks=rows * columns, timeout=timeout,
                             environment={"LD_LIBRARY_PATH": libraries, "FAKE_CUDA_UUID": uuid(),
                                          **(environment or {})})

    def solution(self, outcome):
        self.assertEqual(outcome.status, 0, outcome)
        self.assertIn("PASSED", outcome.out, outcome)
        return (self.folder / "x.npy").read_bytes()

    def test_the_solution_has_the_same_bits_by_either_path(self):
        for grid, swaps in ("1x2", ["binary-exchange"]), ("4x1", ["direct", "long"]), ("3x2", ["binary-exchange"]):
            by_host = self.run_grid(grid, "--peer", "none")
            self.assertNotIn("GPUs copy messages", by_host.err)
            expected = self.solution(by_host)
            for swap in swaps:
                with self.subTest(grid=grid, swap=swap):
                    by_peers = self.run_grid(grid, "--row-swap", swap)
                    self.assertIn("GPUs copy messages to each other", by_peers.err, by_peers)
                    self.assertEqual(self.solution(by_peers), expected)

    def test_a_window_that_cannot_be_made_or_mapped_leaves_the_hosts_memory_with_one_line(self):
        for function in ("cuInit", "cuMemCreate", "cuMemExportToShareableHandle", "cuMemImportFromShareableHandle",
                         "cuMemMap", "cuMemSetAccess", "cuMemcpyHtoDAsync_v2", "cuMemcpyDtoDAsync_v2",
                         "cuMemcpyDtoHAsync_v2"):
            with self.subTest(function=function):
                outcome = self.run_grid("2x1", environment={"FAKE_CUDA_FAILS": function})
                self.solution(outcome)
                lines = [line for line in outcome.err.splitlines() if "through the host's memory" in line]
                self.assertEqual(len(lines), 1, outcome)
                self.assertIn(f"error 999 of {function}", lines[0])

    def test_the_line_has_the_reason_of_the_rank_that_failed(self):
        outcome = self.run_grid("2x1", environment={"FAKE_CUDA_FAILS": "cuMemExportToShareableHandle",
                                                    "FAKE_CUDA_CALLS_BEFORE": "1", "FAKE_CUDA_RANK": "1"})
        self.solution(outcome)
        self.assertRegex(outcome.err, "rank 1.*error 999 of cuMemExportToShareableHandle; GPUs exchange")

    def test_windows_of_messages_that_cannot_be_mapped_leave_the_hosts_memory(self):
        outcome = self.run_grid("2x1", environment={"FAKE_CUDA_FAILS": "cuMemImportFromShareableHandle",
                                                    "FAKE_CUDA_CALLS_BEFORE": "1"})
        self.solution(outcome)
        self.assertIn("error 999 of cuMemImportFromShareableHandle; GPUs exchange", outcome.err)
        self.assertNotIn("GPUs copy messages to each other", outcome.err)

    def test_a_driver_of_vulkan_that_imports_no_window_leaves_the_hosts_memory(self):
        outcome = self.run_grid("1x2", environment={"FAKE_CUDA_FOREIGN": "1"})
        self.solution(outcome)
        self.assertIn("Vulkan imports no memory of CUDA; GPUs exchange", outcome.err)

    def test_too_little_memory_for_messages_ends_the_run(self):
        outcome = self.run_grid("2x1", environment={"FAKE_CUDA_FAILS": "cuMemCreate", "FAKE_CUDA_CALLS_BEFORE": "2"})
        self.assertEqual(outcome.status, 3, outcome)
        self.assertIn("has no memory for a buffer of", outcome.out + outcome.err)

    def test_copies_that_get_lost_leave_the_hosts_memory(self):
        outcome = self.run_grid("1x3", environment={"FAKE_CUDA_LOSES": "1"})
        self.solution(outcome)
        self.assertIn("what GPUs copy to each other arrives wrong on this host; GPUs exchange panels and rows through "
                      "the host's memory", outcome.err)

    def test_a_gpu_that_the_driver_does_not_list_uses_the_hosts_memory(self):
        outcome = self.run_grid("1x2", environment={"FAKE_CUDA_UUID": "0" * 32})
        self.solution(outcome)
        self.assertIn("does not list the GPU; GPUs exchange panels and rows through the host's memory", outcome.err)

    def test_a_copy_that_fails_ends_all_ranks_with_a_message(self):
        for function in "cuMemcpyDtoDAsync_v2", "cuStreamSynchronize":
            with self.subTest(function=function):
                outcome = self.run_grid("2x1", environment={"FAKE_CUDA_FAILS": function, "FAKE_CUDA_CALLS_BEFORE": "9"})
                self.assertEqual(outcome.status, 3, outcome)
                self.assertIn(f"CUDA's driver reports error 999 of {function}", outcome.out + outcome.err)

    def test_without_a_driver_nothing_is_said(self):
        outcome = self.run_grid("1x2", environment={"LD_LIBRARY_PATH": os.environ.get("LD_LIBRARY_PATH", "")})
        self.solution(outcome)
        self.assertNotIn("through the host's memory", outcome.err)

    def test_other_values_of_the_option_are_refused(self):
        outcome = self.run_grid("1x2", "--peer", "nvlink")
        self.assertNotEqual(outcome.status, 0, outcome)
        self.assertIn("'nvlink' is not auto or none", outcome.err)


if __name__ == "__main__":
    unittest.main()
