// The distributed factorisation: the driver, and the interface of the steps of a pass that it is made of.
#pragma once

#include <optional>
#include <vector>

#include "global/process_grid.hpp"
#include "global/run.hpp"
#include "global/schedule.hpp"

namespace glinpack {

/// The steps of a pass on one rank. Every step is collective over the communicators that its comment names.
class FactorizationSteps {
 public:
  virtual ~FactorizationSteps() = default;

  /// P, L11, L21, U11 <- A(k:, k). Over the pivot's process column.
  virtual void factorize_panel(const PassPlan& plan) = 0;
  /// P, L11, L21 to all process columns. Over process rows.
  virtual void broadcast_panel(const PassPlan& plan) = 0;
  /// Rows of the trailing columns interchanged by P. Over process columns.
  virtual void swap_rows(const PassPlan& plan) = 0;
  /// U12 <- L11^-1 A12 on the pivot's process row, then to all process rows. Over process columns.
  virtual void normalize_and_broadcast(const PassPlan& plan) = 0;
  /// A22 <- A22 - L21 U12. No communication.
  virtual void reduce(const PassPlan& plan) = 0;

  /// After broadcast_panel: the first zero pivot, known on every rank.
  virtual std::optional<GlobalIndex> zero_pivot() const = 0;
  /// Pivots of the pass; with local pivoting valid on the pivot's process row.
  virtual const std::vector<GlobalIndex>& pivots() const = 0;
};

struct Factorization {
  /// Global rows interchanged with rows 0, 1, ...: P. Known on the ranks of each pivot's process row, and with partial
  /// pivoting on all.
  std::vector<GlobalIndex> pivots;
  std::optional<GlobalIndex> zero_pivot;
};

/// P A = L U of the N x N part of the matrix that the steps work on, this rank's part of [A | b]; b becomes L^-1 P b.
/// L below the diagonal, U on and above it, in its place; rows of L's columns stay where their pass left them (later
/// interchanges are not applied to them, as in HPL). Collective over the grid. Stops at the first zero pivot.
Factorization factorize(const RunParameters& parameters, const Distribution& distribution, const ProcessGrid& grid,
                        Timeline& timeline, FactorizationSteps& steps, const ProgressObserver& progress);

}  // namespace glinpack
