// One rank's facts. Nothing here throws: what cannot be found out stays unknown.
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

/// What would run, as `glinpack plu` is told.
struct Target {
  std::string backend = "auto";
  std::optional<int> device;
  int threads = 1;  // of this rank
  bool threads_asked = false;
};

/// What costs milliseconds: all but HostFacts' addresses, clocks and gemm. `devices`: none where EGL was not asked.
RankFacts gather_quick_facts(const MpiSession& session, const Target& target,
                             const std::optional<std::vector<gl::DeviceDescription>>& devices);

/// Asks the system's resolver for the host's own name, which may take seconds.
void look_up_host(HostFacts& host);

/// Clocks and temperatures of the processor, now. `root` stands before /sys.
ClockFacts read_clocks(const std::string& root, std::span<const int> processors);

/// What this rank's device says of itself, by NVML or hwmon: its clocks now; its NVLinks, and its place on the bus
/// where that was not known.
void read_device_sensor(const sensors::Places& places, const sensors::GpuIdentity& identity, ClockFacts& clocks,
                        DeviceFacts& device);

}  // namespace glinpack::app::doctor
