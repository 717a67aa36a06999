// Chooses N, NB, the grid and the pieces of row swaps if their options are auto. Depends on sizes and names only, not
// on the machine.
#pragma once

#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/program/memory.hpp"
#include "app/record/run_record.hpp"

namespace glinpack::app {

/// True if the planned runs have no automatic N, NB or grid.
bool all_have_values(std::span<const RunRecord> planned);

/// The block size for a backend (never "auto"): that of its record, but at least 8. It is smaller if N is too small for
/// four blocks per process row and column.
Index automatic_block_size(const std::string& backend, Precision precision, Index n, GridShape grid,
                           const BackendValues& values = {});

/// The grid of all processes: one row if the backend's record asks for it and each process has a GPU of one host.
/// Otherwise the squarest grid that is a multiple of `node_grid`.
GridShape automatic_grid(const std::string& backend, std::span<const RankMemory> ranks,
                         const std::optional<GridShape>& node_grid = {});

/// The pieces of row swaps: several if GPUs of several processes factorise panels, so that rows and panels cross during
/// the updates of pieces; one on P x 1 if the GPUs copy rows to each other.
Index automatic_pieces(const RunRecord& run, std::span<const RankMemory> ranks);

/// Rounds `largest` down to whole blocks. Rounds further, to the same number of blocks per process, if that costs less
/// than 2 per cent. Returns `largest` unchanged if it is less than a block.
Index rounded_order(Index largest, Index nb, GridShape grid);

/// Limits of an automatic N.
struct OrderLimits {
  double memory_fraction = 0.8;                                       // of the free memory
  double flops_of_process = std::numeric_limits<double>::infinity();  // of a run
};

/// Chooses the automatic values: first the grid, then N, NB and pieces. `planned`: runs with the same backend (never
/// "auto") and precision; `ranks`: one per rank of the world, in order. Returns one sentence for the report per choice.
/// Throws InputError if no N fits into the memory, or if the memory size is unknown.
std::vector<std::string> choose_automatic_values(std::vector<RunRecord>& planned, std::span<const RankMemory> ranks,
                                                 const OrderLimits& limits);

}  // namespace glinpack::app
