// The operations of glinpack.h on values. Results have elements; operands have, unless said otherwise.
#pragma once

#include <span>
#include <variant>

#include "glinpack.h"
#include "library/engine.hpp"
#include "openblas/host_solvers.hpp"

namespace glinpack::library {

/// A rectangle of a matrix.
struct Place {
  Index row = 0;
  Index column = 0;
  Index rows = 0;
  Index columns = 0;
};

Value from_elements(Engine& engine, Index rows, Index columns, std::span<const float> row_major);
Value from_elements(Engine& engine, Index rows, Index columns, std::span<const double> row_major);
template <class Element>
void read(Engine& engine, const Value& a, const Strided<Element>& to);

/// b may be empty (Arithmetic::combine).
Value combine(Engine& engine, const Combination& how, const Value& a, const Value& b);
Value transpose(Engine& engine, const Value& a);
Value convert(Engine& engine, const Value& a, glinpack_precision precision);
Value submatrix(Engine& engine, const Value& a, const Place& place);
struct Extents {
  Index rows = 0;
  Index columns = 0;
};
/// A matrix of such extents: a at its top left corner, then the block at `place`. Either may be empty.
Value overlay(Engine& engine, const Extents& extents, const Value& a, const Value& block, const Place& place);

struct Product {
  Index rows = 0;
  Index columns = 0;
  bool transpose_a = false;
  bool transpose_b = false;
  double alpha = 1;
  double beta = 0;
  glinpack_precision precision = GLINPACK_DOUBLE;
};
/// a and b are empty if the sums have no terms, c if there is none.
Value multiply(Engine& engine, const Product& product, const Value& a, const Value& b, const Value& c);

FactorsOfMatrix factorize(Engine& engine, const Value& a);
Value factor_of(Engine& engine, const FactorsOfMatrix& factors, Factor which);

/// These throw Failure if a matrix is singular.
Value solve(Engine& engine, const Value& a, const Value& b);
Value invert(Engine& engine, const Value& a);
/// Reduced row echelon form.
Value reduce(Engine& engine, const Value& a);
Value solve_tridiagonal(Engine& engine, const Value& lower, const Value& diagonal, const Value& upper,
                        const Value& right);

Value determinant(Engine& engine, const Value& a);
/// 1 x 1.
Value scalar(Engine& engine, glinpack_precision precision, double number);
/// In the norm of column sums.
Value reciprocal_condition(Engine& engine, const Value& a);
/// a may be empty, of this precision.
Value norm(Engine& engine, const Value& a, glinpack_norm_kind kind, glinpack_precision precision);
/// `diagonals` may be empty, if there are none.
Value banded_product(Engine& engine, const Value& diagonals, std::span<const Index> offsets, const Value& x);
using BandedFactorsOfMatrix = std::variant<BandedFactors<float>, BandedFactors<double>>;
/// Factorises on the processor. If `diagonals` is empty, the matrix is zero.
BandedFactorsOfMatrix factorize_banded(Engine& engine, const Value& diagonals, std::span<const Index> offsets);
/// Throws Failure if the matrix is singular.
Value solve_banded(Engine& engine, const BandedFactorsOfMatrix& factors, const Value& b);
/// Throws Failure if the iteration does not converge.
Value solve_poisson(Engine& engine, const Value& b, double tolerance, Index max_iterations);

}  // namespace glinpack::library
