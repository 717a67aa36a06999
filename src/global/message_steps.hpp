// The steps of a pass without their arithmetic: the messages of BlockedSteps, through the same PassMessages, between
// host buffers whose contents mean nothing. For `glinpack network`.
#pragma once

#include <optional>
#include <vector>

#include "global/factorize.hpp"
#include "global/pass_messages.hpp"

namespace glinpack {

/// Pivots are drawn (stand_ins.hpp), so that as many rows change places as with a random matrix.
template <class Real>
class MessageSteps final : public FactorizationSteps {
 public:
  /// Allocates the buffers. Not collective.
  MessageSteps(const RunParameters& parameters, const Distribution& distribution, const ProcessGrid& grid,
               Timeline& timeline, NodeWindows* windows);

  void factorize_panel(const PassPlan& plan) override;
  /// Nothing: it is sent and received when it is needed.
  void start_broadcast(const PassPlan&) override {}
  void finish_broadcast(const PassPlan& plan) override;
  void start_swap(const PassPlan& plan, ColumnRange columns) override;
  void finish_swap_and_normalize(const PassPlan& plan, ColumnRange columns) override;
  void reduce(const PassPlan&, ColumnRange) override {}
  std::optional<GlobalIndex> zero_pivot() const override { return std::nullopt; }
  const std::vector<GlobalIndex>& pivots() const override { return pivots_; }

 private:
  void play_tournaments(const PassPlan& plan);

  const RunParameters& parameters_;
  const Distribution& distribution_;
  const ProcessGrid& grid_;
  PassMessages messages_;
  std::vector<GlobalIndex> pivots_;
  std::vector<Real> panel_;
  std::vector<Real> u11_;
  std::vector<Real> winners_;
  std::vector<Real> u12_;
  std::vector<Real> rows_;
  std::unique_ptr<TransfersUnderWay> rows_under_way_;
};

}  // namespace glinpack
