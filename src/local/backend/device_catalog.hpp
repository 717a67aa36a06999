// The compute devices of a backend: what the program asks of a GPU API beside arithmetic. A BackendRecord refers to its
// catalog.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/matrix_view.hpp"
#include "base/measuring.hpp"
#include "base/precision.hpp"

namespace glinpack {

/// Cooperative matrices, which a subgroup multiplies: rows x depth by depth x columns.
struct CooperativeMatrixShape {
  int rows = 0, columns = 0, depth = 0;
  bool exists() const { return depth > 0; }
  friend bool operator==(const CooperativeMatrixShape&, const CooperativeMatrixShape&) = default;
};

struct DeviceDescription {
  std::string api = "OpenGL";      // of its DeviceCatalog
  int index = 0;                   // of --device; as DeviceCatalog::list counts, unless the registry lists it
  bool usable = false;             // it opened, and has what the backends need
  std::string why_unusable;        // cause and remedy, when it is not
  bool software = false;           // computed by the processor
  std::string vendor;              // GL_VENDOR, or the name of the Vulkan driver
  std::string renderer;            // GL_RENDERER, or the name of the Vulkan device
  std::string version;             // names the driver, too
  std::string uuid;                // of the device, hexadecimal; empty if unknown
  std::string drm_file;            // "/dev/dri/card0"; empty if unknown
  int cuda_ordinal = -1;           // EGL_CUDA_DEVICE_NV; -1 if there is none
  std::int64_t total_memory = 0;   // bytes, 0 if unknown
  std::int64_t free_memory = 0;    // bytes, 0 if unknown
  std::int64_t storage_block = 0;  // GL_MAX_SHADER_STORAGE_BLOCK_SIZE, bytes
  std::int64_t texture_side = 0;   // GL_MAX_TEXTURE_SIZE, texels
  std::int64_t shared_memory = 0;  // GL_MAX_COMPUTE_SHARED_MEMORY_SIZE, bytes
  std::int64_t invocations = 0;    // GL_MAX_COMPUTE_WORK_GROUP_INVOCATIONS
  // of subgroups that compute shaders may reduce over and vote in (KHR_shader_subgroup); 0 without such subgroups
  int subgroup_size = 0;
  bool doubles = true;    // shaders compute in double precision
  int kernel_queues = 1;  // of an opened device, whose kernels may run at the same time
  // VK_KHR_cooperative_matrix: products of bytes, and of halves with sums in single precision
  CooperativeMatrixShape int8_matrices, half_matrices;
  /// The same for the same device and driver.
  std::string driver_key() const { return vendor + "\n" + renderer + "\n" + version; }
  bool has_matrices() const { return int8_matrices.exists() || half_matrices.exists(); }
};

/// The devices of all APIs, each once: element i holds, for each API that sees device i, its description, with index i.
/// `by_api`: what each API lists. A device is the same as one of an earlier API if their UUIDs are equal.
std::vector<std::vector<DeviceDescription>> same_devices(const std::vector<std::vector<DeviceDescription>>& by_api);

/// The description by the first API in which the device is usable, else by the first.
const DeviceDescription& best_of(const std::vector<DeviceDescription>& apis);

/// The device, unusable if its shaders do not compute in the precision of the factors.
DeviceDescription for_precision(DeviceDescription device, Precision precision);

/// Those of the environment variables that are set, as "A=1".
std::vector<std::string> variables_that_are_set(std::span<const char* const> names);

/// "A=1, B=2 are set: correct or unset them"; empty without variables.
std::string text_of_variables(const std::vector<std::string>& variables);

/// The device for the rank that is `local_rank`-th on its node: usable hardware devices in turn; software devices only
/// if `software_allowed`; -1 for none.
int device_for_local_rank(const std::vector<DeviceDescription>& devices, int local_rank, bool software_allowed);

/// How a device copies: by a compute shader, 16 bytes at a time, or by the driver's copy command.
enum class CopyWay { shader, driver };

/// The way with the better median.
struct CopyCeiling {
  Measured rate;  // bytes a second
  CopyWay way = CopyWay::driver;
  std::int64_t bytes = 0;  // copied at a time
};

/// Peak rates of a device, measured with simple kernels: the reference for the operations of the backends. The host's
/// clock times the commands and the wait for them, which also works for software devices.
struct DeviceCeilings {
  DeviceDescription device;
  CopyCeiling copy;      // within the device's memory; bytes read and bytes written both count
  CopyCeiling upload;    // from mapped host memory, as of DeviceMemory::allocate_host
  CopyCeiling download;  // to it
  Measured fma_single;   // flops a second, two for a fused multiply-add, in compute shaders
  Measured fma_double;   // 0 without double precision
  Measured dispatch;     // seconds for a compute shader of one work group and a barrier, of many in a row
  Measured read_back;    // seconds until the host has read_back_bytes of device memory
  std::int64_t read_back_bytes = 0;
  // of fragment shaders, 0 but in OpenGL: bytes from a texture in cache, texels of 16 bytes, and vertices, a second
  Measured fetches, fill, vertices;
};

/// A tile of the update's kernel, measured.
struct TileTrial {
  std::string tile;    // its name
  Measured rate;       // flops a second
  bool right = false;  // a small product equals the host's
};

struct Tuning {
  DeviceDescription device;
  Precision precision = Precision::single;
  Index order = 0;  // of the square matrix C
  Index depth = 0;
  std::vector<TileTrial> trials;  // in the order of the tiles tried

  /// The fastest correct tile, by the median. Throws std::runtime_error if none is correct.
  const TileTrial& best() const;
};

struct BackendOptions;

/// The tiles of the update's kernel. Names are values of BackendOption "tile".
struct TileCatalog {
  struct Choice {
    std::string name;
    bool is_kept = false;  // an earlier tuning of the device found it
  };
  /// The tile kept for the device, its driver and the precision, else the default.
  Choice (*choose)(const DeviceDescription&, Precision);
  /// Measures every tile on the device of the options, MeasuringOptions::seconds each. precision: single or double.
  /// Throws std::runtime_error.
  Tuning (*tune)(const BackendOptions&, Precision, const MeasuringOptions&);
  /// A function that measures the rate of the update with the chosen tile: flops a second. It holds the device and its
  /// memory. Both throw std::runtime_error.
  std::function<double(const MeasuringOptions&)> (*open_update)(const BackendOptions&, Precision);
  /// Keeps the best tile for later runs. Returns its file; empty if the cache folder cannot be written.
  std::string (*keep)(const Tuning&);
};

struct DeviceCatalog {
  std::string_view api;             // "OpenGL"
  std::string_view noun;            // "EGL device"
  std::string_view install;         // the remedy if there is no device, after "no EGL device was found;"
  std::string_view remedy;          // the same as sentences, in lines
  std::string_view selection = {};  // the environment variable by which users select devices, for all APIs

  /// All devices, in the order of their indices; those that do not work give the reason. A broken device never makes it
  /// throw. Empty without devices or a driver.
  std::vector<DeviceDescription> (*list)();
  /// The environment variables that can hide devices or break their drivers, if they are set:
  /// "GALLIUM_DRIVER=softpipe".
  std::vector<std::string> (*driver_variables)();
  /// "GALLIUM_DRIVER=softpipe is set: correct or unset it"; empty if none is set.
  std::string (*driver_variables_text)();
  /// The multiply-adds of options.device in this precision (mixed: single): flops a second. Both measurements throw
  /// std::runtime_error with cause and remedy if the device does not exist, if memory is insufficient, or if a copied
  /// or computed value is wrong.
  Measured (*measure_peak)(const BackendOptions& options, Precision, const MeasuringOptions&);
  /// Takes about eleven times MeasuringOptions::seconds.
  DeviceCeilings (*measure_ceilings)(const BackendOptions& options, const MeasuringOptions&);
};

}  // namespace glinpack
