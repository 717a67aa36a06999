// What takes the place of data where there is none: of real pivots where nothing is computed (`glinpack network`), of
// whatever a message would bring where nothing is sent (`glinpack plu --compute-only`). Deterministic, and the same on
// every rank.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "global/schedule.hpp"
#include "local/backend.hpp"

namespace glinpack {

/// Pivots of a pass as those of a random matrix are: for column j of the panel a row drawn from the rows j ... that
/// pivots may be among, all remaining ones (partial, tournament) or those of the pivot's process row (local), each as
/// likely.
std::vector<GlobalIndex> drawn_pivots(const Distribution& distribution, Pivoting pivoting, Index pass);

/// Rows that the drawn pivots of all passes take from one process row to another.
Index rows_exchanged(const Distribution& distribution, Pivoting pivoting);

/// Numbers of either sign, 1/(4n) ... 1/(2n) in magnitude. As L or U of a matrix of order n they let no element grow
/// more than e-fold over all passes, whatever it meets: a pass multiplies by at most 1 + nb/n.
template <class Real>
void fill_with_stand_ins(std::span<Real> values, Index n);

/// A buffer of them.
template <class Real>
std::unique_ptr<HostBuffer<Real>> stand_ins(Backend<Real>& backend, Index elements, Index n) {
  auto buffer = backend.allocate_host(elements);
  fill_with_stand_ins(std::span(buffer->data(), static_cast<std::size_t>(elements)), n);
  return buffer;
}

}  // namespace glinpack
