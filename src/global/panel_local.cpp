#include <algorithm>

#include "global/panel.hpp"
#include "global/stand_ins.hpp"

namespace glinpack {

namespace {

// L11 \ U11, and behind it one element that says which column has a zero pivot: a column number of the panel is small
// enough to be exact in any precision.
template <class Real>
struct DiagonalBlock {
  std::vector<Real> elements;
  Index width;

  explicit DiagonalBlock(Index w) : elements(static_cast<std::size_t>(u11_message_elements(w))), width(w) {}
  ColumnMajorView<Real> view() { return {elements.data(), width, width, width}; }
  Real& zero_column() { return elements.back(); }
  void stand_in(Index n) {
    fill_with_stand_ins(std::span(elements), n);
    for (Index j = 0; j < width; ++j) view()(j, j) = 1;
    zero_column() = -1;
  }
};

}  // namespace

template <class Real>
void factorize_panel_local(const PanelContext<Real>& context, const PassPlan& plan, Panel<Real>& panel) {
  const ColumnMajorView<Real> a = panel.view();
  const double width = static_cast<double>(plan.width);
  const double rows = static_cast<double>(plan.panel_rows);
  const GlobalIndex first = context.distribution.rows.first(BlockIndex(plan.pass));
  DiagonalBlock<Real> diagonal(plan.width);

  // pivot: P A = L U of the rows that this rank holds
  if (plan.role == Role::pivot) {
    const double flops = rows * width * width - width * width * width / 3;
    const auto scope = context.timeline.scope(Lane::cpu, Phase::panel, 0, flops);
    std::vector<Index> local_pivots(static_cast<std::size_t>(plan.width));
    const std::optional<Index> zero = context.arithmetic.pivot(a, local_pivots);
    diagonal.zero_column() = static_cast<Real>(zero.value_or(-1));
    std::transform(local_pivots.begin(), local_pivots.end(), panel.pivots.begin(), [&](Index local) {
      return context.distribution.rows.global(plan.panel_row + local, context.position.row);
    });
    for (Index j = 0; j < plan.width; ++j) std::copy_n(a.column(j), plan.width, diagonal.view().column(j));
  }

  // U11 down the process column
  context.messages.u11_column(plan, diagonal.elements.data(), static_cast<Index>(diagonal.elements.size()));
  if (context.messages.left_out() && plan.role == Role::eliminate) diagonal.stand_in(context.distribution.n);
  if (diagonal.zero_column() >= 0) {
    panel.zero_pivot = first + static_cast<Index>(diagonal.zero_column());
    return;
  }

  // eliminate: L21 <- A21 U11^-1
  if (plan.role == Role::eliminate) {
    const auto scope = context.timeline.scope(Lane::cpu, Phase::eliminate, 0, rows * width * width);
    context.arithmetic.eliminate(diagonal.view(), a);
  }
}

template void factorize_panel_local(const PanelContext<float>&, const PassPlan&, Panel<float>&);
template void factorize_panel_local(const PanelContext<double>&, const PassPlan&, Panel<double>&);

}  // namespace glinpack
