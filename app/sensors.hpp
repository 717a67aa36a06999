// Which sensors a rank sees: all of its machine's processors, and of the GPU that it computes with.
#pragma once

#include "app/machine.hpp"
#include "backend/backend.hpp"
#include "lu/records.hpp"

namespace glinpack::app {

/// Looks for them (local/sensors/find_sensors.hpp). `info`: of this rank's backend. Does not throw: what cannot be read
/// is said in the result.
RankSensors open_sensors(const Machine& machine, const BackendInfo& info);

}  // namespace glinpack::app
