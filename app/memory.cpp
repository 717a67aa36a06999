#include "app/memory.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "app/input/input_error.hpp"
#include "app/option_text.hpp"
#include "local/make_backend.hpp"

namespace glinpack::app {

namespace {

// A node's memory, or one of its devices'.
struct Pool {
  double needed = 0;  // in double: sums over ranks of what may be beyond 64 bits
  double available = 0;
  int ranks = 0;
  std::string name;
};

// By name: "node3", "node3, device 0", "the address space of rank 2 (ulimit -v)".
using Pools = std::map<std::string, Pool>;

// What OpenBLAS maps for its own work when it is first used (BUFFER_SIZE in its common_x86_64.h).
constexpr double openblas_buffer = 128 << 20;

void add(Pools& pools, const std::string& name, double needed, std::int64_t available) {
  Pool& pool = pools[name];
  pool.needed += needed;
  pool.available = static_cast<double>(available);
  pool.ranks += 1;
  pool.name = name;
}

Pools pools_of(const RunRecord& run, std::span<const RankMemory> ranks, bool stored_matrix) {
  Pools pools;
  const Distribution distribution = distribution_of(run.parameters, run.grid);
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    const std::optional<GridPosition> position = position_of(run, static_cast<int>(rank));
    if (!position) break;
    const RankMemory& memory = ranks[rank];
    const int copies = copies_on_device(run.backend);
    const MemoryNeed need = memory_per_rank(run.parameters, distribution, *position, run.precision, copies);
    const double elements = static_cast<double>(distribution.local_rows(*position)) *
                            static_cast<double>(distribution.local_columns(*position));
    const double host = static_cast<double>(need.host) + (stored_matrix ? elements * sizeof(double) : 0.0);
    // the need ends at what 64 bits can say, the message should not
    const auto element_size = static_cast<double>(factor_bytes(run.precision));
    const bool holds_matrix = run.parameters.parts != RunParts::messages;
    const double device =
        holds_matrix ? std::max(static_cast<double>(need.device), copies * elements * element_size) : 0;
    const double of_process = memory.device_is_host ? host + device : host;
    add(pools, memory.host, of_process, memory.host_available);
    if (!memory.device_is_host) add(pools, memory.host + ", " + memory.device, device, memory.device_available);
    if (memory.address_space > 0) {
      add(pools, "the address space of rank " + std::to_string(rank) + " (ulimit -v)", of_process + openblas_buffer,
          memory.address_space);
    }
  }
  return pools;
}

std::optional<Pool> too_small(const RunRecord& run, std::span<const RankMemory> ranks, bool stored_matrix) {
  for (const auto& [key, pool] : pools_of(run, ranks, stored_matrix)) {
    if (pool.available > 0 && pool.needed > pool.available) return pool;
  }
  return std::nullopt;
}

// Local matrices beyond what a texture holds, for one.
void check_extents(const RunRecord& run, std::span<const RankMemory> ranks) {
  const Distribution distribution = distribution_of(run.parameters, run.grid);
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    const std::optional<GridPosition> position = position_of(run, static_cast<int>(rank));
    const RankMemory& memory = ranks[rank];
    if (!position || memory.largest_rows == 0) continue;
    const Index rows = distribution.local_rows(*position);
    const Index columns = distribution.local_columns(*position);
    if (rows <= memory.largest_rows && columns <= memory.largest_columns) continue;
    throw InputError(fmt::format(
        "{} gives rank {} a local matrix of {} x {}, but {} on {} holds at most {} rows of {} elements: one side of a "
        "texture; use a smaller N, a larger grid, or --backend gl-compute",
        label_of(run), rank, rows, columns, run.backend, memory.host, memory.largest_rows, memory.largest_columns));
  }
}

Index largest_fitting_n(RunRecord run, std::span<const RankMemory> ranks, bool stored_matrix) {
  Index fits = 0;
  Index fails = run.parameters.n;
  while (fails - fits > 1) {
    run.parameters.n = fits + (fails - fits) / 2;
    (too_small(run, ranks, stored_matrix) ? fails : fits) = run.parameters.n;
  }
  return fits;
}

}  // namespace

std::string memory_text(double bytes) {
  constexpr std::array units{"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB", "ZiB", "YiB"};
  std::size_t unit = 0;
  while (bytes >= 1024 && unit + 1 < units.size()) {
    bytes /= 1024;
    ++unit;
  }
  return fmt::format("{:.{}f} {}", bytes, unit == 0 ? 0 : 1, units[unit]);
}

void check_memory(std::span<const RunRecord> planned, std::span<const RankMemory> ranks, bool stored_matrix) {
  std::set<std::tuple<Index, Index, int, int>> checked;
  for (const RunRecord& run : planned) {
    if (!checked.emplace(run.parameters.n, run.parameters.nb, run.grid.rows, run.grid.columns).second) continue;
    check_extents(run, ranks);
    const std::optional<Pool> pool = too_small(run, ranks, stored_matrix);
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
