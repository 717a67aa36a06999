// What plu prints instead of running.
#pragma once

#include <span>
#include <string>

#include "app/record/run_record.hpp"

namespace glinpack::app {

/// The output of --dry-run: the runs, memory per rank, expected flops, and remarks, such as the automatic choices.
/// `prints_all`: if false, only the first and last of many runs.
std::string plan_text(std::span<const RunRecord> planned, int world_size, std::span<const std::string> remarks = {},
                      bool prints_all = false);

}  // namespace glinpack::app
