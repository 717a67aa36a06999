#include "run/records.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "mpi/communication.hpp"
#include "mpi/session.hpp"
#include "run/run.hpp"
#include "transport/wire.hpp"

namespace glinpack {

std::vector<std::vector<std::size_t>> sensor_shares(const std::vector<std::string>& machines,
                                                    const std::vector<std::vector<std::string>>& ids) {
  std::set<std::pair<std::string, std::string>> taken;
  std::vector<std::vector<std::size_t>> shares(machines.size());
  for (std::size_t rank = 0; rank < machines.size(); ++rank) {
    for (std::size_t place = 0; place < ids[rank].size(); ++place) {
      if (taken.insert({machines[rank], ids[rank][place]}).second) shares[rank].push_back(place);
    }
  }
  return shares;
}

std::vector<sensors::Sensor*> share_of(const ProcessGrid& grid, const RankSensors& mine) {
  std::vector<std::string> my_ids;
  for (const auto& sensor : mine.found) my_ids.push_back(sensor->info().id);
  const auto machines = gather_values(grid.all(), mine.machine, 0);
  const auto ids = gather_values(grid.all(), my_ids, 0);
  const auto shares = broadcast_value(grid.all(), sensor_shares(machines, ids), 0);
  std::vector<sensors::Sensor*> share;
  for (const std::size_t place : shares[static_cast<std::size_t>(rank_in(grid.all()))]) {
    share.push_back(mine.found[place].get());
  }
  return share;
}

PowerRecord power_record(const RankSensors* mine, sensors::Sampler& sampler,
                         sensors::Sampler::Clock::time_point epoch) {
  PowerRecord record;
  if (mine == nullptr) return record;
  record.machine = mine->machine;
  record.gpu = mine->gpu;
  record.unread = mine->unread;
  std::vector<std::vector<sensors::Sample>> samples = sampler.stop(epoch);
  for (std::size_t i = 0; i < samples.size(); ++i) {
    record.read.push_back({sampler.sensors()[i]->info(), std::move(samples[i])});
  }
  return record;
}

std::string name_of(const RankRecord& rank) {
  return "rank " + std::to_string(rank.world_rank) + " on " + rank.host + ", device " + rank.backend.device;
}

std::string name_of_faulty(const RankRecord& found_by, const Mismatch& mismatch, std::span<const RankRecord> ranks,
                           Index every) {
  const bool moved = every > 1 && (mismatch.part == CheckedPart::trailing_matrix || mismatch.part == CheckedPart::u);
  const auto is_suspect = [&](const RankRecord& rank) {
    if (mismatch.part == CheckedPart::solution) return rank.row == found_by.row;
    return moved && rank.column == found_by.column;
  };
  std::string others;
  for (const RankRecord& rank : ranks) {
    if (rank.world_rank != found_by.world_rank && is_suspect(rank)) others += ", " + std::to_string(rank.world_rank);
  }
  if (others.empty()) return name_of(found_by);
  return "one of ranks " + std::to_string(found_by.world_rank) + others + ": found by " + name_of(found_by);
}

std::vector<RankRecord> gather_rank_records(const ProcessGrid& grid, RankRecord mine) {
  mine.world_rank = rank_in(MPI_COMM_WORLD);
  mine.row = grid.position().row;
  mine.column = grid.position().column;
  mine.host = host_name();
  return gather_values(grid.all(), mine, 0);
}

std::vector<double> gather_solution(const Distribution& distribution, const ProcessGrid& grid,
                                    const std::vector<double>& local) {
  // all ranks of a process column have the same part, so only the first process row sends it to the root
  if (grid.position().row != 0) return {};
  const auto parts = gather_values(grid.row(), local, 0);
  if (!grid.is_root()) return {};
  std::vector<double> x(static_cast<std::size_t>(distribution.n));
  for (std::size_t column = 0; column < parts.size(); ++column) {
    for (std::size_t j = 0; j < parts[column].size(); ++j) {
      const GlobalIndex to = distribution.columns.global(LocalIndex(static_cast<Index>(j)), static_cast<int>(column));
      x[static_cast<std::size_t>(to.value)] = parts[column][j];
    }
  }
  return x;
}

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
