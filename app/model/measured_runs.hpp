// Measurements as input of the model: the runs of `glinpack plu --json`, and the links of `glinpack network --json`.
#pragma once

#include <string>
#include <vector>

#include "app/model/machine.hpp"
#include "app/record/run_record.hpp"

namespace glinpack::app::model {

/// A run. Seconds of each kind of work are sums over all ranks of the grid; 0 if unknown. A message counts from when
/// its other end has begun. The substitution is that of the whole solution.
struct Observation {
  Problem problem;
  ByWork<double> seconds;
};

/// Samples by kind of work.
using Samples = ByWork<std::vector<Sample>>;
void add_samples(Samples& samples, const Observation& observation);

/// Fits costs to the samples and records `source`; kinds without samples keep the costs of `machine`.
void fit(MachineModel& machine, const Samples& samples, const std::string& source);

struct MeasuredRun {
  std::string file;
  std::string backend;
  Observation observation;  // all passes, and the solution
  double seconds = 0;       // factorisation and solution
};

/// The finished runs of a file that the model supports, by blocks and without refinement; at least one. Of repetitions,
/// the fastest. Throws InputError with file and remedy: not a file, not JSON, not from glinpack plu, no such run.
std::vector<MeasuredRun> read_measured_runs(const std::string& path);

/// Reads latency and rate of links from the ping-pongs of `glinpack network --json`: Work::network between hosts,
/// Work::memory within one. Uses the median of each. Throws InputError.
void read_links(MachineModel& machine, const std::string& path);

}  // namespace glinpack::app::model
