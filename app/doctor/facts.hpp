// The facts that every rank gathers about its process, node and devices: a JSON object for each rank, which
// docs/doctor.schema.json describes ("rank"). Nothing here throws: what is unknown is null or empty.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "app/options/plu_options.hpp"
#include "backend/device_catalog.hpp"
#include "base/measuring.hpp"
#include "mpi/session.hpp"
#include "network/links.hpp"
#include "sensors/find_sensors.hpp"

namespace glinpack::app::doctor {

/// The facts of all ranks, in rank order.
struct Facts {
  std::vector<nlohmann::json> ranks;
  bool quick = false;                  // network, gemm, load and clocks were skipped
  std::optional<Screening> screening;  // none: not measured
};

/// The backend and device that `glinpack plu` would use.
struct Target {
  std::string backend = "auto";
  std::optional<int> device;
  int threads = 1;  // of this rank
};

/// The facts of this rank that take milliseconds to gather. Those that take longer are null. `devices`: empty if they
/// were not listed.
nlohmann::json gather_quick_facts(const MpiSession& session, const Target& target,
                                  const std::optional<std::vector<DeviceDescription>>& devices);

/// The device that a rank computes on, or null: none, or a software device.
const nlohmann::json* hardware_of(const nlohmann::json& rank);

// The facts that take longer: clocks and temperatures, and matrix products.

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

/// "burn_in" of this rank's facts. All ranks factorise the same matrix at the same time, again and again, until a loop
/// ends after this time or a signal requests the end. The matrix is as large as memory allows, but a loop takes at most
/// about a twentieth of the time. `machine`: backend, device, threads and precision. Collective over MPI_COMM_WORLD.
/// Does not throw: the result holds a backend's error. An error in a loop ends the job.
nlohmann::json measure_burn_in(const MpiSession& session, const PluOptions& machine, double minutes);

/// A table of the devices: a line for each rank. Empty without a burn-in.
std::string burn_in_text(const Facts& facts);

}  // namespace glinpack::app::doctor
