// Iterative refinement in double precision of a solution by the factors: classical (Wilkinson; Moler, Iterative
// refinement in floating point, J. ACM 14, 1967), and if that stalls, GMRES preconditioned by the factors (Carson and
// Higham, A new analysis of iterative refinement, SIAM J. Sci. Comput. 39, 2017). With single precision factors this is
// HPL-MxP (Haidar, Tomov, Dongarra, Higham, Harnessing GPU tensor cores ..., SC18; hpl-mxp.org).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "matrix/original_matrix.hpp"
#include "solve/gmres.hpp"
#include "solve/residual.hpp"
#include "solve/substitution.hpp"

namespace glinpack {

/// How a solution was refined in double precision.
struct Refinement {
  enum class Method { factors, classical, gmres };
  struct Step {
    Method method;
    double scaled_residual;
  };
  /// HPL's scaled residual with double precision's epsilon: first of the initial solution, then after every iteration.
  /// Within GMRES it is the recurrence's, except for the last step of a cycle.
  std::vector<Step> history;
  bool converged = false;
  std::string stopped;  // why it did not converge, one line; empty if it converged
  double seconds = 0;   // part of the run's: after the last rank had its first solution

  int iterations() const { return static_cast<int>(history.size()) - 1; }
  int iterations_of(Method method) const;
};
constexpr std::string_view name_of(Refinement::Method method) {
  return text_by_value(method, "factors", "classical", "GMRES");
}

/// HPL-MxP's limit of iterations.
inline constexpr int max_refinements = 50;

/// The refinement of one run and its memory. `threshold`: of HPL's test.
template <class Real>
class Refiner {
 public:
  /// Allocates. `backward`: has the factors, and the refiner solves with it. All must outlive it. Not collective.
  Refiner(const RankContext<Real>& context, double threshold, BackwardSubstitution<Real>& backward);
  ~Refiner();
  Refiner(const Refiner&) = delete;
  Refiner& operator=(const Refiner&) = delete;

  /// x: this rank's local columns of the initial solution. It is refined until HPL's test passes in double precision,
  /// below the run's threshold; a threshold of 0 or less means HPL's. Collective over the grid. The result is the same
  /// on every rank; the caller fills in its seconds.
  Refinement run(const Interchanges& interchanges, OriginalMatrix& matrix, std::vector<double>& x);

 private:
  class System;

  /// d = U^-1 L^-1 P r. `norm`, about the largest magnitude in r, scales r into the range of the factors' precision.
  void solve(std::span<const double> r, double norm, std::span<double> d);
  /// beta b - A x, summed over the process row.
  std::vector<double> residual_of(std::span<const double> x, double beta);
  Residual test_of(std::span<const double> r, std::span<const double> x);
  void test_with_norms(const std::vector<double>& x);
  void start(std::vector<double>& x);
  void refine_classically(std::vector<double>& x);
  void refine_by_gmres(std::vector<double>& x);
  bool needs_iteration() const;
  bool passes(double scaled) const { return scaled < threshold_; }
  int iterations_left() const { return max_refinements - record_.iterations(); }
  void record(Refinement::Method method, double scaled) { record_.history.push_back({method, scaled}); }

  const Distribution& distribution_;
  const Grid& grid_;
  Timeline& timeline_;
  BackwardSubstitution<Real>& backward_;
  ForwardSubstitution<Real> forward_;
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
