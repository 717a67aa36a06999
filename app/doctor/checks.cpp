#include "app/doctor/checks.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <set>

#include "app/doctor/subjects.hpp"
#include "app/program/peak.hpp"

namespace glinpack::app::doctor {

namespace {

using nlohmann::json;

constexpr double mebibyte = 1 << 20, gibibyte = 1 << 30;
// Devices and nodes below the first fraction of their peers are stragglers, below the second broken.
constexpr double straggler = 0.9, broken = 0.5;

// The evidence of a check without problems, of each subject of its scope, and the text if it is unknown.
struct Check {
  const char* name;
  Scope scope;
  const char* ok;
  const char* unknown;
};

constexpr std::array checks{
    Check{"mpi", Scope::job,
          "{/process/mpi_library}, compiled with {/process/mpi_headers}[, started by {/process/launcher}]; {/job/size}",
          "not reported"},
    Check{"affinity", Scope::node,
          "{/node/size|#rank} x {/node/max_threads|#thread} on {/node/cores} of {/processor/node_cores|#core}"
          "[, of which {/processor/fast_cores} are fast]",
          "the system does not report cores"},
    Check{"kernels", Scope::rank,
          "{/processor/kernels} for {/processor/name}[ (OpenBLAS had chosen {/processor/kernels_before}; glinpack set "
          "OPENBLAS_CORETYPE={/processor/core_type})]",
          "OpenBLAS does not report it"},
    Check{"load", Scope::node, "other programs used {/processor/other_load|1} processors during the measurements",
          "not measured: --quick"},
    Check{"clocks", Scope::rank,
          "[, governor {/processor/governor}][, throttled by heat {/processor/throttled|#time}][, device at "
          "{/device/mhz|0} MHz][, device at {/device/celsius|0} C][, {/device/throttle}]",
          "not readable, or not read: --quick"},
    Check{"devices", Scope::node,
          "{/graphics/devices|#device}, {/graphics/hardware} of them hardware[; in {/graphics/container}]",
          "not requested: --backend {/graphics/backend}"},
    Check{"renderer", Scope::rank, "{/device/renderer}, {/device/version}",
          "no GPU: --backend auto computes with OpenBLAS"},
    Check{"gpu-map", Scope::rank,
          "device {/rank/gpu/index}[ at {/rank/gpu/pci/address}][, NUMA node {/rank/gpu/pci/numa_node}][, "
          "x{/rank/gpu/pci/width}][, {/rank/gpu/free_memory|bytes} of {/rank/gpu/total_memory|bytes} free]",
          "no rank has a hardware device"},
    Check{"memory", Scope::node,
          "{/memory/available|bytes} of {/memory/total|bytes} available[, of which control groups leave "
          "{/memory/left_by_groups|bytes}], {/memory/shared|bytes} in /dev/shm[, {/node/locked|bytes} may be locked]",
          "the system does not report it"},
    Check{"network", Scope::job,
          "{/job/links/measured} of {/job/links/pairs} pairs measured[; {/job/links/within}][; {/job/links/between}][; "
          "{/job/turns}]",
          "not measured: one rank, or --quick"},
    Check{
        "gemm", Scope::job,
        "OpenBLAS's dgemm {/job/gemm/host}[; the devices' double-precision update {/job/gemm/device}][; not compared, "
        "since {/job/turns}]",
        "not measured: --quick"},
    Check{"burn-in", Scope::rank,
          "{/rank/peers/count|#device}, {/rank/peers/median|1} GFLOPS (median)[, {/rank/peers/too_few}]",
          "not run: --burn-in MINUTES, or ended before loops of the final N"},
};

using Fact = const json&;
using Of = const Subject&;

// A problem: a fact, the verdict on it, evidence and remedy. It is judged for each subject that has the fact.
struct Problem {
  std::string_view check;
  Scope scope;
  const char* fact;
  Verdict (*judge)(Fact fact, Of subject);
  const char* evidence;
  const char* remedy;
};

constexpr Verdict warn_if(bool wrong) { return wrong ? Verdict::warn : Verdict::ok; }
constexpr Verdict fail_if(bool wrong) { return wrong ? Verdict::fail : Verdict::ok; }

bool is_open_mpi(const std::string& text) { return text.find("Open MPI") != std::string::npos; }

// MPICH's derivatives share one ABI (https://www.mpich.org/abi).
bool is_abi_compatible(const std::string& library, const std::string& headers) {
  if (is_open_mpi(headers)) return is_open_mpi(library);
  const auto names = [&library](const char* mpi) { return library.find(mpi) != std::string::npos; };
  return !headers.starts_with("MPICH") || names("MPICH") || names("Intel") || names("MVAPICH");
}

bool names_nvidia(const json& text) { return text.get_ref<const std::string&>().find("nvidia") != std::string::npos; }
bool lacks_gpu(Of node) { return node.find("/graphics/devices") != nullptr && !node.holds("/node/has_gpu"); }
bool lacks_nvidia(Of node) {
  const json& vendors = *node.find("/graphics/egl_vendors");
  return lacks_gpu(node) && node.holds("/graphics/nvidia_files") && std::ranges::none_of(vendors, names_nvidia);
}
bool has_gpu_on_bus(Of subject) { return !subject.find("/graphics/gpus")->empty(); }

Verdict judge_absence(Of node) {
  if (node.find("/graphics/devices") == nullptr || node.number("/graphics/devices") > 0) return Verdict::ok;
  return has_gpu_on_bus(node) ? Verdict::fail : Verdict::warn;
}
Verdict judge_unusable(Fact devices, Of node) {
  if (devices.empty()) return Verdict::ok;
  return node.find("/device") == nullptr && node.text("/graphics/backend") != "auto" ? Verdict::fail : Verdict::warn;
}

bool lacks_graphics(Of node) {
  const std::string capabilities = "," + node.text("/graphics/driver_capabilities") + ",";
  return lacks_gpu(node) && capabilities != ",," && capabilities.find(",all,") == std::string::npos &&
         capabilities.find(",graphics,") == std::string::npos;
}

// "580.159" of "4.6.0 NVIDIA 580.159", and 580.159.03 may be the same: some sources truncate it.
bool is_version_of(const std::string& version, const std::string& module) {
  const std::size_t at = version.find("NVIDIA ");
  if (at == std::string::npos || module.empty()) return true;
  const std::string number = version.substr(at + 7, version.find(' ', at + 7) - at - 7) + '.';
  return number.starts_with(module + '.') || (module + '.').starts_with(number);
}

bool is_far(Fact near, Of rank) {
  const json& own = *rank.find("/processor/processors");
  return !near.empty() && !own.empty() &&
         std::find_first_of(own.begin(), own.end(), near.begin(), near.end()) == own.end();
}

// MPI's buffers, and the panels that ranks of a node share.
Verdict judge_shared_memory(Fact bytes, Of node) {
  constexpr double min_per_rank = 32 * mebibyte;
  const double size = node.number("/node/size");
  if (size < 2) return Verdict::ok;
  return bytes < size * min_per_rank ? Verdict::fail : warn_if(bytes < gibibyte);
}

// Ranks that take turns on cores are compared by half.
double burn_in_limit(Of rank) {
  return rank.find("/job/turns") != nullptr && !rank.holds("/burn_in/hardware") ? broken : straggler;
}

constexpr const char* vendor_file =
    R"(printf '{"file_format_version":"1.0.0","ICD":{"library_path":"libEGL_nvidia.so.0"}}' | )"
    "sudo tee /usr/share/glvnd/egl_vendor.d/10_nvidia.json";
constexpr const char* slowness =
    "ps aux --sort=-pcpu | head  # on {/host}; of a GPU: nvidia-smi -q -d PERFORMANCE,TEMPERATURE,POWER";

const std::array problems{
    Problem{
        "mpi", Scope::job, "/process/launched",
        [](Fact launched, Of job) { return fail_if(launched > 1 && job.number("/job/ranks") == 1); },
        "the launcher ({/process/launcher}) started {/process/launched} processes, but each of them sees a world of "
        "its own: it belongs to another MPI than glinpack's, {/process/mpi_headers}",
        "{/job/matching_launcher} {/process/launched} glinpack ...  # the launcher of {/process/mpi_headers}"},
    Problem{"mpi", Scope::job, "/process/mpi_library",
            [](Fact library, Of job) { return fail_if(!is_abi_compatible(library, job.text("/process/mpi_headers"))); },
            "compiled with {/process/mpi_headers}, but running with {/process/mpi_library}",
            "ldd $(command -v glinpack) | grep libmpi  # then correct LD_LIBRARY_PATH"},
    Problem{"mpi", Scope::rank, "/process/program",
            [](Fact program, Of rank) { return fail_if(program != *rank.find("/job/program")); },
            "glinpack {/process/program}, rank 0 runs {/job/program}",
            "which -a glinpack  # on every node: one installation for all"},
    Problem{"mpi", Scope::job, "/process/allocated_tasks",
            [](Fact tasks, Of job) {
              return warn_if(tasks > 1 && job.number("/job/ranks") == 1 && job.number("/process/launched") <= 1);
            },
            "one process in a Slurm allocation of {/process/allocated_tasks} tasks",
            "srun -n {/process/allocated_tasks} glinpack ..."},
    Problem{"mpi", Scope::node, "/node/size",
            [](Fact size, Of node) { return warn_if(size < *node.find("/job/max_size")); },
            "{/node/size|#rank}, other nodes have {/job/max_size}", "{/job/commands/even}"},

    Problem{"affinity", Scope::node, "/node/cores",
            [](Fact cores, Of node) {
              const double size = node.number("/node/size"), node_cores = node.number("/processor/node_cores");
              return warn_if(size > node.number("/node/capacity") && (cores >= node_cores || size > node_cores));
            },
            "{/node/size} ranks share {/node/capacity|#core}", "{/job/commands/start} {/job/capacity} glinpack ..."},
    Problem{"affinity", Scope::node, "/node/cores",
            [](Fact cores, Of node) {
              const double size = node.number("/node/size"), node_cores = node.number("/processor/node_cores");
              const bool has_quota = node.find("/processor/core_limit") != nullptr;
              return warn_if(cores < node_cores && size <= node_cores &&
                             (size > node.number("/node/capacity") || (cores <= node_cores / 2 && !has_quota)));
            },
            "{/node/size|#rank} may use {/node/cores} of {/processor/node_cores|#core}", "{/job/commands/bind}"},
    Problem{"affinity", Scope::node, "/node/is_bound",
            [](Fact is_bound, Of node) {
              const double size = node.number("/node/size");
              return warn_if(!is_bound && size > 1 && size <= node.number("/node/capacity") &&
                             node.number("/processor/numa_nodes") > 1);
            },
            "{/node/size} ranks on {/processor/numa_nodes} NUMA nodes are not bound to cores", "{/job/commands/bind}"},
    Problem{"affinity", Scope::rank, "/rank/bound_alike",
            [](Fact ranks, Of rank) {
              const std::size_t cores = rank.find("/processor/cores")->size();
              return warn_if(cores > 0 && ranks > cores && rank.number("/node/size") <= rank.number("/node/capacity"));
            },
            "bound to the same cores as others: {/processor/cores|list}", "{/job/commands/bind}"},
    Problem{"affinity", Scope::node, "/node/threads",
            [](Fact threads, Of node) {
              const double capacity = node.number("/node/capacity");
              return warn_if(capacity > 0 && threads > capacity && node.number("/node/max_threads") > 1);
            },
            "{/node/size|#rank} x {/node/max_threads} threads on {/node/capacity|#core}",
            "glinpack plu --threads {/node/threads_each} ..."},

    Problem{"kernels", Scope::rank, "/processor/better_kernels", [](Fact better, Of) { return warn_if(better != ""); },
            "OpenBLAS has the kernels {/processor/kernels} where {/processor/better_kernels} suit {/processor/name}",
            "export OPENBLAS_CORETYPE={/processor/better_kernels}"},

    Problem{"load", Scope::node, "/processor/other_load",
            [](Fact load, Of node) {
              return warn_if(is_loaded(load, static_cast<int>(node.number("/processor/node_processors"))));
            },
            "other programs used {/processor/other_load|1} of {/processor/node_processors|#processor} during the "
            "measurements",
            "ps aux --sort=-pcpu | head  # on {/host}; then measure again"},

    Problem{"clocks", Scope::rank, "/processor/governor",
            [](Fact governor, Of) { return warn_if(governor == "powersave"); }, "the processor's governor is powersave",
            "sudo cpupower frequency-set --governor performance"},
    Problem{"clocks", Scope::rank, "/processor/throttled", [](Fact times, Of) { return warn_if(times > 0); },
            "cores were throttled by heat {/processor/throttled|#time} since the system started",
            "sensors  # of lm-sensors; fans, dust, the temperature of the room"},
    // a power cap is a setting and works as configured; heat and failures of power are faults
    Problem{"clocks", Scope::rank, "/device/throttle",
            [](Fact reasons, Of) {
              return warn_if(std::ranges::any_of(reasons, [](const json& reason) { return reason != "power cap"; }));
            },
            "its device is slowed down: {/device/throttle}", slowness},

    // first, since a variable may cause the others
    Problem{"devices", Scope::node, "/graphics/variables",
            [](Fact variables, Of node) {
              const Verdict cause = std::max({judge_absence(node), fail_if(lacks_nvidia(node)),
                                              judge_unusable(*node.find("/graphics/unusable"), node),
                                              warn_if(lacks_gpu(node) && has_gpu_on_bus(node))});
              return variables.empty() ? Verdict::ok : cause;
            },
            "the environment has {/graphics/variables}", "unset {/node/variables}"},
    Problem{
        "devices", Scope::node, "/graphics/driver_capabilities",
        [](Fact, Of node) {
          return !lacks_graphics(node) ? Verdict::ok
                                       : std::max(Verdict::warn, fail_if(node.holds("/graphics/nvidia_files")));
        },
        "NVIDIA_DRIVER_CAPABILITIES={/graphics/driver_capabilities} leaves OpenGL's libraries out",
        "export NVIDIA_DRIVER_CAPABILITIES=all  # where the container starts; docker: --gpus all -e ..., apptainer: "
        "--nv --env ..."},
    Problem{"devices", Scope::node, "/graphics/container",
            [](Fact container, Of node) {
              return warn_if(container != "" && node.text("/graphics/nvidia_kernel_driver") != "" &&
                             !node.holds("/graphics/nvidia_files") && lacks_gpu(node));
            },
            "NVIDIA's kernel module is loaded, but the container has no /dev/nvidia files",
            "export NVIDIA_VISIBLE_DEVICES=all  # where the container starts; docker: --gpus all, apptainer: --nv"},
    Problem{
        "devices", Scope::node, "/graphics/denied/0",
        [](Fact, Of node) { return lacks_gpu(node) ? Verdict::fail : Verdict::warn; },
        "no permission to read and write {/graphics/denied/0/path} (group {/graphics/denied/0/group})",
        "ls -l {/graphics/denied/0/path}  # a group may: sudo usermod -aG {/graphics/denied/0/group} \"$USER\", then "
        "log in again"},
    Problem{"devices", Scope::node, "/graphics/egl_vendors", [](Fact, Of node) { return fail_if(lacks_nvidia(node)); },
            "NVIDIA's driver is not among what libEGL finds[: {/graphics/egl_vendors}]", vendor_file},
    Problem{"devices", Scope::node, "/graphics/unusable", judge_unusable,
            "device {/graphics/unusable/0/index}: {/graphics/unusable/0/reason}", "glinpack devices"},
    Problem{"devices", Scope::node, "/graphics/devices", [](Fact, Of node) { return judge_absence(node); },
            "EGL knows no device", "sudo apt-get install libegl-mesa0 libgl1-mesa-dri  # or the GPU vendor's driver"},
    Problem{"devices", Scope::rank, "/device/version",
            [](Fact version, Of rank) {
              return fail_if(!is_version_of(version, rank.text("/graphics/nvidia_kernel_driver")));
            },
            "the driver's libraries are {/device/version}, its kernel module {/graphics/nvidia_kernel_driver}",
            "cat /proc/driver/nvidia/version  # reboot the node, or install the same version in the container"},

    Problem{"renderer", Scope::rank, "/job/gpu",
            [](Fact, Of rank) { return warn_if(rank.find("/rank/gpu") == nullptr); },
            "no GPU, but other ranks have {/job/gpu}: --backend auto computes with OpenBLAS everywhere",
            "glinpack devices  # on every node"},
    Problem{"renderer", Scope::rank, "/rank/gpu_text",
            [](Fact gpu, Of rank) { return warn_if(gpu != *rank.find("/job/gpu")); },
            "{/rank/gpu_text}, but other ranks have {/job/gpu}", "glinpack devices  # on every node"},
    Problem{"renderer", Scope::rank, "/graphics/gpus",
            [](Fact gpus, Of rank) {
              return warn_if(!gpus.empty() && rank.find("/rank/gpu") == nullptr &&
                             rank.find("/graphics/devices") != nullptr);
            },
            "uses no GPU, although the bus has {/graphics/gpus}", "glinpack devices"},
    Problem{"renderer", Scope::rank, "/device/software", [](Fact is_software, Of) { return warn_if(is_software); },
            "{/device/renderer}: the processor computes", "glinpack plu --backend openblas ..."},

    Problem{"gpu-map", Scope::rank, "/rank/sharing", [](Fact ranks, Of) { return warn_if(ranks > 1); },
            "share device {/rank/shared_index}, {/rank/gpu/renderer}",
            "env | grep VISIBLE_DEVICES  # of every rank; leave --device out, or start one rank a GPU: "
            "{/job/commands/start} {/job/gpus} glinpack ..."},
    Problem{"gpu-map", Scope::rank, "/rank/gpu/pci/local_processors",
            [](Fact near, Of rank) { return warn_if(is_far(near, rank)); },
            "runs on processors {/processor/processors|list}, its GPU {/rank/gpu/pci/address} is near "
            "{/rank/gpu/pci/local_processors|list}",
            "{/job/commands/closest}"},
    Problem{"gpu-map", Scope::rank, "/rank/gpu/pci/width",
            [](Fact width, Of rank) { return warn_if(width < rank.number("/rank/gpu/pci/max_width")); },
            "GPU {/rank/gpu/pci/address} has {/rank/gpu/pci/width} of its {/rank/gpu/pci/max_width} PCI lanes",
            "sudo lspci -vv -s {/rank/gpu/pci/address} | grep -i lnk  # another slot, or the card is not seated"},
    Problem{"gpu-map", Scope::rank, "/rank/gpu/free_memory",
            // desktops and contexts use a tenth
            [](Fact free, Of rank) { return warn_if(free < 0.9 * rank.number("/rank/gpu/total_memory")); },
            "{/rank/gpu/free_memory|bytes} of {/rank/gpu/total_memory|bytes} of device {/rank/gpu/index} are free",
            "nvidia-smi --query-compute-apps=pid,name,used_memory --format=csv  # or: sudo fuser -v /dev/dri/renderD*"},

    Problem{"memory", Scope::node, "/node/memory",
            [](Fact bytes, Of node) {
              constexpr double min_per_rank = 256 * mebibyte;  // for a useful measurement
              return fail_if(bytes < min_per_rank * node.number("/node/size"));
            },
            "{/node/memory|bytes} for {/node/size|#rank}", "ps aux --sort=-rss | head"},
    Problem{"memory", Scope::node, "/memory/available",
            [](Fact bytes, Of node) { return warn_if(bytes < 0.5 * node.number("/memory/total")); },
            "{/memory/available|bytes} of {/memory/total|bytes} are available", "ps aux --sort=-rss | head"},
    Problem{"memory", Scope::node, "/memory/shared", judge_shared_memory,
            "{/memory/shared|bytes} in /dev/shm for {/node/size} ranks",
            "sudo mount -o remount,size=50% /dev/shm  # of a container: docker run --shm-size=8g"},
    Problem{"memory", Scope::node, "/node/locked",
            [](Fact bytes, Of node) { return fail_if(node.number("/memory/rdma_devices") > 0 && bytes < gibibyte); },
            "{/node/locked|bytes} may be locked: RDMA adapters cannot register MPI's buffers",
            "ulimit -l unlimited  # for good: /etc/security/limits.d; Slurm: LimitMEMLOCK=infinity in slurmd's unit"},

    // oversubscribed ranks wait for their time slice in every round trip: only bandwidths far below the others' count
    Problem{"network", Scope::link, "/link/ratio",
            [](Fact ratio, Of link) { return warn_if(link.find("/job/turns") == nullptr || ratio < 0.25); },
            "{/link/first} and {/link/second}: {/link/text}, usual are {/link/usual}",
            "{/job/commands/start} {/job/ranks} glinpack network --ping-pong {/link/ends}  # then {/link/look_at}"},

    Problem{"gemm", Scope::rank, "/gemm/error", [](Fact error, Of) { return fail_if(error != ""); }, "{/gemm/error}",
            "glinpack peaks --backend gl-compute"},
    Problem{"gemm", Scope::rate, "/rate/ratio",
            [](Fact ratio, Of rate) {
              return ratio < broken ? Verdict::fail : warn_if(ratio < rate.number("/rate/limit"));
            },
            "{/rate/name} has {/rate/value|giga} GFLOPS, {/rate/ratio|2} of {/rate/of} {/rate/usual|giga}", slowness},

    Problem{"burn-in", Scope::rank, "/burn_in/error", [](Fact error, Of) { return fail_if(error != ""); },
            "{/burn_in/error}", "glinpack devices"},
    Problem{"burn-in", Scope::rank, "/burn_in/mismatches", [](Fact checks, Of) { return fail_if(checks > 0); },
            "{/rank/burnt_in} computes wrongly: {/burn_in/mismatches|#failed check}, the first in "
            "{/burn_in/first_mismatch}",
            "glinpack doctor --burn-in 60  # on {/host} alone, or replace the device"},
    Problem{"burn-in", Scope::rank, "/rank/peers/ratio",
            [](Fact ratio, Of rank) { return ratio < broken ? Verdict::fail : warn_if(ratio < burn_in_limit(rank)); },
            "{/rank/burnt_in}: {/burn_in/median_gflops|1} GFLOPS, {/rank/peers/ratio|2} of the median of "
            "{/rank/peers/count} such devices, {/rank/peers/median|1}",
            slowness},
    Problem{"burn-in", Scope::rank, "/burn_in/second_half_gflops",
            [](Fact after, Of rank) {
              constexpr double min_loops = 6;
              return warn_if(rank.number("/burn_in/measured_loops") >= min_loops &&
                             after < burn_in_limit(rank) * rank.number("/burn_in/first_half_gflops"));
            },
            "{/rank/burnt_in}: {/burn_in/second_half_gflops|1} GFLOPS in the second half of its loops, "
            "{/burn_in/first_half_gflops|1} in the first",
            slowness},
};

// Evidence that several subjects share is shown once, with their hosts and ranks.
struct Evidence {
  std::string text;
  Verdict verdict = Verdict::unknown;
  std::set<std::string> hosts = {};
  std::vector<int> ranks = {};
  std::size_t subjects = 0;

  std::string labelled() const {
    std::string label = list_text({hosts.begin(), hosts.end()});
    if (!ranks.empty()) label += ", " + ranks_text(ranks);
    return label + (label.empty() ? "" : ": ") + text;
  }
};

void add(std::vector<Evidence>& all, const Subject& subject, Verdict verdict, const std::string& text) {
  auto found = std::ranges::find(all, text, &Evidence::text);
  if (found == all.end()) found = all.insert(all.end(), {text, verdict});
  ++found->subjects;
  if (!subject.host.empty()) found->hosts.insert(subject.host);
  if (subject.rank >= 0) found->ranks.push_back(subject.rank);
}

std::string joined(const std::vector<Evidence>& all) {
  constexpr std::size_t max_shown = 4;
  std::vector<std::string> shown;
  for (std::size_t i = 0; i < std::min(all.size(), max_shown); ++i) shown.push_back(all[i].labelled());
  if (all.size() > max_shown) shown.push_back(fmt::format("and {} more like these", all.size() - max_shown));
  return fmt::format("{}", fmt::join(shown, "; "));
}

std::vector<Evidence> good_evidence(const Check& check, const std::vector<Subject>& subjects) {
  std::vector<Evidence> good;
  for (const Subject& subject : subjects) {
    bool known = true;
    std::string text = subject.filled(check.ok, &known);
    text.erase(0, text.starts_with(", ") ? 2 : 0);
    if (known && !text.empty()) add(good, subject, Verdict::ok, text);
  }
  if (good.size() == 1 && good.front().subjects == subjects.size()) good.front() = {good.front().text, Verdict::ok};
  return good;
}

Finding finding_of(const Check& check, const Subjects& subjects) {
  std::vector<Evidence> found;
  std::vector<std::string> remedies;
  for (const Verdict wanted : {Verdict::fail, Verdict::warn}) {  // the worst come first
    for (const Problem& problem : problems) {
      if (problem.check != check.name) continue;
      for (const Subject& subject : subjects.of(problem.scope)) {
        const json* fact = subject.find(problem.fact);
        if (fact == nullptr || problem.judge(*fact, subject) != wanted) continue;
        add(found, subject, wanted, subject.filled(problem.evidence));
        const std::string remedy = subject.filled(subject.filled(problem.remedy));
        if (std::ranges::find(remedies, remedy) == remedies.end()) remedies.push_back(remedy);
      }
    }
  }
  if (!found.empty()) {
    constexpr std::size_t max_remedies = 4;
    remedies.resize(std::min(remedies.size(), max_remedies));
    return {check.name, found.front().verdict, joined(found), remedies};
  }
  const std::vector<Evidence> good = good_evidence(check, subjects.of(check.scope));
  if (good.empty()) return {check.name, Verdict::unknown, subjects.of(Scope::job).front().filled(check.unknown), {}};
  return {check.name, Verdict::ok, joined(good), {}};
}

}  // namespace

std::vector<Finding> judge(const Facts& facts) {
  const Subjects subjects(facts);
  std::vector<Finding> findings;
  for (const Check& check : checks) findings.push_back(finding_of(check, subjects));
  return findings;
}

Verdict worst_of(std::span<const Finding> findings) {
  Verdict worst = Verdict::unknown;
  for (const Finding& finding : findings) worst = std::max(worst, finding.verdict);
  return worst;
}

}  // namespace glinpack::app::doctor
