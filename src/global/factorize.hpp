// The distributed factorisation: the driver, and the steps of a pass that it is made of.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "global/broadcast.hpp"
#include "global/panel.hpp"
#include "global/process_grid.hpp"
#include "global/row_exchange.hpp"
#include "global/run.hpp"
#include "global/schedule.hpp"
#include "local/backend.hpp"

namespace glinpack {

/// The steps of a pass on one rank, with the memory that they need between them. Every step is collective over the
/// communicators that its comment names.
template <class Real>
class FactorizationSteps {
 public:
  /// Allocates everything that the factorisation needs besides the matrix. Not collective.
  FactorizationSteps(const RunParameters& parameters, const Distribution& distribution, const ProcessGrid& grid,
                     Backend<Real>& backend, Timeline& timeline, DeviceMatrix<Real>& a);

  /// P, L11, L21, U11 <- A(k:, k). Over the pivot's process column.
  void factorize_panel(const PassPlan& plan);
  /// P, L11, L21 to all process columns, and onto the device. Over process rows.
  void broadcast_panel(const PassPlan& plan);
  /// Rows of the trailing columns interchanged by P. Over process columns.
  void swap_rows(const PassPlan& plan);
  /// U12 <- L11^-1 A12 on the pivot's process row, then to all process rows. Over process columns.
  void normalize_and_broadcast(const PassPlan& plan);
  /// A22 <- A22 - L21 U12. No communication.
  void reduce(const PassPlan& plan);

  /// After broadcast_panel: the first zero pivot, known on every rank.
  std::optional<GlobalIndex> zero_pivot() const { return panel_.zero_pivot; }
  /// Pivots of the pass; with local pivoting valid on the pivot's process row.
  const std::vector<GlobalIndex>& pivots() const { return panel_.pivots; }

 private:
  Timeline::Scope network(Phase phase, Index elements) const {
    return timeline_.scope(Lane::net, phase, elements * static_cast<Index>(sizeof(Real)));
  }

  const RunParameters& parameters_;
  const Distribution& distribution_;
  const ProcessGrid& grid_;
  Backend<Real>& backend_;
  Timeline& timeline_;
  DeviceMatrix<Real>& a_;
  Panel<Real> panel_;
  std::unique_ptr<DeviceMatrix<Real>> l_transposed_;  // nb x local rows: the panel on the device
  std::unique_ptr<DeviceMatrix<Real>> u_;             // nb x local columns: U12 on the device
  std::unique_ptr<HostBuffer<Real>> u_host_;          // U12 as it travels; only where there are several process rows
  RowExchange<Real> row_exchange_;
  Fence panel_free_;  // until these, the device may still read the last pass's host buffers
  Fence u_host_free_;
};

struct Factorization {
  /// Global rows interchanged with rows 0, 1, ...: P. Known on the ranks of each pivot's process row, and with partial
  /// pivoting on all.
  std::vector<GlobalIndex> pivots;
  std::optional<GlobalIndex> zero_pivot;
};

/// P A = L U of the N x N part of a, which holds this rank's part of [A | b]; b becomes L^-1 P b. L below the diagonal,
/// U on and above it, in a; rows of L's columns stay where their pass left them (later interchanges are not applied to
/// them, as in HPL). Collective over the grid. Stops at the first zero pivot.
template <class Real>
Factorization factorize(const RunParameters& parameters, const Distribution& distribution, const ProcessGrid& grid,
                        Timeline& timeline, FactorizationSteps<Real>& steps, const ProgressObserver& progress);

}  // namespace glinpack
