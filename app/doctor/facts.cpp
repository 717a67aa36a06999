#include "app/doctor/facts.hpp"

#include <grp.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <regex>
#include <sstream>

#include "app/program/peak.hpp"
#include "app/program/program_context.hpp"
#include "app/program/topology.hpp"
#include "backend/registry.hpp"
#include "base/timeline.hpp"
#include "host/host_memory.hpp"
#include "mpi/communication.hpp"
#include "openblas/blas_library.hpp"
#include "sensors/kernel_sensors.hpp"
#include "version.hpp"

namespace glinpack::app::doctor {

namespace {

using nlohmann::json;
using Devices = std::optional<std::vector<DeviceDescription>>;

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

json null_if_0(std::int64_t number) { return number > 0 ? json(number) : json(); }

json process_facts(const MpiSession& session) {
  return {{"rank", session.rank()},
          {"world_size", session.size()},
          {"local_rank", session.local_rank()},
          {"node", first_rank_of_node()},
          {"program", std::string(version) + " (" + git_commit + ")"},
          {"mpi_library", std::regex_replace(MpiSession::library_version(), std::regex(" +"), " ")},
          {"mpi_headers", MpiSession::headers_version()},
          {"launcher", launcher_name()},
          {"launched", launched_processes()},
          {"allocated_tasks", std::max(0, std::atoi(environment("SLURM_NTASKS").c_str()))},
          {"oversubscribed", ranks_outnumber_cores()}};
}

json processor_facts(const Target& target) {
  const NodeView view = view_node();
  const std::string kernels = blas_kernels();
  return {{"name", processor_name()},
          {"cores", view.cores},
          {"fast_cores", view.fast_cores.empty() ? json() : json(view.fast_cores.size())},
          {"processors", view.processors},
          {"node_cores", view.node_cores},
          {"numa_nodes", view.numa_nodes},
          {"core_limit", null_if_0(view.core_limit)},
          {"node_processors", node_processors()},
          {"other_load", nullptr},
          {"threads", target.threads},
          {"kernels", kernels},
          {"kernels_before", kernels_before_reexecution()},
          {"better_kernels", better_kernels(kernels, processor_features()).value_or("")},
          {"core_type", environment("OPENBLAS_CORETYPE")},
          {"governor", nullptr},
          {"throttled", nullptr}};
}

json memory_facts() {
  rlimit locked{};
  const bool limited = getrlimit(RLIMIT_MEMLOCK, &locked) == 0 && locked.rlim_cur != RLIM_INFINITY;
  const std::int64_t available = bytes_of_host_memory("MemAvailable");
  // the kernel reports a huge number for a group without a limit
  const std::int64_t left = memory_left_by_control_groups().value_or(available);
  struct statvfs shared {};
  const bool writable = access("/dev/shm", W_OK | X_OK) == 0 && statvfs("/dev/shm", &shared) == 0;
  return {{"total", null_if_0(bytes_of_host_memory("MemTotal"))},
          {"available", null_if_0(available)},
          {"left_by_groups", left < available ? json(left) : json()},
          {"shared", writable ? static_cast<std::int64_t>(shared.f_bavail * shared.f_frsize) : 0},
          {"locked", limited ? json(locked.rlim_cur) : json()},
          {"rdma_devices", sensors::names_in("/sys/class/infiniband").size()}};
}

std::string group_of(const std::string& path) {
  struct stat file {};
  if (stat(path.c_str(), &file) != 0) return {};
  const group* const owner = getgrgid(file.st_gid);
  return owner == nullptr ? std::to_string(file.st_gid) : owner->gr_name;
}

// The files under /dev that OpenGL drivers need; /dev/nvidia-uvm is not one.
void add_device_files(const std::string& folder, const char* pattern, json& graphics) {
  for (const std::string& name : sensors::names_in(folder)) {
    if (!std::regex_match(name, std::regex(pattern))) continue;
    const std::string path = folder + "/" + name;
    if (name.starts_with("nvidia")) graphics["nvidia_files"] = true;
    if (access(path.c_str(), R_OK | W_OK) == 0) continue;
    graphics["denied"].push_back({{"path", path}, {"group", group_of(path)}});
  }
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

std::string container_kind() {
  const auto exists = [](const char* path) { return access(path, F_OK) == 0; };
  if (!environment("APPTAINER_CONTAINER").empty()) return "Apptainer";
  if (!environment("SINGULARITY_CONTAINER").empty()) return "Singularity";
  if (!environment("KUBERNETES_SERVICE_HOST").empty()) return "Kubernetes";
  if (exists("/.dockerenv")) return "Docker";
  if (exists("/run/.containerenv")) return "Podman";
  return environment("container");  // systemd-nspawn and lxc set it
}

json graphics_facts(const Target& target, const Devices& devices, const PciBus& bus) {
  json facts{{"backend", target.backend},
             {"devices", nullptr},
             {"hardware", 0},
             {"unusable", json::array()},
             {"nvidia_files", false},
             {"denied", json::array()},
             {"gpus", bus.gpus()},
             {"nvidia_kernel_driver", nvidia_kernel_driver()},
             {"egl_vendors", egl_vendors()},
             {"variables", device_catalog(target.backend).driver_variables()},
             {"container", container_kind()},
             {"driver_capabilities", environment("NVIDIA_DRIVER_CAPABILITIES")}};
  if (!devices) return facts;
  add_device_files("/dev/dri", "renderD.*", facts);
  add_device_files("/dev", "nvidia([0-9]*|ctl)", facts);
  facts["devices"] = devices->size();
  facts["hardware"] =
      std::ranges::count_if(*devices, [](const DeviceDescription& one) { return one.usable && !one.software; });
  for (const DeviceDescription& device : *devices) {
    if (!device.usable) facts["unusable"].push_back({{"index", device.index}, {"reason", device.why_unusable}});
  }
  return facts;
}

// The device that this rank computes on.
json device_facts(const Target& target, int local_rank, const Devices& devices, const PciBus& bus) {
  if (!devices) return {};
  const bool by_name = computes_on_device(target.backend);
  const int chosen = target.device ? *target.device : device_for_local_rank(*devices, local_rank, by_name);
  const auto device =
      std::ranges::find_if(*devices, [&](const DeviceDescription& one) { return one.usable && one.index == chosen; });
  if (device == devices->end()) return {};
  json facts = device_json(*device);
  facts.update({{"total_memory", null_if_0(device->total_memory)},
                {"free_memory", null_if_0(device->free_memory)},
                {"pci", bus.device(sensors::pci_address_of("", device->drm_file).value_or(""))},
                {"mhz", nullptr},
                {"celsius", nullptr},
                {"throttle", json::array()}});
  return facts;
}

// Large enough for a processor of many cores and for a GPU; 46 MiB in all.
constexpr Index order = 2048;
constexpr Index depth = 256;

// Random numbers, not zeros: a GPU that multiplies zeros draws less power and clocks higher than in a run.
void fill(DeviceMemory<double>& memory, DeviceMatrix<double>& matrix) {
  const Index elements = matrix.rows() * matrix.columns();
  const auto buffer = memory.allocate_host(elements);
  for (Index e = 0; e < elements; ++e) buffer->data()[e] = static_cast<double>(e % 127 - 63) / 64;
  memory.wait(memory.upload({buffer.get(), 0, matrix.rows(), matrix.columns(), matrix.columns()}, whole(matrix)));
}

double update_rate(std::string_view name, const BackendOptions& backend_options, const MeasuringOptions& options) {
  Timeline timeline;
  const auto backend = make_backend<double>(name, backend_options, timeline);
  const auto l_transposed = backend->allocate(depth, order), u = backend->allocate(depth, order);
  const auto a = backend->allocate(order, order);
  for (DeviceMatrix<double>* matrix : {l_transposed.get(), u.get(), a.get()}) fill(*backend, *matrix);
  const auto update = [&](std::int64_t rounds) {
    for (std::int64_t round = 0; round < rounds; ++round) backend->update(whole(*l_transposed), whole(*u), whole(*a));
    backend->wait_all();
  };
  return measured_rate(options, product_flops(order, order, depth), update).median;
}

}  // namespace

json gather_quick_facts(const MpiSession& session, const Target& target, const Devices& devices) {
  const PciBus bus;
  return {{"process", process_facts(session)},
          {"host", host_name()},
          {"processor", processor_facts(target)},
          {"memory", memory_facts()},
          {"graphics", graphics_facts(target, devices, bus)},
          {"device", device_facts(target, session.local_rank(), devices, bus)},
          {"gemm", nullptr},
          {"burn_in", nullptr}};
}

const json* hardware_of(const json& rank) {
  const json& device = rank.at("device");
  return device.is_null() || device.at("software").get<bool>() ? nullptr : &device;
}

void read_clocks(const std::string& root, json& processor) {
  bool found_saving = false;
  for (const int number : processor["processors"].get<std::vector<int>>()) {
    const std::string folder = root + "/sys/devices/system/cpu/cpu" + std::to_string(number);
    const std::string driver = sensors::line_of(folder + "/cpufreq/scaling_driver").value_or("");
    if (const auto governor = sensors::line_of(folder + "/cpufreq/scaling_governor"); governor && !found_saving) {
      found_saving = *governor == "powersave" && driver != "intel_pstate" && !driver.starts_with("amd-pstate-epp");
      processor["governor"] = found_saving || *governor != "powersave" ? *governor : *governor + " of " + driver;
    }
    if (const auto count = sensors::number_of(folder + "/thermal_throttle/core_throttle_count")) {
      const json& sum = processor["throttled"];
      processor["throttled"] = (sum.is_null() ? 0 : sum.get<std::uint64_t>()) + *count;
    }
  }
}

std::string read_device_sensor(const sensors::Places& places, const sensors::GpuIdentity& identity, json& device) {
  const sensors::FoundSensors found = sensors::find_gpu_sensor(places, identity);
  if (found.sensors.empty()) return {};
  sensors::Sensor& sensor = *found.sensors.front();
  const sensors::Reading reading = sensor.read();
  if (sensors::known(reading.core_megahertz)) device["mhz"] = reading.core_megahertz;
  if (sensors::known(reading.celsius)) device["celsius"] = reading.celsius;
  if (reading.throttle != sensors::unknown_throttle) {
    for (const sensors::ThrottleReason reason : sensors::reasons_in(reading.throttle & sensors::slowing_throttle)) {
      device["throttle"].push_back(sensors::name_of(reason));
    }
  }
  return sensor.info().id;
}

json measure_gemm(int threads, const DeviceDescription* device, const MeasuringOptions& options) {
  BackendOptions backend_options;
  backend_options.threads = threads;
  json gemm{{"host", nullptr}, {"device", nullptr}, {"error", ""}};
  const auto measure = [&](const char* key, const BackendRecord& backend) {
    try {
      gemm[key] = update_rate(backend.name, backend_options, options);
    } catch (const std::exception& failure) {
      gemm["error"] = std::string(backend.name) + ": " + failure.what();
    }
  };
  world().barrier();
  measure("host", automatic_backend(MemorySpace::host));
  world().barrier();
  if (device != nullptr) {
    backend_options.device = device->index;
    backend_options.uuid = device->uuid;
    measure("device", automatic_backend(device->api));
  }
  return gemm;
}

}  // namespace glinpack::app::doctor
