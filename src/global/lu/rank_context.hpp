// One rank of a factorisation.
#pragma once

#include "backend/backend.hpp"
#include "lu/parameters.hpp"
#include "transport/transport.hpp"

namespace glinpack {

/// What the parts of a factorisation share on a rank. All must outlive them.
template <class Real>
struct RankContext {
  const RunParameters& parameters;
  const Distribution& distribution;
  GridPosition position;
  Backend<Real>& backend;
  Transport<Real>& transport;
  Timeline& timeline;
};

}  // namespace glinpack
