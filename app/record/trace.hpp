// Traces (--trace): the timeline of each process.
#pragma once

#include <iosfwd>
#include <span>

#include "app/record/run_record.hpp"

namespace glinpack::app {

/// Writes Chrome's trace event format, which ui.perfetto.dev opens: pid = world rank, lanes cpu, gpu, net as threads,
/// and sensor readings as counters. Runs follow one another. Written piece by piece: a trace may be larger than memory.
void write_trace(std::ostream& out, std::span<const RunRecord> records);

}  // namespace glinpack::app
