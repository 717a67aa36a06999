// The sensors of this machine: where they are looked for, and which belongs to an OpenGL device.
#pragma once

#include <string>

#include "local/sensors/sensor.hpp"

namespace glinpack::sensors {

/// Where to look; others in tests.
struct Places {
  std::string root;                                // stands before /sys and /proc
  std::string nvml_library = "libnvidia-ml.so.1";  // as dlopen() takes it

  /// GLINPACK_SENSORS_ROOT and GLINPACK_NVML where they are set.
  static Places from_environment();
};

/// What OpenGL and EGL know of a device (gl::DeviceDescription), and NVML or the kernel may know it by.
struct GpuIdentity {
  std::string vendor;    // GL_VENDOR: NVIDIA's driver is asked through NVML, the others through hwmon
  std::string uuid;      // 32 hexadecimal digits; empty where unknown
  std::string drm_file;  // "/dev/dri/card0"; empty where unknown
};

/// The same for all processes of a running system, also in containers of their own: the kernel's boot id; where it is
/// not readable, the host's name.
std::string machine_id(const Places& places);

/// Every package, and its memory where that is counted (RAPL).
FoundSensors find_processor_sensors(const Places& places);

/// The sensor of one GPU: by its UUID, or by the PCI address of its DRM file, or because it is the only one. None, and
/// the reason in `unread`, where that is not enough: a CUDA ordinal counts devices in an order of CUDA's own, so it is
/// not used. Nothing at all where the kernel has no readings of it.
FoundSensors find_gpu_sensor(const Places& places, const GpuIdentity& gpu);

/// Every GPU that NVML knows, in NVML's order.
FoundSensors find_nvidia_sensors(const Places& places);

}  // namespace glinpack::sensors
