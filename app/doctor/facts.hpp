// The facts that every rank gathers about its process, node and devices: a JSON object for each rank, which
// docs/doctor.schema.json describes ("rank"). Nothing here throws: what is unknown is null or empty.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "backend/device_catalog.hpp"
#include "mpi/session.hpp"
#include "network/links.hpp"

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

/// The facts of this rank that take milliseconds to gather. Those of measure.hpp are null. `devices`: empty if they
/// were not listed.
nlohmann::json gather_quick_facts(const MpiSession& session, const Target& target,
                                  const std::optional<std::vector<DeviceDescription>>& devices);

/// The device that a rank computes on, or null: none, or software OpenGL.
const nlohmann::json* hardware_of(const nlohmann::json& rank);

}  // namespace glinpack::app::doctor
