// Finds the sensors of this machine, and the sensor of a GPU.
#pragma once

#include <string>

#include "sensors/sensor.hpp"

namespace glinpack::sensors {

/// Paths of the sources; tests set others.
struct Places {
  std::string root;                                // prefix of /sys and /proc
  std::string nvml_library = "libnvidia-ml.so.1";  // as dlopen() takes it

  /// GLINPACK_SENSORS_ROOT and GLINPACK_NVML if set.
  static Places from_environment();
};

/// The attributes of a DeviceDescription that identify it to NVML or the kernel.
struct GpuIdentity {
  std::string vendor;    // of the driver: NVIDIA's driver is asked through NVML, the others through hwmon
  std::string uuid;      // 32 hexadecimal digits; empty if unknown
  std::string drm_file;  // "/dev/dri/card0"; empty if unknown
};

/// The same in all processes of a running system, also in containers: the kernel's boot id, or the host name if that is
/// not readable.
std::string machine_id(const Places& places);

/// Every package, and its memory if RAPL counts it.
FoundSensors find_processor_sensors(const Places& places);

/// The sensor of one GPU, identified by its UUID, by the PCI address of its DRM file, or as the only GPU. Otherwise
/// none, with the reason in `unread`. CUDA ordinals are not used, since CUDA has its own order of devices. Empty if the
/// kernel has no readings of the GPU.
FoundSensors find_gpu_sensor(const Places& places, const GpuIdentity& gpu);

/// The sensor of a GPU of NVIDIA's driver, by its management library, which is loaded at run time and stays initialised
/// as long as the sensor. Throws std::runtime_error with library and cause if it cannot be loaded or initialised, or
/// with NVML's error text if it has not the device.
std::unique_ptr<Sensor> open_nvml_sensor(const Places& places, const GpuIdentity& gpu);

}  // namespace glinpack::sensors
