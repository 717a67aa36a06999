// One rank of a run.
#pragma once

#include "backend/backend.hpp"
#include "matrix/distribution.hpp"
#include "transport/communicator.hpp"
#include "transport/transport.hpp"

namespace glinpack {

struct RunParameters;  // lu/parameters.hpp

/// What the parts of a run share on a rank. All must outlive them.
template <class Real>
struct RankContext {
  const RunParameters& parameters;
  const Distribution& distribution;
  const Grid& grid;
  Backend<Real>& backend;
  Transport<Real>& transport;
  Timeline& timeline;

  GridPosition position() const { return grid.position(); }
};

}  // namespace glinpack
