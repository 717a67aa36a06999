// The context of the JSON documents that commands write.
#pragma once

#include <string>
#include <vector>

#include "app/record/context.hpp"
#include "app/record/json.hpp"
#include "backend/device_catalog.hpp"
#include "base/measuring.hpp"

namespace glinpack::app {

/// The context of this process, as far as it is known without MPI.
ReportContext process_context(std::vector<std::string> command_line);

/// This node: host, system, kernel, processor, sockets, cores, hardware threads, memory, GPUs, their kernel driver.
nlohmann::json node_json();

/// What context_json() has without MPI (app/record/context.hpp).
nlohmann::json program_context(const std::vector<std::string>& command_line, nlohmann::json configuration);

/// Index, renderer, version, UUID or null, software or not.
nlohmann::json device_json(const DeviceDescription& device);

/// A measurement in a unit, as the results of peaks, tune and the solvers have it.
struct MeasuredQuantity {
  std::string unit;
  Measured values;
};

/// The values times `scale`.
MeasuredQuantity in_unit(const Measured& measured, const char* unit, double scale = 1);

template <class Json>
void describe(Json& json, MeasuredQuantity& quantity) {
  json("unit", quantity.unit);
  json("median", quantity.values.median);
  json("least", quantity.values.min);
  json("most", quantity.values.max);
  json("repetitions", quantity.values.repetitions, 1);
}

// OpenBLAS chooses its kernels when it is loaded. If its choice is poor, the program executes itself again with
// OPENBLAS_CORETYPE set. This happens before MPI starts, when it is still safe.

/// Returns if OpenBLAS's choice is right, the user made it, or this is the second execution.
void execute_again_with_better_kernels(char** argv);

/// In the second execution, a line for the report.
std::vector<std::string> reexecution_notes();

/// In the second execution, OpenBLAS's original kernels; empty in the first.
std::string kernels_before_reexecution();

}  // namespace glinpack::app
