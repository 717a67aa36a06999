// Runs that `glinpack plu --json` told of, as the model takes them.
#pragma once

#include <string>
#include <vector>

#include "app/model/observation.hpp"

namespace glinpack::app::model {

struct MeasuredRun {
  std::string file;
  std::string backend;
  Observation observation;  // all passes and the solution
  double seconds = 0;       // factorisation and solution
  double gflops = 0;
};

/// The runs of a file that finished, and that the model knows (is_modelled()), of repetitions the fastest; at least
/// one. Throws InputError, naming file and remedy: not a file, not JSON, not of glinpack plu, no such run in it.
std::vector<MeasuredRun> read_measured_runs(const std::string& path);

/// Latency and rate of links by the ping-pongs of `glinpack network --json`: Work::network between hosts, Work::memory
/// within one; the median of each. Throws InputError.
void read_links(MachineModel& machine, const std::string& path);

/// Costs of another machine of `machine`'s kind, by its ceilings (`glinpack ceilings --json`): those of the device by
/// its multiply-adds, copies, dispatches and transfers, those of the host by its gemm, each beside the ceilings that
/// `machine` was measured with. Throws InputError: not of glinpack ceilings; no device in it where `on_device`.
void scale_to_ceilings(MachineModel& machine, const std::string& path, Precision precision, bool on_device);

}  // namespace glinpack::app::model
