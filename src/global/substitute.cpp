#include "global/substitute.hpp"

#include <algorithm>

namespace glinpack {

template <class Real>
BackwardSubstitution<Real>::BackwardSubstitution(const Distribution& distribution, const ProcessGrid& grid,
                                                 Backend<Real>& backend, Timeline& timeline, DeviceMatrix<Real>& a,
                                                 Solutions solutions)
    : distribution_(distribution),
      grid_(grid),
      backend_(backend),
      timeline_(timeline),
      a_(a),
      blocks_(distribution, grid, backend, timeline, a, solutions) {}

template <class Real>
std::vector<Real> BackwardSubstitution<Real>::run() {
  start_right_hand_side();
  return run_on_shares();
}

template <class Real>
std::vector<Real> BackwardSubstitution<Real>::run_on_shares() {
  x_.assign(static_cast<std::size_t>(
                distribution_.columns.lower_bound(distribution_.right_hand_side(), grid_.position().column).value),
            Real{0});
  for (Index pass = distribution_.passes() - 1; pass >= 0; --pass) {
    const PassPlan plan = plan_pass(distribution_, pass, grid_.position());
    if (plan.in_pivot_row) solve_block(plan);
    if (plan.in_pivot_column) subtract_block(plan);
  }
  backend_.wait_all();
  return std::move(x_);
}

template <class Real>
void BackwardSubstitution<Real>::start_right_hand_side() {
  // y where the last column is, nothing elsewhere (the shares are created zero)
  const GlobalIndex column = distribution_.right_hand_side();
  if (distribution_.columns.owner(column) != grid_.position().column) return;
  backend_.copy({&a_, 0, distribution_.columns.local(column).value, a_.rows(), 1}, whole(blocks_.shares()));
}

template <class Real>
void BackwardSubstitution<Real>::solve_block(const PassPlan& plan) {
  blocks_.gather(plan);
  if (plan.role != Role::pivot) return;
  const double flops = static_cast<double>(plan.width) * static_cast<double>(plan.width);
  const auto scope = timeline_.scope(Lane::cpu, Phase::substitution, 0, flops);
  backend_.panel().back_substitute(blocks_.diagonal_block(plan), blocks_.unknowns(plan));
}

template <class Real>
void BackwardSubstitution<Real>::subtract_block(const PassPlan& plan) {
  blocks_.send_down(plan);
  std::copy_n(blocks_.unknowns(plan).data(), plan.width, x_.begin() + plan.panel_column.value);
  // the rows above the block are the ones before its first local row
  blocks_.subtract(plan, 0, plan.panel_row.value);
}

template <class Real>
ForwardSubstitution<Real>::ForwardSubstitution(const Distribution& distribution, const ProcessGrid& grid,
                                               Backend<Real>& backend, Timeline& timeline,
                                               SubstitutionBlocks<Real>& blocks)
    : distribution_(distribution),
      grid_(grid),
      backend_(backend),
      timeline_(timeline),
      blocks_(blocks),
      messages_(grid, BroadcastKind::ring, timeline, false),
      exchange_(backend, messages_, distribution.shape.rows > 1 ? distribution.nb : 0, 1, distribution.n),
      shares_host_(backend.allocate_host(blocks.shares().rows())) {
  backend.reserve_moves(2 * distribution.nb, 1);
}

template <class Real>
void ForwardSubstitution<Real>::set_pivots(const std::vector<GlobalIndex>& pivots, Pivoting pivoting) {
  interchanges_.assign(static_cast<std::size_t>(distribution_.passes()), {});
  for (Index pass = 0; pass < distribution_.passes(); ++pass) {
    // local pivoting moves rows of the pivot's process row alone, and no other knows its pivots
    const PassPlan plan = plan_pass(distribution_, pass, grid_.position());
    if (!pivots_across_processes(pivoting) && !plan.in_pivot_row) continue;
    const GlobalIndex first = distribution_.rows.first(BlockIndex(pass));
    const auto moves = net_row_moves(
        first, std::span(pivots).subspan(static_cast<std::size_t>(first.value), static_cast<std::size_t>(plan.width)));
    interchanges_[static_cast<std::size_t>(pass)] = plan_row_exchange(distribution_.rows, grid_.position().row, moves);
  }
}

template <class Real>
void ForwardSubstitution<Real>::upload_shares() {
  const Index rows = blocks_.shares().rows();
  backend_.wait(backend_.upload({shares_host_.get(), 0, rows, 1, 1}, whole(blocks_.shares())));
}

template <class Real>
void ForwardSubstitution<Real>::run(const std::vector<Real>& r) {
  Real* const shares = shares_host_->data();
  std::fill_n(shares, shares_host_->size(), Real{0});
  if (grid_.position().column == 0) std::copy(r.begin(), r.end(), shares);
  upload_shares();
  std::fill_n(shares, shares_host_->size(), Real{0});
  for (Index pass = 0; pass < distribution_.passes(); ++pass) {
    const PassPlan plan = plan_pass(distribution_, pass, grid_.position());
    exchange_.run(interchanges_[static_cast<std::size_t>(pass)], whole(blocks_.shares()));

    // y_k  <-  L11^-1 r_k            on the pivot's rank
    if (plan.in_pivot_row) blocks_.gather(plan);
    if (plan.role == Role::pivot) {
      const double flops = static_cast<double>(plan.width) * static_cast<double>(plan.width - 1);
      const auto scope = timeline_.scope(Lane::cpu, Phase::substitution, 0, flops);
      const std::span<Real> y = blocks_.unknowns(plan);
      backend_.panel().normalize(blocks_.diagonal_block(plan), {y.data(), plan.width, 1, plan.width});
      std::copy(y.begin(), y.end(), shares + plan.panel_row.value);
    }

    // r  <-  r - L21 y_k             on its process column
    if (!plan.in_pivot_column || pass + 1 == distribution_.passes()) continue;
    blocks_.send_down(plan);
    blocks_.subtract(plan, plan.trailing_row.value, plan.trailing_rows);
  }
  upload_shares();
}

template class BackwardSubstitution<float>;
template class BackwardSubstitution<double>;
template class ForwardSubstitution<float>;
template class ForwardSubstitution<double>;

}  // namespace glinpack
