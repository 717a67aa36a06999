#include "solve/substitution.hpp"

#include <algorithm>

#include "base/memory_count.hpp"

namespace glinpack {

template <class Real>
SubstitutionBlocks<Real>::SubstitutionBlocks(const RankContext<Real>& context, DeviceMatrix<Real>& a)
    : distribution_(context.distribution),
      grid_(context.grid),
      backend_(context.backend),
      timeline_(context.timeline),
      a_(a),
      shares_(backend_.allocate(a.rows(), 1)),
      x_block_(backend_.allocate(distribution_.nb, 1)),
      shares_host_(backend_.allocate_host(a.rows())),
      zeros_(backend_.allocate_host(distribution_.nb)),
      sum_host_(backend_.allocate_host(distribution_.nb)),
      x_host_(backend_.allocate_host(distribution_.nb)) {
  if (!MemoryCount::only_counts()) std::fill_n(zeros_->data(), zeros_->size(), Real{0});
}

template <class Real>
void SubstitutionBlocks<Real>::upload_shares() {
  backend_.wait(backend_.upload({shares_host_.get(), 0, shares_->rows(), 1, 1}, whole(*shares_)));
}

template <class Real>
void SubstitutionBlocks<Real>::download_shares() {
  backend_.wait(backend_.download(whole(*shares_), {shares_host_.get(), 0, shares_->rows(), 1, 1}));
}

// At the pivot's rank; the other shares become zero.
template <class Real>
void SubstitutionBlocks<Real>::sum_shares(const PassPlan& plan) {
  const bool receives = plan.role == Role::pivot;
  const HostBlock<Real> sum{sum_host_.get(), 0, plan.width, 1, 1}, zeros{zeros_.get(), 0, plan.width, 1, 1};
  backend_.wait(sum_uploaded_);
  backend_.wait(backend_.download(share_of_block(plan), sum));
  {
    const auto scope = timeline_.scope(Lane::net, Phase::substitution, plan.width * static_cast<Index>(sizeof(Real)));
    grid_.row().sum_at(plan.pivot.column, std::span(sum_host_->data(), static_cast<std::size_t>(plan.width)));
  }
  sum_uploaded_ = backend_.upload(receives ? sum : zeros, share_of_block(plan));
}

template <class Real>
void SubstitutionBlocks<Real>::solve(const PassPlan& plan, Triangle triangle) {
  if (distribution_.shape.columns > 1) sum_shares(plan);
  if (plan.role != Role::pivot) return;
  const DeviceBlock<Real> diagonal_block{&a_, plan.panel_row.value, plan.panel_column.value, plan.width, plan.width};
  backend_.solve_triangle(triangle, diagonal_block, share_of_block(plan));
}

template <class Real>
std::span<const Real> SubstitutionBlocks<Real>::send_down(const PassPlan& plan) {
  if (distribution_.shape.rows == 1) return {};
  const bool sends = plan.role == Role::pivot;
  const HostBlock<Real> x{x_host_.get(), 0, plan.width, 1, 1};
  backend_.wait(x_uploaded_);
  if (sends) backend_.wait(backend_.download(share_of_block(plan), x));
  {
    const auto scope = timeline_.scope(Lane::net, Phase::substitution, plan.width * static_cast<Index>(sizeof(Real)));
    grid_.column().broadcast(plan.pivot.row, std::span(x_host_->data(), static_cast<std::size_t>(plan.width)));
  }
  if (sends) return {};
  x_uploaded_ = backend_.upload(x, unknowns(plan));
  return {x_host_->data(), static_cast<std::size_t>(plan.width)};
}

template <class Real>
void SubstitutionBlocks<Real>::subtract(const PassPlan& plan, Index first, Index rows) {
  const DeviceBlock<Real> a{&a_, first, plan.panel_column.value, rows, plan.width};
  if (a.empty()) return;
  backend_.subtract_product(a, unknowns(plan), whole(*shares_).block(first, 0, rows, 1));
}

template <class Real>
BackwardSubstitution<Real>::BackwardSubstitution(const RankContext<Real>& context, DeviceMatrix<Real>& a)
    : distribution_(context.distribution), grid_(context.grid), backend_(context.backend), a_(a), blocks_(context, a) {}

template <class Real>
std::vector<Real> BackwardSubstitution<Real>::run() {
  start_right_hand_side();
  return run_on_shares();
}

template <class Real>
std::vector<Real> BackwardSubstitution<Real>::run_on_shares() {
  std::vector<Real> x(static_cast<std::size_t>(distribution_.local_columns_of_a(grid_.position())));
  for (Index pass = distribution_.passes() - 1; pass >= 0; --pass) {
    const PassPlan plan = plan_pass(distribution_, pass, grid_.position());
    if (plan.in_pivot_row) blocks_.solve(plan, Triangle::upper);
    if (!plan.in_pivot_column) continue;
    const std::span<const Real> received = blocks_.send_down(plan);
    std::copy(received.begin(), received.end(), x.begin() + plan.panel_column.value);
    // the rows above the block are the ones before its first local row
    blocks_.subtract(plan, 0, plan.panel_row.value);
  }
  blocks_.download_shares();
  for (Index pass = 0; pass < distribution_.passes(); ++pass) {
    const PassPlan plan = plan_pass(distribution_, pass, grid_.position());
    if (plan.role != Role::pivot) continue;
    std::copy_n(blocks_.shares_on_host().begin() + plan.panel_row.value, plan.width,
                x.begin() + plan.panel_column.value);
  }
  backend_.wait_all();
  return x;
}

template <class Real>
void BackwardSubstitution<Real>::start_right_hand_side() {
  // y on the owner of the last column, zero elsewhere (the shares are initialised to zero)
  const GlobalIndex column = distribution_.right_hand_side();
  if (distribution_.columns.owner(column) != grid_.position().column) return;
  backend_.copy({&a_, 0, distribution_.columns.local(column).value, a_.rows(), 1}, whole(blocks_.shares()));
}

template <class Real>
ForwardSubstitution<Real>::ForwardSubstitution(const RankContext<Real>& context, SubstitutionBlocks<Real>& blocks)
    : distribution_(context.distribution),
      grid_(context.grid),
      blocks_(blocks),
      exchange_(context.backend, context.transport, distribution_.shape.rows > 1 ? distribution_.nb : 0, 1) {
  context.backend.reserve_moves(2 * distribution_.nb, 1);
}

template <class Real>
void ForwardSubstitution<Real>::set_interchanges(const Interchanges& interchanges) {
  exchange_plans_.assign(static_cast<std::size_t>(distribution_.passes()), {});
  for (Index k = 0; k < distribution_.passes(); ++k) {
    // with local pivoting, only the pivot's process row knows the pivots and exchanges rows
    const PassPlan pass = plan_pass(distribution_, k, grid_.position());
    if (!interchanges.across_process_rows && !pass.in_pivot_row) continue;
    const GlobalIndex first = distribution_.rows.first(BlockIndex(k));
    const auto pivots = std::span(interchanges.pivots)
                            .subspan(static_cast<std::size_t>(first.value), static_cast<std::size_t>(pass.width));
    exchange_plans_[static_cast<std::size_t>(k)] =
        plan_row_exchange(distribution_.rows, grid_.position().row, net_row_moves(first, pivots));
  }
}

template <class Real>
void ForwardSubstitution<Real>::run(const std::vector<Real>& r) {
  const std::span<Real> shares = blocks_.shares_on_host();
  std::fill(shares.begin(), shares.end(), Real{0});
  if (grid_.position().column == 0) std::copy(r.begin(), r.end(), shares.begin());
  blocks_.upload_shares();
  for (Index pass = 0; pass < distribution_.passes(); ++pass) {
    const PassPlan plan = plan_pass(distribution_, pass, grid_.position());
    exchange_.start(plan, exchange_plans_[static_cast<std::size_t>(pass)], whole(blocks_.shares())).wait();

    // y_k  <-  L11^-1 r_k            on the pivot's rank
    if (plan.in_pivot_row) blocks_.solve(plan, Triangle::unit_lower);

    // r  <-  r - L21 y_k             on its process column
    if (!plan.in_pivot_column || pass + 1 == distribution_.passes()) continue;
    blocks_.send_down(plan);
    blocks_.subtract(plan, plan.trailing_row.value, plan.trailing_rows);
  }
}

template class SubstitutionBlocks<float>;
template class SubstitutionBlocks<double>;
template class BackwardSubstitution<float>;
template class BackwardSubstitution<double>;
template class ForwardSubstitution<float>;
template class ForwardSubstitution<double>;

}  // namespace glinpack
