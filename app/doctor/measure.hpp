// The facts that take longer: the look-up of the host's name, clocks and temperatures, and matrix products.
#pragma once

#include <nlohmann/json.hpp>
#include <span>
#include <string>

#include "base/measuring.hpp"
#include "sensors/find_sensors.hpp"

namespace glinpack::app::doctor {

/// Resolves the host's own name: sets "addresses" and "resolve_seconds" of `host`. May take seconds.
void resolve_host_name(nlohmann::json& host);

/// "clocks" before they are read.
nlohmann::json unknown_clocks();

/// True for a governor that keeps the clock low. The governors of intel_pstate and amd-pstate in active mode are only
/// hints: the processor raises its clock under load.
bool saves_power(const std::string& driver, const std::string& governor);

/// "clocks" of processors with these OS indices. `root`: prefix of /sys.
nlohmann::json read_clocks(const std::string& root, std::span<const int> processors);

/// Reads a device by NVML or hwmon: sets the device's entries of `clocks`, and "nvlinks" of `device`. Returns the
/// device's PCI address; empty if it has no sensor.
std::string read_device_sensor(const sensors::Places& places, const sensors::GpuIdentity& identity,
                               nlohmann::json& clocks, nlohmann::json& device);

/// "gemm": C <- C - A B in double precision on every rank at the same time, as in a run. On the host, it uses the
/// backend that "auto" selects for `threads` threads; on the device, if `device` >= 0, the one for devices. Collective
/// over MPI_COMM_WORLD. Does not throw: the result holds a backend's error.
nlohmann::json measure_gemm(int threads, int device, const MeasuringOptions& options);

}  // namespace glinpack::app::doctor
