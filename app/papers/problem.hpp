// Parts of problems and checks that standalone modes share: random elements, files, differences of results, --group.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "app/input/matrix_file.hpp"
#include "app/papers/mode.hpp"

namespace glinpack::app {

inline double square(Index n) { return static_cast<double>(n) * static_cast<double>(n); }

/// `count` random elements in [-0.5, 0.5).
template <class Real>
std::vector<Real> random_elements(Index count, std::mt19937_64& random) {
  std::uniform_real_distribution<Real> uniform(Real(-0.5), Real(0.5));
  std::vector<Real> elements(static_cast<std::size_t>(count));
  for (Real& element : elements) element = uniform(random);
  return elements;
}

template <class To, class From>
std::vector<To> converted(const std::vector<From>& from) {
  std::vector<To> to(from.size());
  std::ranges::transform(from, to.begin(), [](From value) { return static_cast<To>(value); });
  return to;
}

/// Transposes a row-major matrix.
template <class Real>
std::vector<Real> transposed(const std::vector<Real>& from, Index rows, Index columns) {
  std::vector<Real> to(from.size());
  for (Index i = 0; i < rows; ++i) {
    for (Index j = 0; j < columns; ++j) {
      to[static_cast<std::size_t>(j * rows + i)] = from[static_cast<std::size_t>(i * columns + j)];
    }
  }
  return to;
}

template <class Real>
RowMajorView<const Real> square_view(const std::vector<Real>& elements, Index n) {
  return {elements.data(), n, n, n};
}
template <class Real>
RowMajorView<Real> square_view(std::vector<Real>& elements, Index n) {
  return {elements.data(), n, n, n};
}

/// NaN if an element is NaN.
template <class Real>
double largest_magnitude(const std::vector<Real>& values) {
  double largest = 0;
  for (const Real value : values) {
    if (std::isnan(value)) return std::numeric_limits<double>::quiet_NaN();
    largest = std::max(largest, std::abs(static_cast<double>(value)));
  }
  return largest;
}

/// The largest |x_i - y_i|, computed in double precision; NaN if one is not finite.
template <class X, class Y>
double largest_difference(const std::vector<X>& x, const std::vector<Y>& y) {
  double largest = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double difference = std::abs(static_cast<double>(x[i]) - static_cast<double>(y[i]));
    if (!std::isfinite(difference)) return std::numeric_limits<double>::quiet_NaN();
    largest = std::max(largest, difference);
  }
  return largest;
}

/// The largest sum of magnitudes in a row, in double precision.
template <class Real>
double row_sum_norm(RowMajorView<const Real> a) {
  double norm = 0;
  for (Index i = 0; i < a.rows; ++i) {
    double sum = 0;
    for (Index j = 0; j < a.columns; ++j) sum += std::abs(static_cast<double>(a(i, j)));
    norm = std::max(norm, sum);
  }
  return norm;
}

/// Throws NoResult unless LAPACK's getrf returned info = 0.
void check_regular(Index info, Index n);

/// Reads a matrix file. Throws InputError like read_matrix(), or if a number exceeds the precision.
DenseMatrix read_elements(const std::string& path, Precision precision = Precision::single,
                          MatrixShape shape = MatrixShape::square);
/// Throws InputError if the matrices of --input and --input-b, with these names, have different numbers of rows.
void check_same_rows(const ModeOptions& options, const std::string& a, Index rows_a, const std::string& b,
                     Index rows_b);
/// Throws InputError if row, column (from 0) of --input is off the three diagonals.
void check_on_diagonals(const std::string& path, Index row, Index column);

/// Throws InputError if `bytes` exceeds the available memory of this host. `what` begins the message ("--n 4096"). The
/// caller includes device memory for software devices.
void check_host_memory(const std::string& what, double bytes);
/// Throws InputError if `obstacle`, why a device cannot hold a problem, is not empty.
void check_obstacle(const std::string& what, const std::string& obstacle);

/// What a device does at most: bytes fetched from a texture in cache, and operations of multiply-adds, a second.
struct DevicePeaks {
  double fetch_rate = 0;
  double flops = 0;
};
DevicePeaks measure_peaks(const ModeRun& run, Precision precision);

// --group: the invocations of a work group of compute shaders. The fastest number is kept for later runs, beside the
// choices of matmul --tune.

/// `help` names the variants.
Field group_field(Texts& option, const std::string& help, const std::string& default_text);
/// --tune. `variants`: those with work groups, in words.
Field tune_field(bool& option, const std::string& variants);
/// All numbers of invocations that --group takes.
Texts every_group();
/// Throws InputError, which names `option` (--group or --tune), unless some of `variants` is in `of`, those with work
/// groups.
void check_group(const std::string& option, const Texts& variants, const Texts& of);
/// --tune becomes --group all, and --variant `of` unless it is given. Throws InputError as check_group(), or if both
/// --tune and --group are given.
template <class Options>
void take_groups(const Parsed<Options>& parsed, Options& o, const Texts& of) {
  if (o.tune) {
    if (parsed.given("group")) refuse_both("--tune", "--group");
    if (!parsed.given("variant")) o.variant = of;
    o.group = every_group();
  }
  if (!o.group.empty()) check_group(o.tune ? "--tune" : "--group", o.variant, of);
}

/// The numbers to measure: those of `option`; if it is empty, the one kept for the variant, else none: the variant's
/// own.
std::vector<std::optional<Index>> groups_of(const Texts& option, const std::string& mode, std::string_view variant,
                                            Precision precision, const DeviceDescription& device);
/// Prints the fastest number of each size and variant, of the records that passed and have the parameter "group". Keeps
/// that of a variant's last size.
void keep_fastest_groups(const std::string& mode, ModeRun& run);

}  // namespace glinpack::app
