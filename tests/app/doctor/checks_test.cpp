// The checks of `glinpack doctor`: each case changes facts of healthy ranks.
#include "tests/app/doctor/doctor_facts.hpp"

namespace glinpack::app::doctor {
namespace {

using nlohmann::json;
using enum Verdict;

struct Case {
  Changes changes;
  Verdict verdict;
  const char* evidence;
  const char* remedy = "";  // part of the first one
};

void expect_findings(const char* check, const Facts& facts, const std::vector<Case>& cases) {
  for (const Case& one : cases) {
    expect_finding(changed(facts, one.changes), check, one.verdict, one.evidence, one.remedy);
  }
}

// Changes `changes` and then `more`.
Changes with(Changes changes, const Changes& more) {
  changes.insert(changes.end(), more.begin(), more.end());
  return changes;
}

TEST(DoctorChecks, healthy_ranks_pass_every_check) {
  for (const auto& [ranks, per_node] : {std::pair{1, 1}, {2, 2}, {8, 4}}) {
    for (const Finding& finding : judge(healthy(ranks, per_node))) {
      const bool nothing_to_judge = finding.check == "burn-in" || (ranks == 1 && finding.check == "network");
      EXPECT_EQ(name_of(finding.verdict), nothing_to_judge ? "n/a" : "ok") << finding.check << ": " << finding.evidence;
      EXPECT_FALSE(finding.evidence.empty()) << finding.check;
    }
  }
}

TEST(DoctorChecks, the_worst_verdict_is_the_result) {
  std::vector<Finding> findings{{"a", ok, "", {}}, {"b", unknown, "", {}}};
  EXPECT_EQ(worst_of(findings), ok);
  findings.push_back({"c", fail, "", {}});
  findings.push_back({"d", warn, "", {}});
  EXPECT_EQ(worst_of(findings), fail);
}

TEST(DoctorChecks, mpi_fails_under_the_launcher_or_with_the_library_of_another_mpi) {
  const Changes launched{{"0/process/launcher", "Open MPI"}, {"0/process/launched", 4}};
  const Changes open_mpi{{"0/process/mpi_headers", "Open MPI 4.1.4"},
                         {"0/process/mpi_library", "Open MPI v4.1.4, package: Debian"}};
  expect_findings(
      "mpi", healthy(1, 1),
      {{launched, fail, "started 4 processes, but each of them sees a world of its own", "mpirun.mpich -np 4 glinpack"},
       {with(launched, {{"0/process/launcher", "Slurm"}}), fail, "world of its own", "srun --mpi=pmi2 -n 4"},
       {with(launched, open_mpi), fail, "glinpack's, Open MPI 4.1.4", "mpirun.openmpi -np 4"},
       {{{"0/process/mpi_library", "Intel(R) MPI Library 2021.8"}}, ok, "Library 2021.8, compiled with MPICH 4.0.2"},
       {{{"0/process/mpi_library", "Open MPI v4.1.4"}}, fail, "running with Open MPI", "ldd"}});
}

TEST(DoctorChecks, mpi_warns_of_uneven_nodes_and_of_one_process_in_an_allocation_and_fails_with_several_programs) {
  const Changes uneven{{"2/host", "node0"}, {"2/process/node", 0}};
  expect_findings(
      "mpi", healthy(4, 2),
      {{{}, ok, "4 processes on 2 nodes"},
       {uneven, warn, "node1: 1 rank, other nodes have 3", "mpirun -np 4 -ppn 2"},
       {with(uneven, {{"0/process/launcher", "Slurm"}}), warn, "node1", "srun --nodes=2 --ntasks-per-node=2"},
       {{{"3/process/program", "0.0.9 (def)"}},
        fail,
        "node1, rank 3: glinpack 0.0.9 (def), rank 0 runs 0.1.0",
        "which -a glinpack"}});
  expect_findings("mpi", healthy(1, 1),
                  {{{{"0/process/allocated_tasks", 8}}, warn, "Slurm allocation of 8 tasks", "srun -n 8"}});
}

TEST(DoctorChecks, affinity_warns_of_more_ranks_than_cores_of_quotas_and_of_idle_cores) {
  const Changes two_cores{{"*/processor/cores", {0, 1}}, {"*/processor/threads", 1}};
  expect_findings("affinity", healthy(4, 4),
                  {{{}, ok, "4 ranks x 4 threads on 16 of 16 cores"},
                   {with(two_cores, {{"*/processor/node_cores", 2}}), warn, "node0: 4 ranks share 2 cores",
                    "mpirun -np 2 glinpack"},
                   {two_cores, warn, "4 ranks may use 2 of 16 cores", "mpirun -bind-to core:4"},
                   {with(two_cores, {{"*/process/launcher", "Slurm"}}), warn, "2 of 16", "srun --cpus-per-task=4"},
                   {{{"*/processor/core_limit", 2}}, warn, "4 ranks share 2 cores", "mpirun -np 2"},
                   {{{"0/processor/cores", {0}},
                     {"1/processor/cores", {4}},
                     {"2/processor/cores", {8}},
                     {"3/processor/cores", {12}}},
                    warn,
                    "may use 4 of 16 cores",
                    "core:4"}});
}

TEST(DoctorChecks, affinity_warns_of_ranks_on_the_same_cores_of_unbound_ranks_and_of_too_many_threads) {
  expect_findings(
      "affinity", healthy(4, 4),
      {{{{"0/processor/cores", {0}}, {"1/processor/cores", {0}}, {"2/processor/cores", {1, 2, 3, 4, 5, 6, 7}}},
        warn,
        "node0, ranks 0-1: bound to the same cores as others: 0",
        "core:4"},
       {{{"*/processor/threads", 16}}, warn, "4 ranks x 16 threads on 16 cores", "glinpack plu --threads 4"},
       // one thread a rank: too many ranks are reported once
       {{{"*/processor/threads", 1}, {"*/processor/cores", {0, 1}}, {"*/processor/node_cores", 2}},
        warn,
        "4 ranks share"}});
  const Changes unbound{{"*/processor/cores", range(0, 16)}};
  expect_findings("affinity", healthy(2, 2),
                  {{unbound, warn, "2 ranks on 2 NUMA nodes are not bound", "core:8"},
                   {with(unbound, {{"*/processor/numa_nodes", 1}}), ok, "2 ranks x 8 threads on 16 of 16 cores"},
                   {{{"*/processor/cores", json::array()}}, unknown, "does not report cores"}});
}

TEST(DoctorChecks, kernels_warn_if_faster_openblas_kernels_exist) {
  const Changes haswell{{"0/processor/kernels", "Haswell"}, {"0/processor/better_kernels", "SkylakeX"}};
  expect_findings("kernels", healthy(1, 1),
                  {{{}, ok, "SkylakeX for Some processor"},
                   {{{"0/processor/kernels_before", "Haswell"}, {"0/processor/core_type", "SkylakeX"}},
                    ok,
                    "(OpenBLAS had chosen Haswell; glinpack set OPENBLAS_CORETYPE=SkylakeX)"},
                   {haswell, warn, "Haswell where SkylakeX suit", "export OPENBLAS_CORETYPE=SkylakeX"},
                   {{{"0/processor/kernels", ""}}, unknown, "does not report it"}});
}

TEST(DoctorChecks, what_several_ranks_share_is_shown_once_and_of_many_findings_the_first) {
  expect_findings("kernels", healthy(4, 2),
                  {{{{"*/processor/better_kernels", "Zen"}}, warn, "node0, node1, ranks 0-3: OpenBLAS has the kernels"},
                   {{{"2/processor/kernels", "Zen"}}, ok, "node1, rank 2: Zen for Some processor"}});
  Changes many;
  for (int rank = 0; rank < 32; ++rank) many.emplace_back(std::to_string(rank) + "/memory/available", gib * (rank + 1));
  expect_findings("memory", healthy(32, 1),
                  {{many, warn, "node3: 4.0 GiB of 256.0 GiB are available; and 28 more like these", "ps aux"}});
}

TEST(DoctorChecks, load_warns_of_other_programs) {
  const Changes loaded{{"2/processor/other_load", 7.5}, {"3/processor/other_load", 7.5}};
  expect_findings(
      "load", healthy(4, 2),
      {{{}, ok, "other programs used 0.5 processors during the measurements"},
       {loaded, warn, "node1: other programs used 7.5 of 32 processors", "ps aux --sort=-pcpu | head  # on node1"},
       {{{"*/processor/other_load", nullptr}}, unknown, "--quick"}});
}

TEST(DoctorChecks, clocks_warn_of_a_governor_that_saves_power_and_of_throttling) {
  const Changes device{{"0/device/celsius", 90}, {"0/device/mhz", 1700}};
  expect_findings(
      "clocks", healthy(1, 1),
      {{{}, ok, "governor performance, throttled by heat 0 times"},
       {{{"0/processor/governor", "powersave"}},
        warn,
        "node0, rank 0: the processor's governor is powersave",
        "cpupower"},
       {{{"0/processor/governor", "powersave of intel_pstate"}}, ok, "governor powersave of intel_pstate"},
       {{{"0/processor/throttled", 3}}, warn, "throttled by heat 3 times", "sensors"},
       {with(device, {{"0/device/throttle", {"power cap"}}}), ok, "device at 1700 MHz, device at 90 C, power cap"},
       {with(device, {{"0/device/throttle", {"hardware thermal slowdown"}}}), warn,
        "slowed down: hardware thermal slowdown", "nvidia-smi -q"},
       {{{"0/processor/governor", nullptr}, {"0/processor/throttled", nullptr}}, unknown, "--quick"}});
}

// The facts of a rank without a GPU.
const Changes no_gpu{{"0/device", nullptr}, {"0/graphics/hardware", 0}};

TEST(DoctorChecks, devices_warn_or_fail_if_a_container_hides_opengl) {
  const Changes compute{{"0/graphics/driver_capabilities", "compute,utility"}, {"0/graphics/container", "Docker"}};
  const Changes without_files{{"0/graphics/nvidia_files", false}};
  std::vector<Case> cases{
      {compute, ok, "1 device, 1 of them hardware; in Docker"},  // OpenGL works in the container
      {with(no_gpu, compute), fail, "NVIDIA_DRIVER_CAPABILITIES=compute,utility leaves OpenGL's libraries out",
       "NVIDIA_DRIVER_CAPABILITIES=all"},
      {with(with(no_gpu, compute), with(without_files, {{"0/graphics/nvidia_kernel_driver", ""}})), warn,
       "compute,utility"},
      {with(with(no_gpu, without_files), {{"0/graphics/container", "Apptainer"}}), warn, "no /dev/nvidia files",
       "NVIDIA_VISIBLE_DEVICES=all"}};
  for (const char* enough : {"all", "graphics", "compute,graphics"}) {
    cases.push_back({with(no_gpu, {{"0/graphics/driver_capabilities", enough}}), ok, "1 device, 0 of them hardware"});
  }
  expect_findings("devices", healthy(1, 1), cases);
}

TEST(DoctorChecks, devices_warn_or_fail_without_permissions_without_a_usable_device_and_without_any) {
  const Changes denied{{"0/graphics/denied", json::array({{{"path", "/dev/dri/renderD128"}, {"group", "render"}}})}};
  const Changes unusable{{"0/graphics/unusable", json::array({{{"index", 0}, {"reason", "no OpenGL 4.5"}}})}};
  const Changes mesa{{"0/graphics/egl_vendors", {"/usr/share/glvnd/egl_vendor.d/50_mesa.json"}}};
  const Changes none = with(no_gpu, {{"0/graphics/devices", 0}});
  const Changes variables{{"0/graphics/variables", {"EGL_VISIBLE_DEVICES=all", "GALLIUM_DRIVER=softpipe"}}};
  const Changes empty_bus{{"0/graphics/gpus", json::array()}};
  expect_findings(
      "devices", healthy(1, 1),
      {{denied, warn, "no permission to read and write /dev/dri/renderD128 (group render)", "usermod -aG render"},
       {with(no_gpu, denied), fail, "no permission", "ls -l /dev/dri/renderD128"},
       {with(no_gpu, unusable), warn, "device 0: no OpenGL 4.5", "glinpack devices"},
       {with(with(no_gpu, unusable), {{"0/graphics/backend", "gl-compute"}}), fail, "no OpenGL 4.5",
        "glinpack devices"},
       {mesa, ok, "1 device"},
       {with(no_gpu, mesa), fail, "not among what libEGL finds: /usr/share", "10_nvidia.json"},
       {none, fail, "EGL knows no device", "apt-get install"},
       // a variable that may be the cause comes first
       {with(none, variables), fail,
        "node0: the environment has EGL_VISIBLE_DEVICES=all, GALLIUM_DRIVER=softpipe; node0: EGL knows no device",
        "unset EGL_VISIBLE_DEVICES GALLIUM_DRIVER"},
       {with(with(none, variables), empty_bus), warn, "node0: the environment has", "unset EGL_VISIBLE_DEVICES"},
       {variables, ok, "1 device"},
       {with(none, empty_bus), warn, "EGL knows no device", "apt-get install"},
       {with(no_gpu, {{"0/graphics/devices", nullptr}, {"0/graphics/backend", "openblas"}}), unknown,
        "--backend openblas"}});
}

TEST(DoctorChecks, devices_fail_if_driver_and_kernel_module_differ) {
  expect_findings("devices", healthy(2, 2),
                  {{{{"*/graphics/nvidia_kernel_driver", "580.159.03"}}, ok, "2 devices"},
                   {{{"*/graphics/nvidia_kernel_driver", "580.15"}},
                    fail,
                    "4.6.0 NVIDIA 580.159, its kernel module 580.15",
                    "/proc/driver/nvidia/version"},
                   {{{"1/device/version", "4.6.0 NVIDIA 570.1"}},
                    fail,
                    "rank 1: the driver's libraries are 4.6.0 NVIDIA 570.1, its kernel module 580.159"}});
}

TEST(DoctorChecks, renderer_warns_of_software_if_there_is_hardware_and_of_other_gpus_and_drivers) {
  const Changes software{{"*/device/software", true}, {"*/device/renderer", "llvmpipe"}};
  expect_findings(
      "renderer", healthy(2, 2),
      {{{}, ok, "NVIDIA H200/PCIe/SSE2, 4.6.0 NVIDIA 580.159"},
       {{{"1/device", nullptr}},
        warn,
        "rank 1: no GPU, but other ranks have NVIDIA H200/PCIe/SSE2",
        "glinpack devices"},
       {{{"*/device", nullptr}}, warn, "ranks 0-1: uses no GPU, although the bus has 0000:18:00.0", "glinpack devices"},
       {{{"*/device", nullptr}, {"*/graphics/gpus", json::array()}}, unknown, "no GPU"},
       {with(software, {{"*/graphics/gpus", json::array()}}), warn, "ranks 0-1: llvmpipe: the processor computes",
        "openblas"},
       {{{"1/device/renderer", "Another GPU"}},
        warn,
        "rank 1: Another GPU, 4.6.0 NVIDIA 580.159, but other ranks have",
        "glinpack devices"},
       {{{"1/device/version", "4.6.0 NVIDIA 570.1"}}, warn, "rank 1: NVIDIA H200/PCIe/SSE2, 4.6.0 NVIDIA 570.1, but"}});
}

TEST(DoctorChecks, gpu_map_warns_of_shared_gpus) {
  const Changes one_gpu{{"*/graphics/hardware", 1}, {"*/device/uuid", "uuid0"}};
  expect_findings(
      "gpu-map", healthy(4, 2),
      {{{}, ok, "node0, node1, ranks 0, 2: device 0 at 0000:18:00.0, NUMA node 0, x16, 139.0 GiB of 140.0 GiB"},
       {{{"1/device/uuid", "uuid0"}}, warn, "node0, ranks 0-1: share device", "VISIBLE_DEVICES"},
       {one_gpu, warn, "node0, node1, rank", "mpirun -np 2 glinpack"},
       {{{"*/device", nullptr}}, unknown, "no rank has a hardware device"}});
}

TEST(DoctorChecks, gpu_map_warns_of_far_gpus_of_missing_lanes_and_of_used_memory) {
  const Changes far{{"1/processor/processors", {0, 1, 2, 3}}};
  expect_findings(
      "gpu-map", healthy(2, 2),
      {{far, warn, "rank 1: runs on processors 0-3, its GPU 0000:19:00.0 is near 8-15", "-bind-to numa"},
       {with(far, {{"0/process/launcher", "Slurm"}}), warn, "is near", "--gpu-bind=closest"},
       {{{"1/device/pci/width", 8}}, warn, "0000:19:00.0 has 8 of its 16 PCI lanes", "lspci -vv -s 0000:19:00.0"},
       {{{"0/device/free_memory", 60 * gib}},
        warn,
        "60.0 GiB of 140.0 GiB of device 0 are free",
        "nvidia-smi --query-compute"},
       {{{"*/device/pci", nullptr}, {"*/device/total_memory", nullptr}}, ok, "rank 0: device 0; "}});
  expect_findings("gpu-map", healthy(1, 1),
                  {{{{"0/device/pci/local_processors", {20, 21}}}, warn, "is near 20-21", "taskset --cpu-list 20-21"}});
}

TEST(DoctorChecks, memory_warns_or_fails_if_a_node_has_little) {
  expect_findings("memory", healthy(1, 1),
                  {{{}, ok, "250.0 GiB of 256.0 GiB available, 128.0 GiB in /dev/shm"},
                   {{{"0/memory/left_by_groups", 16 * gib}}, ok, "of which control groups leave 16.0 GiB"},
                   {{{"0/memory/left_by_groups", gib / 8}}, fail, "128.0 MiB for 1 rank", "ps aux"},
                   {{{"0/memory/available", 100 * gib}}, warn, "100.0 GiB of 256.0 GiB are available", "ps aux"},
                   {{{"0/memory/total", nullptr}, {"0/memory/available", nullptr}}, unknown, "does not report it"},
                   {{{"0/memory/shared", gib / 16}}, ok, "64.0 MiB in /dev/shm"}});  // one rank shares nothing
  expect_findings("memory", healthy(4, 4),
                  {{{{"0/memory/shared", gib / 2}}, warn, "512.0 MiB in /dev/shm for 4 ranks", "mount -o remount"},
                   {{{"0/memory/shared", gib / 16}}, fail, "64.0 MiB in /dev/shm", "docker run --shm-size=8g"},
                   {{{"1/memory/locked", 8 << 20}}, ok, "8.0 MiB may be locked"},
                   {{{"1/memory/locked", 8 << 20}, {"0/memory/rdma_devices", 2}},
                    fail,
                    "8.0 MiB may be locked",
                    "ulimit -l unlimited"}});
}

TEST(DoctorChecks, network_names_slow_pairs_and_their_hosts) {
  Facts facts = healthy(4, 2);
  expect_finding(facts, "network", ok, "6 of 6 pairs measured; 6 links between nodes (medians): 2.00 us, 10.00 GB/s");
  facts.screening->between_hosts.links = 1;
  expect_finding(facts, "network", ok, "; 1 link between nodes: 2.00 us, 10.00 GB/s");
  facts.screening->slow = {{0, 3, 3e-6, 4e9}};
  const Changes oversubscribed{{"2/process/oversubscribed", true}};
  expect_findings("network", facts,
                  {{{},
                    warn,
                    "rank 0 (node0) and rank 3 (node1): 3.00 us, 4.00 GB/s, usual are 2.00 us, 10.00 GB/s",
                    "mpirun -np 4 glinpack network --ping-pong 0-3"},
                   {oversubscribed, ok, "ranks take turns on cores"}});
  facts.screening->slow.front().bandwidth = 1e9;  // far slower than time slices explain
  expect_findings("network", facts, {{oversubscribed, warn, "1.00 GB/s", "--ping-pong 0-3"}});
  facts.screening.reset();
  expect_finding(facts, "network", unknown, "--quick");
}

TEST(DoctorChecks, gemm_names_stragglers_among_nodes_and_within_one) {
  const auto node2 = [](double rate) { return Changes{{"4/gemm/host", rate}, {"5/gemm/host", rate}}; };
  const Changes oversubscribed{{"*/process/oversubscribed", true}};  // rates depend on scheduling
  const Changes slow_devices{{"2/gemm/device", 15e12}, {"3/gemm/device", 15e12}};
  expect_findings(
      "gemm", healthy(6, 2),
      {{{}, ok, "OpenBLAS's dgemm 500.0 GFLOPS a rank (median)"},
       {node2(400e9), warn, "node2: OpenBLAS's dgemm has 400.0 GFLOPS, 0.80 of the nodes' median 500.0", "on node2"},
       {node2(100e9), fail, "node2", "on node2"},
       {with(node2(100e9), oversubscribed), ok, "not compared"},
       {with(oversubscribed, slow_devices), warn, "node1: its device's update has 15000.0 GFLOPS", "on node1"}});
  expect_findings("gemm", healthy(4, 4),
                  {{{{"3/gemm/host", 300e9}}, warn, "rank 3: OpenBLAS's dgemm has 300.0 GFLOPS, 0.60", "on node0"},
                   {{{"1/gemm/error", "gl-compute: no memory"}}, fail, "rank 1: gl-compute: no memory", "peaks"},
                   {{{"*/gemm", nullptr}}, unknown, "--quick"}});
}

}  // namespace
}  // namespace glinpack::app::doctor
