// U12 of a pass: the ranks that compute it, and its broadcast to the other ranks.
#pragma once

#include <memory>

#include "backend/backend.hpp"
#include "lu/parameters.hpp"
#include "transport/transport.hpp"

namespace glinpack {

/// Owns the memory of U12: a host staging buffer for its broadcast, and the operand of the update.
template <class Real>
class U12 {
 public:
  /// `a`: this rank's part of the matrix. Allocates. All must outlive it. Not collective.
  U12(const RunParameters& parameters, const Distribution& distribution, Backend<Real>& backend,
      Transport<Real>& transport, DeviceMatrix<Real>& a);
  U12(const U12&) = delete;
  U12& operator=(const U12&) = delete;

  /// True on the pivot's process row; on every process row if the row exchange brings U's rows to all of them.
  bool is_computed_here(const PassPlan& pass) const { return pass.in_pivot_row || all_compute_; }
  bool all_process_rows_compute() const { return all_compute_; }

  /// Where these columns of A12 arrive and become U12: in the matrix on the pivot's process row, in a buffer on other
  /// ranks that compute U12. Empty on ranks that do not.
  DeviceBlock<Real> destination(const PassPlan& pass, ColumnRange columns);
  /// These columns of U12 as an operand of the update, on every rank: `computed`; if only the pivot's process row has
  /// computed them, after a broadcast from it, for which this call waits. Collective over process columns.
  DeviceBlock<Real> broadcast_down_column(const PassPlan& pass, ColumnRange columns, DeviceBlock<Real> computed);

 private:
  Backend<Real>& backend_;
  Transport<Real>& transport_;
  DeviceMatrix<Real>& a_;
  bool all_compute_;
  bool is_broadcast_;
  std::unique_ptr<HostBuffer<Real>> staging_;  // empty if U12 is not broadcast
  std::unique_ptr<Operand<Real>> operand_;
  Fence staging_free_;  // until then the device may still read the last U12
};

}  // namespace glinpack
