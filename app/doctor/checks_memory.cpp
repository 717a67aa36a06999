// Checks of node memory, shared memory and file systems.
#include <spdlog/fmt/fmt.h>

#include <algorithm>

#include "app/doctor/judgement.hpp"
#include "app/memory.hpp"

namespace glinpack::app::doctor {

namespace {

constexpr std::int64_t mebibyte = std::int64_t{1} << 20;
constexpr std::int64_t gibibyte = std::int64_t{1} << 30;

// The least memory per rank for a useful measurement.
constexpr std::int64_t least_memory_per_rank = 256 * mebibyte;
constexpr double enough_available = 0.5;
// Identical nodes differ by firmware reservations, but by less than a memory module.
constexpr double same_size = 0.95;

// For MPI's buffers, and for the panels that ranks of a node share. Containers get 64 MiB by default.
constexpr std::int64_t least_shared_memory_per_rank = 32 * mebibyte;
constexpr std::int64_t enough_shared_memory = gibibyte;

constexpr std::int64_t least_temporary_space = 64 * mebibyte;
constexpr std::int64_t enough_temporary_space = gibibyte;

constexpr std::int64_t enough_locked_memory = mebibyte;
constexpr std::int64_t enough_locked_for_rdma = gibibyte;

std::string bytes_text(std::int64_t bytes) { return memory_text(static_cast<double>(bytes)); }

std::string shared_memory_command(const ContainerFacts& container) {
  if (container.kind == "Docker" || container.kind == "Podman") {
    return fmt::format("{} run --shm-size=8g IMAGE glinpack ...", container.kind == "Docker" ? "docker" : "podman");
  }
  return "sudo mount -o remount,size=50% /dev/shm";
}

void judge_memory(const Node& node, double median, Judgement& judgement) {
  const MemoryFacts& memory = node.first().memory;
  const auto ranks = static_cast<std::int64_t>(node.ranks.size());
  const std::int64_t usable =
      memory.left_by_groups > 0 ? std::min(memory.available, memory.left_by_groups) : memory.available;
  const std::string remedy = "ps aux --sort=-rss | head";
  if (usable < ranks * least_memory_per_rank) {
    judgement.fail(fmt::format("{}: {} for {}", node.host, bytes_text(usable), counted(ranks, "rank")), remedy);
  } else if (static_cast<double>(memory.available) < enough_available * static_cast<double>(memory.total)) {
    judgement.warn(
        fmt::format("{}: {} of {} are available", node.host, bytes_text(memory.available), bytes_text(memory.total)), remedy);
  }
  if (static_cast<double>(memory.total) < same_size * median) {
    judgement.warn(
        fmt::format("{} has {}, the nodes' median is {}", node.host, bytes_text(memory.total), memory_text(median)),
        "sudo dmidecode -t memory | grep -i size  # is a module missing?");
  }
}

}  // namespace

Finding check_host_memory(const Facts& facts) {
  Judgement judgement("host-memory");
  std::vector<Node> known;
  std::vector<double> totals;
  std::vector<std::int64_t> available, total, left;
  for (Node& node : nodes_in(facts)) {
    const MemoryFacts& memory = node.first().memory;
    if (memory.total <= 0 || memory.available <= 0) continue;
    totals.push_back(static_cast<double>(memory.total));
    available.push_back(memory.available);
    total.push_back(memory.total);
    if (memory.left_by_groups > 0) left.push_back(memory.left_by_groups);
    known.push_back(std::move(node));
  }
  for (const Node& node : known) judge_memory(node, median_of(totals), judgement);
  if (!known.empty()) {
    judgement.ok(fmt::format("{} available of {}{}", memory_range(available), memory_range(total),
                             left.empty() ? "" : ", of which control groups leave " + memory_range(left)));
  }
  judgement.unknown("the system does not tell");
  return judgement.finding();
}

Finding check_shared_memory(const Facts& facts) {
  Judgement judgement("shared-memory");
  std::vector<std::int64_t> free, total;
  for (const Node& node : nodes_in(facts)) {
    const FolderFacts& folder = node.first().shared_memory;
    const auto ranks = static_cast<std::int64_t>(node.ranks.size());
    const std::string remedy = shared_memory_command(node.first().container);
    const std::string here = fmt::format("{}: {} of {} in {} for {}", node.host, bytes_text(folder.free),
                                         bytes_text(folder.total), folder.path, counted(ranks, "rank"));
    if (!folder.writable) {
      const std::string evidence = fmt::format("{}: {} cannot be written", node.host, folder.path);
      const std::string mount = "sudo mount -t tmpfs -o size=50%,mode=1777 tmpfs " + folder.path;
      ranks > 1 ? judgement.fail(evidence, mount) : judgement.warn(evidence, mount);
      continue;
    }
    if (ranks > 1 && folder.free < ranks * least_shared_memory_per_rank) {
      judgement.fail(here, remedy);
    } else if (folder.free < enough_shared_memory && ranks > 1) {
      judgement.warn(here, remedy);
    }
    free.push_back(folder.free);
    total.push_back(folder.total);
  }
  if (!free.empty()) {
    judgement.ok(fmt::format("{} free of {} in {}", memory_range(free), memory_range(total),
                             facts.ranks.front().shared_memory.path));
  }
  return judgement.finding();
}

Finding check_temporary_space(const Facts& facts) {
  Judgement judgement("temporary-space");
  const std::string remedy = "export TMPDIR=FOLDER  # with more space, on a disk of the node";
  for (const Node& node : nodes_in(facts)) {
    const FolderFacts& folder = node.first().temporary;
    const std::string here = fmt::format("{}: {} free in {}", node.host, bytes_text(folder.free), folder.path);
    if (!folder.writable) {
      judgement.fail(fmt::format("{}: {} cannot be written", node.host, folder.path), remedy);
    } else if (folder.free < least_temporary_space) {
      judgement.fail(here, remedy);
    } else if (folder.free < enough_temporary_space) {
      judgement.warn(here, remedy);
    }
    judgement.ok(here);
  }
  return judgement.finding();
}

Finding check_locked_memory(const Facts& facts) {
  Judgement judgement("locked-memory");
  const auto limit_text = [](std::int64_t limit) { return limit < 0 ? "no limit" : bytes_text(limit); };
  for (const Node& node : nodes_in(facts)) {
    std::int64_t limit = -1;
    for (const RankFacts* rank : node.ranks) {
      const std::int64_t locked = rank->memory.locked;
      if (locked >= 0) limit = limit < 0 ? locked : std::min(limit, locked);
    }
    const int rdma = node.first().memory.rdma_devices;
    const std::string here = fmt::format("{}: {}{}", node.host, limit_text(limit),
                                         rdma > 0 ? fmt::format(", {}", counted(rdma, "RDMA adapter")) : "");
    const std::string remedy =
        node.first().process.launcher == "Slurm"
            ? "ulimit -l unlimited  # and LimitMEMLOCK=infinity in slurmd's unit, PropagateResourceLimitsExcept=MEMLOCK"
            : "ulimit -l unlimited  # for good: memlock in /etc/security/limits.d";
    if (limit >= 0 && rdma > 0 && limit < enough_locked_for_rdma) {
      judgement.fail(here + ", which cannot register MPI's buffers", remedy);
    } else if (limit >= 0 && limit < enough_locked_memory) {
      judgement.warn(here, remedy);
    }
    judgement.ok(here);
  }
  return judgement.finding();
}

}  // namespace glinpack::app::doctor
