// Reads the runs in `glinpack plu --json` as input of the model.
#pragma once

#include <string>
#include <vector>

#include "app/model/observation.hpp"

namespace glinpack::app::model {

struct MeasuredRun {
  std::string file;
  std::string backend;
  Observation observation;  // all passes, and the solution
  double seconds = 0;       // factorisation and solution
};

/// The finished runs of a file that the model supports (is_modelled()); at least one. Of repetitions, the fastest.
/// Throws InputError with file and remedy: not a file, not JSON, not from glinpack plu, no such run.
std::vector<MeasuredRun> read_measured_runs(const std::string& path);

/// Reads latency and rate of links from the ping-pongs of `glinpack network --json`: Work::network between hosts,
/// Work::memory within one. Uses the median of each. Throws InputError.
void read_links(MachineModel& machine, const std::string& path);

/// Scales `machine`'s costs to another machine of the same kind by its ceilings (`glinpack peaks --json`). Device
/// costs scale by multiply-adds, copies, dispatches and transfers, host costs by gemm, each relative to the ceilings of
/// `machine`. Throws InputError if the file is not from glinpack peaks, or has no device and `on_device` is true.
void scale_to_ceilings(MachineModel& machine, const std::string& path, Precision precision, bool on_device);

}  // namespace glinpack::app::model
