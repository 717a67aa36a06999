#include "app/program/automatic.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <tuple>

#include "app/input/input_error.hpp"
#include "app/input/values.hpp"
#include "app/options/option_text.hpp"
#include "backend/registry.hpp"

namespace glinpack::app {

namespace {

constexpr Index smallest_block = 8;
constexpr bool stored_matrix = false;  // a file fixes N, so N is not chosen here

bool has_all_values(const RunRecord& run) {
  return run.parameters.n != automatic && run.parameters.nb != automatic && run.grid != automatic_shape;
}

bool computes_on_hosts(std::span<const RankMemory> ranks) {
  return std::ranges::any_of(ranks, &RankMemory::device_is_host);
}

void check_memory_is_known(RunRecord run, std::span<const RankMemory> ranks) {
  run.parameters.n = 1;
  for (const MemoryPool& pool : pools_of(run, ranks, stored_matrix)) {
    if (pool.available > 0) continue;
    throw InputError("--n auto: the system does not say how much memory " + pool.name +
                     " has free; give N as a number");
  }
}

void choose_values(RunRecord& run, std::span<const RankMemory> ranks, const OrderLimits& limits) {
  if (run.grid == automatic_shape) run.grid = automatic_grid(run.backend, ranks, run.node_grid);
  Index& n = run.parameters.n;
  Index& nb = run.parameters.nb;
  const auto block_size = [&run](Index order) {
    return automatic_block_size(run.backend, run.precision, order, run.grid, run.backend_values);
  };
  const auto largest_order = [&] {
    const double order = std::cbrt(1.5 * limits.flops_of_process * run.grid.size());  // of 2/3 N^3 operations
    return std::min(largest_fitting_n(run, ranks, stored_matrix, limits.memory_fraction),
                    static_cast<Index>(std::clamp(order, 1.0, static_cast<double>(largest_n))));
  };
  const bool chooses_nb = nb == automatic;
  if (n != automatic) {
    if (chooses_nb) nb = block_size(n);
    return;
  }
  // Panel memory depends on the block size, which depends on N. The block size of the largest N is close enough.
  if (chooses_nb) nb = block_size(largest_n);
  check_memory_is_known(run, ranks);
  if (chooses_nb) nb = block_size(largest_order());
  const Index largest = largest_order();
  if (largest == 0) {
    throw InputError(
        fmt::format("--n auto: no matrix fits into {:g} % of the free memory with NB {} on the grid {}; "
                    "raise --memory-fraction, or use a smaller block size",
                    100 * limits.memory_fraction, nb, text_of(run.grid)));
  }
  n = rounded_order(largest, nb, run.grid);
}

std::vector<std::string> notes_on(const RunRecord& asked, const RunRecord& run, std::span<const RankMemory> ranks,
                                  const OrderLimits& limits) {
  std::vector<std::string> notes;
  const RunParameters& parameters = run.parameters;
  if (asked.grid == automatic_shape) notes.push_back("--grid auto: " + text_of(run.grid));
  if (asked.parameters.n == automatic) {
    const std::vector<MemoryPool> pools = pools_of(run, ranks, stored_matrix);
    const MemoryPool& pool = *std::ranges::max_element(pools, [](const MemoryPool& a, const MemoryPool& b) {
      return a.needed * b.available < b.needed * a.available;
    });
    notes.push_back(
        fmt::format("--n auto: N {} for NB {} on the grid {}; it takes {} of the {} that {} has free, "
                    "at most {:g} % were allowed (--memory-fraction){}",
                    parameters.n, parameters.nb, text_of(run.grid), memory_text(pool.needed),
                    memory_text(pool.available), pool.name, 100 * limits.memory_fraction,
                    std::isfinite(limits.flops_of_process) ? "; --time is a limit, too" : ""));
  }
  if (asked.parameters.nb == automatic) {
    notes.push_back(fmt::format("--nb auto: NB {} for N {} with {} in {} precision", parameters.nb, parameters.n,
                                run.backend, name_of(run.precision)));
  }
  return notes;
}

}  // namespace

bool all_have_values(std::span<const RunRecord> planned) { return std::ranges::all_of(planned, has_all_values); }

Index automatic_block_size(const std::string& backend, Precision precision, Index n, GridShape grid,
                           const BackendValues& values) {
  const Index four_blocks_each = n / (4 * std::max(grid.rows, grid.columns));
  const Index widest = std::min(backend_record(backend).block_size(precision, n, values), four_blocks_each);
  return std::max(smallest_block, widest / smallest_block * smallest_block);
}

GridShape automatic_grid(const std::string& backend, std::span<const RankMemory> ranks,
                         const std::optional<GridShape>& node_grid) {
  const auto processes = static_cast<int>(ranks.size());
  if (node_grid) return squarest_grid(processes, *node_grid);
  const bool one_host =
      std::ranges::all_of(ranks, [&](const RankMemory& rank) { return rank.host == ranks.front().host; });
  if (backend_record(backend).one_process_row && one_host && !computes_on_hosts(ranks)) return {1, processes};
  return squarest_grid(processes);
}

Index automatic_pieces(const RunRecord& run, std::span<const RankMemory> ranks) {
  constexpr Index of_device_panels = 4;  // results/h100-x2/logs.md process-rows
  constexpr Index of_copied_panels = 2;  // by GPUs to each other (results/h100-x4/logs.md four-gpus-release)
  constexpr Index of_copied_rows = 1;    // results/h200-x2/logs.md pieces
  const BackendRecord& backend = backend_record(run.backend);
  const bool on_devices = backend.panels_on_device && !computes_on_hosts(ranks);
  if (!on_devices || run.parameters.panel == PanelPlace::host) return 1;
  if (run.grid.rows > 1 && !pivots_across_processes(run.parameters.pivoting)) return 1;
  if (run.grid.size() == 1) return 1;
  if (!gpus_may_copy(run)) return of_device_panels;
  if (run.grid.rows == 1) return of_copied_panels;
  const bool rows_copy = std::ranges::all_of(
      ranks, [&](const RankMemory& rank) { return rank.copies_to_peers && rank.node == ranks.front().node; });
  return rows_copy && run.grid.columns == 1 ? of_copied_rows : of_device_panels;
}

Index rounded_order(Index largest, Index nb, GridShape grid) {
  if (largest < nb) return largest;
  const Index cycle = nb * std::lcm(grid.rows, grid.columns);
  const Index whole_cycles = largest / cycle * cycle;
  constexpr Index fiftieth = 50;
  return largest - whole_cycles < largest / fiftieth ? whole_cycles : largest / nb * nb;
}

std::vector<std::string> choose_automatic_values(std::vector<RunRecord>& planned, std::span<const RankMemory> ranks,
                                                 const OrderLimits& limits) {
  std::map<std::tuple<Index, Index, int, int>, RunRecord> chosen;  // key: requested N, NB and grid
  std::vector<std::string> notes;
  for (RunRecord& run : planned) {
    if (has_all_values(run)) continue;
    const auto [choice, is_new] =
        chosen.try_emplace({run.parameters.n, run.parameters.nb, run.grid.rows, run.grid.columns}, run);
    RunRecord& with_values = choice->second;
    if (is_new) {
      choose_values(with_values, ranks, limits);
      for (std::string& note : notes_on(run, with_values, ranks, limits)) {
        if (std::ranges::find(notes, note) == notes.end()) notes.push_back(std::move(note));
      }
    }
    run.parameters.n = with_values.parameters.n;
    run.parameters.nb = with_values.parameters.nb;
    run.grid = with_values.grid;
  }
  for (RunRecord& run : planned) {
    Index& pieces = run.parameters.row_swap.pieces;
    if (pieces == automatic) pieces = automatic_pieces(run, ranks);
  }
  return notes;
}

}  // namespace glinpack::app
