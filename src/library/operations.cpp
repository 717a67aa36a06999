#include "library/operations.hpp"

#include <cmath>

#include "base/row_interchanges.hpp"

namespace glinpack::library {
namespace {

template <class Real>
Value of_elements(Engine& engine, Index rows, Index columns, std::span<const Real> row_major) {
  return Value(engine.arithmetic<Real>().make(rows, columns, row_major));
}

template <class Real>
constexpr glinpack_precision precision_for = sizeof(Real) == sizeof(float) ? GLINPACK_SINGLE : GLINPACK_DOUBLE;

/// function(Arithmetic<Real>&, DeviceMatrix<Real>&)
template <class Function>
auto with(Engine& engine, const Value& a, Function function) {
  return a.visit([&]<class Real>(DeviceMatrix<Real>& matrix) { return function(engine.arithmetic<Real>(), matrix); });
}

/// function(Real) for a number of the precision.
template <class Function>
Value in_precision(glinpack_precision precision, Function function) {
  return precision == GLINPACK_SINGLE ? function(float{}) : function(double{});
}

/// The magnitudes' sum or maximum as `kind` says.
template <class Real>
double norm_of(RowMajorView<const Real> a, glinpack_norm_kind kind) {
  const auto note = [](double& max, double value) {
    if (value > max || std::isnan(value)) max = value;  // a NaN stays
  };
  if (kind == GLINPACK_NORM_ONE) {  // alone: every system that is solved asks for it
    std::vector<double> column_sums(static_cast<std::size_t>(a.columns));
    for (Index i = 0; i < a.rows; ++i) {
      const Real* row = a.row(i);
      for (Index j = 0; j < a.columns; ++j) {
        column_sums[static_cast<std::size_t>(j)] += std::abs(static_cast<double>(row[j]));
      }
    }
    double largest_column = 0;
    for (const double sum : column_sums) note(largest_column, sum);
    return largest_column;
  }
  double largest_row = 0, largest = 0, scale = 0, squares = 1;
  for (Index i = 0; i < a.rows; ++i) {
    double row_sum = 0;
    for (Index j = 0; j < a.columns; ++j) {
      const double magnitude = std::abs(static_cast<double>(a(i, j)));
      row_sum += magnitude;
      note(largest, magnitude);
      if (magnitude > scale) {  // LAPACK's lassq: no overflow
        squares = 1 + squares * (scale / magnitude) * (scale / magnitude);
        scale = magnitude;
      } else if (magnitude != 0) {
        squares += (magnitude / scale) * (magnitude / scale);
      }
    }
    note(largest_row, row_sum);
  }
  if (kind == GLINPACK_NORM_INFINITY) return largest_row;
  if (kind == GLINPACK_NORM_MAXIMUM) return largest;
  if (!std::isfinite(largest)) return largest;
  return scale * std::sqrt(squares);
}

}  // namespace

Value scalar(Engine& engine, glinpack_precision precision, double number) {
  return in_precision(precision, [&]<class Real>(Real) {
    const auto element = static_cast<Real>(number);
    return of_elements<Real>(engine, 1, 1, std::span(&element, 1));
  });
}

Value from_elements(Engine& engine, Index rows, Index columns, std::span<const float> row_major) {
  return of_elements(engine, rows, columns, row_major);
}
Value from_elements(Engine& engine, Index rows, Index columns, std::span<const double> row_major) {
  return of_elements(engine, rows, columns, row_major);
}

template <class Element>
void read(Engine& engine, const Value& a, const Strided<Element>& to) {
  with(engine, a, [&](auto& arithmetic, auto& matrix) {
    const auto from = arithmetic.read(matrix);
    for_each_element(from.rows, from.columns, [&](Index i, Index j) { to(i, j) = static_cast<Element>(from(i, j)); });
  });
}
template void read(Engine&, const Value&, const Strided<float>&);
template void read(Engine&, const Value&, const Strided<double>&);

Value combine(Engine& engine, const Combination& how, const Value& a, const Value& b) {
  return with(engine, a, [&]<class Real>(Arithmetic<Real>& arithmetic, DeviceMatrix<Real>& matrix) {
    return Value(arithmetic.combine(how, matrix, b.empty() ? nullptr : &b.matrix<Real>()));
  });
}

Value transpose(Engine& engine, const Value& a) {
  return with(engine, a, []<class Real>(Arithmetic<Real>& arithmetic, DeviceMatrix<Real>& matrix) {
    return Value(arithmetic.transpose(matrix));
  });
}

Value convert(Engine& engine, const Value& a, glinpack_precision precision) {
  return with(engine, a, [&](auto& arithmetic, auto& matrix) {
    const auto from = arithmetic.read(matrix);
    return in_precision(precision, [&]<class To>(To) {
      return of_elements<To>(engine, from.rows, from.columns, elements_of<To>(from));
    });
  });
}

Value submatrix(Engine& engine, const Value& a, const Place& place) {
  return with(engine, a, [&]<class Real>(Arithmetic<Real>& arithmetic, DeviceMatrix<Real>& matrix) {
    const auto result = arithmetic.make(place.rows, place.columns);
    arithmetic.copy(whole(matrix).block(place.row, place.column, place.rows, place.columns), whole(*result));
    return Value(result);
  });
}

Value overlay(Engine& engine, const Extents& extents, const Value& a, const Value& block, const Place& place) {
  return with(engine, a.empty() ? block : a, [&]<class Real>(Arithmetic<Real>& arithmetic, DeviceMatrix<Real>&) {
    const auto result = arithmetic.make(extents.rows, extents.columns);
    if (!a.empty()) {
      DeviceMatrix<Real>& first = a.matrix<Real>();
      arithmetic.copy(whole(first), whole(*result).block(0, 0, first.rows(), first.columns()));
    }
    if (!block.empty()) {
      arithmetic.copy(whole(block.matrix<Real>()),
                      whole(*result).block(place.row, place.column, place.rows, place.columns));
    }
    return Value(result);
  });
}

Value multiply(Engine& engine, const Product& product, const Value& a, const Value& b, const Value& c) {
  return in_precision(product.precision, [&]<class Real>(Real) {
    Arithmetic<Real>& arithmetic = engine.arithmetic<Real>();
    const auto alpha = static_cast<Real>(product.alpha), beta = static_cast<Real>(product.beta);
    const bool is_zero = a.empty() || alpha == 0;
    std::shared_ptr<DeviceMatrix<Real>> result =
        is_zero ? arithmetic.make(product.rows, product.columns)
                : arithmetic.multiply(a.matrix<Real>(), product.transpose_a, b.matrix<Real>(), product.transpose_b);
    if (!c.empty() && beta != 0) {
      result =
          arithmetic.combine({.alpha = is_zero ? 1 : product.alpha, .beta = product.beta}, *result, &c.matrix<Real>());
    } else if (!is_zero && alpha != 1) {
      result = arithmetic.combine({.alpha = product.alpha}, *result, nullptr);
    }
    return Value(result);
  });
}

Value norm(Engine& engine, const Value& a, glinpack_norm_kind kind, glinpack_precision precision) {
  if (a.empty()) return scalar(engine, precision, 0);
  const double number =
      with(engine, a, [&](auto& arithmetic, auto& matrix) { return norm_of(arithmetic.read(matrix), kind); });
  return scalar(engine, precision, number);
}

Value determinant(Engine& engine, const Value& a) {
  return with(engine, a, [&]<class Real>(Arithmetic<Real>& arithmetic, DeviceMatrix<Real>&) {
    const auto& factors = arithmetic.factors_of(a.pointer<Real>());
    if (!factors.elements) return scalar(engine, precision_for<Real>, 0);
    double product = 1;
    for (std::size_t k = 0; k < factors.pivots.size(); ++k) {
      if (factors.pivots[k] != static_cast<Index>(k)) product = -product;  // an exchange of rows
    }
    const auto in_rows = arithmetic.in_rows(factors);
    const RowMajorView<const Real> u = arithmetic.read(*in_rows);
    for (Index i = 0; i < u.rows; ++i) product *= static_cast<double>(u(i, i));
    return scalar(engine, precision_for<Real>, product);
  });
}

Value reciprocal_condition(Engine& engine, const Value& a) {
  return with(engine, a, [&]<class Real>(Arithmetic<Real>& arithmetic, DeviceMatrix<Real>& matrix) {
    const double one_norm = norm_of(arithmetic.read(matrix), GLINPACK_NORM_ONE);
    const auto& factors = arithmetic.factors_of(a.pointer<Real>());
    const double reciprocal = std::isnan(one_norm) ? one_norm
                              : factors.singular   ? 0
                                                   : arithmetic.reciprocal_condition(factors, one_norm);
    return scalar(engine, precision_for<Real>, reciprocal);
  });
}

FactorsOfMatrix factorize(Engine& engine, const Value& a) {
  return with(engine, a, [&]<class Real>(Arithmetic<Real>& arithmetic, DeviceMatrix<Real>&) {
    const auto& factors = arithmetic.factors_of(a.pointer<Real>());
    if (!factors.elements) throw Failure(GLINPACK_SINGULAR, "a matrix to be factorised is singular, or nearly so");
    return FactorsOfMatrix{Value(arithmetic.in_rows(factors)), row_order_of(factors.pivots)};
  });
}

Value factor_of(Engine& engine, const FactorsOfMatrix& factors, Factor which) {
  return with(engine, factors.value, [&]<class Real>(Arithmetic<Real>& arithmetic, DeviceMatrix<Real>& matrix) {
    return Value(arithmetic.factor(matrix, factors.order, which));
  });
}

Value solve(Engine& engine, const Value& a, const Value& b) {
  return with(engine, a, [&]<class Real>(Arithmetic<Real>& arithmetic, DeviceMatrix<Real>&) {
    return Value(arithmetic.solve(a.pointer<Real>(), b.matrix<Real>()));
  });
}

Value reduce(Engine& engine, const Value& a) {
  return with(engine, a, [&]<class Real>(Arithmetic<Real>& arithmetic, DeviceMatrix<Real>& matrix) {
    return Value(arithmetic.reduced_row_echelon_form(matrix, engine.threads()));
  });
}

Value invert(Engine& engine, const Value& a) {
  return with(engine, a, [&]<class Real>(Arithmetic<Real>& arithmetic, DeviceMatrix<Real>&) {
    return Value(arithmetic.invert(a.pointer<Real>()));
  });
}

}  // namespace glinpack::library
