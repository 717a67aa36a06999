// The check of `glinpack doctor --burn-in`, and its table.
#include "app/doctor/facts.hpp"
#include "tests/app/doctor/doctor_facts.hpp"

namespace glinpack::app::doctor {
namespace {

nlohmann::json burn_in(int device_index, double gflops) {
  return {{"backend", "gl-compute"},
          {"device", "NVIDIA H200"},
          {"device_index", device_index},
          {"hardware", true},
          {"precision", "double"},
          {"n", 65536},
          {"nb", 512},
          {"minutes", 10.1},
          {"signal", ""},
          {"loops", 12},
          {"measured_loops", 8},
          {"least_gflops", 0.97 * gflops},
          {"median_gflops", gflops},
          {"most_gflops", 1.01 * gflops},
          {"first_half_gflops", gflops},
          {"second_half_gflops", 0.99 * gflops},
          {"mismatches", 0},
          {"first_mismatch", ""},
          {"celsius", 61.0},
          {"error", ""}};
}

Facts burnt_in(int ranks, int per_node) {
  Facts facts = healthy(ranks, per_node);
  for (int rank = 0; rank < ranks; ++rank) {
    facts.ranks[static_cast<std::size_t>(rank)]["burn_in"] = burn_in(rank % per_node, 18000 + 10.0 * rank);
  }
  return facts;
}

TEST(DoctorBurnIn, healthy_devices_are_ok_and_without_one_nothing_is_judged) {
  expect_finding(burnt_in(4, 2), "burn-in", Verdict::ok, "4 devices, 18015.0 GFLOPS (median)");
  expect_finding(healthy(4, 2), "burn-in", Verdict::unknown, "--burn-in MINUTES");
}

TEST(DoctorBurnIn, names_host_and_device_of_a_rank_that_computes_wrongly) {
  Facts facts = burnt_in(4, 2);
  facts.ranks[3]["burn_in"].update({{"mismatches", 2}, {"first_mismatch", "loop 7, trailing matrix after pass 3"}});
  expect_finding(
      facts, "burn-in", Verdict::fail,
      "node1, rank 3: device 1, NVIDIA H200 computes wrongly: 2 failed checks, the first in loop 7, trailing",
      "on node1 alone");
}

TEST(DoctorBurnIn, names_a_device_that_is_slower_than_its_peers) {
  Facts facts = burnt_in(4, 2);
  facts.ranks[2]["burn_in"]["median_gflops"] = 16300;
  expect_finding(facts, "burn-in", Verdict::ok, "");
  facts.ranks[2]["burn_in"]["median_gflops"] = 16000;
  expect_finding(facts, "burn-in", Verdict::warn, "node1, rank 2: device 0, NVIDIA H200: 16000.0 GFLOPS, 0.89 of",
                 "nvidia-smi");
  facts.ranks[2]["burn_in"]["median_gflops"] = 8000;
  expect_finding(facts, "burn-in", Verdict::fail, "node1, rank 2: device 0, NVIDIA H200: 8000.0 GFLOPS, 0.44 of");
  // another kind of device has no peers
  facts.ranks[2]["burn_in"]["device"] = "NVIDIA L4";
  expect_finding(facts, "burn-in", Verdict::ok,
                 "node1, rank 2: 1 device, 8000.0 GFLOPS (median), compared over time alone");
}

TEST(DoctorBurnIn, ranks_that_take_turns_on_cores_are_compared_by_half_of_the_median) {
  Facts facts = burnt_in(4, 2);
  for (nlohmann::json& rank : facts.ranks) {
    rank["process"]["oversubscribed"] = true;
    rank["burn_in"].update({{"hardware", false}, {"device_index", -1}, {"device", "Some processor"}});
  }
  facts.ranks[1]["burn_in"]["median_gflops"] = 9500;
  expect_finding(facts, "burn-in", Verdict::ok, "");
  facts.ranks[1]["burn_in"]["median_gflops"] = 8500;
  expect_finding(facts, "burn-in", Verdict::fail, "node0, rank 1: Some processor: 8500.0 GFLOPS");
}

TEST(DoctorBurnIn, two_devices_are_compared_with_themselves_over_time) {
  Facts facts = burnt_in(2, 2);
  facts.ranks[0]["burn_in"]["median_gflops"] = 9000;
  expect_finding(facts, "burn-in", Verdict::ok, "compared over time alone: too few peers");
  facts.ranks[1]["burn_in"]["second_half_gflops"] = 16000;
  expect_finding(
      facts, "burn-in", Verdict::warn,
      "node0, rank 1: device 1, NVIDIA H200: 16000.0 GFLOPS in the second half of its loops, 18010.0 in the first");
  facts.ranks[1]["burn_in"]["measured_loops"] = 5;
  expect_finding(facts, "burn-in", Verdict::ok, "");
  for (nlohmann::json& rank : facts.ranks) rank["burn_in"]["measured_loops"] = 0;
  expect_finding(facts, "burn-in", Verdict::unknown, "ended before loops of the final N");
}

TEST(DoctorBurnIn, an_error_is_a_failure_and_no_line_of_the_table) {
  Facts facts = healthy(2, 2);
  for (nlohmann::json& rank : facts.ranks) rank["burn_in"] = {{"error", "no EGL device is usable"}};
  expect_finding(facts, "burn-in", Verdict::fail, "node0, ranks 0-1: no EGL device is usable");
  EXPECT_EQ(burn_in_text(facts), "");
}

TEST(DoctorBurnIn, the_table_has_a_line_for_each_device) {
  Facts facts = burnt_in(2, 2);
  facts.ranks[1]["burn_in"].update({{"celsius", 0}, {"mismatches", 3}, {"signal", "SIGTERM"}});
  facts.ranks[0]["burn_in"]["signal"] = "SIGTERM";
  EXPECT_EQ(burn_in_text(facts),
            "\n"
            "Burn-in of 10.10 minutes, ended by SIGTERM: N 65536, NB 512, double precision\n"
            " rank  loops GFLOPS, min      median         max  mismatches    C  host, device\n"
            "    0     12     17460.0     18000.0     18180.0           0   61  node0, device 0, NVIDIA H200\n"
            "    1     12     17469.7     18010.0     18190.1           3    -  node0, device 1, NVIDIA H200\n");
  EXPECT_EQ(burn_in_text(healthy(2, 2)), "");
}

}  // namespace
}  // namespace glinpack::app::doctor
