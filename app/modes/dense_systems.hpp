// Dense systems A X = B of the modes gauss-jordan and plu-packed: input, solution and check.
#pragma once

#include <string>
#include <vector>

#include "app/input/matrix_file.hpp"
#include "app/modes/elimination_options.hpp"
#include "app/modes/mode_record.hpp"

namespace glinpack::app {

/// The requested result.
enum class Wanted { solutions, inverse, factors };

/// A is n x n, B and X n x columns; row-major.
struct DenseSystem {
  Index n = 0;
  Index columns = 0;
  Wanted wanted = Wanted::solutions;
  std::vector<float> a, b, x;

  RowMajorView<const float> view_a() const { return {a.data(), n, n, n}; }
  RowMajorView<const float> view_b() const { return {b.data(), n, columns, columns}; }
  RowMajorView<float> view_x() { return {x.data(), n, columns, columns}; }
  /// "256", "256, rhs 3", "256, inverse", "256, factors"
  std::string size_text() const;
};

/// The files' matrices; empty without --input.
struct SystemInputs {
  DenseMatrix a, b;
};
/// Throws InputError like read_matrix(), if extents do not match, or if numbers exceed single precision.
SystemInputs read_system_inputs(const EliminationOptions& options);

/// The systems to be solved, without elements.
std::vector<DenseSystem> systems_of(const EliminationOptions& options, const SystemInputs& inputs, Wanted wanted);
/// Fills in the elements: the files', or random ones in [-0.5, 0.5) from the seed. For the inverse, B is the identity.
void fill(DenseSystem& system, const EliminationOptions& options, const SystemInputs& inputs);

/// Solves with LAPACK: getrf and getrs, getrf and getri for the inverse, only getrf for factors. `a` is A, `b` is B
/// column-major. X replaces B; the inverse replaces A, row-major. Returns LAPACK's info.
template <class Real>
Index solve_by_lapack(const DenseSystem& system, std::vector<Real>& a, std::vector<Real>& b);
/// Solves in double precision with the single precision A and B; X is row-major. Empty if A is singular or X is not
/// requested.
std::vector<double> exact_solution(const DenseSystem& system);
/// Transposes the matrix.
template <class Real>
std::vector<Real> transposed(const std::vector<Real>& from, Index rows, Index columns);

/// LAPACK's operation count; Gauss-Jordan elimination does 1.5 times as many for A.
double flops_of(const DenseSystem& system);
/// Checks A X = B: the scaled residual against solvers::largest_scaled_residual.
ModeCheck check_solution(const DenseSystem& system);
/// The error of X relative to the largest element of the exact solution; the maximum over the columns.
double relative_error(const DenseSystem& system, const std::vector<double>& exact);

}  // namespace glinpack::app
