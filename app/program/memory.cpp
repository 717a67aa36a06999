#include "app/program/memory.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "app/input/input_error.hpp"
#include "app/input/values.hpp"
#include "app/options/option_text.hpp"
#include "backend/registry.hpp"

namespace glinpack::app {

namespace {

using PoolsByName = std::map<std::string, MemoryPool>;

// Address space for what is not counted: stacks of threads, MPI's and the system's own arrays.
constexpr double other_mappings = 64 << 20;

void add(PoolsByName& pools, const std::string& name, double needed, std::int64_t available) {
  MemoryPool& pool = pools[name];
  pool.needed += needed;
  pool.available = static_cast<double>(available);
  pool.ranks += 1;
  pool.name = name;
}

double product(Index rows, Index columns) { return static_cast<double>(rows) * static_cast<double>(columns); }

// A run without a registered backend, such as "auto", has one copy of a matrix and no padding.
int copies_on_device(const RunRecord& run) {
  const BackendRecord* backend = find_backend(run.backend);
  return backend != nullptr ? backend->copies_on_device : 1;
}

// Bytes of a local matrix, including the backend's padding.
double bytes_of_matrix(const RunRecord& run, Index rows, Index columns) {
  const BackendRecord* backend = find_backend(run.backend);
  if (backend != nullptr) columns = backend->columns_on_device(columns);
  return static_cast<double>(factor_bytes(run.precision)) * product(rows, columns);
}

double device_need(const RunRecord& run, Index rows, Index columns, const MemoryNeed& need) {
  if (run.parameters.parts == RunParts::messages) return 0;
  const int copies = copies_on_device(run);
  const double unpadded = copies * static_cast<double>(factor_bytes(run.precision)) * product(rows, columns);
  // the need saturates at 64 bits; the message needs the real number
  return std::max(static_cast<double>(need.device), unpadded) + copies * bytes_of_matrix(run, rows, columns) - unpadded;
}

std::vector<std::optional<GridPosition>> positions_in(const RunRecord& run, std::span<const RankMemory> ranks) {
  std::vector<int> nodes;
  for (const RankMemory& rank : ranks) nodes.push_back(rank.node);
  return positions_of_ranks(run.grid, run.order, run.node_grid, nodes);
}

PoolsByName pools_by_name(const RunRecord& run, std::span<const RankMemory> ranks, bool stored_matrix) {
  PoolsByName pools;
  const Distribution distribution = distribution_of(run.parameters, run.grid);
  const std::vector<std::optional<GridPosition>> positions = positions_in(run, ranks);
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    const std::optional<GridPosition>& position = positions[rank];
    if (!position) continue;
    const RankMemory& memory = ranks[rank];
    const Index rows = distribution.local_rows(*position);
    const Index columns = distribution.local_columns(*position);
    const MemoryNeed need = memory_need(run, distribution, *position);
    const double stored = stored_matrix ? product(rows, columns) * sizeof(double) : 0.0;
    const double host = static_cast<double>(need.host) + stored;
    const double device = device_need(run, rows, columns, need);
    const double of_process = memory.device_is_host ? host + device : host;
    add(pools, memory.host, of_process, memory.host_available);
    if (!memory.device_is_host) add(pools, memory.host + ", " + memory.device, device, memory.device_available);
    if (memory.address_space > 0) {
      add(pools, "the address space of rank " + std::to_string(rank) + " (ulimit -v)", of_process + other_mappings,
          memory.address_space);
    }
  }
  return pools;
}

std::optional<MemoryPool> too_small(const RunRecord& run, std::span<const RankMemory> ranks, bool stored_matrix,
                                    double fraction = 1) {
  for (const auto& [key, pool] : pools_by_name(run, ranks, stored_matrix)) {
    if (pool.available > 0 && pool.needed > fraction * pool.available) return pool;
  }
  return std::nullopt;
}

struct LocalMatrix {
  std::size_t rank = 0;
  Index rows = 0;
  Index columns = 0;
};

// The first local matrix for which `fits`(local matrix, memory of its rank) is false.
template <class Fits>
std::optional<LocalMatrix> first_beyond(const RunRecord& run, std::span<const RankMemory> ranks, Fits fits) {
  const Distribution distribution = distribution_of(run.parameters, run.grid);
  const std::vector<std::optional<GridPosition>> positions = positions_in(run, ranks);
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    const std::optional<GridPosition>& position = positions[rank];
    if (!position) continue;
    const LocalMatrix local{rank, distribution.local_rows(*position), distribution.local_columns(*position)};
    if (!fits(local, ranks[rank])) return local;
  }
  return std::nullopt;
}

bool within_extents(const LocalMatrix& local, const RankMemory& memory) {
  return memory.largest_rows == 0 || (local.rows <= memory.largest_rows && local.columns <= memory.largest_columns);
}

// Checks local matrices against limits such as the texture size.
void check_extents(const RunRecord& run, std::span<const RankMemory> ranks) {
  const std::optional<LocalMatrix> local = first_beyond(run, ranks, within_extents);
  if (!local) return;
  const RankMemory& memory = ranks[local->rank];
  throw InputError(fmt::format(
      "{} gives rank {} a local matrix of {} x {}, but {} on {} holds at most {} rows of {} elements: one side of a "
      "texture; use a smaller N, a larger grid, or --backend gl-compute",
      label_of(run), local->rank, local->rows, local->columns, run.backend, memory.host, memory.largest_rows,
      memory.largest_columns));
}

// True if the devices are sure to hold the matrices; a larger allocation may be allowed, but fail.
bool is_sure_to_fit(const RunRecord& run, std::span<const RankMemory> ranks) {
  constexpr Index padding = 64;  // columns that a device may add
  return !first_beyond(run, ranks, [&run](const LocalMatrix& local, const RankMemory& memory) {
    const double bytes = bytes_of_matrix(run, local.rows, local.columns + padding);
    return within_extents(local, memory) &&
           (memory.largest_matrix == 0 || bytes <= static_cast<double>(memory.largest_matrix));
  });
}

}  // namespace

MemoryNeed memory_need(const RunRecord& run, const Distribution& distribution, GridPosition position) {
  const BackendRecord* backend = find_backend(run.backend);
  return memory_per_rank(run.parameters, distribution, position, run.precision, copies_on_device(run),
                         backend != nullptr && backend->panels_on_device);
}

Index largest_fitting_n(RunRecord run, std::span<const RankMemory> ranks, bool stored_matrix, double fraction) {
  const auto fits = [&](Index n) {
    run.parameters.n = n;
    return !too_small(run, ranks, stored_matrix, fraction) && is_sure_to_fit(run, ranks);
  };
  Index fitting = 0;
  Index failing = 1;
  while (failing <= largest_n && fits(failing)) {
    fitting = failing;
    failing *= 2;
  }
  while (failing - fitting > 1) {
    const Index middle = fitting + (failing - fitting) / 2;
    (fits(middle) ? fitting : failing) = middle;
  }
  return fitting;
}

std::optional<MemoryPool> no_room_for_copies(RunRecord run, std::span<const RankMemory> ranks, bool stored_matrix) {
  constexpr double most = 0.9;  // of the free memory: a run can do without copies, but not without what others take
  const PoolsByName without = pools_by_name(run, ranks, stored_matrix);
  run.parameters.checkpoint_copy = true;
  for (const auto& [name, pool] : pools_by_name(run, ranks, stored_matrix)) {
    const bool has_copies = pool.needed > without.at(name).needed;  // GPUs have none
    if (has_copies && pool.available > 0 && pool.needed > most * pool.available) return pool;
  }
  return std::nullopt;
}

std::vector<MemoryPool> pools_of(const RunRecord& run, std::span<const RankMemory> ranks, bool stored_matrix) {
  std::vector<MemoryPool> pools;
  for (const auto& [name, pool] : pools_by_name(run, ranks, stored_matrix)) pools.push_back(pool);
  return pools;
}

void check_memory(std::span<const RunRecord> planned, std::span<const RankMemory> ranks, bool stored_matrix) {
  std::set<std::tuple<Index, Index, int, int>> checked;
  for (const RunRecord& run : planned) {
    if (!checked.emplace(run.parameters.n, run.parameters.nb, run.grid.rows, run.grid.columns).second) continue;
    check_extents(run, ranks);
    const std::optional<MemoryPool> pool = too_small(run, ranks, stored_matrix);
    if (!pool) continue;
    const Index largest = largest_fitting_n(run, ranks, stored_matrix);
    const std::string remedy = largest > 0
                                   ? fmt::format("the largest N that fits with this block size and grid is {}", largest)
                                   : std::string("no N fits; use a smaller block size or more nodes");
    throw InputError(fmt::format(
        "{} ({}) is too large for the memory of {}: its {}, {} is available; {}", label_of(run), name_of(run.precision),
        pool->name,
        (pool->ranks == 1 ? "rank needs " : std::to_string(pool->ranks) + " ranks need ") + memory_text(pool->needed),
        memory_text(pool->available), remedy));
  }
}

}  // namespace glinpack::app
