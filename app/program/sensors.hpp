// Opens a rank's sensors: those of all processors of its machine, and of its GPU.
#pragma once

#include "app/program/machine.hpp"
#include "backend/backend.hpp"
#include "run/records.hpp"

namespace glinpack::app {

/// Searches the sensors (local/sensors/find_sensors.hpp). `info`: this rank's backend. Does not throw: the result lists
/// what cannot be read.
RankSensors open_sensors(const Machine& machine, const BackendInfo& info);

}  // namespace glinpack::app
