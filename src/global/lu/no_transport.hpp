// A transport that sends nothing: placeholders arrive in place of messages. `glinpack plu --compute-only`.
#pragma once

#include <vector>

#include "lu/parameters.hpp"
#include "transport/transport.hpp"

namespace glinpack {

/// Pivots of a pass like those of a random matrix: for column j of the panel a row drawn from the rows j ... that may
/// be its pivot, all remaining ones (partial, tournament) or those of the pivot's process row (local), each as likely.
/// The same on every rank and in every run.
std::vector<GlobalIndex> synthetic_pivots(const Distribution& distribution, Pivoting pivoting, Index pass);

/// Rows that the synthetic pivots of all passes take from one process row to another.
Index rows_exchanged(const Distribution& distribution, Pivoting pivoting);

/// Numbers of either sign, 1/(4n) ... 1/(2n) in magnitude. As L or U of a matrix of order n they let no element grow
/// more than e-fold over all passes: a pass multiplies by at most 1 + nb/n.
template <class Real>
void fill_with_placeholders(std::span<Real> values, Index n);

/// Placeholders have the extents and the magnitudes of real messages: synthetic pivots, small numbers for L and U, and
/// sent rows for received rows. A pivot row of another rank has a large diagonal element, so that multipliers are
/// small. A tournament's winners depend on rows that messages bring: only a backend that computes nothing has one here.
template <class Real>
class NoTransport final : public Transport<Real> {
 public:
  /// Numbers for messages of up to `largest` elements are made here, before the run is timed; 0: placeholders are
  /// pivots and row numbers alone, for a backend that computes nothing. `column_shares_memory`: as the ranks of this
  /// process column would by messages.
  NoTransport(const Distribution& distribution, GridPosition position, Pivoting pivoting, std::size_t largest,
              bool column_shares_memory = false);

  std::unique_ptr<Transfer> start_broadcast(MessageKind kind, const PassPlan& pass, std::span<Real> message,
                                            Index column, MessagePlace) override;
  std::unique_ptr<Transfer> start_row_exchange(const PassPlan& pass, const RowExchangePlan& plan, Index columns,
                                               Real* buffer, MessagePlace) override;
  std::unique_ptr<Transfer> start_panel_exchange(const PassPlan& pass, const RowExchangePlan& plan, Real* buffer,
                                                 MessagePlace) override;
  bool column_shares_memory() const override { return column_shares_memory_; }
  void reduce_candidates(const PassPlan& pass, Index column, CandidateMessage<Real>& candidates) override;
  void send(const PassPlan&, Index, int, std::span<const Real>) override {}
  void receive(const PassPlan& pass, Index column, int from, std::span<Real> rows) override;

 private:
  const std::vector<GlobalIndex>& pivots_of(const PassPlan& pass);
  void fill(std::span<Real> message, Index first = 0);

  const Distribution& distribution_;
  GridPosition position_;
  Pivoting pivoting_;
  Index pivots_pass_ = -1;
  std::vector<GlobalIndex> pivots_;  // of that pass
  std::vector<Real> numbers_;        // copied into messages
  bool column_shares_memory_;
};

}  // namespace glinpack
