// The multigrid preconditioner of the elliptic test problem on a device, by compute shaders.
#pragma once

#include <vector>

#include "base/precision.hpp"
#include "solvers/poisson/poisson_multigrid.hpp"
#include "solvers/poisson/poisson_vectors.hpp"

namespace glinpack::solvers {

template <class Real>
class DeviceMultigrid {
 public:
  /// For n x n points, n at least 2, in the layout of storage buffers (poisson_layout). Allocates and compiles.
  /// `device` must outlive it. Throws std::runtime_error if the device fails.
  DeviceMultigrid(Device& device, Index n)
      : device_(device),
        max_groups_(max_poisson_groups(device.description())),
        smooth_before_(program("smooth_before")),
        restrict_(program("restrict")),
        interpolate_(program("interpolate")),
        smooth_after_(program("smooth_after")),
        smooth_finest_after_(program("smooth_after", true)) {
    for (const Index points : multigrid_grids(n)) grids_.emplace_back(device, points, points == n);
  }

  /// z <- B r (poisson_multigrid.hpp) and r . z, r being a buffer. Leaves max_poisson_groups() parts of the sum in
  /// `parts` at most, from `first_part` on; returns their count. Does not wait.
  Index apply(GLuint r, const DeviceArray<double>& parts, Index first_part) {
    const std::size_t last = grids_.size() - 1;
    const auto bind_residual = [&](std::size_t grid) {
      if (grid > 0) return grids_[grid].r.bind(residual_binding);
      glBindBufferBase(GL_SHADER_STORAGE_BUFFER, residual_binding, r);
    };
    device_.context()->make_current();
    for (std::size_t number = 0; number < last; ++number) {
      const Grid &grid = grids_[number], &next = grids_[number + 1];
      bind_residual(number);
      grid.z.bind(correction_binding);
      dispatch(smooth_before_, grid, next);
      next.r.bind(result_binding);
      dispatch(restrict_, grid, next);
    }
    parts.bind(new_parts_binding);
    Index count = 0;
    for (std::size_t number = last; number-- > 0;) {
      const Grid &grid = grids_[number], &next = grids_[number + 1];
      (number + 1 == last ? next.r : next.smoothed).bind(residual_binding);
      grid.z.bind(correction_binding);
      dispatch(interpolate_, grid, next);
      bind_residual(number);
      grid.smoothed.bind(result_binding);
      count = dispatch(number == 0 ? smooth_finest_after_ : smooth_after_, grid, next, first_part);
    }
    return count;
  }
  /// z of the last apply().
  const DeviceArray<Real>& z() const { return grids_.front().smoothed; }

 private:
  // bindings of the multigrid kernels in addition to poisson.glsl's: z, and the output
  static constexpr GLuint correction_binding = 4, result_binding = 5;

  struct Grid {
    Grid(Device& device, Index points, bool finest)
        : n(points),
          pitch(layout_of(points).pitch),
          r(device, finest ? 1 : layout_of(points).elements),
          z(device, layout_of(points).elements),
          smoothed(device, layout_of(points).elements) {}

    Index n;
    Index pitch;
    DeviceArray<Real> r;  // of the finest: empty
    DeviceArray<Real> z, smoothed;
  };

  static PoissonLayout layout_of(Index n) {
    return poisson_layout<Real>({.n = n, .first_row = 0, .rows = n}, PoissonMemory::global);
  }

  gl::Program program(const char* name, bool finest = false) const {
    constexpr MultigridSmoother smoother;
    return device_.compute_program(std::string("solvers/multigrid_") + name + ".comp",
                                   definition("DOUBLE", precision_of<Real> == Precision::double_) +
                                       definition("MULTIGRID", 1) + definition("OF_RESIDUAL", smoother.of_residual) +
                                       definition("OF_PRODUCT", smoother.of_product) +
                                       definition("DIVISOR", smoother.divisor) +
                                       definition("MAX_FINE_POINTS", max_fine_points) + definition("FINEST", finest));
  }

  /// Runs a kernel on a grid and the adjacent grid `next`. Returns the number of work groups.
  Index dispatch(const gl::Program& kernel, const Grid& grid, const Grid& next, Index first_part = 0) {
    const bool next_is_last = next.n == 1;  // whose z is r / 4
    const ColumnBlocks blocks = column_blocks(grid.n, grid.n, max_groups_);
    kernel.set(0, to_int(grid.n), to_int(grid.pitch), to_int(grid.n), to_int(blocks.rows));
    kernel.set(1, 0, 0, to_int(first_part), 0);
    kernel.set(3, to_int(next.n), to_int(next.pitch), next_is_last ? 4 : 1, 0);
    device_.dispatch(kernel, blocks.groups);
    return blocks.groups;
  }

  Device& device_;
  Index max_groups_;
  std::vector<Grid> grids_;
  gl::Program smooth_before_, restrict_, interpolate_, smooth_after_, smooth_finest_after_;
};

}  // namespace glinpack::solvers
