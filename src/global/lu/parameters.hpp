// The parameters of a factorisation, and quantities derived from them alone.
#pragma once

#include <algorithm>
#include <string_view>

#include "abft/mismatch.hpp"
#include "base/precision.hpp"
#include "matrix/distribution.hpp"
#include "transport/node_route.hpp"
#include "transport/row_exchange_plan.hpp"
#include "transport/transport.hpp"

namespace glinpack {

enum class Pivoting {
  local,       // the white paper's: candidates are the rows of the pivot rank
  partial,     // HPL's: candidates are all remaining rows of the process column
  tournament,  // CALU's (TSLU): a reduction tree over these rows, once for a block of columns
};
inline constexpr auto all_pivotings = values_up_to<Pivoting::tournament>;
constexpr std::string_view name_of(Pivoting pivoting) {
  return text_by_value(pivoting, "local", "partial", "tournament");
}
/// Whether candidates are the rows of all ranks of a process column, so that rows cross the network.
constexpr bool pivots_across_processes(Pivoting pivoting) { return pivoting != Pivoting::local; }

/// How a pass is computed: by blocks, or row by row as in the white paper.
enum class LuAlgorithm { blocked, row_by_row };
/// Row by row if the backend can, and if no row crosses process rows.
constexpr LuAlgorithm lu_algorithm(bool backend_has_row_by_row, Pivoting pivoting, const GridShape& grid) {
  const bool rows_stay = pivoting == Pivoting::local || (pivoting == Pivoting::partial && grid.rows == 1);
  return backend_has_row_by_row && rows_stay ? LuAlgorithm::row_by_row : LuAlgorithm::blocked;
}

/// Where panels are factorised. automatic: on GPUs that are fast at it, if panel_method() finds a way.
enum class PanelPlace { automatic, host, device };
inline constexpr auto all_panel_places = values_up_to<PanelPlace::device>;
constexpr std::string_view name_of(PanelPlace place) { return text_by_value(place, "auto", "host", "device"); }
/// Whether devices can. With one process row, local and partial pivoting are the same.
constexpr bool panels_may_be_on_device(Pivoting pivoting, const GridShape& grid) {
  return pivoting != Pivoting::local || grid.rows == 1;
}

/// Whether a row swap brings U's rows to all process rows, which then all compute U12 and need L11 for it (HPL's way);
/// otherwise the pivot's process row computes U12 and broadcasts it.
constexpr bool all_compute_u12(const RowSwap& swap, Pivoting pivoting, const GridShape& grid) {
  return swap.kind != RowSwapKind::direct && pivots_across_processes(pivoting) && grid.rows > 1;
}

/// The parts of a run to do.
enum class RunParts {
  all,
  compute,   // the factorisation's arithmetic: nothing is sent, nothing is solved
  messages,  // the factorisation's messages: nothing is computed
};

constexpr Completion completion_of(RunParts parts) {
  return parts == RunParts::messages ? Completion::in_turn : Completion::overlapped;
}

struct RunParameters {
  Index n = 0;   // order of the matrix, >= 1
  Index nb = 0;  // block size, >= 1
  Pivoting pivoting = Pivoting::partial;
  PanelPlace panel = PanelPlace::automatic;
  BroadcastKind broadcast = BroadcastKind::ring;
  bool node_memory = true;  // the ranks of a node exchange data through its memory if possible, else by messages
  RowSwap row_swap = {};    // its kind matters if rows cross the network, its pieces in any case
  int lookahead = 1;        // 0: a panel is factorised after the pass before it; more than 1 computes as 1
  double threshold = 16.0;  // of the scaled residual; 0 or less: no check (HPL.dat line 13)
  RunParts parts = RunParts::all;
  bool abft = false;     // carries checksums and checks them (abft/checksums.hpp)
  Index abft_every = 0;  // passes between two checks; 0: passes_between_checks(nb)
  bool refine = false;   // refine the solution in double precision; the factors have the backend's precision
  /// Keeps memory for a copy of the local matrix, from which checkpoints are written.
  bool checkpoint_copy = false;
  bool software_as_gpu = false;  // a software device is treated as a GPU (tests)
};

/// How panels are factorised if the devices are fast at it.
enum class PanelMethod {
  host,
  whole,        // one process row: by the pivot's device
  gathered,     // several: by the pivot's device, which gets the rows of the others
  distributed,  // several: by all devices of the process column; hosts reduce the candidates of a tournament
};
/// `column_shares_memory`: the ranks of a process column are on one node and exchange rows through its memory. Across
/// nodes a distributed tournament sends fewer rows.
constexpr PanelMethod panel_method(const RunParameters& parameters, const GridShape& grid, bool column_shares_memory) {
  if (parameters.panel == PanelPlace::host || !panels_may_be_on_device(parameters.pivoting, grid)) {
    return PanelMethod::host;
  }
  if (grid.rows == 1) return PanelMethod::whole;
  constexpr int max_rows = 8;  // GPUs of a node
  if (column_shares_memory && grid.rows <= max_rows) return PanelMethod::gathered;
  if (parameters.pivoting == Pivoting::tournament) return PanelMethod::distributed;
  return parameters.panel == PanelPlace::device ? PanelMethod::gathered : PanelMethod::host;
}

/// The distribution of a run's [A | b]: blocks of nb, or of n if nb is larger.
inline Distribution distribution_of(const RunParameters& parameters, GridShape grid) {
  Distribution distribution(parameters.n, std::min(parameters.nb, parameters.n), grid);
  if (parameters.abft) distribution.checksum_columns = checksum_columns;
  return distribution;
}

/// Rows that a panel has above a rank's own, at most: nb if all process rows compute U12, else 0.
inline Index rows_above_panels(const RunParameters& parameters, const Distribution& distribution) {
  return all_compute_u12(parameters.row_swap, parameters.pivoting, distribution.shape) ? distribution.nb : 0;
}

/// Whether the ranks of a node exchange data through shared memory. MPI_Ibcast does not.
inline bool shares_node_memory(const RunParameters& parameters) {
  return parameters.node_memory && !is_mpi_collective(parameters.broadcast);
}
/// Whether a run allocates that memory.
inline bool uses_node_windows(const RunParameters& parameters) {
  return shares_node_memory(parameters) && parameters.parts != RunParts::compute;
}

/// The matrix is generated and uploaded in strips of about matrix_strip_elements elements, of this many rows.
inline constexpr Index matrix_strip_elements = Index{1} << 22;
inline Index matrix_strip_rows(Index rows, Index columns) {
  return std::min(rows, std::max<Index>(1, matrix_strip_elements / std::max<Index>(1, columns)));
}

/// HPL's count for the factorisation and solution of order n: 2/3 n^3 + 3/2 n^2.
constexpr double hpl_flops(Index n) {
  const auto order = static_cast<double>(n);
  return order * order * (2.0 / 3.0 * order + 1.5);
}
/// The factorisation of [A | b] alone: 2/3 n^3 + 1/2 n^2.
constexpr double factorization_flops(Index n) {
  const auto order = static_cast<double>(n);
  return order * order * (2.0 / 3.0 * order + 0.5);
}

}  // namespace glinpack
