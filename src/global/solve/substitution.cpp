#include "solve/substitution.hpp"

#include <algorithm>
#include <numeric>

#include "mpi/broadcast.hpp"
#include "mpi/communication.hpp"

namespace glinpack {

namespace {

// The period of the pivot's position: a rank is the pivot in one pass of each period, or in none.
Index period_of(const GridShape& grid) { return std::lcm<Index, Index>(grid.rows, grid.columns); }

}  // namespace

Index diagonal_blocks_on_host(const Distribution& distribution, GridPosition at, Solutions solutions) {
  // pass k's pivot is in row k mod P and column k mod Q: such a k exists if they are equal modulo gcd(P, Q)
  const bool is_ever_pivot = (at.row - at.column) % std::gcd(distribution.shape.rows, distribution.shape.columns) == 0;
  if (solutions == Solutions::one || !is_ever_pivot) return 1;
  const Index period = period_of(distribution.shape);
  return (distribution.passes() + period - 1) / period;
}

template <class Real>
SubstitutionBlocks<Real>::SubstitutionBlocks(const Distribution& distribution, const ProcessGrid& grid,
                                             Backend<Real>& backend, Timeline& timeline, DeviceMatrix<Real>& a,
                                             Solutions solutions)
    : distribution_(distribution),
      grid_(grid),
      backend_(backend),
      timeline_(timeline),
      a_(a),
      shares_(backend.allocate(a.rows(), 1)),
      x_block_(backend.allocate(distribution.nb, 1)),
      y_host_(backend.allocate_host(distribution.nb)),
      x_host_(backend.allocate_host(distribution.nb)),
      pass_at_(static_cast<std::size_t>(diagonal_blocks_on_host(distribution, grid.position(), solutions)), -1) {
  diagonal_blocks_ = backend.allocate_host(static_cast<Index>(pass_at_.size()) * distribution.nb * distribution.nb);
}

template <class Real>
std::size_t SubstitutionBlocks<Real>::place_of(const PassPlan& plan) const {
  return static_cast<std::size_t>(plan.pass / period_of(distribution_.shape)) % pass_at_.size();
}

template <class Real>
HostBlock<Real> SubstitutionBlocks<Real>::block_on_host(const PassPlan& plan) const {
  const Index offset = static_cast<Index>(place_of(plan)) * distribution_.nb * distribution_.nb;
  return {diagonal_blocks_.get(), offset, plan.width, plan.width, plan.width};
}

template <class Real>
void SubstitutionBlocks<Real>::fetch_diagonal_block(const PassPlan& plan) {
  Index& held = pass_at_[place_of(plan)];
  if (held == plan.pass) return;
  held = plan.pass;
  backend_.wait(backend_.download_transposed(
      {&a_, plan.panel_row.value, plan.panel_column.value, plan.width, plan.width}, block_on_host(plan)));
}

template <class Real>
void SubstitutionBlocks<Real>::gather(const PassPlan& plan) {
  const HostBlock<Real> y{y_host_.get(), 0, plan.width, 1, 1};
  if (plan.role == Role::pivot) fetch_diagonal_block(plan);
  backend_.wait(backend_.download({shares_.get(), plan.panel_row.value, 0, plan.width, 1}, y));
  if (distribution_.shape.columns > 1) {
    const auto scope = timeline_.scope(Lane::net, Phase::substitution, plan.width * static_cast<Index>(sizeof(Real)));
    const bool receives = plan.role == Role::pivot;
    MPI_Request request = MPI_REQUEST_NULL;
    GLINPACK_MPI(MPI_Ireduce(receives ? MPI_IN_PLACE : y_host_->data(), y_host_->data(), static_cast<int>(plan.width),
                             mpi_type<Real>(), MPI_SUM, plan.pivot.column, grid_.row(), &request));
    wait(request, Pending::with_all_of(grid_.row()));
  }
  if (plan.role != Role::pivot) return;
  backend_.wait(x_uploaded_);
  std::copy_n(y_host_->data(), plan.width, x_host_->data());
}

template <class Real>
ColumnMajorView<const Real> SubstitutionBlocks<Real>::diagonal_block(const PassPlan& plan) const {
  return {block_on_host(plan).view().data, plan.width, plan.width, plan.width};
}

template <class Real>
void SubstitutionBlocks<Real>::send_down(const PassPlan& plan) {
  if (distribution_.shape.rows == 1) return;
  backend_.wait(x_uploaded_);
  const auto scope = timeline_.scope(Lane::net, Phase::substitution, plan.width * static_cast<Index>(sizeof(Real)));
  Broadcast(grid_.column(), BroadcastKind::ibcast, plan.pivot.row, x_host_->data(), plan.width, mpi_type<Real>(),
            tags::solution)
      .wait();
}

template <class Real>
void SubstitutionBlocks<Real>::subtract(const PassPlan& plan, Index first, Index rows) {
  const DeviceBlock<Real> a{&a_, first, plan.panel_column.value, rows, plan.width};
  if (a.empty()) return;
  const DeviceBlock<Real> x = whole(*x_block_).block(0, 0, plan.width, 1);
  x_uploaded_ = backend_.upload({x_host_.get(), 0, plan.width, 1, 1}, x);
  backend_.subtract_product(a, x, whole(*shares_).block(first, 0, rows, 1));
}

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
  // y on the owner of the last column, zero elsewhere (the shares are initialised to zero)
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
      transport_(grid, BroadcastKind::ring, timeline),
      exchange_(backend, transport_, distribution.shape.rows > 1 ? distribution.nb : 0, 1),
      shares_host_(backend.allocate_host(blocks.shares().rows())) {
  backend.reserve_moves(2 * distribution.nb, 1);
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
    exchange_.start(plan, exchange_plans_[static_cast<std::size_t>(pass)], whole(blocks_.shares())).wait();

    // y_k  <-  L11^-1 r_k            on the pivot's rank
    if (plan.in_pivot_row) blocks_.gather(plan);
    if (plan.role == Role::pivot) {
      const double flops = static_cast<double>(plan.width) * static_cast<double>(plan.width - 1);
      const auto scope = timeline_.scope(Lane::cpu, Phase::substitution, 0, flops);
      const std::span<Real> y = blocks_.unknowns(plan);
      backend_.panel().solve_unit_lower(blocks_.diagonal_block(plan), {y.data(), plan.width, 1, plan.width});
      std::copy(y.begin(), y.end(), shares + plan.panel_row.value);
    }

    // r  <-  r - L21 y_k             on its process column
    if (!plan.in_pivot_column || pass + 1 == distribution_.passes()) continue;
    blocks_.send_down(plan);
    blocks_.subtract(plan, plan.trailing_row.value, plan.trailing_rows);
  }
  upload_shares();
}

template class SubstitutionBlocks<float>;
template class SubstitutionBlocks<double>;
template class BackwardSubstitution<float>;
template class BackwardSubstitution<double>;
template class ForwardSubstitution<float>;
template class ForwardSubstitution<double>;

}  // namespace glinpack
