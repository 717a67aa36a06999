#include <algorithm>

#include "lu/panel/panel.hpp"

namespace glinpack {

template <class Real>
DiagonalBlock<Real> broadcast_diagonal_block(const RankContext<Real>& context, const PassPlan& pass, Panel<Real>& panel,
                                             std::optional<Index> zero) {
  DiagonalBlock<Real> block(pass.width);
  if (pass.role == Role::pivot) {
    context.backend.panel().read_rows(panel.view(), top_rows(pass.width), block.view());
    block.elements.back() = static_cast<Real>(zero.value_or(-1));
  }
  context.transport.broadcast(MessageKind::u11, pass, block.elements);
  const auto zero_column = static_cast<Index>(block.elements.back());
  if (zero_column >= 0) panel.zero_pivot = context.distribution.rows.first(BlockIndex(pass.pass)) + zero_column;
  return block;
}

template <class Real>
std::optional<Index> factorize_own_rows(const RankContext<Real>& context, const PassPlan& pass, Panel<Real>& panel,
                                        FactorizeOperation<Real> factorize) {
  const auto scope = context.timeline.scope(Lane::cpu, Phase::panel, 0, lu_flops(pass.panel_rows, pass.width));
  std::vector<Index> local_pivots(static_cast<std::size_t>(pass.width));
  const std::optional<Index> zero = (context.backend.panel().*factorize)(panel.view(), local_pivots);
  std::transform(local_pivots.begin(), local_pivots.end(), panel.pivots.begin(), [&](Index local) {
    return context.distribution.rows.global(pass.panel_row + local, context.position().row);
  });
  return zero;
}

template <class Real>
void factorize_panel_local(const RankContext<Real>& context, const PassPlan& pass, Panel<Real>& panel) {
  std::optional<Index> zero;

  // pivot: P A = L U of the rows that this rank holds
  if (pass.role == Role::pivot)
    zero = factorize_own_rows(context, pass, panel, &PanelArithmetic<Real>::factorize_partial);

  // U11 down the process column
  const DiagonalBlock<Real> diagonal = broadcast_diagonal_block(context, pass, panel, zero);

  // eliminate: L21 <- A21 U11^-1
  if (!panel.zero_pivot && pass.role == Role::eliminate) {
    const double flops = static_cast<double>(pass.panel_rows) * static_cast<double>(pass.width * pass.width);
    const auto scope = context.timeline.scope(Lane::cpu, Phase::eliminate, 0, flops);
    context.backend.panel().solve_l21(diagonal.view(), panel.view());
  }
}

template DiagonalBlock<float> broadcast_diagonal_block(const RankContext<float>&, const PassPlan&, Panel<float>&,
                                                       std::optional<Index>);
template DiagonalBlock<double> broadcast_diagonal_block(const RankContext<double>&, const PassPlan&, Panel<double>&,
                                                        std::optional<Index>);
template std::optional<Index> factorize_own_rows(const RankContext<float>&, const PassPlan&, Panel<float>&,
                                                 FactorizeOperation<float>);
template std::optional<Index> factorize_own_rows(const RankContext<double>&, const PassPlan&, Panel<double>&,
                                                 FactorizeOperation<double>);
template void factorize_panel_local(const RankContext<float>&, const PassPlan&, Panel<float>&);
template void factorize_panel_local(const RankContext<double>&, const PassPlan&, Panel<double>&);

}  // namespace glinpack
