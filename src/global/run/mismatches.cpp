#include "run/mismatches.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>

#include "mpi/communication.hpp"
#include "transport/wire.hpp"

namespace glinpack {

namespace {

/// The mismatch that is_worse(), and its rank, on the root. Collective.
Rollback worst_mismatch(const ProcessGrid& grid, const std::vector<Mismatch>& mine) {
  Rollback worst;
  const auto all = gather_values(grid.all(), mine, 0);
  const std::vector<int> world_ranks = all_gathered(grid.all(), rank_in(MPI_COMM_WORLD));
  bool found = false;
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    for (const Mismatch& mismatch : all[rank]) {
      if (found && !is_worse(mismatch, worst.mismatch)) continue;
      worst.rank = world_ranks[rank];
      worst.mismatch = mismatch;
      found = true;
    }
  }
  worst.from = worst.mismatch.pass + 1;
  return worst;
}

}  // namespace

std::optional<LoadedState> roll_back(const ProcessGrid& grid, StateSaver& saver, const std::vector<Mismatch>& mine,
                                     ChecksumRecord& record) {
  Rollback back = worst_mismatch(grid, mine);
  std::optional<LoadedState> state;
  try {
    state = saver.roll_back();
  } catch (const AgreedError& error) {
    record.stopped_by = std::string("a checkpoint that cannot be read: ") + error.what();
    return state;
  }
  back.to = state->passes;
  back.seconds = saver.seconds_lost();
  back.seconds = all_reduced(grid.all(), back.seconds, Reduction::max);
  if (grid.is_root()) {
    spdlog::warn("a check of checksums has failed after {} passes: the run has gone back to the checkpoint after {}",
                 back.from, back.to);
  }
  record.rollbacks.push_back(back);
  return state;
}

void report_mismatches(const ProcessGrid& grid, RunResult& result) {
  ChecksumRecord& record = *result.checksums;
  const auto is_right = [](const RankRecord& rank) { return rank.mismatches.empty(); };
  record.corrupted = !all_agree(grid.all(), std::ranges::all_of(result.ranks, is_right));
  record.seconds = all_reduced(grid.all(), record.seconds, Reduction::max);
  if (!record.corrupted || result.ranks.empty()) return;
  const RankRecord* first = nullptr;
  std::string others;
  for (const RankRecord& rank : result.ranks) {
    if (is_right(rank)) continue;
    if (first == nullptr || is_worse(rank.mismatches.front(), first->mismatches.front())) first = &rank;
  }
  for (const RankRecord& rank : result.ranks) {
    if (&rank == first || rank.mismatches.empty()) continue;
    others += (others.empty() ? "rank " : ", rank ") + std::to_string(rank.world_rank);
  }
  record.overflowed = first->mismatches.front().overflow;
  std::string text = record.overflowed ? "CORRUPTED or overflowed: " : "CORRUPTED: ";
  const Mismatch& worst = first->mismatches.front();
  text += name_of_faulty(*first, worst, result.ranks, record.every) + ": " + text_of(worst);
  if (!others.empty()) text += "; later or less on " + others;
  if (record.overflowed)
    text += "; if a second run fails in the same place, the matrix overflows, and no rank is wrong";
  if (!record.stopped_by.empty()) text += "; ended by " + record.stopped_by;
  result.failure = text + (result.failure.empty() ? "" : "; " + result.failure);
  result.passed = false;
}

}  // namespace glinpack
