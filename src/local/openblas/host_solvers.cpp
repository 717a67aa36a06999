#include "openblas/host_solvers.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>
#include <stdexcept>
#include <string>

#include "base/precision.hpp"
#include "base/scaled_residual.hpp"
#include "base/threads.hpp"
#include "openblas/blas.hpp"

namespace glinpack {

template <class Real>
void multiply_on_host(RowMajorView<const Real> a, RowMajorView<const Real> b, RowMajorView<Real> c) {
  if (a.columns != b.rows || c.rows != a.rows || c.columns != b.columns) {
    throw std::invalid_argument("the extents of a product do not match");
  }
  if (c.rows == 0 || c.columns == 0) return;
  blas::gemm(CblasRowMajor, CblasNoTrans, c.rows, c.columns, a.columns, Real{1}, a.data, a.leading_dimension, b.data,
             b.leading_dimension, Real{0}, c.data, c.leading_dimension);
}

template void multiply_on_host(RowMajorView<const float>, RowMajorView<const float>, RowMajorView<float>);
template void multiply_on_host(RowMajorView<const double>, RowMajorView<const double>, RowMajorView<double>);

namespace {

using blas::routine, blas::to_int;
using Pivots = std::vector<lapack_int>;

/// The factors of A^T in the place of A.
template <class Real>
Index factorize(RowMajorView<Real> a, Pivots& pivots) {
  if (a.rows != a.columns) throw std::invalid_argument("a matrix to be solved with is not square");
  pivots.resize(static_cast<std::size_t>(a.rows));
  if (a.rows == 0) return 0;
  return blas::getrf(a.rows, a.rows, a.data, a.leading_dimension, pivots.data());
}

/// LAPACK's pivots.
Pivots counted_from_one(std::span<const Index> pivots) {
  Pivots counted;
  for (const Index row : pivots) counted.push_back(to_int(row + 1));
  return counted;
}

/// The largest row sum of magnitudes.
template <class Real>
double row_norm(RowMajorView<Real> a) {
  double norm = 0;
  for (Index i = 0; i < a.rows; ++i) {
    double sum = 0;
    for (Index j = 0; j < a.columns; ++j) sum += std::abs(static_cast<double>(a(i, j)));
    norm = std::max(norm, sum);
  }
  return norm;
}

/// Largest magnitudes of the columns; infinite if an element is not finite.
std::vector<double> column_norms(const std::vector<double>& elements, Index columns) {
  std::vector<double> norms(static_cast<std::size_t>(columns));
  for (std::size_t e = 0; e < elements.size(); ++e) {
    double& norm = norms[e % norms.size()];
    norm = std::isfinite(elements[e]) ? std::max(norm, std::abs(elements[e])) : std::numeric_limits<double>::infinity();
  }
  return norms;
}

}  // namespace

template <class Real>
Index solve_on_host(RowMajorView<Real> a, ColumnMajorView<Real> b) {
  if (b.columns > 0 && b.rows != a.rows)
    throw std::invalid_argument("a right-hand side has other rows than the matrix");
  Pivots pivots;
  if (const Index info = factorize(a, pivots); info != 0 || a.rows == 0 || b.columns == 0) return info;
  blas::getrs('T', a.rows, b.columns, a.data, a.leading_dimension, pivots.data(), b.data, b.leading_dimension);
  return 0;
}

template Index solve_on_host(RowMajorView<float>, ColumnMajorView<float>);
template Index solve_on_host(RowMajorView<double>, ColumnMajorView<double>);

template <class Real>
Index factorize_on_host(ColumnMajorView<Real> a, std::span<Index> pivots) {
  if (static_cast<Index>(pivots.size()) != a.rows)
    throw std::invalid_argument("a matrix to be factorised has not a pivot for every row");
  Pivots counted;
  const Index info = factorize(a.transposed(), counted);
  std::transform(counted.begin(), counted.end(), pivots.begin(), [](lapack_int row) { return Index{row} - 1; });
  return info;
}

template Index factorize_on_host(ColumnMajorView<float>, std::span<Index>);
template Index factorize_on_host(ColumnMajorView<double>, std::span<Index>);

template <class Real>
void substitute_on_host(ColumnMajorView<const Real> factors, std::span<const Index> pivots, ColumnMajorView<Real> b) {
  if (factors.rows != factors.columns || b.rows != factors.rows || static_cast<Index>(pivots.size()) != factors.rows) {
    throw std::invalid_argument("factors, pivots and right-hand sides do not match");
  }
  if (b.rows == 0 || b.columns == 0) return;
  blas::getrs('N', b.rows, b.columns, factors.data, factors.leading_dimension, counted_from_one(pivots).data(), b.data,
              b.leading_dimension);
}

template void substitute_on_host(ColumnMajorView<const float>, std::span<const Index>, ColumnMajorView<float>);
template void substitute_on_host(ColumnMajorView<const double>, std::span<const Index>, ColumnMajorView<double>);

template <class Real>
double reciprocal_condition_on_host(ColumnMajorView<const Real> factors, double norm) {
  Real reciprocal = 0;
  const lapack_int info = routine<Real>(LAPACKE_sgecon, LAPACKE_dgecon)(LAPACK_COL_MAJOR, '1', to_int(factors.rows),
                                                                        factors.data, to_int(factors.leading_dimension),
                                                                        static_cast<Real>(norm), &reciprocal);
  return info == 0 ? double{reciprocal} : std::numeric_limits<double>::quiet_NaN();
}

template double reciprocal_condition_on_host(ColumnMajorView<const float>, double);
template double reciprocal_condition_on_host(ColumnMajorView<const double>, double);

template <class Real>
void invert_factors_on_host(ColumnMajorView<Real> factors, std::span<const Index> pivots) {
  if (factors.rows != factors.columns || static_cast<Index>(pivots.size()) != factors.rows) {
    throw std::invalid_argument("factors and pivots do not match");
  }
  if (factors.rows == 0) return;
  const Pivots lapack_pivots = counted_from_one(pivots);
  std::vector<Real> work(1);
  const auto invert = [&](Index size) {
    routine<Real>(LAPACKE_sgetri_work, LAPACKE_dgetri_work)(LAPACK_COL_MAJOR, to_int(factors.rows), factors.data,
                                                            to_int(factors.leading_dimension), lapack_pivots.data(),
                                                            work.data(), to_int(size));
  };
  invert(-1);  // the best size
  work.resize(static_cast<std::size_t>(work[0]));
  invert(static_cast<Index>(work.size()));
}

template void invert_factors_on_host(ColumnMajorView<float>, std::span<const Index>);
template void invert_factors_on_host(ColumnMajorView<double>, std::span<const Index>);

template <class Real>
Index invert_on_host(RowMajorView<Real> a) {
  std::vector<Index> pivots(static_cast<std::size_t>(a.rows));
  const Index info = factorize_on_host<Real>(a.transposed(), pivots);
  if (info == 0) invert_factors_on_host<Real>(a.transposed(), pivots);
  return info;
}

template Index invert_on_host(RowMajorView<float>);
template Index invert_on_host(RowMajorView<double>);

template <class Real>
BandedFactors<Real>::BandedFactors(Index n, std::span<const Index> offsets) : n_(n) {
  for (const Index offset : offsets) {
    if (std::abs(offset) >= n) continue;
    lower_ = std::max(lower_, -offset);
    upper_ = std::max(upper_, offset);
  }
}

template <class Real>
void BandedFactors<Real>::factorize(RowMajorView<const Real> diagonals, std::span<const Index> offsets) {
  elements_.resize(static_cast<std::size_t>(n_ * rows()));
  pivots_.resize(static_cast<std::size_t>(n_));
  std::vector<double> column_sums(static_cast<std::size_t>(n_));
  for (std::size_t k = 0; k < offsets.size(); ++k) {
    for (Index i = std::max<Index>(0, -offsets[k]); i < std::min(n_, n_ - offsets[k]); ++i) {
      const Index j = i + offsets[k];
      const Real element = diagonals(i, static_cast<Index>(k));
      elements_[static_cast<std::size_t>(j * rows() + lower_ + upper_ + i - j)] = element;
      column_sums[static_cast<std::size_t>(j)] += std::abs(static_cast<double>(element));
    }
  }
  norm_ = *std::max_element(column_sums.begin(), column_sums.end());
  singular_ = routine<Real>(LAPACKE_sgbtrf_work, LAPACKE_dgbtrf_work)(LAPACK_COL_MAJOR, to_int(n_), to_int(n_),
                                                                      to_int(lower_), to_int(upper_), elements_.data(),
                                                                      to_int(rows()), pivots_.data()) != 0;
}

template <class Real>
void BandedFactors<Real>::substitute(ColumnMajorView<Real> b) const {
  routine<Real>(LAPACKE_sgbtrs_work, LAPACKE_dgbtrs_work)(
      LAPACK_COL_MAJOR, 'N', to_int(n_), to_int(lower_), to_int(upper_), to_int(b.columns), elements_.data(),
      to_int(rows()), pivots_.data(), b.data, to_int(b.leading_dimension));
}

template <class Real>
double BandedFactors<Real>::reciprocal_condition() const {
  if (singular_) return 0;
  Real reciprocal = 0;
  const lapack_int info = routine<Real>(LAPACKE_sgbcon, LAPACKE_dgbcon)(
      LAPACK_COL_MAJOR, '1', to_int(n_), to_int(lower_), to_int(upper_), elements_.data(), to_int(rows()),
      pivots_.data(), static_cast<Real>(norm_), &reciprocal);
  return info == 0 ? double{reciprocal} : std::numeric_limits<double>::quiet_NaN();
}

template class BandedFactors<float>;
template class BandedFactors<double>;

template <class Real>
double scaled_residual(RowMajorView<const Real> a, RowMajorView<const Real> x, RowMajorView<const Real> b) {
  if (a.columns != x.rows || a.rows != b.rows || x.columns != b.columns) {
    throw std::invalid_argument("the extents of A X = B do not match");
  }
  if (a.rows == 0 || x.columns == 0) return 0;
  const std::vector<double> matrix = elements_of<double>(a), solutions = elements_of<double>(x);
  std::vector<double> residuals = elements_of<double>(b);
  const std::vector<double> b_norms = column_norms(residuals, b.columns), x_norms = column_norms(solutions, x.columns);
  blas::gemm(CblasRowMajor, CblasNoTrans, a.rows, x.columns, a.columns, 1.0, matrix.data(), a.columns, solutions.data(),
             x.columns, -1.0, residuals.data(), x.columns);
  const std::vector<double> norms = column_norms(residuals, x.columns);
  const double a_norm = row_norm(a);
  double largest = 0;
  for (std::size_t j = 0; j < norms.size(); ++j) {
    largest = std::max(largest, scaled_residual({.residual = norms[j], .a = a_norm, .x = x_norms[j], .b = b_norms[j]},
                                                epsilon_of(precision_of<Real>), static_cast<double>(a.rows)));
  }
  return largest;
}

template double scaled_residual(RowMajorView<const float>, RowMajorView<const float>, RowMajorView<const float>);
template double scaled_residual(RowMajorView<const double>, RowMajorView<const double>, RowMajorView<const double>);

template <class Real>
std::vector<Index> reduce_to_echelon_form(RowMajorView<Real> a, int threads) {
  std::vector<Index> pivots;
  const double min =
      static_cast<double>(std::max(a.rows, a.columns)) * row_norm(a) * std::numeric_limits<Real>::epsilon();
  constexpr Index grain = 1 << 15;  // minimum elements of a thread
  for (Index j = 0; j < a.columns && std::ssize(pivots) < a.rows; ++j) {
    const Index r = std::ssize(pivots);
    Index p = r;
    for (Index i = r + 1; i < a.rows; ++i) p = std::abs(a(i, j)) > std::abs(a(p, j)) ? i : p;
    if (!(std::abs(static_cast<double>(a(p, j))) > min)) {
      for (Index i = r; i < a.rows; ++i) a(i, j) = 0;
      continue;
    }
    std::swap_ranges(a.row(p) + j, a.row(p) + a.columns, a.row(r) + j);
    const Real pivot = a(r, j);
    for (Index k = j; k < a.columns; ++k) a(r, k) /= pivot;
    parallel_for(threads, a.rows, std::max<Index>(1, grain / (a.columns - j)), [&](Index begin, Index end) {
      for (Index i = begin; i < end; ++i) {
        const Real multiplier = i == r ? Real{0} : a(i, j);
        if (multiplier == 0) continue;
        for (Index k = j; k < a.columns; ++k) a(i, k) -= multiplier * a(r, k);
      }
    });
    pivots.push_back(j);
  }
  return pivots;
}
template std::vector<Index> reduce_to_echelon_form(RowMajorView<float>, int);
template std::vector<Index> reduce_to_echelon_form(RowMajorView<double>, int);

std::vector<double> least_squares(RowMajorView<const double> a, std::span<const double> b) {
  std::vector<double> matrix = elements_of<double>(a);
  std::vector<double> solution(b.begin(), b.end());
  std::vector<double> singular_values(static_cast<std::size_t>(a.columns));
  lapack_int rank = 0;
  constexpr double machine_precision = -1;
  const lapack_int info =
      LAPACKE_dgelsd(LAPACK_ROW_MAJOR, to_int(a.rows), to_int(a.columns), 1, matrix.data(), to_int(a.columns),
                     solution.data(), 1, singular_values.data(), machine_precision, &rank);
  if (info != 0) throw std::runtime_error("LAPACK's dgelsd does not converge: info " + std::to_string(info));
  solution.resize(static_cast<std::size_t>(a.columns));
  return solution;
}

template <class Real>
std::optional<solvers::ZeroPivot> solve_tridiagonal_on_host(solvers::TridiagonalSystems<Real>& systems, int threads) {
  const Index n = systems.n;
  if (n == 0) return std::nullopt;
  std::optional<solvers::ZeroPivot> first;
  std::mutex mutex;
  parallel_for(threads, systems.count, 1, [&](Index begin, Index end) {
    for (Index s = begin; s < end; ++s) {
      const auto at = [&](std::vector<Real>& vector) { return vector.data() + s * n; };
      const lapack_int info = routine<Real>(LAPACKE_sgtsv_work, LAPACKE_dgtsv_work)(
          LAPACK_COL_MAJOR, to_int(n), 1, at(systems.lower) + 1, at(systems.diagonal), at(systems.upper),
          at(systems.right), to_int(n));
      if (info < 0) throw std::logic_error("LAPACK's gtsv refuses its argument " + std::to_string(-info));
      if (info == 0) continue;
      const std::lock_guard lock(mutex);
      if (!first || s < first->system) first = solvers::ZeroPivot{s, info - 1};
    }
  });
  return first;
}

template std::optional<solvers::ZeroPivot> solve_tridiagonal_on_host(solvers::TridiagonalSystems<float>&, int);
template std::optional<solvers::ZeroPivot> solve_tridiagonal_on_host(solvers::TridiagonalSystems<double>&, int);

}  // namespace glinpack
