// Gathers the facts of one rank. Nothing here throws: unreadable values stay unknown.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/doctor/facts.hpp"
#include "gl/devices.hpp"
#include "mpi/session.hpp"
#include "sensors/find_sensors.hpp"

namespace glinpack::app::doctor {

/// The backend and device that `glinpack plu` would use.
struct Target {
  std::string backend = "auto";
  std::optional<int> device;
  int threads = 1;  // of this rank
  bool threads_asked = false;
};

/// Gathers all facts that take milliseconds: not HostFacts' addresses, clocks and gemm. `devices`: empty if EGL was not
/// queried.
RankFacts gather_quick_facts(const MpiSession& session, const Target& target,
                             const std::optional<std::vector<gl::DeviceDescription>>& devices);

/// Resolves the host's own name, which may take seconds.
void look_up_host(HostFacts& host);

/// Current clocks and temperatures of the processor. `root` is a prefix of /sys.
ClockFacts read_clocks(const std::string& root, std::span<const int> processors);

/// Reads this rank's device by NVML or hwmon: its current clocks, its NVLinks, and its PCI address if it is unknown.
void read_device_sensor(const sensors::Places& places, const sensors::GpuIdentity& identity, ClockFacts& clocks,
                        DeviceFacts& device);

}  // namespace glinpack::app::doctor
