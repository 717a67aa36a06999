// The ranks at the start of a sweep: --log-level debug.
#pragma once

#include <span>
#include <string>

#include "backend/backend.hpp"
#include "mpi/process_grid.hpp"

namespace glinpack::app {

/// Collective over MPI_COMM_WORLD: rank 0 logs host, position in the grid, device and cores of every rank.
void log_ranks(const ProcessGrid& grid, const BackendInfo& info);

/// "0-3,8" of ascending numbers.
std::string ranges_text(std::span<const int> numbers);

}  // namespace glinpack::app
