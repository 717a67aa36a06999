// Checks of each rank's device: its kind, other users, PCI location and memory.
#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <map>
#include <set>

#include "app/doctor/judgement.hpp"
#include "app/doctor/pci.hpp"
#include "app/memory.hpp"

namespace glinpack::app::doctor {

namespace {

constexpr double mostly_free = 0.9;  // of a device's memory: desktops and contexts use the rest

bool any_looked(const Facts& facts) {
  return std::any_of(facts.ranks.begin(), facts.ranks.end(),
                     [](const RankFacts& rank) { return rank.graphics.looked; });
}

std::string not_asked_for(const Facts& facts) {
  return any_looked(facts) ? "no rank has a hardware device"
                           : "not asked for: --backend " + facts.ranks.front().graphics.backend;
}

// Identifies a GPU within a node. If each rank sees only one GPU, every rank calls it device 0.
std::string identity_of(const DeviceFacts& device) {
  if (!device.uuid.empty()) return device.uuid;
  return device.pci.address.empty() ? std::to_string(device.index) : device.pci.address;
}

std::string gpus_on_bus(const Facts& facts) {
  std::vector<std::string> names;
  for (const Node& node : nodes_in(facts)) {
    for (const PciDevice& gpu : node.first().graphics.gpus) names.push_back(node.host + " " + gpu.address);
  }
  return list_text(names);
}

bool shares_processors(const PciDevice& device, const std::vector<int>& processors) {
  return std::any_of(processors.begin(), processors.end(), [&device](int processor) {
    return std::find(device.local_processors.begin(), device.local_processors.end(), processor) !=
           device.local_processors.end();
  });
}

std::string closest_command(const ProcessFacts& process, const PciDevice& device) {
  if (process.launcher == "Slurm") return "srun --gpus-per-task=1 --gpu-bind=closest glinpack ...";
  if (process.world_size == 1)
    return fmt::format("taskset --cpu-list {} glinpack ...", processor_list(device.local_processors));
  if (process.launcher == "Open MPI") return "mpirun --map-by numa --bind-to numa glinpack ...";
  return "mpirun -bind-to numa -map-by numa glinpack ...";
}

void judge_place(const RankFacts& rank, const PciDevice& device, Judgement& judgement) {
  const std::string name = fmt::format("{}, rank {}", rank.host.name, rank.process.rank);
  if (!device.local_processors.empty() && !rank.processor.processors.empty() &&
      !shares_processors(device, rank.processor.processors)) {
    judgement.warn(
        fmt::format("{}: runs on processors {}, its GPU {} is near {}", name, processor_list(rank.processor.processors),
                    device.address, processor_list(device.local_processors)),
        closest_command(rank.process, device));
  }
  if (device.width > 0 && device.width < device.largest_width) {
    judgement.warn(
        fmt::format("{}: GPU {} has {} of its {} PCI lanes", name, device.address, device.width, device.largest_width),
        fmt::format("sudo lspci -vv -s {} | grep -i lnk  # another slot, or the card is not seated", device.address));
  }
  std::string text = fmt::format("rank {}: {}", rank.process.rank, device.address);
  if (device.numa_node >= 0) text += fmt::format(", NUMA node {}", device.numa_node);
  if (device.width > 0) text += fmt::format(", x{} at {}", device.width, device.speed);
  judgement.ok(text);
}

// All GPUs of a node have the same number of links unless one has failed.
void judge_nvlinks(const Node& node, Judgement& judgement) {
  int most = 0;
  for (const RankFacts* rank : node.ranks) {
    if (const DeviceFacts* device = hardware_of(*rank)) most = std::max(most, device->nvlinks);
  }
  for (const RankFacts* rank : node.ranks) {
    const DeviceFacts* device = hardware_of(*rank);
    if (device == nullptr || device->nvlinks < 0 || device->nvlinks == most) continue;
    judgement.warn(fmt::format("{}, rank {}: {} of its GPU {} are active, others have {}", node.host,
                               rank->process.rank, counted(device->nvlinks, "NVLink"), device->pci.address, most),
                   "nvidia-smi nvlink --status");
  }
  if (most > 0) judgement.ok(fmt::format("{}: {} each", node.host, counted(most, "NVLink")));
}

// The distinct kinds of links between the GPUs of a node.
std::string distances_in(const Node& node) {
  std::set<std::string> kinds;
  for (auto a = node.ranks.begin(); a != node.ranks.end(); ++a) {
    for (auto b = a + 1; b != node.ranks.end(); ++b) {
      const DeviceFacts *first = hardware_of(**a), *second = hardware_of(**b);
      if (first == nullptr || second == nullptr || first->pci.address == second->pci.address) continue;
      if (const std::string kind = pci_distance(first->pci, second->pci); !kind.empty()) kinds.insert(kind);
    }
  }
  return list_text({kinds.begin(), kinds.end()});
}

std::int64_t usable_hardware(const Node& node) {
  const std::vector<DeviceFacts>& devices = node.first().graphics.devices;
  return std::count_if(devices.begin(), devices.end(),
                       [](const DeviceFacts& device) { return device.usable && !device.software; });
}

// The command that avoids sharing of GPUs. `enough`: the node has one GPU per rank.
std::string sharing_command(const Facts& facts, bool enough) {
  const ProcessFacts& process = facts.ranks.front().process;
  if (enough) return "env | grep VISIBLE_DEVICES  # of every rank; and leave --device out";
  if (process.launcher == "Slurm") return "srun --gpus-per-task=1 glinpack ...";
  std::int64_t gpus = 0;
  for (const Node& node : nodes_in(facts)) gpus += usable_hardware(node);
  return start_command(process, gpus);
}

}  // namespace

Finding check_renderer(const Facts& facts) {
  Judgement judgement("renderer");
  std::map<std::string, std::vector<int>> hardware, software;
  std::vector<int> none;
  for (const RankFacts& rank : facts.ranks) {
    if (!rank.graphics.looked) continue;
    const DeviceFacts* device = device_of(rank);
    if (device == nullptr) {
      none.push_back(rank.process.rank);
    } else {
      (device->software ? software : hardware)[device->renderer].push_back(rank.process.rank);
    }
  }
  std::string seen;
  for (const auto& [renderer, ranks] : hardware) seen += fmt::format("; {}: {}, hardware", ranks_text(ranks), renderer);
  for (const auto& [renderer, ranks] : software) seen += fmt::format("; {}: {}, software", ranks_text(ranks), renderer);
  if (!none.empty()) seen += "; " + ranks_text(none) + ": none";
  seen = seen.substr(std::min<std::size_t>(2, seen.size()));
  const bool all_hardware = software.empty() && none.empty();
  const std::string bus = gpus_on_bus(facts);
  if (!hardware.empty() && !all_hardware) {
    judgement.warn(seen + "; --backend auto computes with OpenBLAS everywhere", "glinpack devices  # on every node");
  } else if (hardware.size() > 1) {
    judgement.warn("the ranks' devices differ: " + seen, "glinpack devices  # on every node");
  } else if (!all_hardware && !bus.empty()) {
    judgement.warn(fmt::format("{}, although the bus has GPUs: {}", seen, bus), "glinpack devices");
  } else if (!software.empty()) {
    judgement.warn(seen + ": the processor draws", "glinpack plu --backend openblas ...");
  } else if (!none.empty()) {
    judgement.ok("no GPU: --backend auto computes with OpenBLAS");
  } else if (!hardware.empty()) {
    judgement.ok(seen);
  }
  judgement.unknown(not_asked_for(facts));
  return judgement.finding();
}

Finding check_gpu_map(const Facts& facts) {
  Judgement judgement("gpu-map");
  for (const Node& node : nodes_in(facts)) {
    std::map<std::string, std::vector<const RankFacts*>> users;
    std::vector<std::string> map;
    for (const RankFacts* rank : node.ranks) {
      const DeviceFacts* device = hardware_of(*rank);
      if (device == nullptr) continue;
      users[identity_of(*device)].push_back(rank);
      map.push_back(fmt::format("rank {} device {}", rank->process.rank, device->index));
    }
    if (map.empty()) continue;
    const std::int64_t usable = usable_hardware(node);
    for (const auto& [identity, ranks] : users) {
      if (ranks.size() < 2) continue;
      judgement.warn(fmt::format("{}: {} share device {}, {}", node.host, ranks_text(ranks),
                                 hardware_of(*ranks.front())->index, hardware_of(*ranks.front())->renderer),
                     sharing_command(facts, usable >= static_cast<std::int64_t>(node.ranks.size())));
    }
    const std::int64_t idle = usable - static_cast<std::int64_t>(users.size());
    judgement.ok(
        fmt::format("{}: {}{}", node.host, list_text(map),
                    idle > 0 && usable > 1 ? fmt::format(", {} without a rank", counted(idle, "device")) : ""));
  }
  judgement.unknown(not_asked_for(facts));
  return judgement.finding();
}

Finding check_gpu_distance(const Facts& facts) {
  Judgement judgement("gpu-distance");
  for (const Node& node : nodes_in(facts)) {
    for (const RankFacts* rank : node.ranks) {
      const DeviceFacts* device = hardware_of(*rank);
      if (device != nullptr && !device->pci.address.empty()) judge_place(*rank, device->pci, judgement);
    }
    judge_nvlinks(node, judgement);
    if (const std::string kinds = distances_in(node); !kinds.empty()) {
      judgement.ok(fmt::format("{}: between GPUs {}", node.host, kinds));
    }
  }
  judgement.unknown(std::any_of(facts.ranks.begin(), facts.ranks.end(),
                                [](const RankFacts& rank) { return hardware_of(rank) != nullptr; })
                        ? "neither EGL nor the driver tells where the devices are"
                        : not_asked_for(facts));
  return judgement.finding();
}

Finding check_device_memory(const Facts& facts) {
  Judgement judgement("device-memory");
  std::vector<std::int64_t> free, total;
  for (const RankFacts& rank : facts.ranks) {
    const DeviceFacts* device = hardware_of(rank);
    if (device == nullptr || device->total_memory <= 0 || device->free_memory <= 0) continue;
    free.push_back(device->free_memory);
    total.push_back(device->total_memory);
    const auto share = static_cast<double>(device->free_memory) / static_cast<double>(device->total_memory);
    if (share >= mostly_free) continue;
    const bool nvidia = device->version.find("NVIDIA") != std::string::npos;
    judgement.warn(fmt::format("{}, rank {}: {} of {} of device {} are free", rank.host.name, rank.process.rank,
                               memory_text(static_cast<double>(free.back())),
                               memory_text(static_cast<double>(total.back())), device->index),
                   nvidia ? "nvidia-smi --query-compute-apps=pid,name,used_memory --format=csv"
                          : "sudo fuser -v /dev/dri/renderD*");
  }
  if (!free.empty()) judgement.ok(fmt::format("{} free of {}", memory_range(free), memory_range(total)));
  const bool hardware = std::any_of(facts.ranks.begin(), facts.ranks.end(),
                                    [](const RankFacts& rank) { return hardware_of(rank) != nullptr; });
  judgement.unknown(hardware ? "the driver does not tell" : not_asked_for(facts));
  return judgement.finding();
}

}  // namespace glinpack::app::doctor
