// Iterative refinement in double precision of a solution by the factors: classical (Wilkinson; Moler, Iterative
// refinement in floating point, J. ACM 14, 1967), and if that stalls, GMRES preconditioned by the factors (Carson and
// Higham, A new analysis of iterative refinement, SIAM J. Sci. Comput. 39, 2017). With single precision factors this is
// HPL-MxP (Haidar, Tomov, Dongarra, Higham, Harnessing GPU tensor cores ..., SC18; hpl-mxp.org).
#pragma once

#include <algorithm>
#include <cmath>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/memory_count.hpp"
#include "matrix/original_matrix.hpp"
#include "solve/gmres.hpp"
#include "solve/residual.hpp"
#include "solve/substitution.hpp"

namespace glinpack {

/// HPL-MxP's limit of iterations.
inline constexpr int max_refinements = 50;

/// The refinement of one run and its memory. `threshold`: of HPL's test.
template <class Real>
class Refiner final : private GmresSystem {
 public:
  /// Allocates. `substitution`: has the factors, and the refiner solves with it. All must outlive it. Not collective.
  Refiner(const RankContext<Real>& context, double threshold, Substitution<Real>& substitution)
      : distribution_(context.distribution),
        grid_(context.grid),
        timeline_(context.timeline()),
        substitution_(substitution),
        gmres_(distribution_.local_rows(grid_.position()), distribution_.local_columns_of_a(grid_.position()),
               max_refinements),
        threshold_(threshold > 0 ? threshold : hpl_threshold),
        r_rounded_(counted_vector<Real>(distribution_.local_rows(grid_.position()))) {
    substitution_.reserve_for_any_right_hand_side();
  }
  Refiner(const Refiner&) = delete;
  Refiner& operator=(const Refiner&) = delete;

  /// x: this rank's local columns of the initial solution. It is refined until HPL's test passes in double precision,
  /// below the run's threshold; a threshold of 0 or less means HPL's. Collective over the grid. The result is the same
  /// on every rank; the caller fills in its seconds.
  Refinement run(const Interchanges& interchanges, OriginalMatrix& matrix, std::vector<double>& x) {
    record_ = {};
    matrix_ = &matrix;
    substitution_.set_interchanges(interchanges);
    start(x);
    refine_classically(x);
    refine_by_gmres(x);
    record_.converged = passes(test_.scaled);
    if (!record_.converged && record_.stopped.empty()) {
      record_.stopped = std::isfinite(test_.scaled)
                            ? "no more than " + std::to_string(max_refinements) + " iterations are made"
                            : "the scaled residual is not finite";
    }
    return std::move(record_);
  }

 private:
  // HPL's threshold, for runs without a check.
  static constexpr double hpl_threshold = 16;
  // An iteration that leaves more of the residual than this has stalled (Demmel et al., Error bounds from extra-precise
  // iterative refinement, ACM TOMS 32, 2006).
  static constexpr double slowest_progress = 0.5;

  // The system for GMRES: A from its source, M from the factors.
  void precondition(std::span<const double> v, std::span<double> z) override { solve(v, 1, z); }

  void multiply(std::span<const double> z, std::span<double> w) override {
    const std::vector<double> negative = residual_of(z, 0);
    std::transform(negative.begin(), negative.end(), w.begin(), [](double value) { return -value; });
  }

  // The ranks of a process row hold the same rows: those of the first process column count.
  void dot(const double* basis, std::span<const double> w, std::span<double> products) override {
    std::fill(products.begin(), products.end(), 0.0);
    if (grid_.position().column == 0) {
      const auto scope =
          timeline_.scope(Lane::cpu, Phase::refinement, 0, 2.0 * static_cast<double>(products.size() * w.size()));
      for (std::size_t i = 0; i < products.size(); ++i) {
        const double* const v = basis + i * w.size();
        for (std::size_t k = 0; k < w.size(); ++k) products[i] += v[k] * w[k];
      }
    }
    const auto scope = timeline_.scope(Lane::net, Phase::refinement, static_cast<std::int64_t>(products.size_bytes()));
    grid_.all().all_reduce(products, Reduction::sum);
  }

  bool enough(std::span<const double> residual, std::span<const double> x) override {
    const double scaled = test_of(residual, x).scaled;
    record(Refinement::Method::gmres, scaled);
    return passes(scaled);
  }

  // d = U^-1 L^-1 P r. Scales r, whose largest magnitude is about `norm`, by a power of two to the magnitude of A. If A
  // is within the range of the factors' precision, so are r and A^-1 r.
  void solve(std::span<const double> r, double norm, std::span<double> d) {
    const int exponent = std::ilogb(test_.norm_a_inf) - std::ilogb(norm);
    std::transform(r.begin(), r.end(), r_rounded_.begin(),
                   [exponent](double value) { return static_cast<Real>(std::scalbn(value, exponent)); });
    const std::vector<Real> rounded = substitution_.run(r_rounded_);
    std::transform(rounded.begin(), rounded.end(), d.begin(),
                   [exponent](Real value) { return std::scalbn(static_cast<double>(value), -exponent); });
  }
  // beta b - A x, summed over the process row.
  std::vector<double> residual_of(std::span<const double> x, double beta) {
    std::vector<double> residual = matrix_->residual(x, beta);
    if (distribution_.shape.columns > 1) {
      const auto scope =
          timeline_.scope(Lane::net, Phase::refinement, static_cast<std::int64_t>(std::span(residual).size_bytes()));
      grid_.row().all_reduce(residual, Reduction::sum);
    }
    return residual;
  }
  Residual test_of(std::span<const double> r, std::span<const double> x) {
    const auto scope = timeline_.scope(Lane::net, Phase::refinement);
    return test_with_known_norms(test_, distribution_, grid_, r, x);
  }
  // The first test, with the norms of A and b.
  void test_with_norms(const std::vector<double>& x) {
    LocalSums sums = matrix_->sums(x);
    const auto scope = timeline_.scope(Lane::net, Phase::refinement);
    test_ = combine_sums(sums, distribution_, grid_, Precision::double_, x);
    r_ = std::move(sums.residual);
  }
  // Tests the solution of the factors. If it is not finite, since b may exceed the range of their precision, starts
  // from 0.
  void start(std::vector<double>& x) {
    test_with_norms(x);
    record(Refinement::Method::factors, test_.scaled);
    if (std::isfinite(test_.scaled)) return;
    std::fill(x.begin(), x.end(), 0.0);
    test_with_norms(x);
  }
  // x <- improved, if its test is better. Returns its scaled residual.
  double take_if_better(std::vector<double>& improved, std::vector<double>& x) {
    std::vector<double> r = residual_of(improved, 1);
    const Residual test = test_of(r, improved);
    if (test.scaled < test_.scaled) {
      x.swap(improved);
      r_.swap(r);
      test_ = test;
    }
    return test.scaled;
  }
  // x <- x + U^-1 L^-1 P r until the test passes or the residual no longer falls by half.
  void refine_classically(std::vector<double>& x) {
    std::vector<double> d(x.size());
    std::vector<double> improved(x.size());
    while (needs_iteration()) {
      solve(r_, test_.norm_residual_inf, d);
      std::transform(x.begin(), x.end(), d.begin(), improved.begin(), [](double a, double b) { return a + b; });
      const double before = test_.scaled;
      const double scaled = take_if_better(improved, x);
      record(Refinement::Method::classical, scaled);
      if (!(scaled <= slowest_progress * before)) return;
    }
  }
  // Cycles of GMRES, each for the residual of the previous one.
  void refine_by_gmres(std::vector<double>& x) {
    while (needs_iteration()) {
      const double before = test_.scaled;
      std::vector<double> improved = x;
      const int steps = gmres_.run(*this, r_, improved, iterations_left());
      if (steps == 0) {
        record_.stopped = "the factors give no finite correction";
        return;
      }
      record_.history.back().scaled_residual = take_if_better(improved, x);
      if (needs_iteration() && !(test_.scaled <= slowest_progress * before)) {
        record_.stopped = "GMRES stagnates, too";
        return;
      }
    }
  }
  bool needs_iteration() const { return !passes(test_.scaled) && std::isfinite(test_.scaled) && iterations_left() > 0; }
  bool passes(double scaled) const { return scaled < threshold_; }
  int iterations_left() const { return max_refinements - record_.iterations(); }
  void record(Refinement::Method method, double scaled) { record_.history.push_back({method, scaled}); }

  const Distribution& distribution_;
  const Grid& grid_;
  Timeline& timeline_;
  Substitution<Real>& substitution_;
  Gmres gmres_;
  double threshold_;
  std::vector<Real> r_rounded_;  // local rows

  // of the current run
  OriginalMatrix* matrix_ = nullptr;
  Refinement record_;
  Residual test_;          // of x
  std::vector<double> r_;  // b - A x
};

}  // namespace glinpack
