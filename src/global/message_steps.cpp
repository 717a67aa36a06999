#include "global/message_steps.hpp"

#include <algorithm>

#include "global/panel.hpp"
#include "global/plan_swap.hpp"
#include "global/stand_ins.hpp"

namespace glinpack {

template <class Real>
MessageSteps<Real>::MessageSteps(const RunParameters& parameters, const Distribution& distribution,
                                 const ProcessGrid& grid, Timeline& timeline, NodeWindows* windows)
    : parameters_(parameters),
      distribution_(distribution),
      grid_(grid),
      messages_(grid, parameters.broadcast, timeline, false, windows) {
  const Index nb = distribution.nb;
  const Index rows = distribution.local_rows(grid.position());
  const Index columns = distribution.local_columns(grid.position());
  const Index above = rows_above_panels(parameters, distribution);
  const auto size = [](Index elements) { return static_cast<std::size_t>(elements); };
  if (distribution.shape.columns > 1) panel_.resize(size(panel_message_elements<Real>(above + rows, nb)));
  if (distribution.shape.rows == 1) return;
  u12_.resize(size(nb * columns));
  if (parameters.pivoting == Pivoting::local) {
    u11_.resize(size(u11_message_elements(nb)));
  } else {
    const Index block = std::min(nb, tournament_columns);
    if (parameters.pivoting == Pivoting::tournament) winners_.resize(size(winners_message_elements<Real>(block, nb)));
    rows_.resize(size(2 * nb * columns));
  }
}

template <class Real>
void MessageSteps<Real>::factorize_panel(const PassPlan& plan) {
  if (distribution_.shape.rows == 1) return;
  if (parameters_.pivoting == Pivoting::local) {
    messages_.u11_column(plan, u11_.data(), u11_message_elements(plan.width));
    return;
  }
  if (parameters_.pivoting == Pivoting::tournament) return play_tournaments(plan);
  CandidateReduction<Real> reduction(plan.width);
  for (Index j = 0; j < plan.width; ++j) {
    CandidateHeader mine;
    mine.has_current_row = plan.in_pivot_row ? 1 : 0;
    reduction.set_header(mine);
    messages_.candidates(reduction);
  }
}

template <class Real>
void MessageSteps<Real>::play_tournaments(const PassPlan& plan) {
  const int here = grid_.position().row;
  for (const TournamentBlock& block : tournaments_of_pass(distribution_, plan.pass)) {
    for (const TournamentMatch& match : block.matches) {
      if (match.from != here && match.to != here) continue;
      // candidates are fewer than what an outcome has
      messages_.tournament_match(match, winners_.data(), candidates_message_elements<Real>(match.rows, plan.width));
    }
    messages_.winners_column(plan, winners_.data(), winners_message_elements<Real>(block.width, plan.width));
  }
}

template <class Real>
void MessageSteps<Real>::finish_broadcast(const PassPlan& plan) {
  pivots_ = drawn_pivots(distribution_, parameters_.pivoting, plan.pass);
  const Index above = rows_above_panels(parameters_, distribution_) > 0 && !plan.in_pivot_row ? plan.width : 0;
  messages_.panel_row(plan, panel_.data(), panel_message_elements<Real>(above + plan.panel_rows, plan.width));
}

template <class Real>
void MessageSteps<Real>::start_swap(const PassPlan& plan, ColumnRange columns) {
  if (distribution_.shape.rows == 1 || !pivots_across_processes(parameters_.pivoting)) return;
  const RowExchangePlan exchange = plan_swap(parameters_, distribution_, grid_.position(), plan, pivots_, columns);
  rows_under_way_ = messages_.start_rows(exchange, columns.count, rows_.data());
}

template <class Real>
void MessageSteps<Real>::finish_swap_and_normalize(const PassPlan& plan, ColumnRange columns) {
  if (columns.count == 0) return;
  if (rows_under_way_) rows_under_way_->wait();
  rows_under_way_.reset();
  if (all_compute_u12(parameters_.row_swap, parameters_.pivoting, distribution_.shape)) return;
  messages_.u12_column(plan, u12_.data(), plan.width * columns.count);
}

template class MessageSteps<float>;
template class MessageSteps<double>;

}  // namespace glinpack
