#include "lu/u12.hpp"

namespace glinpack {

template <class Real>
U12<Real>::U12(const RunParameters& parameters, const Distribution& distribution, Backend<Real>& backend,
               Transport<Real>& transport, DeviceMatrix<Real>& a)
    : backend_(backend),
      transport_(transport),
      a_(a),
      all_compute_(all_compute_u12(parameters.row_swap, parameters.pivoting, distribution.shape)),
      is_broadcast_(distribution.shape.rows > 1 && !all_compute_),
      staging_(backend.allocate_host(is_broadcast_ ? distribution.nb * a.columns() : 0)),
      operand_(backend.make_operand(distribution.nb, a.columns())) {
  if (all_compute_) operand_->room(distribution.nb, a.columns());
}

template <class Real>
DeviceBlock<Real> U12<Real>::destination(const PassPlan& pass, ColumnRange columns) {
  if (pass.in_pivot_row) {
    return {&a_, pass.panel_row.value, pass.trailing_column.value + columns.first, pass.width, columns.count};
  }
  return all_compute_ ? operand_->room(pass.width, columns.count) : DeviceBlock<Real>{};
}

template <class Real>
DeviceBlock<Real> U12<Real>::broadcast_down_column(const PassPlan& pass, ColumnRange columns,
                                                   DeviceBlock<Real> computed) {
  if (columns.count == 0) return {};
  if (all_compute_) return pass.in_pivot_row ? operand_->from_device(computed) : computed;
  if (!is_broadcast_) return operand_->from_device(computed);
  const HostBlock<Real> staging{staging_.get(), 0, pass.width, columns.count, columns.count};
  backend_.wait(staging_free_);
  DeviceBlock<Real> u12;
  if (pass.in_pivot_row) {
    backend_.wait(backend_.download(computed, staging));
    u12 = operand_->from_device(computed);
  }
  transport_.broadcast(MessageKind::u12, pass,
                       {staging_->data(), static_cast<std::size_t>(pass.width * columns.count)});
  return pass.in_pivot_row ? u12 : operand_->from_host(staging, staging_free_);
}

template class U12<float>;
template class U12<double>;

}  // namespace glinpack
