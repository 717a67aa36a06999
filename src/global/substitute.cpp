#include "global/substitute.hpp"

#include <algorithm>

#include "global/broadcast.hpp"
#include "global/communication.hpp"
#include "global/schedule.hpp"
#include "global/tags.hpp"

namespace glinpack {

template <class Real>
BackwardSubstitution<Real>::BackwardSubstitution(const Distribution& distribution, const ProcessGrid& grid,
                                                 Backend<Real>& backend, Timeline& timeline, DeviceMatrix<Real>& a)
    : distribution_(distribution),
      grid_(grid),
      backend_(backend),
      timeline_(timeline),
      a_(a),
      y_(backend.allocate(a.rows(), 1)),
      x_block_(backend.allocate(distribution.nb, 1)),
      y_host_(backend.allocate_host(distribution.nb)),
      x_host_(backend.allocate_host(distribution.nb)),
      diagonal_block_(backend.allocate_host(distribution.nb * distribution.nb)) {}

template <class Real>
std::vector<Real> BackwardSubstitution<Real>::run() {
  x_.assign(static_cast<std::size_t>(
                distribution_.columns.lower_bound(distribution_.right_hand_side(), grid_.position().column).value),
            Real{0});
  start_right_hand_side();
  for (Index pass = distribution_.passes() - 1; pass >= 0; --pass) {
    solve_block(pass);
    subtract_block(pass);
  }
  backend_.wait_all();
  return std::move(x_);
}

template <class Real>
void BackwardSubstitution<Real>::start_right_hand_side() {
  // y where the last column is, nothing elsewhere (y_ is created zero)
  const GlobalIndex column = distribution_.right_hand_side();
  if (distribution_.columns.owner(column) != grid_.position().column) return;
  backend_.copy({&a_, 0, distribution_.columns.local(column).value, a_.rows(), 1}, whole(*y_));
}

template <class Real>
void BackwardSubstitution<Real>::solve_block(Index pass) {
  const PassPlan plan = plan_pass(distribution_, pass, grid_.position());
  if (!plan.in_pivot_row) return;
  const HostBlock<Real> y{y_host_.get(), 0, plan.width, 1, 1};
  const HostBlock<Real> u11{diagonal_block_.get(), 0, plan.width, plan.width, plan.width};
  const int width = static_cast<int>(plan.width);
  if (plan.role == Role::pivot) {
    backend_.download_transposed({&a_, plan.panel_row.value, plan.panel_column.value, plan.width, plan.width}, u11);
  }
  backend_.wait(backend_.download({y_.get(), plan.panel_row.value, 0, plan.width, 1}, y));
  if (distribution_.shape.columns > 1) {
    const auto scope = timeline_.scope(Lane::net, Phase::substitution, plan.width * static_cast<Index>(sizeof(Real)));
    const bool receives = plan.role == Role::pivot;
    MPI_Request request = MPI_REQUEST_NULL;
    GLINPACK_MPI(MPI_Ireduce(receives ? MPI_IN_PLACE : y_host_->data(), y_host_->data(), width, mpi_type<Real>(),
                             MPI_SUM, plan.pivot.column, grid_.row(), &request));
    wait(request);
  }
  if (plan.role == Role::pivot) {
    const double flops = static_cast<double>(plan.width) * static_cast<double>(plan.width);
    const auto scope = timeline_.scope(Lane::cpu, Phase::substitution, 0, flops);
    std::copy_n(y_host_->data(), plan.width, x_host_->data());
    backend_.panel().back_substitute(u11.view().transposed(), {x_host_->data(), static_cast<std::size_t>(plan.width)});
  }
}

template <class Real>
void BackwardSubstitution<Real>::subtract_block(Index pass) {
  const PassPlan plan = plan_pass(distribution_, pass, grid_.position());
  if (!plan.in_pivot_column) return;
  if (distribution_.shape.rows > 1) {
    const auto scope = timeline_.scope(Lane::net, Phase::substitution, plan.width * static_cast<Index>(sizeof(Real)));
    Broadcast(grid_.column(), BroadcastKind::ibcast, plan.pivot.row, x_host_->data(), plan.width, mpi_type<Real>(),
              tags::solution)
        .wait();
  }
  std::copy_n(x_host_->data(), plan.width, x_.begin() + plan.panel_column.value);
  // the rows above the block are the ones before its first local row
  const DeviceBlock<Real> above{&a_, 0, plan.panel_column.value, plan.panel_row.value, plan.width};
  if (above.empty()) return;
  const DeviceBlock<Real> x = whole(*x_block_).block(0, 0, plan.width, 1);
  backend_.wait(backend_.upload({x_host_.get(), 0, plan.width, 1, 1}, x));
  backend_.substitute(above, x, whole(*y_).block(0, 0, above.rows, 1));
}

template class BackwardSubstitution<float>;
template class BackwardSubstitution<double>;

}  // namespace glinpack
