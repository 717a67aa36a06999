#include "sensors/find_sensors.hpp"

#include <unistd.h>

#include <climits>
#include <cstdlib>
#include <stdexcept>

#include "sensors/kernel_sensors.hpp"

namespace glinpack::sensors {

namespace {

bool has_nvidia_driver(const GpuIdentity& gpu) { return gpu.vendor.find("NVIDIA") != std::string::npos; }

std::string variable_or(const char* name, const std::string& otherwise) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : otherwise;
}

}  // namespace

Places Places::from_environment() {
  const Places usual;
  return {.root = variable_or("GLINPACK_SENSORS_ROOT", usual.root),
          .nvml_library = variable_or("GLINPACK_NVML", usual.nvml_library)};
}

std::string machine_id(const Places& places) {
  if (const auto boot = line_of(places.root + "/proc/sys/kernel/random/boot_id"); boot && !boot->empty()) return *boot;
  char host[HOST_NAME_MAX + 1] = {};
  gethostname(host, sizeof host - 1);
  return host;
}

FoundSensors find_processor_sensors(const Places& places) { return find_rapl_sensors(places.root); }

FoundSensors find_gpu_sensor(const Places& places, const GpuIdentity& gpu) {
  FoundSensors found;
  if (!has_nvidia_driver(gpu)) {
    if (auto sensor = find_hwmon_sensor(places.root, gpu.drm_file)) found.sensors.push_back(std::move(sensor));
    return found;
  }
  try {
    found.sensors.push_back(open_nvml_sensor(places, gpu));
  } catch (const std::runtime_error& error) {
    found.unread.push_back({Kind::gpu, error.what()});
  }
  return found;
}

}  // namespace glinpack::sensors
