// The memory that a rank will allocate for a run: counted by the constructors of the run, without MPI and without
// arrays.
#pragma once

#include <vector>

#include "base/memory_count.hpp"
#include "base/precision.hpp"
#include "lu/parameters.hpp"
#include "none/none_backend.hpp"

namespace glinpack {

/// What a rank's memory depends on besides the parameters of the run.
struct RankPlace {
  GridShape grid;
  GridPosition at;
  std::vector<int> nodes_of_row, nodes_of_column;  // as nodes_of() numbers them
};

/// Bytes before the timed section. Excludes the interval records of the timeline, kernels and their constants, and
/// vectors of local rows or columns that checks make later. Takes neither time nor memory for arrays. The sizes of all
/// arrays must fit into 64 bits.
MemoryNeed count_memory(const RunParameters& parameters, Precision precision, const RankPlace& place,
                        const ModelledDevice& device);

}  // namespace glinpack
