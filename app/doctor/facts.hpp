// Facts that every rank gathers about its process, node and devices. Data only: gather.hpp gathers it, checks.hpp
// judges it.
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
  int node = 0;                 // the lowest rank that can share memory with this one
  std::string program;          // version and commit
  std::string mpi_library;      // MPI_Get_library_version
  std::string mpi_headers;      // "MPICH 4.0.2": what glinpack was compiled with
  std::string launcher;         // "Hydra", "Open MPI", "Slurm", "PMIx"; empty: none
  int launched = 0;             // processes that the launcher reports; 0 unknown
  int allocated_tasks = 0;      // SLURM_NTASKS; 0 outside of an allocation
  bool oversubscribed = false;  // ranks outnumber cores, or the user says so: waits back off
};

struct HostFacts {
  std::string name;
  std::string kernel;                  // of the operating system: "Linux 6.1.0"
  std::vector<std::string> addresses;  // to which the host's own name resolves
  double resolve_seconds = -1;         // duration of the look-up; -1: not tried
};

struct ProcessorFacts {
  std::string name;
  std::vector<int> cores;       // hwloc's logical indices of the cores that this rank may use
  std::vector<int> processors;  // OS indices of their processing units
  int node_cores = 0;           // of the node or container; 0 unknown
  int numa_nodes = 0;
  int core_limit = 0;  // cores that a control group's quota allows; 0: no limit
  int threads = 1;     // of this rank, for arithmetic
  bool threads_asked = false;
  std::string kernels;         // OpenBLAS's kernels
  std::string kernels_before;  // OpenBLAS's own choice, before glinpack changed it; empty: unchanged
  std::string core_type;       // OPENBLAS_CORETYPE
  bool avx2_fma = false;
  bool avx512 = false;
};

/// Bytes; 0 unknown.
struct MemoryFacts {
  std::int64_t total = 0;           // of the node
  std::int64_t available = 0;       // on the node, shared by all its ranks
  std::int64_t left_by_groups = 0;  // within the limits of the control groups; 0: no limit
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
  std::string group;    // group that owns the file
};

/// A PCI device as sysfs describes it.
struct PciDevice {
  std::string address;                // "0000:18:00.0"; empty: not on the bus, or not known
  int vendor = 0;                     // for example 0x10de
  int numa_node = -1;                 // -1 unknown, or a machine with one node
  std::vector<int> local_processors;  // OS indices
  int width = 0;                      // lanes; 0 unknown
  int largest_width = 0;
  std::string speed;                 // "16.0 GT/s PCIe", at the moment
  std::vector<std::string> bridges;  // from the root complex down to the device
};

/// An EGL device and, if readable, its state.
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
  bool looked = false;  // true if EGL was queried
  std::string backend;  // asked for: "auto", "openblas", ...
  std::vector<DeviceFacts> devices;
  int chosen = -1;                       // index of this rank's device; -1: none
  std::vector<DeviceFile> files;         // /dev/dri/renderD*, /dev/nvidia*
  std::vector<PciDevice> gpus;           // on the PCI bus, even if EGL does not list them
  std::string nvidia_kernel_driver;      // version of the module; empty: not loaded
  std::vector<std::string> egl_vendors;  // vendor files by which libEGL finds drivers
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
  std::string governor;    // of the first processor whose governor saves power, else of the first; empty: unknown
  double slowest_mhz = 0;  // the lowest current clock of this rank's processors; 0 unknown
  double fastest_mhz = 0;
  double highest_mhz = 0;            // maximum clock of the processors
  std::int64_t throttled = -1;       // number of thermal throttle events since boot; -1 unknown
  std::vector<Temperature> hottest;  // at most one: the sensor nearest to its limit
  // this rank's device
  std::string device_source;  // "NVML", "hwmon"; empty: not readable
  double device_mhz = 0;      // current clock; 0 unknown
  double device_highest_mhz = 0;
  double device_celsius = 0;
  std::vector<std::string> device_throttle;  // why it is slowed down: "power cap", ...
};

/// Flops a second; 0: not measured.
struct GemmFacts {
  double host = 0;
  double device = 0;
  std::string error = {};  // why a product could not be computed; empty if it could
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

/// The facts of all ranks, in rank order.
struct Facts {
  std::vector<RankFacts> ranks;
  bool quick = false;                  // network and gemm were skipped
  std::optional<Screening> screening;  // none: not measured
};

/// facts_from_json(to_json(x)) returns x.
nlohmann::json to_json(const RankFacts& facts);
RankFacts facts_from_json(const nlohmann::json& json);

}  // namespace glinpack::app::doctor
