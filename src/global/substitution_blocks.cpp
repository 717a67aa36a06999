#include "global/substitution_blocks.hpp"

#include <algorithm>
#include <numeric>

#include "global/broadcast.hpp"
#include "global/communication.hpp"
#include "global/tags.hpp"

namespace glinpack {

namespace {

// A rank is the pivot in one of so many passes, or in none.
Index period_of(const GridShape& grid) { return std::lcm<Index, Index>(grid.rows, grid.columns); }

}  // namespace

Index diagonal_blocks_on_host(const Distribution& distribution, GridPosition at, Solutions solutions) {
  // pass k's pivot is in row k mod P and column k mod Q: there is such a k where they agree modulo what P and Q share
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
  backend_.substitute(a, x, whole(*shares_).block(first, 0, rows, 1));
}

template class SubstitutionBlocks<float>;
template class SubstitutionBlocks<double>;

}  // namespace glinpack
