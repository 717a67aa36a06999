#include "local/poisson_multigrid.hpp"

#include <stdexcept>

namespace glinpack {

std::vector<Index> multigrid_grids(Index n) {
  if (n < 1) throw std::invalid_argument("a square without interior points has no grids");
  std::vector<Index> grids;
  for (; n > 0; n /= 2) grids.push_back(n);
  return grids;
}

double multigrid_vectors(Index n) {
  const std::vector<Index> grids = multigrid_grids(n);
  const auto points = [](Index side) { return static_cast<double>(side) * static_cast<double>(side); };
  double elements = 2 * points(grids.back());  // r / 4
  for (std::size_t grid = 0; grid + 1 < grids.size(); ++grid) {
    elements += (2 + 2 + 2 + 3) * points(grids[grid]) + 2 * points(grids[grid + 1]);
  }
  return elements / points(n);
}

}  // namespace glinpack
