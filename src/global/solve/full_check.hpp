// The full check of a factorisation: the eight ratios of LAPACK's test of general matrices (TESTING/LIN/dchkge.f with
// dget01, dget02, dget03, dget04, dget06 and dget07), over the grid. A ratio below 30 passes.
//
//   1  ||P^T L U - A|| / (n ||A|| eps)
//   2  ||I - A X|| / (n ||A|| ||X|| eps), column j of X from A x = e_j; n up to largest_inverse. dget03 has X A, since
//      dgetri solves X L = U^-1: which of the two is small depends on how X is computed
//   3  ||b - A x|| / (||A|| ||x|| eps), b = A x* with random x*
//   4  max |x - x*| / max |x*| rcond / eps
//   5  the same after iterative refinement as in dgerfs
//   6  max |x - x*| / (max |x| ferr) after it, with dgerfs's bound ferr; 1/eps unless at most 1
//   7  berr / ((n+1) eps + (n+1) safe minimum / min (|A||x| + |b|)) after it, with the componentwise backward error
//   8  the larger of rcond, estimated and by X, over the smaller, less 1 - eps; n as for 2
//
// Norms are 1-norms. rcond is X's if there is one, else the estimate. eps is dlamch('E') of the factors' precision;
// with mixed precision, 5 to 7 have double precision's. The backend solves with A; all else is computed in double
// precision by the hosts, from the factors and the regenerated matrix.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/precision.hpp"
#include "matrix/matrix_source.hpp"
#include "solve/host_factors.hpp"
#include "solve/substitution.hpp"

namespace glinpack {

struct FullCheck {
  static constexpr double threshold = 30;
  static constexpr Index largest_inverse = 512;

  std::array<double, 8> ratios{};            // NaN also if not computed, see `computed`
  std::array<bool, 8> computed{};            // none for a singular matrix
  std::optional<Index> expected_singular{};  // column of the zero pivot that the matrix has
  bool singularity_uncertain = false;        // Singularity::uncertain
  std::optional<Index> singular_column{};    // that the factorisation found
  double rcond = 0;                          // estimated reciprocal of the condition, 1-norm
  std::optional<double> rcond_by_inverse{};
  double ferr = 0;
  double berr = 0;
  int refinements = 0;
  double seconds = 0;

  /// What fails, on one line; empty: nothing.
  std::string failure() const;
};
/// What ratio `test`, 0 to 7, is, such as "norm(LU - A) / (N norm(A) eps)".
std::string_view name_of_ratio(std::size_t test);

/// Elements of type double that a rank's full check holds, besides a copy of its local factors.
double full_check_elements(const Distribution& distribution, GridPosition at);

/// The full check of one run.
template <class Real>
class FullChecker {
 public:
  /// Allocates for the solutions. `precision`: of the run. All must outlive it. Not collective.
  FullChecker(Precision precision, const Distribution& distribution, const ProcessGrid& grid, Backend<Real>& backend,
              Timeline& timeline, BackwardSubstitution<Real>& backward);

  /// Of a complete factorisation. `factors`: as HostFactors takes them. Collective over the grid; the result is the
  /// same on every rank.
  FullCheck run(const Interchanges& interchanges, const MatrixSource& source, std::vector<Real> factors, int threads);

 private:
  using Vector = std::vector<double>;  // N elements, the same on every rank
  struct Products {
    Vector ax;             // A x
    Vector of_magnitudes;  // |A| |x|
  };

  void load_matrix(const MatrixSource& source);
  void check_product(int threads);
  void check_inverse();
  void check_solution();
  void refine();
  void check_bounds();
  Products multiply(const Vector& x) const;
  /// A^-1 b by the factors and the backend.
  Vector solve(const Vector& b);
  double norm_one_of(const Vector& a) const;  // of a distributed matrix: this rank's part
  double rounded_to_factors(double value) const;

  Precision precision_;
  const Distribution& distribution_;
  const ProcessGrid& grid_;
  Timeline& timeline_;
  BackwardSubstitution<Real>& backward_;
  ForwardSubstitution<Real> forward_;
  Index rows_, columns_;  // of this rank's part of A
  std::vector<Real> b_rounded_;

  // of the current run
  FullCheck result_;
  Vector a_;  // this rank's part of A, row-major
  double norm_a_ = 0;
  std::unique_ptr<HostFactors<Real>> factors_;
  Vector b_, exact_, x_;
  Products of_x_;  // after refine()
};

}  // namespace glinpack
