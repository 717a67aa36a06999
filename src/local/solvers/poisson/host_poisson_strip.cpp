#include <algorithm>
#include <array>
#include <numeric>
#include <optional>

#include "base/threads.hpp"
#include "host/host_memory.hpp"
#include "solvers/poisson/host_multigrid.hpp"
#include "solvers/poisson/poisson_cg.hpp"

namespace glinpack {
namespace {

/// Row i of the strip is row i + 1 of an array, the ghost rows being the first and the last; on each side of a row
/// there is a 0, the boundary.
template <class Real>
class HostPoissonStrip final : public PoissonStrip<Real> {
 public:
  HostPoissonStrip(const PoissonExtents& extents, int threads, PoissonPreconditioner preconditioner)
      : PoissonStrip<Real>(extents, preconditioner),
        stride_(extents.n + 2),
        u_(allocate(threads)),
        r_(allocate(threads)),
        p_(allocate(threads)),
        row_sums_(static_cast<std::size_t>(extents.rows)),
        edges_(static_cast<std::size_t>(2 * extents.n)),
        team_(static_cast<int>(std::min<Index>(threads, extents.rows))) {
    if (preconditioner == PoissonPreconditioner::multigrid) multigrid_.emplace(extents.n, team_);
  }

  bool returns_early() const override { return false; }

  void begin(const PoissonProblem& problem, const CgLimits& limits) override {
    limit_scale_ = limits.tolerance * limits.tolerance;
    squares_.clear();
    product_ = 0;
    done_ = false;
    for_row_blocks({-1, extents_.rows + 1}, [&](Index begin, Index end) {
      for (Index i = begin; i < end; ++i) {
        std::fill_n(row(u_, i), extents_.n, Real{0});
        std::fill_n(row(p_, i), extents_.n, Real{0});
        Real* r = row(r_, i);
        for (Index j = 0; j < extents_.n; ++j) r[j] = static_cast<Real>(problem.right(extents_.first_row + i, j));
        if (i >= 0 && i < extents_.rows) row_sum(i) = static_cast<double>(dot(r, r));
      }
    });
    add_rows(PoissonSum::residual);
  }

  void precondition() override {
    if (!multigrid_) return;
    multigrid_->apply(grid_of(r_));
    for_row_blocks({0, extents_.rows}, [&](Index begin, Index end) {
      for (Index i = begin; i < end; ++i) row_sum(i) = static_cast<double>(dot(row(r_, i), multigrid_->z().row(i)));
    });
    multigrid_product_ = sum_of_rows();
  }

  void advance_direction(Index iteration) override {
    squares_.push_back(total(PoissonSum::residual));
    done_ = squares_.back() <= limit_scale_ * squares_.front();
    if (done_) return;
    const double product = multigrid_ ? multigrid_product_ : squares_.back();
    const Real beta = iteration == 0 ? Real{0} : static_cast<Real>(product / product_);
    product_ = product;
    for (const Index ghost : {Index{-1}, extents_.rows}) direct(ghost, beta);
    // while rows are in cache; the first and last of a block need the neighbouring blocks
    for_row_blocks({0, extents_.rows}, [&](Index begin, Index end) {
      for (Index i = begin; i < end; ++i) {
        direct(i, beta);
        if (i - 1 > begin) row_sum(i - 1) = curvature(i - 1);
      }
    });
    for_row_blocks({0, extents_.rows}, [&](Index begin, Index end) {
      row_sum(begin) = curvature(begin);
      row_sum(end - 1) = curvature(end - 1);
    });
    add_rows(PoissonSum::curvature);
  }

  void update(Index /*iteration*/, StripRows rows) override {
    if (done_) return;
    const Real alpha = static_cast<Real>(product_ / total(PoissonSum::curvature));
    for_row_blocks(rows, [&](Index begin, Index end) {
      for (Index i = begin; i < end; ++i) row_sum(i) = static_cast<double>(update_row(i, alpha));
    });
    add_rows(PoissonSum::residual);
  }

  double own_sum(PoissonSum sum) override { return own_[index(sum)]; }
  void set_sum(PoissonSum sum, double total) override { total_[index(sum)] = total; }

  std::vector<double> residual_squares(Index first, Index count) override {
    return {squares_.begin() + first, squares_.begin() + first + count};
  }

  void begin_reading_edges() override {
    std::copy_n(row(r_, 0), extents_.n, edges_.begin());
    std::copy_n(row(r_, extents_.rows - 1), extents_.n, edges_.begin() + extents_.n);
  }
  PoissonEdges<Real> edges() override {
    const auto n = static_cast<std::size_t>(extents_.n);
    return {std::span<const Real>(edges_).first(n), std::span<const Real>(edges_).last(n)};
  }
  void write_ghost_rows(std::span<const Real> above, std::span<const Real> below) override {
    std::copy(above.begin(), above.end(), row(r_, -1));
    std::copy(below.begin(), below.end(), row(r_, extents_.rows));
  }

  void store(std::span<Real> u) override {
    for (Index i = 0; i < extents_.rows; ++i) std::copy_n(row(u_, i), extents_.n, u.begin() + i * extents_.n);
  }

 private:
  using Array = AlignedArray<Real>;
  using PoissonStrip<Real>::extents_;

  Array allocate(int threads) const { return allocate_zeroed<Real>((extents_.rows + 2) * stride_, threads); }
  static std::size_t index(PoissonSum sum) { return static_cast<std::size_t>(sum); }
  Real* row(Array& array, Index i) { return array.get() + (i + 1) * stride_ + 1; }
  double& row_sum(Index i) { return row_sums_[static_cast<std::size_t>(i)]; }
  double total(PoissonSum sum) const { return total_[index(sum)]; }
  HostGrid<Real> grid_of(Array& array) { return {.first = row(array, 0), .stride = stride_}; }

  double sum_of_rows() const { return std::accumulate(row_sums_.begin(), row_sums_.end(), 0.0); }
  void add_rows(PoissonSum sum) { own_[index(sum)] = total_[index(sum)] = sum_of_rows(); }

  /// body(begin, end) for a block of rows on every thread.
  template <class Body>
  void for_row_blocks(StripRows rows, const Body& body) {
    const Index members = team_.members(), count = rows.end - rows.begin;
    team_.run([&](int member) {
      const Index begin = rows.begin + count * member / members, end = rows.begin + count * (member + 1) / members;
      if (begin < end) body(begin, end);
    });
  }

  // Independent sums, so that the compiler can vectorise.
  template <class Term>
  Real sum_of(const Term& term) const {
    constexpr Index lanes = 16;
    std::array<Real, lanes> sums{};
    Index j = 0;
    for (; j + lanes <= extents_.n; j += lanes) {
      for (Index lane = 0; lane < lanes; ++lane) sums[static_cast<std::size_t>(lane)] += term(j + lane);
    }
    for (; j < extents_.n; ++j) sums[0] += term(j);
    return std::accumulate(sums.begin(), sums.end(), Real{0});
  }

  Real dot(const Real* x, const Real* y) const {
    return sum_of([&](Index j) { return x[j] * y[j]; });
  }

  void direct(Index i, Real beta) {
    const Real* z = multigrid_ ? multigrid_->z().row(i) : row(r_, i);
    Real* p = row(p_, i);
    for (Index j = 0; j < extents_.n; ++j) p[j] = z[j] + beta * p[j];
  }

  double curvature(Index i) {
    const Real *p = row(p_, i), *above = row(p_, i - 1), *below = row(p_, i + 1);
    return static_cast<double>(
        sum_of([&](Index j) { return p[j] * (4 * p[j] - above[j] - below[j] - p[j - 1] - p[j + 1]); }));
  }

  Real update_row(Index i, Real alpha) {
    const Real *p = row(p_, i), *above = row(p_, i - 1), *below = row(p_, i + 1);
    Real *r = row(r_, i), *u = row(u_, i);
    for (Index j = 0; j < extents_.n; ++j) {
      u[j] += alpha * p[j];
      r[j] -= alpha * (4 * p[j] - above[j] - below[j] - p[j - 1] - p[j + 1]);
    }
    return dot(r, r);
  }

  Index stride_;
  Array u_, r_, p_;
  std::vector<double> row_sums_;
  std::array<double, 2> own_{}, total_{};
  std::vector<double> squares_;   // r . r before every iteration
  double limit_scale_ = 0;        // of r . r, against that of iteration 0
  double product_ = 0;            // r . z of the last iteration
  double multigrid_product_ = 0;  // of the last V-cycle
  bool done_ = false;
  std::vector<Real> edges_;
  ThreadTeam team_;
  std::optional<HostMultigrid<Real>> multigrid_;
};

}  // namespace

template <class Real>
std::unique_ptr<PoissonStrip<Real>> make_host_poisson_strip(const PoissonExtents& extents, int threads,
                                                            PoissonPreconditioner preconditioner) {
  check_poisson_strip(extents, preconditioner);
  return std::make_unique<HostPoissonStrip<Real>>(extents, threads, preconditioner);
}

template std::unique_ptr<PoissonStrip<float>> make_host_poisson_strip(const PoissonExtents&, int,
                                                                      PoissonPreconditioner);
template std::unique_ptr<PoissonStrip<double>> make_host_poisson_strip(const PoissonExtents&, int,
                                                                       PoissonPreconditioner);

}  // namespace glinpack
