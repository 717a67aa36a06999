// The checks of `glinpack doctor` on the launcher, cores, memory, network and gemm.
#include "tests/app/doctor/doctor_facts.hpp"

namespace glinpack::app::doctor {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

TEST(DoctorChecks, healthy_ranks_pass_every_check) {
  for (const auto& [ranks, per_node] : {std::pair{1, 1}, {2, 2}, {8, 4}}) {
    const Facts facts = healthy(ranks, per_node);
    for (const Finding& finding : judge(facts)) {
      const bool nothing_to_judge = finding.check == "burn-in" || (ranks == 1 && finding.check == "network");
      EXPECT_EQ(name_of(finding.verdict), nothing_to_judge ? "n/a" : "ok") << finding.check << ": " << finding.evidence;
      EXPECT_FALSE(finding.evidence.empty()) << finding.check;
    }
  }
}

TEST(DoctorChecks, the_worst_verdict_is_the_result) {
  std::vector<Finding> findings{{"a", Verdict::ok, "", {}}, {"b", Verdict::unknown, "", {}}};
  EXPECT_EQ(worst_of(findings), Verdict::ok);
  findings.push_back({"c", Verdict::fail, "", {}});
  findings.push_back({"d", Verdict::warn, "", {}});
  EXPECT_EQ(worst_of(findings), Verdict::fail);
}

TEST(DoctorChecks, mpi_of_another_launcher_fails) {
  Facts facts = healthy(1, 1);
  facts.ranks[0]["process"]["launcher"] = "Open MPI";
  facts.ranks[0]["process"]["launched"] = 4;
  expect_finding(facts, "mpi", Verdict::fail, "started 4 processes", "mpirun.mpich -np 4");
  facts.ranks[0]["process"]["launcher"] = "Slurm";
  expect_finding(facts, "mpi", Verdict::fail, "world of its own", "srun --mpi=pmi2 -n 4");
  facts.ranks[0]["process"]["mpi_headers"] = "Open MPI 4.1.4";
  facts.ranks[0]["process"]["mpi_library"] = "Open MPI v4.1.4, package: Debian";
  facts.ranks[0]["process"]["launcher"] = "Hydra";
  expect_finding(facts, "mpi", Verdict::fail, "Open MPI 4.1.4", "mpirun.openmpi -np 4");
}

TEST(DoctorChecks, mpi_is_ok_if_library_and_headers_are_of_the_same_family) {
  Facts facts = healthy(1, 1);
  facts.ranks[0]["process"]["mpi_library"] = "Intel(R) MPI Library 2021.8";
  expect_finding(facts, "mpi", Verdict::ok, "Intel(R) MPI Library 2021.8, compiled with MPICH 4.0.2");
  facts.ranks[0]["process"]["mpi_library"] = "Open MPI v4.1.4";
  expect_finding(facts, "mpi", Verdict::fail, "running with Open MPI", "ldd");
  facts = healthy(2, 2);
  facts.ranks[0]["process"]["launched"] = 3;
  expect_finding(facts, "mpi", Verdict::warn, "started 3 processes, MPI sees 2", "mpirun.mpich");
}

TEST(DoctorChecks, world_warns_of_uneven_nodes_and_of_a_single_process_in_an_allocation) {
  Facts facts = healthy(4, 2);
  expect_finding(facts, "world", Verdict::ok, "4 processes on 2 nodes, 2 on each");
  facts.ranks[2]["host"]["name"] = "node0";
  facts.ranks[2]["process"]["node"] = 0;
  expect_finding(facts, "world", Verdict::warn, "1 on node1; 3 on node0", "mpirun -np 4 -ppn 2");
  facts.ranks[0]["process"]["launcher"] = "Slurm";
  expect_finding(facts, "world", Verdict::warn, "3 on node0", "--ntasks-per-node=2");
  facts = healthy(1, 1);
  facts.ranks[0]["process"]["allocated_tasks"] = 8;
  expect_finding(facts, "world", Verdict::warn, "allocation of 8 tasks", "srun -n 8");
}

TEST(DoctorChecks, hosts_warn_of_names_that_do_not_resolve) {
  Facts facts = healthy(4, 2);
  expect_finding(facts, "hosts", Verdict::ok, "node0, node1");
  facts.ranks[0]["host"]["addresses"] = json::array({"127.0.1.1"});
  expect_finding(facts, "hosts", Verdict::warn, "node0 resolves to 127.0.1.1", "getent ahosts node0");
  facts.ranks[0]["host"]["addresses"] = json::array();
  expect_finding(facts, "hosts", Verdict::warn, "node0 has no address", "getent");
  facts.ranks[0]["host"]["resolve_seconds"] = -1;  // not attempted
  expect_finding(facts, "hosts", Verdict::ok, "node0");
  for (json& rank : facts.ranks) rank["host"]["name"] = "clone";
  expect_finding(facts, "hosts", Verdict::warn, "2 nodes are called clone", "hostnamectl");
  facts = healthy(1, 1);
  facts.ranks[0]["host"]["addresses"] = json::array({"127.0.1.1"});  // no problem on a single host
  expect_finding(facts, "hosts", Verdict::ok, "node0");
  facts.ranks[0]["host"]["resolve_seconds"] = 5;
  expect_finding(facts, "hosts", Verdict::warn, "takes 5.0 s", "name server");
}

TEST(DoctorChecks, program_fails_if_ranks_run_different_programs_and_warns_of_different_kernels) {
  Facts facts = healthy(4, 2);
  facts.ranks[3]["host"]["kernel"] = "Linux 5.10";
  expect_finding(facts, "program", Verdict::warn, "node1 Linux 5.10", "uname -r");
  facts.ranks[3]["process"]["program"] = "0.0.9 (def)";
  expect_finding(facts, "program", Verdict::fail, "rank 3 0.0.9 (def)", "which -a glinpack");
}

TEST(DoctorChecks, affinity_warns_of_more_ranks_than_cores) {
  Facts facts = healthy(4, 4);
  for (json& rank : facts.ranks) {
    rank["processor"]["cores"] = rank["processor"]["processors"] = {0, 1};
    rank["processor"]["node_cores"] = 2;
  }
  expect_finding(facts, "affinity", Verdict::warn, "node0: 4 ranks share 2 cores", "mpirun -np 2 glinpack");
  for (json& rank : facts.ranks) rank["processor"]["node_cores"] = 16;  // bound to two cores
  expect_finding(facts, "affinity", Verdict::warn, "4 ranks share 2 of 16 cores", "mpirun -bind-to core:4");
  for (json& rank : facts.ranks) rank["process"]["launcher"] = "Slurm";
  expect_finding(facts, "affinity", Verdict::warn, "2 of 16", "srun --cpus-per-task=4");
}

TEST(DoctorChecks, affinity_warns_of_quotas_idle_cores_pools_and_ranks_that_span_sockets) {
  Facts facts = healthy(4, 4);
  for (json& rank : facts.ranks) rank["processor"]["core_limit"] = 2;
  expect_finding(facts, "affinity", Verdict::warn, "4 ranks share 2 cores", "mpirun -np 2");
  facts = healthy(4, 4);
  for (json& rank : facts.ranks) rank["processor"]["cores"] = json::array({rank["processor"]["cores"][0]});
  expect_finding(facts, "affinity", Verdict::warn, "may use 4 of 16 cores", "core:4");
  facts = healthy(4, 4);
  facts.ranks[1]["processor"]["cores"] = facts.ranks[0]["processor"]["cores"] = json::array({0});
  facts.ranks[2]["processor"]["cores"] = {1, 2, 3, 4, 5, 6, 7};
  expect_finding(facts, "affinity", Verdict::warn, "ranks 0-1 are bound to the same 1 core, 0", "core:4");
  facts = healthy(2, 2);
  for (json& rank : facts.ranks) {
    rank["processor"]["cores"] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  }
  expect_finding(facts, "affinity", Verdict::warn, "2 ranks on 2 NUMA nodes are not bound", "core:8");
  for (json& rank : facts.ranks) rank["processor"]["numa_nodes"] = 1;
  expect_finding(facts, "affinity", Verdict::ok, "2 ranks, not bound, on 16 of 16 cores");
  for (json& rank : facts.ranks) rank["processor"]["cores"].clear();
  expect_finding(facts, "affinity", Verdict::unknown, "does not report its cores");
}

TEST(DoctorChecks, threads_warn_if_ranks_have_more_threads_than_cores) {
  Facts facts = healthy(4, 4);
  expect_finding(facts, "threads", Verdict::ok, "4 ranks x 4 threads on 16 cores");
  for (json& rank : facts.ranks) rank["processor"]["threads"] = 16;
  expect_finding(facts, "threads", Verdict::warn, "4 ranks x 16 threads on 16 cores", "--threads 4");
  // already one thread per rank; oversubscription by ranks is reported once, by affinity
  for (json& rank : facts.ranks) {
    rank["processor"]["threads"] = 1;
    rank["processor"]["cores"] = {0, 1};
  }
  expect_finding(facts, "threads", Verdict::ok, "4 ranks x 1 thread on 2 cores");
}

TEST(DoctorChecks, kernels_warn_if_faster_openblas_kernels_exist) {
  Facts facts = healthy(1, 1);
  expect_finding(facts, "kernels", Verdict::ok, "SkylakeX for Some processor");
  facts.ranks[0]["processor"]["kernels"] = "Haswell";
  expect_finding(facts, "kernels", Verdict::warn, "Haswell where SkylakeX suit", "export OPENBLAS_CORETYPE=SkylakeX");
  facts.ranks[0]["processor"]["core_type"] = "Haswell";
  expect_finding(facts, "kernels", Verdict::warn, "Haswell", "unset OPENBLAS_CORETYPE");
  facts.ranks[0]["processor"]["avx512"] = false;
  expect_finding(facts, "kernels", Verdict::ok, "Haswell");
  facts.ranks[0]["processor"]["kernels"].clear();
  expect_finding(facts, "kernels", Verdict::unknown, "does not report it");
}

TEST(DoctorChecks, what_several_ranks_share_is_shown_once) {
  Facts facts = healthy(8, 4);
  for (json& rank : facts.ranks) rank["processor"]["kernels"] = "Haswell";
  facts.ranks[5]["processor"]["kernels"] = "SkylakeX";
  EXPECT_EQ(finding_of(facts, "kernels").evidence,
            "node0, node1, ranks 0-4, 6-7: OpenBLAS has the kernels Haswell where SkylakeX suit the processor, Some "
            "processor");
  facts.ranks[0]["gemm"]["error"] = facts.ranks[1]["gemm"]["error"] = "no context";
  facts.ranks[2]["gemm"]["error"] = "no memory";
  EXPECT_EQ(finding_of(facts, "gemm").evidence, "node0, ranks 0-1: no context; node0, rank 2: no memory");
}

TEST(DoctorChecks, clocks_warn_of_governors_heat_and_throttled_devices) {
  Facts facts = healthy(1, 1);
  json& clocks = facts.ranks[0]["clocks"];
  expect_finding(facts, "clocks", Verdict::ok,
                 "2.00 to 3.50 of 3.80 GHz, governor powersave, coretemp Package id 0 at 60 C");
  clocks["driver"] = "acpi-cpufreq";
  expect_finding(facts, "clocks", Verdict::warn, "governor is powersave (acpi-cpufreq)", "cpupower");
  clocks["governor"] = "performance";
  clocks["throttled"] = 3;
  expect_finding(facts, "clocks", Verdict::warn, "throttled by heat 3 times", "sensors");
  clocks["throttled"] = 0;
  clocks["hottest"] = json::array({temperature(97, 100)});
  expect_finding(facts, "clocks", Verdict::warn, "97 C of 100 C", "sensors");
  clocks["hottest"] = json::array({temperature(97, 0)});  // no limit known
  expect_finding(facts, "clocks", Verdict::ok, "at 97 C");
  clocks["device_source"] = "NVML";
  clocks["device_celsius"] = 90;
  clocks["device_throttle"] = json::array({"power cap"});
  expect_finding(facts, "clocks", Verdict::ok, "rank 0's device, 90 C, power cap");
  clocks["device_throttle"] = json::array({"hardware thermal slowdown"});
  expect_finding(facts, "clocks", Verdict::warn, "hardware thermal slowdown", "nvidia-smi -q");
  clocks = unknown_clocks();
  expect_finding(facts, "clocks", Verdict::unknown, "neither clocks nor temperatures");
  facts.quick = true;
  expect_finding(facts, "clocks", Verdict::unknown, "--quick");
}

TEST(DoctorChecks, host_memory_warns_if_it_is_used_or_uneven_and_fails_if_there_is_none) {
  Facts facts = healthy(6, 2);
  expect_finding(facts, "host-memory", Verdict::ok, "250.0 GiB available of 256.0 GiB");
  facts.ranks[2]["memory"] = memory(128 * gib, 120 * gib);
  expect_finding(facts, "host-memory", Verdict::warn, "node1 has 128.0 GiB, the nodes' median is 256.0 GiB",
                 "dmidecode");
  facts = healthy(1, 1);
  facts.ranks[0]["memory"]["left_by_groups"] = 16 * gib;
  expect_finding(facts, "host-memory", Verdict::ok, "of which control groups leave 16.0 GiB");
  facts.ranks[0]["memory"]["left_by_groups"] = gib / 8;
  expect_finding(facts, "host-memory", Verdict::fail, "128.0 MiB for 1 rank", "ps aux");
  facts.ranks[0]["memory"] = memory(256 * gib, 100 * gib);
  expect_finding(facts, "host-memory", Verdict::warn, "100.0 GiB of 256.0 GiB are available", "ps aux");
  facts.ranks[0]["memory"] = memory(0, 0);
  expect_finding(facts, "host-memory", Verdict::unknown, "does not report it");
}

TEST(DoctorChecks, shared_memory_warns_or_fails_if_a_node_has_too_little) {
  Facts facts = healthy(4, 4);
  json& shm = facts.ranks[0]["shared_memory"];
  expect_finding(facts, "shared-memory", Verdict::ok, "128.0 GiB free of 128.0 GiB in /dev/shm");
  shm["free"] = shm["total"] = gib / 2;
  expect_finding(facts, "shared-memory", Verdict::warn, "512.0 MiB of 512.0 MiB in /dev/shm for 4 ranks",
                 "mount -o remount");
  shm["free"] = shm["total"] = gib / 16;
  facts.ranks[0]["container"]["kind"] = "Docker";
  expect_finding(facts, "shared-memory", Verdict::fail, "64.0 MiB", "docker run --shm-size=8g");
  shm["writable"] = false;
  expect_finding(facts, "shared-memory", Verdict::fail, "cannot be written", "mount -t tmpfs");
  facts = healthy(1, 1);  // a single rank shares no memory
  facts.ranks[0]["shared_memory"]["free"] = gib / 16;
  expect_finding(facts, "shared-memory", Verdict::ok, "64.0 MiB");
  facts.ranks[0]["shared_memory"]["writable"] = false;
  expect_finding(facts, "shared-memory", Verdict::warn, "cannot be written", "mount");
}

TEST(DoctorChecks, temporary_space_warns_or_fails_if_it_is_low) {
  Facts facts = healthy(1, 1);
  json& folder = facts.ranks[0]["temporary"];
  expect_finding(facts, "temporary-space", Verdict::ok, "50.0 GiB free in /tmp");
  folder["free"] = gib / 2;
  expect_finding(facts, "temporary-space", Verdict::warn, "512.0 MiB", "TMPDIR");
  folder["free"] = 1000;
  expect_finding(facts, "temporary-space", Verdict::fail, "/tmp", "TMPDIR");
  folder["free"] = 50 * gib;
  folder["writable"] = false;
  expect_finding(facts, "temporary-space", Verdict::fail, "cannot be written", "TMPDIR");
}

TEST(DoctorChecks, locked_memory_warns_and_with_rdma_fails) {
  Facts facts = healthy(2, 2);
  expect_finding(facts, "locked-memory", Verdict::ok, "no limit");
  facts.ranks[1]["memory"]["locked"] = 8 << 20;
  expect_finding(facts, "locked-memory", Verdict::ok, "8.0 MiB");
  facts.ranks[1]["memory"]["locked"] = 64 << 10;
  expect_finding(facts, "locked-memory", Verdict::warn, "64.0 KiB", "ulimit -l unlimited");
  facts.ranks[1]["memory"]["locked"] = 8 << 20;
  facts.ranks[0]["memory"]["rdma_devices"] = 2;
  expect_finding(facts, "locked-memory", Verdict::fail, "8.0 MiB, 2 RDMA adapters", "ulimit -l unlimited");
}

TEST(DoctorChecks, network_names_slow_pairs_and_their_hosts) {
  Facts facts = healthy(4, 2);
  expect_finding(facts, "network", Verdict::ok,
                 "6 of 6 pairs measured; 6 links between nodes (medians): 2.00 us, 10.00 GB/s");
  facts.screening->between_hosts.links = 1;
  expect_finding(facts, "network", Verdict::ok, "; 1 link between nodes: 2.00 us, 10.00 GB/s");
  facts.screening->slow = {{0, 3, 3e-6, 4e9}};
  expect_finding(facts, "network", Verdict::warn, "rank 0 (node0) and rank 3 (node1): 3.00 us, 4.00 GB/s",
                 "mpirun -np 4 glinpack network --ping-pong 0-3");
  // a load explains it
  Facts loaded = facts;
  for (const std::size_t rank : {2U, 3U}) loaded.ranks[rank]["processor"]["other_load"] = 7.5;
  const std::string load = "node1: other programs used 7.5 of 32 processors during the measurements";
  expect_finding(loaded, "load", Verdict::warn, load, "ps aux --sort=-pcpu | head  # on node1");
  expect_finding(loaded, "network", Verdict::warn, load + "; rank 0 (node0) and rank 3 (node1)", "ps aux");
  expect_finding(facts, "load", Verdict::ok, "at most 0.5 processors");
  // with oversubscribed cores, a link must be far slower to be reported
  facts.ranks[2]["process"]["oversubscribed"] = true;
  expect_finding(facts, "network", Verdict::ok, "take turns");
  facts.screening->slow.front().bandwidth = 1e9;
  expect_finding(facts, "network", Verdict::warn, "1.00 GB/s", "--ping-pong 0-3");
  facts.screening.reset();
  expect_finding(facts, "network", Verdict::unknown, "--quick");
}

TEST(DoctorChecks, gemm_names_stragglers_among_nodes_and_within_one) {
  Facts facts = healthy(6, 2);
  expect_finding(facts, "gemm", Verdict::ok, "OpenBLAS's dgemm 500.0 GFLOPS a rank (median)");
  facts.ranks[4]["gemm"]["host"] = facts.ranks[5]["gemm"]["host"] = 400e9;
  expect_finding(facts, "gemm", Verdict::warn, "node2: OpenBLAS's dgemm of 400.0 GFLOPS a rank, 0.80", "on node2");
  facts.ranks[4]["gemm"]["host"] = facts.ranks[5]["gemm"]["host"] = 100e9;
  expect_finding(facts, "gemm", Verdict::fail, "node2", "on node2");
  for (json& rank : facts.ranks) rank["process"]["oversubscribed"] = true;  // measurements depend on scheduling
  expect_finding(facts, "gemm", Verdict::ok, "not compared");
  facts.ranks[2]["gemm"]["device"] = 15e12;
  facts.ranks[3]["gemm"]["device"] = 15e12;
  expect_finding(facts, "gemm", Verdict::warn, "node1: the devices'", "on node1");
  facts = healthy(4, 4);
  facts.ranks[3]["gemm"]["host"] = 300e9;
  expect_finding(facts, "gemm", Verdict::warn, "rank 3: OpenBLAS's dgemm of 300.0 GFLOPS, 0.60", "on node0");
  facts.ranks[1]["gemm"]["error"] = "gl-compute: no memory";
  expect_finding(facts, "gemm", Verdict::fail, "rank 1: gl-compute: no memory", "peaks");
  for (json& rank : facts.ranks) rank["gemm"] = {{"host", 0.0}, {"device", 0.0}, {"error", ""}};
  expect_finding(facts, "gemm", Verdict::unknown, "--quick");
}

TEST(DoctorChecks, of_many_equal_findings_the_first_are_shown) {
  Facts facts = healthy(32, 1);
  for (json& rank : facts.ranks) rank["temporary"]["writable"] = false;
  const Finding finding = finding_of(facts, "temporary-space");
  EXPECT_THAT(finding.evidence, HasSubstr("node3: /tmp cannot be written; and 28 more like these"));
  EXPECT_EQ(finding.remedies.size(), 1u);
}

}  // namespace
}  // namespace glinpack::app::doctor
