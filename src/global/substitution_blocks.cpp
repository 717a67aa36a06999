#include "global/substitution_blocks.hpp"

#include <algorithm>

#include "global/broadcast.hpp"
#include "global/communication.hpp"
#include "global/tags.hpp"

namespace glinpack {

template <class Real>
SubstitutionBlocks<Real>::SubstitutionBlocks(const Distribution& distribution, const ProcessGrid& grid,
                                             Backend<Real>& backend, Timeline& timeline, DeviceMatrix<Real>& a)
    : distribution_(distribution),
      grid_(grid),
      backend_(backend),
      timeline_(timeline),
      a_(a),
      shares_(backend.allocate(a.rows(), 1)),
      x_block_(backend.allocate(distribution.nb, 1)),
      y_host_(backend.allocate_host(distribution.nb)),
      x_host_(backend.allocate_host(distribution.nb)),
      diagonal_block_(backend.allocate_host(distribution.nb * distribution.nb)) {}

template <class Real>
void SubstitutionBlocks<Real>::gather(const PassPlan& plan) {
  const HostBlock<Real> y{y_host_.get(), 0, plan.width, 1, 1};
  if (plan.role == Role::pivot) {
    const HostBlock<Real> diagonal{diagonal_block_.get(), 0, plan.width, plan.width, plan.width};
    backend_.download_transposed({&a_, plan.panel_row.value, plan.panel_column.value, plan.width, plan.width},
                                 diagonal);
  }
  backend_.wait(backend_.download({shares_.get(), plan.panel_row.value, 0, plan.width, 1}, y));
  if (distribution_.shape.columns > 1) {
    const auto scope = timeline_.scope(Lane::net, Phase::substitution, plan.width * static_cast<Index>(sizeof(Real)));
    const bool receives = plan.role == Role::pivot;
    MPI_Request request = MPI_REQUEST_NULL;
    GLINPACK_MPI(MPI_Ireduce(receives ? MPI_IN_PLACE : y_host_->data(), y_host_->data(), static_cast<int>(plan.width),
                             mpi_type<Real>(), MPI_SUM, plan.pivot.column, grid_.row(), &request));
    wait(request);
  }
  if (plan.role == Role::pivot) std::copy_n(y_host_->data(), plan.width, x_host_->data());
}

template <class Real>
ColumnMajorView<const Real> SubstitutionBlocks<Real>::diagonal_block(const PassPlan& plan) const {
  return {diagonal_block_->data(), plan.width, plan.width, plan.width};
}

template <class Real>
void SubstitutionBlocks<Real>::send_down(const PassPlan& plan) {
  if (distribution_.shape.rows == 1) return;
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
  backend_.wait(backend_.upload({x_host_.get(), 0, plan.width, 1, 1}, x));
  backend_.substitute(a, x, whole(*shares_).block(first, 0, rows, 1));
}

template class SubstitutionBlocks<float>;
template class SubstitutionBlocks<double>;

}  // namespace glinpack
