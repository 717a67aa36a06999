// Traces (--trace): the timeline of each process.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "app/record/run_record.hpp"

namespace glinpack::app {

/// Writes Chrome's trace event format, which ui.perfetto.dev opens: pid = world rank, lanes cpu, gpu, net as threads,
/// and sensor readings as counters. Runs follow one another. Written piece by piece: a trace may be larger than memory.
void write_trace(std::ostream& out, std::span<const RunRecord> records);

/// Seconds from the run's start. From begin to work, it waits for another process.
struct TraceInterval {
  int rank = 0;
  std::string lane;  // cpu gpu net copy
  std::string role;  // of the rank in the pass; "none" outside the passes
  std::string phase;
  std::int64_t pass = 0;
  double begin = 0;
  double work = 0;
  double end = 0;
};

struct TraceRun {
  std::string name;
  double start = 0;  // seconds in the trace
  std::vector<TraceInterval> intervals;
};

struct Trace {
  std::map<int, std::string> ranks;  // names by rank
  std::vector<TraceRun> runs;
};

/// Processes a trace's events one by one, so that the whole JSON is never in memory.
class TraceReader {
 public:
  explicit TraceReader(const std::string& file) : file_(file) {}
  /// Throws InputError unless the event is glinpack's.
  void event(const nlohmann::json& event);
  /// Returns the trace.
  Trace finish();

 private:
  void interval(const nlohmann::json& event);

  const std::string& file_;
  std::size_t count_ = 0;
  Trace trace_;
};

}  // namespace glinpack::app
