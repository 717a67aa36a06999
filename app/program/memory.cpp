#include "app/program/memory.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "app/input/input_error.hpp"
#include "app/input/values.hpp"
#include "app/options/option_text.hpp"
#include "backend/registry.hpp"
#include "mpi/shared_memory.hpp"
#include "run/memory_need.hpp"

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

// A run without a registered backend, such as "auto", has one copy of a matrix in host memory and no padding.
ModelledDevice device_of(const RunRecord& run, bool is_gpu) {
  const BackendRecord* backend = find_backend(run.backend);
  if (backend == nullptr) {
    return {.matrix_bytes = [](Index rows, Index columns, std::int64_t bytes) { return rows * columns * bytes; }};
  }
  const bool has_memory = backend->memory == MemorySpace::device;
  const auto update_bytes = [backend, &run](Index depth, Index rows, Index columns) {
    return backend->update_bytes == nullptr ? 0 : backend->update_bytes(run.backend_values, depth, rows, columns);
  };
  return {.has_memory = has_memory,
          .is_asynchronous = has_memory && is_gpu,
          .has_panels = backend->panels_on_device,
          .has_peers = is_gpu && gpus_may_copy(run),
          .row_by_row = backend->row_by_row,
          .matrix_bytes = backend->matrix_bytes,
          .update_bytes = update_bytes};
}

// No memory holds more. The sizes of all arrays of a smaller matrix fit into 64 bits.
constexpr double largest_array = 1ULL << 50;

double bytes_without_padding(const RunRecord& run, Index rows, Index columns) {
  return static_cast<double>(factor_bytes(run.precision)) * product(rows, columns);
}

// A rank with such a local matrix: its matrix, or a panel of all rows.
double largest_array_of(const RunRecord& run, Index rows, Index columns) {
  const RunParameters& parameters = run.parameters;
  const double panel = bytes_without_padding(run, parameters.n, parameters.nb);
  if (parameters.parts == RunParts::messages) return panel;
  return std::max(panel, bytes_without_padding(run, std::max(rows, parameters.nb), std::max(columns, parameters.nb)));
}

// A process row or column.
struct ProcessLine {
  template <class NodeOf>
  ProcessLine(int ranks, NodeOf node_of) : nodes(first_on_nodes(ranks, node_of)), sharing(nodes.size()) {
    for (const int first : nodes) ++sharing[static_cast<std::size_t>(first)];
  }
  int sharing_with(int rank) const { return sharing[static_cast<std::size_t>(nodes[static_cast<std::size_t>(rank)])]; }

  std::vector<int> nodes;    // of each rank, as nodes_of() numbers them
  std::vector<int> sharing;  // for the first rank of a node: the ranks of that node
};

/// The needs of ranks: the constructors run once for each local shape and its neighbours on the node.
class Needs {
 public:
  using NodeOf = std::function<int(GridPosition)>;
  Needs(const RunRecord& run, NodeOf node_of)
      : run_(run), distribution_(distribution_of(run.parameters, run.grid)), node_of_(std::move(node_of)) {}

  NeededBytes of(GridPosition at, bool is_gpu) {
    const Index rows = distribution_.local_rows(at), columns = distribution_.stored_columns(at);
    if (const double largest = largest_array_of(run_, rows, columns); largest > largest_array) {
      if (run_.parameters.parts == RunParts::messages) return {largest, 0};
      return {0, bytes_without_padding(run_, rows, columns)};
    }
    const ProcessLine& row =
        rows_.try_emplace(at.row, run_.grid.columns,
                          [&](int column) {
                            return node_of_({at.row, column});
                          })
            .first->second;
    const ProcessLine& column =
        columns_.try_emplace(at.column, run_.grid.rows,
                             [&](int other) {
                               return node_of_({other, at.column});
                             })
            .first->second;
    const Key key{rows,
                  columns,
                  row.sharing_with(at.column),
                  column.sharing_with(at.row),
                  any_node_shared(row.nodes),
                  any_node_shared(column.nodes),
                  is_gpu};
    const auto [counted, is_new] = counted_.try_emplace(key);
    if (is_new) counted->second = count({run_.grid, at, row.nodes, column.nodes}, is_gpu);
    return counted->second;
  }

 private:
  using Key = std::tuple<Index, Index, int, int, bool, bool, bool>;

  NeededBytes count(const RankPlace& place, bool is_gpu) const {
    RunParameters parameters = run_.parameters;
    const bool sends_only = parameters.parts == RunParts::messages;
    if (sends_only) parameters.panel = PanelPlace::host;
    const MemoryNeed need =
        count_memory(parameters, run_.precision, place, sends_only ? ModelledDevice{} : device_of(run_, is_gpu));
    return {static_cast<double>(need.host), sends_only ? 0 : static_cast<double>(need.device)};
  }

  const RunRecord& run_;
  Distribution distribution_;
  NodeOf node_of_;
  std::map<int, ProcessLine> rows_, columns_;
  std::map<Key, NeededBytes> counted_;
};

// By grid position.
std::vector<int> nodes_of_grid(const RunRecord& run, std::span<const RankMemory> ranks,
                               std::span<const std::optional<GridPosition>> positions) {
  std::vector<int> nodes(static_cast<std::size_t>(run.grid.size()), -1);
  for (std::size_t rank = 0; rank < positions.size(); ++rank) {
    const auto& at = positions[rank];
    if (at) nodes[static_cast<std::size_t>(at->row * run.grid.columns + at->column)] = ranks[rank].node;
  }
  return nodes;
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
  const std::vector<int> nodes = nodes_of_grid(run, ranks, positions);
  Needs needs(run,
              [&](GridPosition at) { return nodes[static_cast<std::size_t>(at.row * run.grid.columns + at.column)]; });
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    const std::optional<GridPosition>& position = positions[rank];
    const RankMemory& memory = ranks[rank];
    if (!position || !memory.checked) continue;
    const auto [host_bytes, device] = needs.of(*position, !memory.device_is_host);
    const double elements = product(distribution.local_rows(*position), distribution.local_columns(*position));
    const double host = host_bytes + (stored_matrix ? elements * sizeof(double) : 0.0);
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
    if (memory.largest_matrix == 0 || !within_extents(local, memory)) return within_extents(local, memory);
    if (bytes_without_padding(run, local.rows, local.columns) > largest_array) return false;
    const auto element_bytes = static_cast<std::int64_t>(factor_bytes(run.precision));
    const BackendRecord& backend = backend_record(run.backend);
    return backend.matrix_bytes(local.rows, local.columns + padding, element_bytes) / backend.copies_on_device <=
           memory.largest_matrix;
  });
}

}  // namespace

bool gpus_may_copy(const RunRecord& run) {
  const BackendRecord* backend = find_backend(run.backend);
  return backend != nullptr && backend->has_option("peer") && option_value(run.backend_values, "peer") != "none";
}

// Four corners would suffice, since all process rows but the first and last have one of two extents.
NeededBytes largest_need(const RunRecord& run) {
  Needs needs(run, [](GridPosition) { return 0; });
  NeededBytes largest;
  const auto consider = [&](GridPosition at) {
    const NeededBytes need = needs.of(at, true);
    largest = {std::max(largest.host, need.host), std::max(largest.device, need.device)};
  };
  for (int row = 0; row < run.grid.rows; ++row) consider({row, 0});
  for (int column = 0; column < run.grid.columns; ++column) consider({0, column});
  return largest;
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

std::optional<MemoryPool> too_small_for_copies(RunRecord run, std::span<const RankMemory> ranks, bool stored_matrix) {
  constexpr double max = 0.9;  // of the free memory: a run can do without copies, but not without what others take
  const PoolsByName without = pools_by_name(run, ranks, stored_matrix);
  run.parameters.checkpoint_copy = true;
  for (const auto& [name, pool] : pools_by_name(run, ranks, stored_matrix)) {
    const bool has_copies = pool.needed > without.at(name).needed;  // GPUs have none
    if (has_copies && pool.available > 0 && pool.needed > max * pool.available) return pool;
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
