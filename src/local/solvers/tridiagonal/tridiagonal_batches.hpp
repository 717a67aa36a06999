// The variants of tridiagonal systems that make_tridiagonal() selects from.
#pragma once

#include <algorithm>

#include "solvers/device/packing.hpp"
#include "solvers/tridiagonal/tridiagonal.hpp"

namespace glinpack::solvers {

/// Calls body(system, first equation, end) for blocks of all equations of all systems, on several threads if there are
/// many. Data that is read system by system and written equation by equation, or the reverse, stays in cache.
template <class Body>
void for_system_blocks(Index systems, Index equations, Body body) {
  constexpr Index block = 64;
  for_rows(divide_up(systems, block), block * equations, [&](Index begin, Index end) {
    for (Index first = begin * block; first < std::min(systems, end * block); first += block) {
      for (Index i = 0; i < equations; i += block) {
        for (Index s = first; s < std::min(systems, first + block); ++s) body(s, i, std::min(equations, i + block));
      }
    }
  });
}

/// The number of systems of `elements_of_a_system` elements in a batch, limited by storage blocks and work groups. 0 if
/// not even one fits.
Index systems_of_a_batch(const DeviceDescription& device, const TridiagonalSettings& settings, Precision precision,
                         Index elements_of_a_system);

/// The variants compute and cyclic_reduction; `pieces`: compute by pieces of a system.
template <class Real>
Steps make_batched(Device& device, const TridiagonalOperands<Real>& operands, const TridiagonalSettings& settings,
                   bool pieces);
/// `tile`: the most systems and equations in a texture.
Steps draw_tridiagonal(Device& device, const TridiagonalOperands<float>& operands, Index tile);

/// The steps of cyclic reduction for the settings: at most until every part is one equation.
Index reduction_steps(const TridiagonalSettings& settings, Index count, Index n);

}  // namespace glinpack::solvers
