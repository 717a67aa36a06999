// MPI progress during the trailing update: MPI advances messages only while a rank calls it.
#pragma once

#include "backend/backend.hpp"

namespace glinpack {

/// A host that computes the trailing update polls pending messages after this many rows; a host whose device computes
/// it enqueues the update and then polls as often. Bits must not depend on when messages arrive. So this is a multiple
/// of what BLAS kernels take at once, 24 in OpenBLAS's for AVX-512, and no part is a small product, for which OpenBLAS
/// has kernels that round differently.
inline constexpr Index rows_between_polls = 768;
inline constexpr Index largest_small_product = 1'000'000;  // rows x columns x depth

/// A22 <- A22 - L21 U12. messages_in_flight() polls, and says whether a message is still pending.
template <class Real, class MessagesInFlight>
void update_and_poll(Backend<Real>& backend, DeviceBlock<Real> l21_transposed, DeviceBlock<Real> u12,
                     DeviceBlock<Real> a22, MessagesInFlight messages_in_flight) {
  if (backend.info().asynchronous) {
    if (!a22.empty()) backend.update(l21_transposed, u12, a22);
    for (Index i = 0; i < a22.rows && messages_in_flight();) i += rows_between_polls;
    return;
  }
  const bool may_divide = rows_between_polls * a22.columns * u12.rows > largest_small_product;
  for (Index i = 0; i < a22.rows && a22.columns > 0;) {
    const Index left = a22.rows - i;
    const bool divides = messages_in_flight() && may_divide && left >= 2 * rows_between_polls;
    const Index rows = divides ? rows_between_polls : left;
    backend.update(l21_transposed.block(0, i, u12.rows, rows), u12, a22.block(i, 0, rows, a22.columns));
    i += rows;
  }
}

}  // namespace glinpack
