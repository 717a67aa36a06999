// A walk over many systems of equations in blocks: what is read system by system and written equation by equation, or
// the reverse, stays in a cache meanwhile.
#pragma once

#include <algorithm>
#include <thread>

#include "local/parallel_for.hpp"

namespace glinpack::solvers {

/// Calls body(system, first equation, end) until all equations of all systems have had their turn once, on several
/// threads where there is much to do.
template <class Body>
void for_system_blocks(Index systems, Index equations, Body body) {
  constexpr Index block = 64, grain = 1 << 18;  // elements that are worth a thread
  const int threads = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  const Index bands = (systems + block - 1) / block;
  parallel_for(threads, bands, std::max<Index>(1, grain / (block * equations)), [&](Index begin, Index end) {
    for (Index first = begin * block; first < std::min(systems, end * block); first += block) {
      for (Index i = 0; i < equations; i += block) {
        for (Index s = first; s < std::min(systems, first + block); ++s) body(s, i, std::min(equations, i + block));
      }
    }
  });
}

}  // namespace glinpack::solvers
