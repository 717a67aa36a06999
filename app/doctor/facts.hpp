// What every rank finds out about its process, its node and its devices: data alone. gather.hpp gathers it,
// checks.hpp judges it.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "network/links.hpp"

namespace glinpack::app::doctor {

struct ProcessFacts {
  int rank = 0;
  int world_size = 1;
  int local_rank = 0;
  int node = 0;                 // the first rank that MPI can give memory in common with this one
  std::string program;          // version and commit
  std::string mpi_library;      // as it describes itself, at run time
  std::string mpi_headers;      // "MPICH 4.0.2": what glinpack was compiled with
  std::string launcher;         // "Hydra", "Open MPI", "Slurm", "PMIx"; empty: none
  int launched = 0;             // processes that the launcher says it started; 0 unknown
  int allocated_tasks = 0;      // SLURM_NTASKS; 0 outside of an allocation
  bool oversubscribed = false;  // what the waits go by: ranks outnumber cores, or somebody says so
};

struct HostFacts {
  std::string name;
  std::string kernel;                  // of the operating system: "Linux 6.1.0"
  std::vector<std::string> addresses;  // that the host's own name resolves to
  double resolve_seconds = -1;         // it took; -1: not tried
};

struct ProcessorFacts {
  std::string name;
  std::vector<int> cores;       // hwloc's logical indices of those that this rank may use
  std::vector<int> processors;  // the system's numbers of their processing units
  int node_cores = 0;           // that the node, or this container, has; 0 unknown
  int numa_nodes = 0;
  int core_limit = 0;  // what a control group's quota leaves; 0: no limit
  int threads = 1;     // that this rank would take for arithmetic
  bool threads_asked = false;
  std::string kernels;         // that OpenBLAS takes
  std::string kernels_before;  // that it took before glinpack told it better; empty: it was not told
  std::string core_type;       // OPENBLAS_CORETYPE
  bool avx2_fma = false;
  bool avx512 = false;
};

/// Bytes; 0 unknown.
struct MemoryFacts {
  std::int64_t total = 0;           // of the node
  std::int64_t available = 0;       // on the node, for all its ranks together
  std::int64_t left_by_groups = 0;  // what the control groups leave of it; 0: all
  std::int64_t address_space = 0;   // 0: no limit
  std::int64_t locked = -1;         // RLIMIT_MEMLOCK; -1: no limit
  int rdma_devices = 0;             // /sys/class/infiniband
};

struct FolderFacts {
  std::string path;
  bool writable = false;
  std::int64_t total = 0;  // bytes of its file system
  std::int64_t free = 0;
};

/// A file under /dev that a driver needs.
struct DeviceFile {
  std::string path;
  bool usable = false;  // readable and writable
  std::string group;    // the file's
};

/// What sysfs knows of a device on the PCI bus.
struct PciDevice {
  std::string address;                // "0000:18:00.0"; empty: not on the bus, or not known
  int vendor = 0;                     // 0x10de
  int numa_node = -1;                 // -1 unknown, or a machine that has but one
  std::vector<int> local_processors;  // the system's numbers
  int width = 0;                      // lanes; 0 unknown
  int largest_width = 0;
  std::string speed;                 // "16.0 GT/s PCIe", at the moment
  std::vector<std::string> bridges;  // from the root complex down
};

/// An EGL device and, where they are readable, its state.
struct DeviceFacts {
  int index = -1;
  bool usable = false;
  bool software = false;
  std::string why_unusable;
  std::string renderer;
  std::string version;
  std::string uuid;
  std::int64_t total_memory = 0;
  std::int64_t free_memory = 0;
  int nvlinks = -1;  // active; -1 unknown
  PciDevice pci;
};

struct GraphicsFacts {
  bool looked = false;  // whether EGL was asked
  std::string backend;  // asked for: "auto", "openblas", ...
  std::vector<DeviceFacts> devices;
  int chosen = -1;                       // index of this rank's; -1: none
  std::vector<DeviceFile> files;         // /dev/dri/renderD*, /dev/nvidia*
  std::vector<PciDevice> gpus;           // on the bus, whether EGL knows them or not
  std::string nvidia_kernel_driver;      // version of the module; empty: not loaded
  std::vector<std::string> egl_vendors;  // files by which libEGL finds drivers
};

struct ContainerFacts {
  std::string kind;                                // "Docker", "Apptainer", ...; empty: none seen
  std::optional<std::string> driver_capabilities;  // NVIDIA_DRIVER_CAPABILITIES
  std::optional<std::string> visible_devices;      // NVIDIA_VISIBLE_DEVICES
};

struct Temperature {
  std::string name;
  double celsius = 0;
  double critical = 0;  // 0 unknown
};

struct ClockFacts {
  std::string driver;      // of cpufreq
  std::string governor;    // of the first processor whose governor saves power, else of the first; empty: not readable
  double slowest_mhz = 0;  // of the processors this rank may use, now; 0 unknown
  double fastest_mhz = 0;
  double highest_mhz = 0;            // that they can be clocked at
  std::int64_t throttled = -1;       // times a processor was throttled by heat since the start; -1 unknown
  std::vector<Temperature> hottest;  // at most one: nearest to its limit
  // of this rank's device
  std::string device_source;  // "NVML", "hwmon"; empty: not readable
  double device_mhz = 0;      // now; 0 unknown
  double device_highest_mhz = 0;
  double device_celsius = 0;
  std::vector<std::string> device_throttle;  // why it is slowed down: "power cap", ...
};

/// Flops a second; 0: not measured.
struct GemmFacts {
  double host = 0;
  double device = 0;
  std::string error = {};  // why a product could not be computed; empty: it could
};

struct RankFacts {
  ProcessFacts process;
  HostFacts host;
  ProcessorFacts processor;
  MemoryFacts memory;
  FolderFacts shared_memory;
  FolderFacts temporary;
  GraphicsFacts graphics;
  ContainerFacts container;
  ClockFacts clocks;
  GemmFacts gemm;
};

/// Of all ranks, in order.
struct Facts {
  std::vector<RankFacts> ranks;
  bool quick = false;                  // network and gemm were left out
  std::optional<Screening> screening;  // none: not measured
};

/// facts_from_json(to_json(x)) gives x back.
nlohmann::json to_json(const RankFacts& facts);
RankFacts facts_from_json(const nlohmann::json& json);

}  // namespace glinpack::app::doctor
