// What --n auto, --nb auto and --grid auto choose. Functions of sizes and names alone, which look at no machine.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "app/memory.hpp"
#include "app/report/run_record.hpp"

namespace glinpack::app {

/// Whether nothing is left to choose in the planned runs.
bool all_settled(std::span<const RunRecord> planned);

/// The block size for a backend (never "auto"): that of its record, or less, so that every process row and column has
/// four blocks if N allows it; at least 8.
Index automatic_block_size(const std::string& backend, Precision precision, Index n, GridShape grid);

/// The grid of all processes. One row if the backend's record asks for it and each process has a GPU of one host, else
/// the squarest.
GridShape automatic_grid(const std::string& backend, std::span<const RankMemory> ranks);

/// `largest` rounded down to whole blocks, and to as many of them for every process where that costs less than 2 per
/// cent; as it is where it is less than a block.
Index rounded_order(Index largest, Index nb, GridShape grid);

/// Chooses what is left to choose: first the grid, then N and NB with each other. `planned`: runs with the same backend
/// (never "auto") and precision; `ranks`: one per rank of the world, in order. Returns a sentence for the report for
/// each choice. Throws InputError where no N fits into `memory_fraction` of the memory, or it is not known how much
/// there is.
std::vector<std::string> settle(std::vector<RunRecord>& planned, std::span<const RankMemory> ranks,
                                double memory_fraction);

}  // namespace glinpack::app
