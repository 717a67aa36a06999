// The multigrid preconditioner of the elliptic test problem in host memory, by loops.
#pragma once

#include <algorithm>
#include <array>
#include <vector>

#include "base/threads.hpp"
#include "host/host_memory.hpp"
#include "solvers/poisson/poisson_multigrid.hpp"

namespace glinpack {

/// One grid's rows, with a row of zeros above and below, and a 0 on each side of a row.
template <class Real>
struct HostGrid {
  Real* first = nullptr;  // element (0, 0)
  Index stride = 0;

  Real* row(Index i) const { return first + i * stride; }
};

template <class Real>
class HostMultigrid {
 public:
  /// For n x n points. The team must outlive it. Throws std::bad_alloc.
  HostMultigrid(Index n, ThreadTeam& team) : team_(&team) {
    for (const Index points : multigrid_grids(n)) {
      Grid grid{.n = points, .r = {}, .z = allocate(points), .smoothed = allocate(points), .places = {}};
      if (!grids_.empty()) grid.r = allocate(points);
      for (Index i = 0; i < points; ++i) grid.places.push_back(coarse_place(i, points, points / 2));
      grids_.push_back(std::move(grid));
    }
    scratch_.assign(at(team.members()), std::vector<Real>(at(3 * (n + 2))));
  }

  /// z <- B r (poisson_multigrid.hpp). The result does not depend on the number of threads.
  void apply(const HostGrid<Real>& r) {
    grids_.front().r = r;
    const std::size_t last = grids_.size() - 1;
    for (std::size_t grid = 0; grid < last; ++grid) {
      smooth_before(grids_[grid]);
      restrict_residual(grids_[grid], grids_[grid + 1]);
    }
    *grids_[last].smoothed.first = *grids_[last].r.first / 4;
    for (std::size_t grid = last; grid-- > 0;) {
      interpolate(grids_[grid], grids_[grid + 1]);
      smooth_after(grids_[grid]);
    }
  }

  /// z of the last apply().
  const HostGrid<Real>& z() const { return grids_.front().smoothed; }

 private:
  struct Grid {
    Index n = 0;
    HostGrid<Real> r, z, smoothed;
    std::vector<CoarsePlace> places;  // of its points among the next grid's
  };

  static constexpr MultigridSmoother smoother{};
  static constexpr Real of_residual = static_cast<Real>(smoother.of_residual) / static_cast<Real>(smoother.divisor);
  static constexpr Real of_product = static_cast<Real>(smoother.of_product) / static_cast<Real>(smoother.divisor);

  static std::size_t at(Index i) { return static_cast<std::size_t>(i); }

  /// Row i of r - A z.
  static void residual_row(const HostGrid<Real>& r, const HostGrid<Real>& z, Index i, Index n, Real* residual) {
    const Real *right = r.row(i), *here = z.row(i), *above = z.row(i - 1), *below = z.row(i + 1);
    for (Index j = 0; j < n; ++j)
      residual[j] = right[j] - (4 * here[j] - above[j] - below[j] - here[j - 1] - here[j + 1]);
  }

  /// `interpolated` += row of e, interpolated in the direction of the row.
  static void add_interpolated(const std::vector<CoarsePlace>& places, const Real* coarse, Real share,
                               Real* interpolated) {
    for (std::size_t j = 0; j < places.size(); ++j) {
      const auto of_right = static_cast<Real>(places[j].of_right);
      interpolated[j] += share * ((1 - of_right) * coarse[places[j].left] + of_right * coarse[places[j].left + 1]);
    }
  }

  /// The transpose: `coarse` += a row of the residual.
  static void add_restricted(const std::vector<CoarsePlace>& places, const Real* residual, Real share, Real* coarse) {
    for (std::size_t j = 0; j < places.size(); ++j) {
      const auto of_right = static_cast<Real>(places[j].of_right);
      coarse[places[j].left] += share * (1 - of_right) * residual[j];
      coarse[places[j].left + 1] += share * of_right * residual[j];
    }
  }

  HostGrid<Real> allocate(Index n) {
    const Index stride = n + 2;
    memory_.push_back(allocate_zeroed<Real>((n + 2) * stride, team_->members()));
    return {.first = memory_.back().get() + stride + 1, .stride = stride};
  }

  /// body(begin, end, scratch) for a block of rows on every thread, whose scratch is three rows of the finest grid;
  /// small grids use one thread.
  template <class Body>
  void for_row_blocks(Index rows, const Body& body) {
    constexpr Index min_rows_of_a_thread = 32;  // with fewer, synchronisation takes longer than the rows
    const Index members = std::min<Index>(team_->members(), rows / min_rows_of_a_thread);
    if (members <= 1) return body(Index{0}, rows, scratch_.front().data());
    team_->run([&](int member) {
      if (member >= members) return;
      body(rows * member / members, rows * (member + 1) / members, scratch_[static_cast<std::size_t>(member)].data());
    });
  }

  void smooth_before(const Grid& grid) {
    for_row_blocks(grid.n, [&](Index begin, Index end, Real* /*scratch*/) {
      for (Index i = begin; i < end; ++i) {
        const Real *here = grid.r.row(i), *above = grid.r.row(i - 1), *below = grid.r.row(i + 1);
        Real* z = grid.z.row(i);
        for (Index j = 0; j < grid.n; ++j) {
          const Real product = 4 * here[j] - above[j] - below[j] - here[j - 1] - here[j + 1];
          z[j] = of_residual * here[j] - of_product * product;
        }
      }
    });
  }

  void restrict_residual(const Grid& grid, const Grid& next) {
    for_row_blocks(next.n,
                   [&](Index begin, Index end, Real* scratch) { restrict_rows(grid, next, begin, end, scratch); });
  }

  void restrict_rows(const Grid& grid, const Grid& next, Index begin, Index end, Real* scratch) {
    Real* residual = scratch;
    Real* sum = scratch + grid.n + 1;  // of a row, with a boundary element on each side
    for (Index i = begin; i < end; ++i) {
      std::fill(sum - 1, sum + next.n + 1, Real{0});
      const Index first = first_fine_point(i, grid.n, next.n);
      for (Index fine = std::max<Index>(first, 0); fine < std::min(first + max_fine_points, grid.n); ++fine) {
        const CoarsePlace& place = grid.places[at(fine)];
        const double share = place.left == i ? 1 - place.of_right : place.left + 1 == i ? place.of_right : 0;
        if (share == 0) continue;
        residual_row(grid.r, grid.z, fine, grid.n, residual);
        add_restricted(grid.places, residual, static_cast<Real>(share), sum);
      }
      std::copy_n(sum, next.n, next.r.row(i));
    }
  }

  void interpolate(const Grid& grid, const Grid& next) {
    for_row_blocks(grid.n, [&](Index begin, Index end, Real* /*scratch*/) {
      for (Index i = begin; i < end; ++i) {
        const CoarsePlace& place = grid.places[at(i)];
        const auto of_below = static_cast<Real>(place.of_right);
        add_interpolated(grid.places, next.smoothed.row(place.left), 1 - of_below, grid.z.row(i));
        add_interpolated(grid.places, next.smoothed.row(place.left + 1), of_below, grid.z.row(i));
      }
    });
  }

  void smooth_after(const Grid& grid) {
    for_row_blocks(grid.n,
                   [&](Index begin, Index end, Real* scratch) { smooth_rows_after(grid, begin, end, scratch); });
  }

  void smooth_rows_after(const Grid& grid, Index begin, Index end, Real* scratch) {
    // three rows of d = r - A z, each with a 0 on each side
    const Index stride = grid.n + 2;
    std::fill_n(scratch, 3 * stride, Real{0});
    std::array<Real*, 3> d{scratch + 1, scratch + stride + 1, scratch + 2 * stride + 1};
    const auto compute = [&](Index i, Real* residual) {
      if (i < 0 || i >= grid.n) {
        std::fill_n(residual, grid.n, Real{0});
      } else {
        residual_row(grid.r, grid.z, i, grid.n, residual);
      }
    };
    compute(begin - 1, d[0]);
    compute(begin, d[1]);
    for (Index i = begin; i < end; ++i) {
      compute(i + 1, d[2]);
      const Real *above = d[0], *here = d[1], *below = d[2], *z = grid.z.row(i);
      Real* smoothed = grid.smoothed.row(i);
      for (Index j = 0; j < grid.n; ++j) {
        const Real product = 4 * here[j] - above[j] - below[j] - here[j - 1] - here[j + 1];
        smoothed[j] = z[j] + of_residual * here[j] - of_product * product;
      }
      std::rotate(d.begin(), d.begin() + 1, d.end());
    }
  }

  ThreadTeam* team_;
  std::vector<AlignedArray<Real>> memory_;
  std::vector<Grid> grids_;
  std::vector<std::vector<Real>> scratch_;  // by thread
};

}  // namespace glinpack
