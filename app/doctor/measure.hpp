// The facts that take longer: clocks and temperatures, and matrix products.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "backend/device_catalog.hpp"
#include "base/measuring.hpp"
#include "sensors/find_sensors.hpp"

namespace glinpack::app::doctor {

/// Sets "governor" and "throttled" of a rank's processors. The governor is the one that keeps a clock low, if there is
/// one: those of intel_pstate and amd-pstate in active mode are only hints. `root`: prefix of /sys.
void read_clocks(const std::string& root, nlohmann::json& processor);

/// Reads a device by NVML or hwmon: sets "mhz", "celsius" and "throttle". Returns its PCI address; empty if it has no
/// sensor.
std::string read_device_sensor(const sensors::Places& places, const sensors::GpuIdentity& identity,
                               nlohmann::json& device);

/// "gemm": C <- C - A B in double precision on every rank at the same time, as in a run. On the host, it uses the
/// backend that "auto" selects for `threads` threads; on the device, if it is not null, the one of its API. Collective
/// over MPI_COMM_WORLD. Does not throw: the result holds a backend's error.
nlohmann::json measure_gemm(int threads, const DeviceDescription* device, const MeasuringOptions& options);

}  // namespace glinpack::app::doctor
