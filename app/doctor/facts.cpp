#include "app/doctor/facts.hpp"

#include <grp.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <regex>
#include <sstream>

#include "app/doctor/measure.hpp"
#include "app/program/node_load.hpp"
#include "app/program/pci.hpp"
#include "app/program/program_context.hpp"
#include "app/program/reexecution.hpp"
#include "app/program/topology.hpp"
#include "backend/registry.hpp"
#include "host/host_memory.hpp"
#include "openblas/blas_library.hpp"
#include "sensors/kernel_sensors.hpp"
#include "version.hpp"

namespace glinpack::app::doctor {

namespace {

using nlohmann::json;

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

json environment_or_null(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? json() : json(value);
}

json process_facts(const MpiSession& session) {
  return {{"rank", session.rank()},
          {"world_size", session.size()},
          {"local_rank", session.local_rank()},
          {"node", first_rank_of_node()},
          {"program", std::string(version) + " (" + git_commit + ")"},
          {"mpi_library", MpiSession::library_version()},
          {"mpi_headers", MpiSession::headers_version()},
          {"launcher", launcher_name()},
          {"launched", launched_processes()},
          {"allocated_tasks", std::max(0, std::atoi(environment("SLURM_NTASKS").c_str()))},
          {"oversubscribed", ranks_outnumber_cores()}};
}

json host_facts() {
  utsname system{};
  const bool known = uname(&system) == 0;
  return {{"name", host_name()},
          {"kernel", known ? std::string(system.sysname) + " " + system.release : ""},
          {"addresses", json::array()},
          {"resolve_seconds", -1.0}};
}

json processor_facts(const Target& target) {
  const NodeView view = view_node();
  const ProcessorFeatures features = processor_features();
  return {{"name", processor_name()},
          {"cores", view.cores},
          {"processors", view.processors},
          {"node_cores", view.node_cores},
          {"numa_nodes", view.numa_nodes},
          {"core_limit", view.core_limit},
          {"node_processors", node_processors()},
          {"other_load", 0.0},
          {"threads", target.threads},
          {"kernels", blas_kernels()},
          {"kernels_before", kernels_before_reexecution()},
          {"core_type", environment("OPENBLAS_CORETYPE")},
          {"avx2_fma", features.avx2_fma},
          {"avx512", features.avx512}};
}

json memory_facts() {
  const auto kibibytes = [](const char* name) { return number_named("/proc/meminfo", name).value_or(0) * 1024; };
  rlimit locked{};
  const bool limited = getrlimit(RLIMIT_MEMLOCK, &locked) == 0 && locked.rlim_cur != RLIM_INFINITY;
  const std::int64_t available = kibibytes("MemAvailable");
  // the kernel reports a huge number for a group without a limit
  const std::int64_t left = memory_left_by_control_groups().value_or(available);
  return {{"total", kibibytes("MemTotal")},
          {"available", available},
          {"left_by_groups", left < available ? left : 0},
          {"address_space", address_space_left()},
          {"locked", limited ? static_cast<std::int64_t>(locked.rlim_cur) : -1},
          {"rdma_devices", sensors::names_in("/sys/class/infiniband").size()}};
}

json folder_facts(const std::string& path) {
  struct statvfs system {};
  const bool known = statvfs(path.c_str(), &system) == 0;
  const auto bytes = [&](auto blocks) {
    return known ? static_cast<std::int64_t>(blocks) * static_cast<std::int64_t>(system.f_frsize) : 0;
  };
  return {{"path", path},
          {"writable", access(path.c_str(), W_OK | X_OK) == 0},
          {"total", bytes(system.f_blocks)},
          {"free", bytes(system.f_bavail)}};
}

std::string group_of(const std::string& path) {
  struct stat file {};
  if (stat(path.c_str(), &file) != 0) return {};
  const group* const owner = getgrgid(file.st_gid);
  return owner == nullptr ? std::to_string(file.st_gid) : owner->gr_name;
}

// The files under /dev that OpenGL drivers need; /dev/nvidia-uvm is not one.
json device_files() {
  json files = json::array();
  const auto add_files = [&files](const std::string& folder, const char* pattern) {
    for (const std::string& name : sensors::names_in(folder)) {
      if (!std::regex_match(name, std::regex(pattern))) continue;
      const std::string path = folder + "/" + name;
      const bool usable = access(path.c_str(), R_OK | W_OK) == 0;
      files.push_back({{"path", path}, {"usable", usable}, {"group", usable ? "" : group_of(path)}});
    }
  };
  add_files("/dev/dri", "renderD.*");
  add_files("/dev", "nvidia([0-9]*|ctl)");
  return files;
}

// The vendor files by which libEGL finds drivers, in the search order of libglvnd.
std::vector<std::string> egl_vendors() {
  const auto split = [](const std::string& list) {
    std::vector<std::string> parts;
    std::istringstream in(list);
    for (std::string part; std::getline(in, part, ':');) {
      if (!part.empty()) parts.push_back(part);
    }
    return parts;
  };
  if (const std::string files = environment("__EGL_VENDOR_LIBRARY_FILENAMES"); !files.empty()) return split(files);
  std::string folders = environment("__EGL_VENDOR_LIBRARY_DIRS");
  if (folders.empty()) folders = "/etc/glvnd/egl_vendor.d:/usr/share/glvnd/egl_vendor.d";
  std::vector<std::string> vendors;
  for (const std::string& folder : split(folders)) {
    for (const std::string& name : sensors::names_in(folder)) vendors.push_back(folder + "/" + name);
  }
  return vendors;
}

json device_facts(const DeviceDescription& device, const PciBus& bus) {
  json facts = device_json(device);
  facts.update(
      {{"usable", device.usable},
       {"why_unusable", device.why_unusable},
       {"uuid", device.uuid},
       {"total_memory", device.total_memory},
       {"free_memory", device.free_memory},
       {"nvlinks", -1},
       {"pci", device.software ? no_pci_device() : bus.device(pci_address_of("", device.drm_file, device.uuid))}});
  return facts;
}

json graphics_facts(const Target& target, int local_rank,
                    const std::optional<std::vector<DeviceDescription>>& devices) {
  const PciBus bus;
  json facts{{"looked", devices.has_value()},
             {"backend", target.backend},
             {"devices", json::array()},
             {"chosen", -1},
             {"files", device_files()},
             {"gpus", bus.gpus()},
             {"nvidia_kernel_driver", nvidia_kernel_driver()},
             {"egl_vendors", egl_vendors()},
             {"variables", device_catalog(target.backend).driver_variables()}};
  if (!devices) return facts;
  for (const DeviceDescription& device : *devices) facts["devices"].push_back(device_facts(device, bus));
  const bool by_name = computes_on_device(target.backend);
  facts["chosen"] = target.device ? *target.device : device_for_local_rank(*devices, local_rank, by_name);
  return facts;
}

std::string container_kind() {
  const auto exists = [](const char* path) { return access(path, F_OK) == 0; };
  if (!environment("APPTAINER_CONTAINER").empty()) return "Apptainer";
  if (!environment("SINGULARITY_CONTAINER").empty()) return "Singularity";
  if (!environment("KUBERNETES_SERVICE_HOST").empty()) return "Kubernetes";
  if (exists("/.dockerenv")) return "Docker";
  if (exists("/run/.containerenv")) return "Podman";
  return environment("container");  // systemd-nspawn and lxc set it
}

}  // namespace

json gather_quick_facts(const MpiSession& session, const Target& target,
                        const std::optional<std::vector<DeviceDescription>>& devices) {
  const std::string temporary = environment("TMPDIR");
  return {{"process", process_facts(session)},
          {"host", host_facts()},
          {"processor", processor_facts(target)},
          {"memory", memory_facts()},
          {"shared_memory", folder_facts("/dev/shm")},
          {"temporary", folder_facts(temporary.empty() ? "/tmp" : temporary)},
          {"graphics", graphics_facts(target, session.local_rank(), devices)},
          {"container",
           {{"kind", container_kind()},
            {"driver_capabilities", environment_or_null("NVIDIA_DRIVER_CAPABILITIES")},
            {"visible_devices", environment_or_null("NVIDIA_VISIBLE_DEVICES")}}},
          {"clocks", unknown_clocks()},
          {"gemm", {{"host", 0.0}, {"device", 0.0}, {"error", ""}}},
          {"burn_in", nullptr}};
}

const json* device_of(const json& rank) {
  const json& graphics = rank.at("graphics");
  for (const json& device : graphics.at("devices")) {
    if (device.at("index") == graphics.at("chosen") && device.at("usable").get<bool>()) return &device;
  }
  return nullptr;
}

const json* hardware_of(const json& rank) {
  const json* device = device_of(rank);
  return device == nullptr || device->at("software").get<bool>() ? nullptr : device;
}

}  // namespace glinpack::app::doctor
