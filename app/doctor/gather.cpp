#include "app/doctor/gather.hpp"

#include <grp.h>
#include <netdb.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <filesystem>

#include "app/doctor/pci.hpp"
#include "app/reexecution.hpp"
#include "app/topology.hpp"
#include "backend/registry.hpp"
#include "host/host_memory.hpp"
#include "openblas/openblas_backend.hpp"
#include "version.hpp"

namespace glinpack::app::doctor {

namespace {

namespace fs = std::filesystem;

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::optional<std::string> environment_if_set(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

bool exists(const char* path) {
  std::error_code error;
  return fs::exists(path, error);
}

ProcessFacts process_facts(const MpiSession& session) {
  return {.rank = session.rank(),
          .world_size = session.size(),
          .local_rank = session.local_rank(),
          .node = first_rank_of_node(),
          .program = std::string(version) + " (" + git_commit + ")",
          .mpi_library = MpiSession::library_version(),
          .mpi_headers = MpiSession::headers_version(),
          .launcher = launcher_name(),
          .launched = launched_processes(),
          .allocated_tasks = std::max(0, std::atoi(environment("SLURM_NTASKS").c_str())),
          .oversubscribed = ranks_outnumber_cores()};
}

HostFacts host_facts() {
  utsname system{};
  const bool known = uname(&system) == 0;
  return {.name = host_name(),
          .kernel = known ? std::string(system.sysname) + " " + system.release : std::string(),
          .addresses = {}};
}

ProcessorFacts processor_facts(const NodeView& view, const Target& target) {
  const ProcessorFeatures features = processor_features();
  return {.name = processor_name(),
          .cores = view.cores,
          .processors = view.processors,
          .node_cores = view.node_cores,
          .numa_nodes = view.numa_nodes,
          .core_limit = view.core_limit,
          .threads = target.threads,
          .threads_asked = target.threads_asked,
          .kernels = openblas_kernels(),
          .kernels_before = kernels_before_reexecution(),
          .core_type = environment("OPENBLAS_CORETYPE"),
          .avx2_fma = features.avx2_fma,
          .avx512 = features.avx512};
}

MemoryFacts memory_facts() {
  const auto kibibytes = [](const char* name) { return number_named("/proc/meminfo", name).value_or(0) * 1024; };
  rlimit locked{};
  const bool limited = getrlimit(RLIMIT_MEMLOCK, &locked) == 0 && locked.rlim_cur != RLIM_INFINITY;
  const std::int64_t available = kibibytes("MemAvailable");
  // the kernel reports a huge number for a group without a limit
  const std::int64_t left = memory_left_by_control_groups().value_or(available);
  return {.total = kibibytes("MemTotal"),
          .available = available,
          .left_by_groups = left < available ? left : 0,
          .address_space = address_space_left(),
          .locked = limited ? static_cast<std::int64_t>(locked.rlim_cur) : -1,
          .rdma_devices = static_cast<int>(names_in("/sys/class/infiniband", "").size())};
}

FolderFacts folder_facts(const std::string& path) {
  FolderFacts facts{.path = path, .writable = access(path.c_str(), W_OK | X_OK) == 0};
  struct statvfs system {};
  if (statvfs(path.c_str(), &system) == 0) {
    facts.total = static_cast<std::int64_t>(system.f_blocks) * static_cast<std::int64_t>(system.f_frsize);
    facts.free = static_cast<std::int64_t>(system.f_bavail) * static_cast<std::int64_t>(system.f_frsize);
  }
  return facts;
}

std::string group_of(const std::string& path) {
  struct stat file {};
  if (stat(path.c_str(), &file) != 0) return {};
  const group* const owner = getgrgid(file.st_gid);
  return owner == nullptr ? std::to_string(file.st_gid) : owner->gr_name;
}

// True for /dev/nvidia0, false for /dev/nvidia-uvm, which OpenGL does not need.
bool drives_gpu(const std::string& name) {
  return name == "nvidiactl" || name.find_first_not_of("0123456789", std::string("nvidia").size()) == std::string::npos;
}

std::vector<DeviceFile> device_files() {
  std::vector<DeviceFile> files;
  const auto add = [&files](const std::string& path) {
    const bool usable = access(path.c_str(), R_OK | W_OK) == 0;
    files.push_back({.path = path, .usable = usable, .group = usable ? "" : group_of(path)});
  };
  for (const std::string& name : names_in("/dev/dri", "renderD")) add("/dev/dri/" + name);
  for (const std::string& name : names_in("/dev", "nvidia")) {
    if (drives_gpu(name)) add("/dev/" + name);
  }
  return files;
}

// The search order of libglvnd.
std::vector<std::string> egl_vendors() {
  const auto split = [](const std::string& list) {
    std::vector<std::string> parts;
    for (std::size_t at = 0; at < list.size();) {
      const std::size_t end = std::min(list.find(':', at), list.size());
      if (end > at) parts.push_back(list.substr(at, end - at));
      at = end + 1;
    }
    return parts;
  };
  if (const std::string files = environment("__EGL_VENDOR_LIBRARY_FILENAMES"); !files.empty()) return split(files);
  std::vector<std::string> folders{"/etc/glvnd/egl_vendor.d", "/usr/share/glvnd/egl_vendor.d"};
  if (const std::string named = environment("__EGL_VENDOR_LIBRARY_DIRS"); !named.empty()) folders = split(named);
  std::vector<std::string> vendors;
  for (const std::string& folder : folders) {
    for (const std::string& name : names_in(folder, "")) vendors.push_back(folder + "/" + name);
  }
  return vendors;
}

DeviceFacts device_facts(const gl::DeviceDescription& device) {
  return {.index = device.index,
          .usable = device.usable,
          .software = device.software,
          .why_unusable = device.why_unusable,
          .renderer = device.renderer,
          .version = device.version,
          .uuid = device.uuid,
          .total_memory = device.total_memory,
          .free_memory = device.free_memory,
          .pci = device.software ? PciDevice{} : read_pci_device("", pci_address_of("", device.drm_file, device.uuid))};
}

GraphicsFacts graphics_facts(const Target& target, int local_rank,
                             const std::optional<std::vector<gl::DeviceDescription>>& devices) {
  GraphicsFacts facts{.looked = devices.has_value(),
                      .backend = target.backend,
                      .devices = {},
                      .files = device_files(),
                      .gpus = list_gpus(""),
                      .nvidia_kernel_driver = nvidia_kernel_driver(),
                      .egl_vendors = egl_vendors()};
  if (!devices) return facts;
  for (const gl::DeviceDescription& device : *devices) facts.devices.push_back(device_facts(device));
  const bool by_name = computes_on_device(target.backend);
  facts.chosen = target.device ? *target.device : gl::device_for_local_rank(*devices, local_rank, by_name);
  return facts;
}

ContainerFacts container_facts() {
  ContainerFacts facts{.kind = {},
                       .driver_capabilities = environment_if_set("NVIDIA_DRIVER_CAPABILITIES"),
                       .visible_devices = environment_if_set("NVIDIA_VISIBLE_DEVICES")};
  if (!environment("APPTAINER_CONTAINER").empty()) {
    facts.kind = "Apptainer";
  } else if (!environment("SINGULARITY_CONTAINER").empty()) {
    facts.kind = "Singularity";
  } else if (!environment("KUBERNETES_SERVICE_HOST").empty()) {
    facts.kind = "Kubernetes";
  } else if (exists("/.dockerenv")) {
    facts.kind = "Docker";
  } else if (exists("/run/.containerenv")) {
    facts.kind = "Podman";
  } else {
    facts.kind = environment("container");  // systemd-nspawn and lxc set it
  }
  return facts;
}

}  // namespace

RankFacts gather_quick_facts(const MpiSession& session, const Target& target,
                             const std::optional<std::vector<gl::DeviceDescription>>& devices) {
  const std::string temporary = environment("TMPDIR");
  return {.process = process_facts(session),
          .host = host_facts(),
          .processor = processor_facts(view_node(), target),
          .memory = memory_facts(),
          .shared_memory = folder_facts("/dev/shm"),
          .temporary = folder_facts(temporary.empty() ? "/tmp" : temporary),
          .graphics = graphics_facts(target, session.local_rank(), devices),
          .container = container_facts(),
          .clocks = {},
          .gemm = {}};
}

void look_up_host(HostFacts& host) {
  const auto begin = std::chrono::steady_clock::now();
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (getaddrinfo(host.name.c_str(), nullptr, &hints, &found) != 0) found = nullptr;
  for (const addrinfo* address = found; address != nullptr; address = address->ai_next) {
    std::array<char, NI_MAXHOST> text{};
    if (getnameinfo(address->ai_addr, address->ai_addrlen, text.data(), text.size(), nullptr, 0, NI_NUMERICHOST) == 0) {
      host.addresses.emplace_back(text.data());
    }
  }
  if (found != nullptr) freeaddrinfo(found);
  host.resolve_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace glinpack::app::doctor
