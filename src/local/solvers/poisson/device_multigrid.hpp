// The multigrid preconditioner of the elliptic test problem on a device, by compute shaders.
#pragma once

#include <vector>

#include "solvers/device/device_array.hpp"
#include "solvers/poisson/poisson_multigrid.hpp"
#include "solvers/poisson/poisson_vectors.hpp"

namespace glinpack::solvers {

template <class Real>
class DeviceMultigrid {
 public:
  /// For n x n points, n at least 2, in the layout of storage buffers (poisson_layout). Allocates and compiles.
  /// `device` must outlive it. Throws std::runtime_error if the device fails.
  DeviceMultigrid(Device& device, Index n);

  /// z <- B r (poisson_multigrid.hpp) and r . z, r being a buffer. Leaves most_poisson_groups() parts of the sum in
  /// `parts` at most, from `first_part` on; returns their count. Does not wait.
  Index apply(GLuint r, const DeviceArray<double>& parts, Index first_part);
  /// z of the last apply().
  const DeviceArray<Real>& z() const { return grids_.front().smoothed; }

 private:
  struct Grid {
    Grid(Device& device, Index n, bool finest);

    Index n;
    Index pitch;
    DeviceArray<Real> r;  // of the finest: empty
    DeviceArray<Real> z, smoothed;
  };

  gl::Program program(const char* name, bool finest = false) const;
  /// Runs a kernel on a grid and the adjacent grid `next`. Returns the number of work groups.
  Index dispatch(const gl::Program& kernel, const Grid& grid, const Grid& next, Index first_part = 0);

  Device& device_;
  Index most_groups_;
  std::vector<Grid> grids_;
  gl::Program smooth_before_, restrict_, interpolate_, smooth_after_, smooth_finest_after_;
};

}  // namespace glinpack::solvers
