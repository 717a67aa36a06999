// Dense systems A X = B of the modes gauss-jordan and plu-packed: where they come from, and how near X is.
#pragma once

#include <string>
#include <vector>

#include "app/input/matrix_file.hpp"
#include "app/modes/elimination_options.hpp"
#include "app/modes/mode_record.hpp"

namespace glinpack::app {

/// What is computed.
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

/// The files' matrices; none without --input.
struct SystemInputs {
  DenseMatrix a, b;
};
/// Throws InputError as read_matrix() does, where extents do not match, and for numbers beyond single precision.
SystemInputs read_system_inputs(const EliminationOptions& options);

/// The systems to be solved, without their elements.
std::vector<DenseSystem> systems_of(const EliminationOptions& options, const SystemInputs& inputs, Wanted wanted);
/// Elements: the files', random ones in [-0.5, 0.5) from the seed, and of the inverse the identity at the right.
void fill(DenseSystem& system, const EliminationOptions& options, const SystemInputs& inputs);

/// Solved by LAPACK: getrf and getrs, getrf and getri for the inverse, getrf alone for factors. `a` is A, `b` is B
/// column after column; X comes in its place, the inverse in that of A, row-major. Returns LAPACK's info.
template <class Real>
Index solve_by_lapack(const DenseSystem& system, std::vector<Real>& a, std::vector<Real>& b);
/// X in double precision, row-major, of A and B as they are in single; empty where A is singular, or there is no X.
std::vector<double> exact_solution(const DenseSystem& system);
/// Rows as columns.
template <class Real>
std::vector<Real> transposed(const std::vector<Real>& from, Index rows, Index columns);

/// Operations that LAPACK needs; Gauss-Jordan elimination does half as many again for A.
double flops_of(const DenseSystem& system);
/// Whether A X = B: the scaled residual against solvers::largest_scaled_residual.
ModeCheck check_solution(const DenseSystem& system);
/// How far X is from the exact solution, over its largest element; the worst of the columns.
double relative_error(const DenseSystem& system, const std::vector<double>& exact);

}  // namespace glinpack::app
