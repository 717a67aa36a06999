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

  /// Before the first pass: what all ranks must do alike. Over the whole grid.
  virtual void agree() {}
  /// The panel to where it will be factorised, or, by devices, factorised. Over the pivot's process column.
  virtual void fetch_panel(const PassPlan&) {}
  /// P, L11, L21, U11 <- A(k:, k). Over the pivot's process column.
  virtual void factorize_panel(const PassPlan& plan) = 0;
  /// P, L11, L21 to all process columns: started, and then ended. Over process rows.
  virtual void start_broadcast(const PassPlan& plan) = 0;
  virtual void finish_broadcast(const PassPlan& plan) = 0;
  /// Rows of some of the trailing columns interchanged by P: started, one range of columns at a time. Over process
  /// columns.
  virtual void start_swap(const PassPlan& plan, ColumnRange columns) = 0;
  /// The same ended; U12 <- L11^-1 A12 in these columns, to or on all process rows (RowSwap). Over process columns.
  virtual void finish_swap_and_normalize(const PassPlan& plan, ColumnRange columns) = 0;
  /// A22 <- A22 - L21 U12 in some of the columns that were normalized last. No communication, but what is under way
  /// goes on.
  virtual void reduce(const PassPlan& plan, ColumnRange columns) = 0;

  /// Whether panel k + 1 may be factorised between two parts of pass k's reduction.
  virtual bool can_look_ahead() const { return false; }
  /// Whether the trailing columns may be taken in pieces.
  virtual bool takes_pieces() const { return true; }
  /// Whether reduce() returns before its work is done, so that the host can factorise a panel meanwhile: on this rank.
  virtual bool reduces_in_background() const { return false; }

  /// Before a pass that is not taken, nor any after it: ends what is under way. Over process rows and columns.
  virtual void abandon() {}

  /// After finish_broadcast: the first zero pivot, known on every rank.
  virtual std::optional<GlobalIndex> zero_pivot() const = 0;
  /// Pivots of the pass; with local pivoting valid on the pivot's process row.
  virtual const std::vector<GlobalIndex>& pivots() const = 0;
};

struct Factorization {
  /// Global rows interchanged with rows 0, 1, ...: P. Known on the ranks of each pivot's process row, and with partial
  /// or tournament pivoting on all.
  std::vector<GlobalIndex> pivots;
  std::optional<GlobalIndex> zero_pivot;
  std::optional<Index> ended_before;  // the pass that a signal ended it before (stop_request.hpp)
};

/// P A = L U of the N x N part of the matrix that the steps work on, this rank's part of [A | b]; b becomes L^-1 P b.
/// L below the diagonal, U on and above it, in its place; rows of L's columns stay where their pass left them (later
/// interchanges are not applied to them, as in HPL). Collective over the grid. Stops at the first zero pivot, and
/// where a signal asks for it. The factors are the same with and without look-ahead (RunParameters::lookahead), and
/// with every RowSwap.
Factorization factorize(const RunParameters& parameters, const Distribution& distribution, const ProcessGrid& grid,
                        Timeline& timeline, FactorizationSteps& steps, const ProgressObserver& progress);

}  // namespace glinpack
