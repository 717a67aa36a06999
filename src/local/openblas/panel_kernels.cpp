#include "openblas/panel_kernels.hpp"

#include <algorithm>
#include <cmath>

#include "openblas/blas.hpp"

namespace glinpack {

namespace {

// The program is built for the baseline of its architecture. These loops are also built for processors with wide
// vectors, and selected at run time. Functions marked so are inlined into each version.
#define GLINPACK_FOR_EVERY_PROCESSOR [[gnu::always_inline]] inline

template <class Real>
GLINPACK_FOR_EVERY_PROCESSOR void eliminate(Real pivot, Real* __restrict l, Index rows, const Real* u, Index u_stride,
                                            Real* a, Index leading_dimension, Index columns) {
  for (Index i = 0; i < rows; ++i) l[i] /= pivot;
  Index k = 0;
  // four columns at a time, so that l is read a quarter as often
  for (; k + 4 <= columns; k += 4) {
    const Real u0 = u[k * u_stride], u1 = u[(k + 1) * u_stride], u2 = u[(k + 2) * u_stride], u3 = u[(k + 3) * u_stride];
    Real* __restrict const a0 = a + k * leading_dimension;
    Real* __restrict const a1 = a0 + leading_dimension;
    Real* __restrict const a2 = a1 + leading_dimension;
    Real* __restrict const a3 = a2 + leading_dimension;
    for (Index i = 0; i < rows; ++i) {
      a0[i] -= l[i] * u0;
      a1[i] -= l[i] * u1;
      a2[i] -= l[i] * u2;
      a3[i] -= l[i] * u3;
    }
  }
  for (; k < columns; ++k) {
    const Real factor = u[k * u_stride];
    Real* __restrict const column = a + k * leading_dimension;
    for (Index i = 0; i < rows; ++i) column[i] -= l[i] * factor;
  }
}

/// The largest magnitude, or NaN if there is one. Independent maxima let compilers vectorise.
template <class Real>
GLINPACK_FOR_EVERY_PROCESSOR Real largest_magnitude(const Real* column, Index count) {
  constexpr Index lanes = 128 / sizeof(Real);
  Real largest[lanes] = {};
  Real not_a_number[lanes] = {};  // 0 unless there is a NaN; x - x and 0 x are also NaN for infinities
  Index i = 0;
  for (; i + lanes <= count; i += lanes) {
    for (Index lane = 0; lane < lanes; ++lane) {
      const Real magnitude = std::abs(column[i + lane]);
      largest[lane] = magnitude > largest[lane] ? magnitude : largest[lane];
      not_a_number[lane] += magnitude == magnitude ? Real{0} : magnitude;
    }
  }
  Real result = 0;
  Real poison = 0;
  for (; i < count; ++i) {
    const Real magnitude = std::abs(column[i]);
    result = magnitude > result ? magnitude : result;
    poison += magnitude == magnitude ? Real{0} : magnitude;
  }
  for (Index lane = 0; lane < lanes; ++lane) {
    result = std::max(result, largest[lane]);
    poison += not_a_number[lane];
  }
  return std::isnan(poison) ? poison : result;
}

template <class Real>
struct Kernels {
  void (*eliminate)(Real, Real*, Index, const Real*, Index, Real*, Index, Index);
  Real (*largest_magnitude)(const Real*, Index);
};

template <class Real>
void eliminate_anywhere(Real pivot, Real* l, Index rows, const Real* u, Index u_stride, Real* a,
                        Index leading_dimension, Index columns) {
  eliminate(pivot, l, rows, u, u_stride, a, leading_dimension, columns);
}
template <class Real>
Real largest_anywhere(const Real* column, Index count) {
  return largest_magnitude(column, count);
}

#if defined(__x86_64__)
template <class Real>
[[gnu::target("avx2,fma")]] void eliminate_avx2(Real pivot, Real* l, Index rows, const Real* u, Index u_stride, Real* a,
                                                Index leading_dimension, Index columns) {
  eliminate(pivot, l, rows, u, u_stride, a, leading_dimension, columns);
}
template <class Real>
[[gnu::target("avx2,fma")]] Real largest_avx2(const Real* column, Index count) {
  return largest_magnitude(column, count);
}
#endif

template <class Real>
Kernels<Real> chosen_kernels() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    return {eliminate_avx2<Real>, largest_avx2<Real>};
#endif
  return {eliminate_anywhere<Real>, largest_anywhere<Real>};
}

template <class Real>
const Kernels<Real> kernels = chosen_kernels<Real>();

}  // namespace

template <class Real>
void eliminate_column(Real pivot, std::span<Real> l, const Real* u, Index u_stride, ColumnMajorView<Real> a) {
  kernels<Real>.eliminate(pivot, l.data(), static_cast<Index>(l.size()), u, u_stride, a.data, a.leading_dimension,
                          a.columns);
}

template <class Real>
Index index_of_largest_magnitude(std::span<const Real> column) {
  constexpr Index block = 1024;
  const auto size = static_cast<Index>(column.size());
  if (size == 0) return -1;
  Real largest = -1;
  Index block_of_largest = 0;
  for (Index begin = 0; begin < size; begin += block) {
    const Real magnitude = kernels<Real>.largest_magnitude(column.data() + begin, std::min(block, size - begin));
    if (magnitude > largest || std::isnan(magnitude)) {
      largest = magnitude;
      block_of_largest = begin;
    }
    if (std::isnan(magnitude)) break;
  }
  const auto found = std::find_if(column.begin() + block_of_largest, column.end(), [largest](Real x) {
    return std::isnan(largest) ? std::isnan(x) : std::abs(x) == largest;
  });
  return found - column.begin();
}

template void eliminate_column(float, std::span<float>, const float*, Index, ColumnMajorView<float>);
template void eliminate_column(double, std::span<double>, const double*, Index, ColumnMajorView<double>);
template Index index_of_largest_magnitude(std::span<const float>);
template Index index_of_largest_magnitude(std::span<const double>);

namespace {

constexpr Index base_width = 4;     // columns eliminated one by one
constexpr Index cached_rows = 256;  // eliminated at a time

template <class Real>
void eliminate_columns(ColumnMajorView<const Real> u, ColumnMajorView<Real> a) {
  if (a.columns <= base_width) {
    for (Index j = 0; j < a.columns; ++j) {
      const bool last = j + 1 == a.columns;
      eliminate_column<Real>(u(j, j), {a.column(j), static_cast<std::size_t>(a.rows)}, last ? nullptr : &u(j, j + 1),
                             u.leading_dimension,
                             {last ? nullptr : a.column(j + 1), a.rows, a.columns - j - 1, a.leading_dimension});
    }
    return;
  }
  const Index left = round_up(a.columns / 2, base_width);
  const Index right = a.columns - left;
  const ColumnMajorView<Real> a_left = a.block(0, 0, a.rows, left);
  const ColumnMajorView<Real> a_right = a.block(0, left, a.rows, right);
  eliminate_columns(u.block(0, 0, left, left), a_left);
  blas::gemm(CblasColMajor, CblasNoTrans, a.rows, right, left, Real{-1}, a_left.data, a.leading_dimension, &u(0, left),
             u.leading_dimension, Real{1}, a_right.data, a.leading_dimension);
  eliminate_columns(u.block(left, left, right, right), a_right);
}

}  // namespace

template <class Real>
void eliminate_rows(ColumnMajorView<const Real> u11, ColumnMajorView<Real> a21) {
  for (Index i = 0; i < a21.rows; i += cached_rows) {
    eliminate_columns(u11, a21.block(i, 0, std::min(cached_rows, a21.rows - i), a21.columns));
  }
}

template void eliminate_rows(ColumnMajorView<const float>, ColumnMajorView<float>);
template void eliminate_rows(ColumnMajorView<const double>, ColumnMajorView<double>);

}  // namespace glinpack
