// Iterative refinement in double precision of what the factors solve in theirs: classical (Wilkinson; Moler, Iterative
// refinement in floating point, J. ACM 14, 1967), and where that stalls, GMRES preconditioned by the factors (Carson
// and Higham, A new analysis of iterative refinement, SIAM J. Sci. Comput. 39, 2017). With single precision factors
// this is what HPL-MxP asks for (Haidar, Tomov, Dongarra, Higham, Harnessing GPU tensor cores ..., SC18; hpl-mxp.org).
#pragma once

#include <vector>

#include "global/factorize.hpp"
#include "global/gmres.hpp"
#include "global/original_matrix.hpp"
#include "global/residual.hpp"
#include "global/substitute.hpp"

namespace glinpack {

/// HPL-MxP's limit of iterations.
inline constexpr int most_refinements = 50;

/// The solver of one run: holds all memory that it needs.
template <class Real>
class Refiner {
 public:
  /// Allocates. `backward`: of the same factors; the refiner solves with it, too. All must outlive it. Not collective.
  Refiner(const RunParameters& parameters, const Distribution& distribution, const ProcessGrid& grid,
          Backend<Real>& backend, Timeline& timeline, BackwardSubstitution<Real>& backward);
  ~Refiner();
  Refiner(const Refiner&) = delete;
  Refiner& operator=(const Refiner&) = delete;

  /// x: the factors' own solution, this rank's local columns; it is improved until HPL's test passes in double
  /// precision, below the run's threshold, HPL's own where that is negative. Collective over the grid. What happened is
  /// the same on every rank; its seconds are left to the caller.
  Refinement run(const Factorization& factors, OriginalMatrix& matrix, std::vector<double>& x);

 private:
  class System;

  /// d = U^-1 L^-1 P r; `norm`: about the largest magnitude in r, by which it is scaled into the factors' precision.
  void solve(std::span<const double> r, double norm, std::span<double> d);
  /// beta b - A x, the whole sums over the process row.
  std::vector<double> residual_of(std::span<const double> x, double beta);
  Residual tested(std::span<const double> r, std::span<const double> x);
  void test_with_norms(const std::vector<double>& x);
  void start(std::vector<double>& x);
  void refine_classically(std::vector<double>& x);
  void refine_by_gmres(std::vector<double>& x);
  bool goes_on() const;
  bool passes(double scaled) const { return scaled < threshold_; }
  int iterations_left() const { return most_refinements - record_.iterations(); }
  void record(Refinement::Method method, double scaled) { record_.history.push_back({method, scaled}); }

  const Distribution& distribution_;
  const ProcessGrid& grid_;
  Timeline& timeline_;
  BackwardSubstitution<Real>& backward_;
  ForwardSubstitution<Real> forward_;
  Gmres gmres_;
  Pivoting pivoting_;
  double threshold_;
  std::vector<Real> r_rounded_;  // local rows

  // of the run under way
  OriginalMatrix* matrix_ = nullptr;
  Refinement record_;
  Residual test_;          // of x
  std::vector<double> r_;  // b - A x
};

/// Elements of type double that a rank's refiner holds.
double refinement_elements(const Distribution& distribution, GridPosition at);

}  // namespace glinpack
