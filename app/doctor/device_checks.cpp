// The checks of OpenGL's prerequisites (containers, files under /dev, EGL, drivers) and of each rank's device.
#include <algorithm>
#include <map>
#include <set>

#include "app/doctor/judgement.hpp"
#include "app/input/values.hpp"
#include "app/program/pci.hpp"
#include "backend/registry.hpp"

namespace glinpack::app::doctor {

namespace {

using nlohmann::json;

bool names_nvidia(const json& path) { return fact_text(path).find("nvidia") != std::string::npos; }
bool uses_nvidia(const json& device) { return fact_text(device.at("version")).find("NVIDIA") != std::string::npos; }
bool has_nvidia_files(const json& graphics) {
  const json& files = graphics.at("files");
  return std::any_of(files.begin(), files.end(), [](const json& file) { return names_nvidia(file.at("path")); });
}
bool computes_with_nvidia(const Node& node) {
  return std::any_of(node.ranks.begin(), node.ranks.end(), [](const json* rank) {
    const json* device = hardware_of(*rank);
    return device != nullptr && uses_nvidia(*device);
  });
}
bool any_hardware(const Job& job) {
  return std::any_of(job.facts.ranks.begin(), job.facts.ranks.end(),
                     [](const json& rank) { return hardware_of(rank) != nullptr; });
}

std::string not_asked_for(const json& graphics) {
  return "not asked for: --backend " + fact_text(graphics.at("backend"));
}

std::string why_no_hardware(const Job& job) {
  const bool looked = std::any_of(job.facts.ranks.begin(), job.facts.ranks.end(),
                                  [](const json& rank) { return rank.at("graphics").at("looked").get<bool>(); });
  return looked ? "no rank has a hardware device" : not_asked_for(job.part("graphics"));
}

std::string container_command(const std::string& kind, const std::string& variable) {
  if (kind == "Apptainer") return "apptainer exec --nv --env " + variable + " IMAGE glinpack ...";
  if (kind == "Singularity") return "singularity exec --nv --env " + variable + " IMAGE glinpack ...";
  if (kind == "Podman") return "podman run --device nvidia.com/gpu=all -e " + variable + " IMAGE glinpack ...";
  if (kind == "Kubernetes") return "kubectl set env DEPLOYMENT " + variable;
  return "docker run --gpus all -e " + variable + " IMAGE glinpack ...";
}

std::string permission_command(const json& file) {
  const std::string group = file.at("group");
  const bool group_helps = !group.empty() && group != "root" && group != "0";
  if (group_helps) return fmt::format("sudo usermod -aG {} \"$USER\"  # then log in again", group);
  return "ls -l " + fact_text(file.at("path")) + "  # its owner must let you read and write";
}

// Before a problem that a variable of the environment may cause.
void name_variables(const Node& node, Verdict verdict, Judgement& judgement) {
  std::string names, values;
  for (const json& variable : node.part("graphics").at("variables")) {
    const std::string text = fact_text(variable);
    names += " " + text.substr(0, text.find('='));
    values += (values.empty() ? "" : ", ") + text;
  }
  if (!names.empty()) judgement.add_problem(verdict, "unset" + names, node.host + ": the environment has " + values);
}

void check_devices_of(const Node& node, Judgement& judgement) {
  constexpr const char* vendor_file =
      R"(printf '{"file_format_version":"1.0.0","ICD":{"library_path":"libEGL_nvidia.so.0"}}' | )"
      "sudo tee /usr/share/glvnd/egl_vendor.d/10_nvidia.json";
  const json &graphics = node.part("graphics"), &devices = graphics.at("devices");
  const auto vendors = graphics.at("egl_vendors").get<std::vector<std::string>>();
  const bool lacks_nvidia = has_nvidia_files(graphics) && std::none_of(vendors.begin(), vendors.end(), names_nvidia) &&
                            !computes_with_nvidia(node);
  const bool wanted =
      device_of(*node.ranks.front()) == nullptr && computes_on_device(fact_text(graphics.at("backend")));
  const Verdict of_none = graphics.at("gpus").empty() ? Verdict::warn : Verdict::fail;
  const bool any_unusable =
      std::any_of(devices.begin(), devices.end(), [](const json& device) { return !device.at("usable").get<bool>(); });
  if (lacks_nvidia || any_unusable || devices.empty()) {
    const bool fails = lacks_nvidia || (devices.empty() ? of_none == Verdict::fail : wanted);
    name_variables(node, fails ? Verdict::fail : Verdict::warn, judgement);
  }
  judgement.fail_if(lacks_nvidia, vendor_file, "{}: NVIDIA's driver is not among what libEGL finds ({})", node.host,
                    vendors.empty() ? "nothing" : list_text(vendors));
  int hardware = 0;
  for (const json& device : devices) {
    if (device.at("usable").get<bool>()) {
      hardware += device.at("software").get<bool>() ? 0 : 1;
      continue;
    }
    judgement.add_problem(wanted ? Verdict::fail : Verdict::warn, "glinpack devices",
                          fmt::format("{}, device {}: {}", node.host, device.at("index").get<int>(),
                                      fact_text(device.at("why_unusable"))));
  }
  if (devices.empty()) {
    judgement.add_problem(of_none, "sudo apt-get install libegl-mesa0 libgl1-mesa-dri  # or the GPU vendor's driver",
                          node.host + ": EGL knows no device");
  }
  judgement.ok(fmt::format("{}: {}, {} of them hardware", node.host,
                           counted(static_cast<std::int64_t>(devices.size()), "EGL device"), hardware));
}

// "580.159" of "4.6.0 NVIDIA 580.159"
std::string nvidia_version(const std::string& version) {
  const std::size_t at = version.find("NVIDIA ");
  if (at == std::string::npos) return {};
  const std::string number = version.substr(at + 7);
  return number.substr(0, number.find(' '));
}

// "580.159" and "580.159.03" may be the same version: some sources truncate it.
bool may_be_same_version(const std::string& a, const std::string& b) {
  return (a + '.').starts_with(b + '.') || (b + '.').starts_with(a + '.');
}

std::string gpus_on_bus(const Job& job) {
  std::vector<std::string> names;
  for (const Node& node : job.nodes) {
    for (const json& gpu : node.part("graphics").at("gpus"))
      names.push_back(node.host + " " + fact_text(gpu.at("address")));
  }
  return list_text(names);
}

// Identifies a GPU within a node. If each rank sees only one GPU, every rank calls it device 0.
std::string identity_of(const json& device) {
  if (device.at("uuid") != "") return device.at("uuid");
  return device.at("pci").at("address") != "" ? fact_text(device.at("pci").at("address"))
                                              : fact_text(device.at("index"));
}

std::int64_t usable_hardware(const Node& node) {
  const json& devices = node.part("graphics").at("devices");
  return std::count_if(devices.begin(), devices.end(), [](const json& device) {
    return device.at("usable").get<bool>() && !device.at("software").get<bool>();
  });
}

// The command that avoids sharing of GPUs. `enough`: the node has one GPU per rank.
std::string sharing_command(const Job& job, bool enough) {
  if (enough) return "env | grep VISIBLE_DEVICES  # of every rank; and leave --device out";
  if (job.part("process").at("launcher") == "Slurm") return "srun --gpus-per-task=1 glinpack ...";
  std::int64_t gpus = 0;
  for (const Node& node : job.nodes) gpus += usable_hardware(node);
  return start_command(job.part("process"), gpus);
}

std::string closest_command(const json& process, const std::vector<int>& processors) {
  if (process.at("launcher") == "Slurm") return "srun --gpus-per-task=1 --gpu-bind=closest glinpack ...";
  if (process.at("world_size") == 1) {
    return fmt::format("taskset --cpu-list {} glinpack ...", list_of_processors(processors));
  }
  if (process.at("launcher") == "Open MPI") return "mpirun --map-by numa --bind-to numa glinpack ...";
  return "mpirun -bind-to numa -map-by numa glinpack ...";
}

void check_place(const json& rank, const json& pci, Judgement& judgement) {
  const std::string name = fmt::format("{}, rank {}", host_of(rank), number_of(rank)), address = pci.at("address");
  const std::vector<int> near = pci.at("local_processors"), own = rank.at("processor").at("processors");
  const int width = pci.at("width"), largest_width = pci.at("largest_width"), numa_node = pci.at("numa_node");
  const bool is_far = !near.empty() && !own.empty() &&
                      std::find_first_of(own.begin(), own.end(), near.begin(), near.end()) == own.end();
  judgement.warn_if(is_far, closest_command(rank.at("process"), near),
                    "{}: runs on processors {}, its GPU {} is near {}", name, list_of_processors(own), address,
                    list_of_processors(near));
  judgement.warn_if(
      width > 0 && width < largest_width,
      fmt::format("sudo lspci -vv -s {} | grep -i lnk  # another slot, or the card is not seated", address),
      "{}: GPU {} has {} of its {} PCI lanes", name, address, width, largest_width);
  judgement.ok(fmt::format("rank {}: {}{}{}", number_of(rank), address,
                           numa_node >= 0 ? fmt::format(", NUMA node {}", numa_node) : "",
                           width > 0 ? fmt::format(", x{} at {}", width, fact_text(pci.at("speed"))) : ""));
}

using RankDevice = std::pair<const json*, const json*>;

std::vector<RankDevice> hardware_in(const Node& node) {
  std::vector<RankDevice> all;
  for (const json* rank : node.ranks) {
    if (const json* device = hardware_of(*rank)) all.emplace_back(rank, device);
  }
  return all;
}

// All GPUs of a node have the same number of links unless one has failed.
void check_nvlinks(const Node& node, const std::vector<RankDevice>& all, Judgement& judgement) {
  int most = 0;
  for (const auto& [rank, device] : all) most = std::max(most, device->at("nvlinks").get<int>());
  for (const auto& [rank, device] : all) {
    const int links = device->at("nvlinks");
    judgement.warn_if(links >= 0 && links < most, "nvidia-smi nvlink --status",
                      "{}, rank {}: {} of its GPU {} are active, others have {}", node.host, number_of(*rank),
                      counted(links, "NVLink"), fact_text(device->at("pci").at("address")), most);
  }
  if (most > 0) judgement.ok(fmt::format("{}: {} each", node.host, counted(most, "NVLink")));
}

// The distinct kinds of links between the GPUs of a node.
std::string distances_between(const std::vector<RankDevice>& all) {
  std::set<std::string> kinds;
  for (std::size_t a = 0; a < all.size(); ++a) {
    for (std::size_t b = a + 1; b < all.size(); ++b) {
      const json &first = all[a].second->at("pci"), &second = all[b].second->at("pci");
      if (first.at("address") != second.at("address")) kinds.insert(pci_distance(first, second));
    }
  }
  kinds.erase("");
  return list_text({kinds.begin(), kinds.end()});
}

}  // namespace

void check_container(const Node& node, Judgement& judgement) {
  const json &container = node.part("container"), &graphics = node.part("graphics");
  const json &given = container.at("driver_capabilities"), &visible = container.at("visible_devices");
  const std::string kind = container.at("kind"), capabilities = given.is_null() ? "all" : fact_text(given);
  const auto has = [&](const char* name) {
    return ("," + capabilities + ",").find(std::string(",") + name + ",") != std::string::npos;
  };
  if (graphics.at("looked").get<bool>() && !has("all") && !has("graphics") && !computes_with_nvidia(node)) {
    judgement.add_problem(
        has_nvidia_files(graphics) ? Verdict::fail : Verdict::warn,
        container_command(kind, "NVIDIA_DRIVER_CAPABILITIES=all"),
        fmt::format("{}: NVIDIA_DRIVER_CAPABILITIES={} leaves OpenGL's libraries out", node.host, capabilities));
  }
  judgement.warn_if(!kind.empty() && graphics.at("nvidia_kernel_driver") != "" && !has_nvidia_files(graphics),
                    container_command(kind, "NVIDIA_VISIBLE_DEVICES=all"),
                    "{}: NVIDIA's kernel module is loaded, but the container has no /dev/nvidia files", node.host);
  judgement.ok(fmt::format("{}: {}{}{}", node.host, kind.empty() ? "none seen" : kind,
                           given.is_null() ? "" : ", NVIDIA_DRIVER_CAPABILITIES=" + capabilities,
                           visible.is_null() ? "" : ", NVIDIA_VISIBLE_DEVICES=" + fact_text(visible)));
}

void check_render_nodes(const Node& node, Judgement& judgement) {
  const json& graphics = node.part("graphics");
  if (!graphics.at("looked").get<bool>()) return judgement.unknown(node.host + ": " + not_asked_for(graphics));
  const Verdict verdict = hardware_of(*node.ranks.front()) == nullptr ? Verdict::fail : Verdict::warn;
  std::vector<std::string> usable;
  for (const json& file : graphics.at("files")) {
    if (file.at("usable").get<bool>()) {
      usable.push_back(file.at("path"));
    } else {
      judgement.add_problem(verdict, permission_command(file),
                            fmt::format("{}: no permission to read and write {} (group {})", node.host,
                                        fact_text(file.at("path")), fact_text(file.at("group"))));
    }
  }
  if (!usable.empty()) judgement.ok(fmt::format("{}: {} may be read and written", node.host, list_text(usable)));
  judgement.unknown(node.host + ": there are neither /dev/dri/renderD* nor /dev/nvidia* files");
}

void check_devices(const Job& job, Judgement& judgement) {
  for (const Node& node : job.nodes) {
    if (node.part("graphics").at("looked").get<bool>()) check_devices_of(node, judgement);
  }
  judgement.unknown(not_asked_for(job.part("graphics")));
}

void check_driver(const Job& job, Judgement& judgement) {
  std::map<std::string, std::vector<int>> versions;
  for (const json& rank : job.facts.ranks) {
    const json* device = device_of(rank);
    if (device == nullptr) continue;
    const std::string version = device->at("version"), user = nvidia_version(version);
    const std::string kernel = rank.at("graphics").at("nvidia_kernel_driver");
    versions[version].push_back(number_of(rank));
    if (user.empty() || kernel.empty() || may_be_same_version(user, kernel)) continue;
    judgement.add_problem_of(
        rank, Verdict::fail,
        "cat /proc/driver/nvidia/version  # reboot the node, or install the same version in the container",
        fmt::format("NVIDIA's libraries are of {}, its kernel module of {}", user, kernel));
  }
  std::vector<std::string> all;
  for (const auto& [version, ranks] : versions) {
    all.push_back(versions.size() == 1 ? version : ranks_text(ranks) + ": " + version);
  }
  const std::string seen = fmt::format("{}", fmt::join(all, "; "));
  judgement.warn_if(versions.size() > 1, "glinpack devices  # on every node", "drivers differ: {}", seen);
  if (!seen.empty()) judgement.ok(seen);
  judgement.unknown("no rank has a device");
}

void check_renderer(const Job& job, Judgement& judgement) {
  std::map<std::string, std::vector<int>> hardware, software;
  std::vector<int> none;
  for (const json& rank : job.facts.ranks) {
    if (!rank.at("graphics").at("looked").get<bool>()) continue;
    const json* device = device_of(rank);
    auto& ranks = device == nullptr                    ? none
                  : device->at("software").get<bool>() ? software[fact_text(device->at("renderer"))]
                                                       : hardware[fact_text(device->at("renderer"))];
    ranks.push_back(number_of(rank));
  }
  std::vector<std::string> all;
  for (const auto& [name, ranks] : hardware) all.push_back(fmt::format("{}: {}, hardware", ranks_text(ranks), name));
  for (const auto& [name, ranks] : software) all.push_back(fmt::format("{}: {}, software", ranks_text(ranks), name));
  if (!none.empty()) all.push_back(ranks_text(none) + ": none");
  const std::string seen = fmt::format("{}", fmt::join(all, "; ")), bus = gpus_on_bus(job);
  const bool some_without = !software.empty() || !none.empty();
  if (some_without && !bus.empty()) {
    for (const Node& node : job.nodes) name_variables(node, Verdict::warn, judgement);
  }
  const bool wrong =
      judgement.warn_if(!hardware.empty() && some_without, "glinpack devices  # on every node",
                        "{}; --backend auto computes with OpenBLAS everywhere", seen) ||
      judgement.warn_if(hardware.size() > 1, "glinpack devices  # on every node", "the ranks' devices differ: {}",
                        seen) ||
      judgement.warn_if(some_without && !bus.empty(), "glinpack devices", "{}, although the bus has GPUs: {}", seen,
                        bus) ||
      judgement.warn_if(!software.empty(), "glinpack plu --backend openblas ...", "{}: the processor draws", seen);
  if (wrong) return;
  if (!none.empty()) return judgement.ok("no GPU: --backend auto computes with OpenBLAS");
  if (!hardware.empty()) return judgement.ok(seen);
  judgement.unknown(why_no_hardware(job));
}

void check_gpu_map(const Job& job, Judgement& judgement) {
  for (const Node& node : job.nodes) {
    std::map<std::string, std::vector<RankDevice>> users;
    std::vector<std::string> map;
    for (const auto& [rank, device] : hardware_in(node)) {
      users[identity_of(*device)].emplace_back(rank, device);
      map.push_back(fmt::format("rank {} device {}", number_of(*rank), fact_text(device->at("index"))));
    }
    if (map.empty()) continue;
    const std::int64_t usable = usable_hardware(node), idle = usable - static_cast<std::int64_t>(users.size());
    for (const auto& [identity, sharing] : users) {
      std::vector<int> ranks;
      for (const auto& [rank, device] : sharing) ranks.push_back(number_of(*rank));
      const json& device = *sharing.front().second;
      judgement.warn_if(ranks.size() > 1, sharing_command(job, usable >= node.size()), "{}: {} share device {}, {}",
                        node.host, ranks_text(ranks), fact_text(device.at("index")), fact_text(device.at("renderer")));
    }
    judgement.ok(
        fmt::format("{}: {}{}", node.host, list_text(map),
                    idle > 0 && usable > 1 ? fmt::format(", {} without a rank", counted(idle, "device")) : ""));
  }
  judgement.unknown(why_no_hardware(job));
}

void check_gpu_distance(const Job& job, Judgement& judgement) {
  for (const Node& node : job.nodes) {
    const std::vector<RankDevice> all = hardware_in(node);
    for (const auto& [rank, device] : all) {
      if (device->at("pci").at("address") != "") check_place(*rank, device->at("pci"), judgement);
    }
    check_nvlinks(node, all, judgement);
    const std::string kinds = distances_between(all);
    if (!kinds.empty()) judgement.ok(fmt::format("{}: between GPUs {}", node.host, kinds));
  }
  judgement.unknown(any_hardware(job) ? "neither EGL nor the driver tells where the devices are"
                                      : why_no_hardware(job));
}

void check_device_memory(const Job& job, Judgement& judgement) {
  constexpr double mostly_free = 0.9;  // desktops and contexts use the rest
  std::vector<std::int64_t> free, total;
  for (const json& rank : job.facts.ranks) {
    const json* device = hardware_of(rank);
    if (device == nullptr || device->at("total_memory") <= 0 || device->at("free_memory") <= 0) continue;
    free.push_back(device->at("free_memory"));
    total.push_back(device->at("total_memory"));
    const auto bytes = static_cast<double>(free.back()), all = static_cast<double>(total.back());
    judgement.warn_if(bytes / all < mostly_free,
                      uses_nvidia(*device) ? "nvidia-smi --query-compute-apps=pid,name,used_memory --format=csv"
                                           : "sudo fuser -v /dev/dri/renderD*",
                      "{}, rank {}: {} of {} of device {} are free", host_of(rank), number_of(rank), memory_text(bytes),
                      memory_text(all), fact_text(device->at("index")));
  }
  if (!free.empty()) judgement.ok(fmt::format("{} free of {}", memory_range(free), memory_range(total)));
  judgement.unknown(any_hardware(job) ? "the driver does not report it" : why_no_hardware(job));
}

}  // namespace glinpack::app::doctor
