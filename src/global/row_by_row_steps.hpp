// The steps of a pass as the white paper has them (sections 3.1 and 3.2): each rank's backend works row by row, and its
// roles do more at a time than blocks would: the pivot rank reduces all that it holds while it factorises, the
// normalize ranks exchange, eliminate and reduce in one go.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "global/factorize.hpp"
#include "global/panel.hpp"
#include "global/pass_messages.hpp"
#include "local/backend.hpp"
#include "local/row_by_row.hpp"

namespace glinpack {

/// With local pivoting, or with one process row: no row crosses the network. The backend has a row_by_row().
template <class Real>
class RowByRowSteps final : public FactorizationSteps {
 public:
  /// Allocates everything that the factorisation needs besides the matrix. Not collective.
  RowByRowSteps(const RunParameters& parameters, const Distribution& distribution, const ProcessGrid& grid,
                Backend<Real>& backend, Timeline& timeline, DeviceMatrix<Real>& a, NodeWindows* windows);

  void factorize_panel(const PassPlan& plan) override;
  /// Nothing: it is sent and received when it is needed.
  void start_broadcast(const PassPlan&) override {}
  void finish_broadcast(const PassPlan& plan) override;
  /// Nothing: rows change places while they are reduced.
  void start_swap(const PassPlan&, ColumnRange) override {}
  /// All trailing columns, as in reduce().
  void finish_swap_and_normalize(const PassPlan& plan, ColumnRange columns) override;
  void reduce(const PassPlan& plan, ColumnRange columns) override;
  bool takes_pieces() const override { return false; }
  std::optional<GlobalIndex> zero_pivot() const override { return panel_.zero_pivot; }
  const std::vector<GlobalIndex>& pivots() const override { return panel_.pivots; }

 private:
  std::optional<Index> pivot(const PassPlan& plan);
  /// Columns of L and rows of U, or what stands in for those that messages would have brought.
  HostBlock<Real> l(const PassPlan& plan) const;
  HostBlock<Real> u(const PassPlan& plan) const;
  HostBlock<Real> u12(const PassPlan& plan) const {
    return {u_host_.get(), 0, plan.width, plan.trailing_columns, plan.trailing_columns};
  }

  const RunParameters& parameters_;
  const Distribution& distribution_;
  const ProcessGrid& grid_;
  Backend<Real>& backend_;
  RowByRowAlgorithm<Real>& local_;
  Timeline& timeline_;
  DeviceMatrix<Real>& a_;
  PassMessages messages_;
  Panel<Real> panel_;
  std::unique_ptr<HostBuffer<Real>> u_host_;
  std::unique_ptr<HostBuffer<Real>> stand_in_panel_;  // where messages are left out
  std::unique_ptr<HostBuffer<Real>> stand_in_u_;
  Fence host_free_;  // until then the device may still read the last pass's panel and U12
};

}  // namespace glinpack
