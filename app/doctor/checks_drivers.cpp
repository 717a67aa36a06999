// Checks of OpenGL's prerequisites: containers, files under /dev, EGL, the driver.
#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <map>

#include "app/doctor/judgement.hpp"
#include "backend/registry.hpp"

namespace glinpack::app::doctor {

namespace {

constexpr const char* vendor_file =
    R"(printf '{"file_format_version":"1.0.0","ICD":{"library_path":"libEGL_nvidia.so.0"}}' | )"
    "sudo tee /usr/share/glvnd/egl_vendor.d/10_nvidia.json";

bool has_capability(const std::string& list, const std::string& name) {
  return ("," + list + ",").find("," + name + ",") != std::string::npos;
}

bool has_nvidia_files(const GraphicsFacts& graphics) {
  return std::any_of(graphics.files.begin(), graphics.files.end(),
                     [](const DeviceFile& file) { return file.path.find("nvidia") != std::string::npos; });
}

bool uses_nvidia(const Node& node) {
  return std::any_of(node.ranks.begin(), node.ranks.end(), [](const RankFacts* rank) {
    const DeviceFacts* device = hardware_of(*rank);
    return device != nullptr && device->version.find("NVIDIA") != std::string::npos;
  });
}

std::string container_command(const std::string& kind, const std::string& variable) {
  if (kind == "Apptainer") return "apptainer exec --nv --env " + variable + " IMAGE glinpack ...";
  if (kind == "Singularity") return "singularity exec --nv --env " + variable + " IMAGE glinpack ...";
  if (kind == "Podman") return "podman run --device nvidia.com/gpu=all -e " + variable + " IMAGE glinpack ...";
  if (kind == "Kubernetes") return "kubectl set env DEPLOYMENT " + variable;
  return "docker run --gpus all -e " + variable + " IMAGE glinpack ...";
}

void judge_container(const Node& node, Judgement& judgement) {
  const ContainerFacts& container = node.first().container;
  const GraphicsFacts& graphics = node.first().graphics;
  const std::string& capabilities = container.driver_capabilities.value_or("all");
  if (graphics.looked && !has_capability(capabilities, "all") && !has_capability(capabilities, "graphics") &&
      !uses_nvidia(node)) {
    const std::string evidence =
        fmt::format("{}: NVIDIA_DRIVER_CAPABILITIES={} leaves OpenGL's libraries out", node.host, capabilities);
    const std::string remedy = container_command(container.kind, "NVIDIA_DRIVER_CAPABILITIES=all");
    has_nvidia_files(graphics) ? judgement.fail(evidence, remedy) : judgement.warn(evidence, remedy);
  }
  const bool module_without_files = !graphics.nvidia_kernel_driver.empty() && !has_nvidia_files(graphics);
  if (!container.kind.empty() && module_without_files) {
    judgement.warn(
        fmt::format("{}: NVIDIA's kernel module is loaded, but the container has no /dev/nvidia files", node.host),
        container_command(container.kind, "NVIDIA_VISIBLE_DEVICES=all"));
  }
  std::string text = container.kind.empty() ? "none seen" : container.kind;
  if (container.driver_capabilities) text += ", NVIDIA_DRIVER_CAPABILITIES=" + *container.driver_capabilities;
  if (container.visible_devices) text += ", NVIDIA_VISIBLE_DEVICES=" + *container.visible_devices;
  judgement.ok(fmt::format("{}: {}", node.host, text));
}

std::string permission_command(const DeviceFile& file) {
  const bool group_helps = !file.group.empty() && file.group != "root" && file.group != "0";
  if (group_helps) return fmt::format("sudo usermod -aG {} \"$USER\"  # then log in again", file.group);
  return "ls -l " + file.path + "  # its owner must let you read and write";
}

bool needs_devices(const RankFacts& rank) { return rank.graphics.looked; }

// True if EGL finds NVIDIA's driver: libglvnd reads a vendor file with that name.
bool nvidia_is_registered(const GraphicsFacts& graphics) {
  return std::any_of(graphics.egl_vendors.begin(), graphics.egl_vendors.end(),
                     [](const std::string& file) { return file.find("nvidia") != std::string::npos; });
}

void judge_devices(const Node& node, Judgement& judgement) {
  const RankFacts& rank = node.first();
  const GraphicsFacts& graphics = rank.graphics;
  const bool none_chosen = device_of(rank) == nullptr;
  if (has_nvidia_files(graphics) && !nvidia_is_registered(graphics) && !uses_nvidia(node)) {
    judgement.fail(fmt::format("{}: NVIDIA's driver is not among what libEGL finds ({})", node.host,
                               graphics.egl_vendors.empty() ? "nothing" : list_text(graphics.egl_vendors)),
                   vendor_file);
  }
  std::int64_t hardware = 0;
  for (const DeviceFacts& device : graphics.devices) {
    hardware += device.usable && !device.software ? 1 : 0;
    if (device.usable) continue;
    const std::string evidence = fmt::format("{}, device {}: {}", node.host, device.index, device.why_unusable);
    const bool wanted = none_chosen && computes_on_device(graphics.backend);
    wanted ? judgement.fail(evidence, "glinpack devices") : judgement.warn(evidence, "glinpack devices");
  }
  if (graphics.devices.empty()) {
    const std::string evidence = node.host + ": EGL knows no device";
    const std::string remedy = "sudo apt-get install libegl-mesa0 libgl1-mesa-dri  # or the GPU vendor's driver";
    graphics.gpus.empty() ? judgement.warn(evidence, remedy) : judgement.fail(evidence, remedy);
  }
  judgement.ok(fmt::format("{}: {}, {} of them hardware", node.host,
                           counted(static_cast<std::int64_t>(graphics.devices.size()), "EGL device"), hardware));
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
  const std::string longer = (a.size() < b.size() ? b : a) + '.', shorter = (a.size() < b.size() ? a : b) + '.';
  return longer.starts_with(shorter);
}

}  // namespace

Finding check_container(const Facts& facts) {
  Judgement judgement("container");
  for (const Node& node : nodes_in(facts)) judge_container(node, judgement);
  return judgement.finding();
}

Finding check_render_nodes(const Facts& facts) {
  Judgement judgement("render-nodes");
  for (const Node& node : nodes_in(facts)) {
    const RankFacts& rank = node.first();
    if (!needs_devices(rank)) {
      judgement.unknown(node.host + ": not asked for: --backend " + rank.graphics.backend);
      continue;
    }
    std::vector<std::string> usable;
    for (const DeviceFile& file : rank.graphics.files) {
      if (file.usable) {
        usable.push_back(file.path);
        continue;
      }
      const std::string evidence =
          fmt::format("{}: no permission to read and write {} (group {})", node.host, file.path, file.group);
      hardware_of(rank) == nullptr ? judgement.fail(evidence, permission_command(file))
                                   : judgement.warn(evidence, permission_command(file));
    }
    if (!usable.empty()) judgement.ok(fmt::format("{}: {} may be read and written", node.host, list_text(usable)));
    judgement.unknown(node.host + ": there are neither /dev/dri/renderD* nor /dev/nvidia* files");
  }
  return judgement.finding();
}

Finding check_devices(const Facts& facts) {
  Judgement judgement("devices");
  for (const Node& node : nodes_in(facts)) {
    if (needs_devices(node.first())) judge_devices(node, judgement);
  }
  judgement.unknown("not asked for: --backend " + facts.ranks.front().graphics.backend);
  return judgement.finding();
}

Finding check_driver(const Facts& facts) {
  Judgement judgement("driver");
  std::map<std::string, std::vector<int>> versions;
  for (const RankFacts& rank : facts.ranks) {
    const DeviceFacts* device = device_of(rank);
    if (device == nullptr) continue;
    versions[device->version].push_back(rank.process.rank);
    const std::string user = nvidia_version(device->version), &kernel = rank.graphics.nvidia_kernel_driver;
    if (!user.empty() && !kernel.empty() && !may_be_same_version(user, kernel)) {
      judgement.fail(
          fmt::format("{}, rank {}: NVIDIA's libraries are of {}, its kernel module of {}", rank.host.name,
                      rank.process.rank, user, kernel),
          "cat /proc/driver/nvidia/version  # reboot the node, or install the same version in the container");
    }
  }
  std::string all;
  for (const auto& [version, ranks] : versions) {
    all += (all.empty() ? "" : "; ") + (versions.size() == 1 ? version : ranks_text(ranks) + ": " + version);
  }
  if (versions.size() > 1) judgement.warn("drivers differ: " + all, "glinpack devices  # on every node");
  if (!all.empty()) judgement.ok(all);
  judgement.unknown("no rank has a device");
  return judgement.finding();
}

}  // namespace glinpack::app::doctor
