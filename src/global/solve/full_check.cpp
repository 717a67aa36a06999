#include "solve/full_check.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <sstream>

#include "base/measuring.hpp"
#include "base/memory_count.hpp"
#include "base/scaled_residual.hpp"
#include "mpi/communication.hpp"

namespace glinpack {

namespace {

constexpr std::uint64_t seed_of_solution = 1988;  // the first of dchkge's seeds
constexpr int most_refinements_of_dgerfs = 5;
constexpr int most_refinements_of_mixed = 50;

std::size_t number_of(Index i) { return static_cast<std::size_t>(i); }

// NaN if any value is.
double largest_of(const std::vector<double>& values) {
  double largest = 0;
  for (const double value : values)
    largest = std::isnan(value) || largest < std::fabs(value) ? std::fabs(value) : largest;
  return largest;
}

double norm_one(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += std::fabs(value);
  return sum;
}

std::vector<double> difference_of(std::vector<double> a, const std::vector<double>& b) {
  std::transform(a.begin(), a.end(), b.begin(), a.begin(), std::minus());
  return a;
}

// dget06, except that NaN remains
double ratio_of_conditions(double estimated, double by_inverse, double epsilon) {
  if (std::isnan(estimated) || std::isnan(by_inverse)) return std::numeric_limits<double>::quiet_NaN();
  const auto [less, more] = std::minmax(estimated, by_inverse);
  if (less > 0) return more / less - (1 - epsilon);
  return more > 0 ? more / epsilon : 0;
}

}  // namespace

std::string_view name_of_ratio(std::size_t test) {
  constexpr std::array<std::string_view, 8> names{"norm(LU - A) / (N norm(A) eps)",
                                                  "norm(I - A inv(A)) / (N norm(A) norm(inv(A)) eps)",
                                                  "norm(b - A x) / (norm(A) norm(x) eps)",
                                                  "norm(x - exact x) rcond / (norm(exact x) eps)",
                                                  "the same after refinement",
                                                  "norm(x - exact x) / (norm(x) ferr)",
                                                  "berr / ((N+1) eps + underflow)",
                                                  "rcond by estimate against inv(A)"};
  return names.at(test);
}

std::string FullCheck::failure() const {
  std::ostringstream text;
  const auto column = [](const std::optional<Index>& of) { return of ? std::to_string(*of) : "none"; };
  const bool is_earlier = !expected_singular || (singular_column && *singular_column < *expected_singular);
  const bool right = singular_column == expected_singular || (singularity_uncertain && is_earlier);
  if (!right) {
    text << "full check: the first zero pivot is expected in column " << column(expected_singular) << ", found in "
         << column(singular_column) << " (counted from 0)";
  }
  for (std::size_t i = 0; i < ratios.size(); ++i) {
    if (!computed[i] || ratios[i] < threshold) continue;
    text << (text.tellp() > 0 ? "; " : "full check: ") << "ratio " << i + 1 << ", " << name_of_ratio(i) << ", is "
         << ratios[i] << ", not below " << threshold;
  }
  return text.str();
}

double full_check_elements(const Distribution& distribution, GridPosition at) {
  constexpr double vectors = 20;
  const auto nb = static_cast<double>(distribution.nb), n = static_cast<double>(distribution.n),
             rows = static_cast<double>(distribution.local_rows(at)),
             columns = static_cast<double>(distribution.local_columns(at));
  return 2 * rows * columns + 2 * n * nb + nb * columns + vectors * n;
}

template <class Real>
FullChecker<Real>::FullChecker(Precision precision, const Distribution& distribution, const ProcessGrid& grid,
                               Backend<Real>& backend, Timeline& timeline, BackwardSubstitution<Real>& backward)
    : precision_(precision),
      distribution_(distribution),
      grid_(grid),
      timeline_(timeline),
      backward_(backward),
      forward_(distribution, grid, backend, timeline, backward.blocks()),
      rows_(distribution.local_rows(grid.position())),
      columns_(distribution.local_columns_of_a(grid.position())),
      b_rounded_(counted_vector<Real>(rows_)) {
  // what run() will hold, with the factors that it receives
  const double held = full_check_elements(distribution, grid.position()) * sizeof(double);
  MemoryCount::add_host(static_cast<std::int64_t>(held) + rows_ * columns_ * static_cast<Index>(sizeof(Real)));
}

template <class Real>
FullCheck FullChecker<Real>::run(const Interchanges& interchanges, const MatrixSource& source,
                                 std::vector<Real> factors, int threads) {
  const double begun = steady_seconds();
  result_ = {};
  forward_.set_interchanges(interchanges);
  factors_ = std::make_unique<HostFactors<Real>>(distribution_, grid_, std::move(factors), interchanges);
  load_matrix(source);
  check_product(threads);
  const auto inverse = [this](const Vector& v) { return solve(v); };
  const auto transposed = [this](const Vector& v) { return factors_->solve_transposed(v); };
  result_.rcond = 1 / norm_a_ / estimate_norm_one(distribution_.n, inverse, transposed);
  if (distribution_.n <= FullCheck::largest_inverse) check_inverse();
  check_solution();
  refine();
  check_bounds();
  factors_.reset();
  a_ = {};
  result_.seconds = steady_seconds() - begun;
  all_reduce(grid_.all(), &result_.seconds, 1, MPI_DOUBLE, MPI_MAX);
  return result_;
}

template <class Real>
double FullChecker<Real>::rounded_to_factors(double value) const {
  return static_cast<double>(static_cast<Real>(value));
}

template <class Real>
void FullChecker<Real>::load_matrix(const MatrixSource& source) {
  const Index all_columns = distribution_.local_columns(grid_.position());
  a_.resize(number_of(rows_ * columns_));
  std::vector<double> row(number_of(all_columns));
  for (Index i = 0; i < rows_; ++i) {
    source.fill(distribution_, grid_.position(), LocalIndex(i), {row.data(), 1, all_columns, all_columns});
    for (Index j = 0; j < columns_; ++j) {
      a_[number_of(i * columns_ + j)] =
          precision_ == Precision::single ? rounded_to_factors(row[number_of(j)]) : row[number_of(j)];
    }
    timeline_.step();
  }
  norm_a_ = norm_one_of(a_);
}

template <class Real>
double FullChecker<Real>::norm_one_of(const Vector& a) const {
  Vector sums(number_of(distribution_.n));
  for (Index j = 0; j < columns_; ++j) {
    double& sum = sums[number_of(distribution_.columns.global(LocalIndex(j), grid_.position().column).value)];
    for (Index i = 0; i < rows_; ++i) sum += std::fabs(a[number_of(i * columns_ + j)]);
  }
  sum_over(grid_.all(), sums);
  return largest_of(sums);
}

template <class Real>
void FullChecker<Real>::check_product(int threads) {
  Vector difference = a_;
  factors_->subtract_product(difference, threads, [this] { timeline_.step(); });
  result_.computed[0] = true;
  result_.ratios[0] = scaled_residual({.residual = norm_one_of(difference), .a = norm_a_, .x = 1},
                                      epsilon_of(precision_of<Real>), static_cast<double>(distribution_.n));
}

template <class Real>
typename FullChecker<Real>::Products FullChecker<Real>::multiply(const Vector& x) const {
  const GridPosition position = grid_.position();
  Vector both(2 * number_of(distribution_.n)), of_columns(number_of(columns_));
  for (Index j = 0; j < columns_; ++j) {
    of_columns[number_of(j)] = x[number_of(distribution_.columns.global(LocalIndex(j), position.column).value)];
  }
  for (Index i = 0; i < rows_; ++i) {
    const double* const row = a_.data() + i * columns_;
    double sum = 0, magnitude = 0;
    for (Index j = 0; j < columns_; ++j) {
      const double product = row[j] * of_columns[number_of(j)];
      sum += product;
      magnitude += std::fabs(product);
    }
    const Index global = distribution_.rows.global(LocalIndex(i), position.row).value;
    both[number_of(global)] = sum;
    both[number_of(distribution_.n + global)] = magnitude;
  }
  sum_over(grid_.all(), both);
  const auto middle = both.begin() + distribution_.n;
  return {.ax = Vector(both.begin(), middle), .of_magnitudes = Vector(middle, both.end())};
}

// Scales b by a power of two to the magnitude of A, as Refiner does.
template <class Real>
typename FullChecker<Real>::Vector FullChecker<Real>::solve(const Vector& b) {
  const double norm_b = largest_of(b);
  Vector x(number_of(distribution_.n));
  if (norm_b == 0 || !std::isfinite(norm_b)) return Vector(number_of(distribution_.n), norm_b == 0 ? 0 : norm_b);
  const int exponent = std::ilogb(norm_a_) - std::ilogb(norm_b);
  for (Index i = 0; i < rows_; ++i) {
    const double value = b[number_of(distribution_.rows.global(LocalIndex(i), grid_.position().row).value)];
    b_rounded_[number_of(i)] = static_cast<Real>(std::scalbn(value, exponent));
  }
  forward_.run(b_rounded_);
  const std::vector<Real> mine = backward_.run_on_shares();
  if (grid_.position().row == 0) {
    for (Index j = 0; j < columns_; ++j) {
      x[number_of(distribution_.columns.global(LocalIndex(j), grid_.position().column).value)] =
          std::scalbn(static_cast<double>(mine[number_of(j)]), -exponent);
    }
  }
  sum_over(grid_.all(), x);
  timeline_.step();
  return x;
}

template <class Real>
void FullChecker<Real>::check_inverse() {
  const Index n = distribution_.n;
  const double epsilon = epsilon_of(precision_of<Real>);
  double norm_inverse = 0, norm_residual = 0;
  for (Index j = 0; j < n; ++j) {
    Vector unit(number_of(n));
    unit[number_of(j)] = 1;
    const Vector x = solve(unit);
    norm_inverse = largest_of({norm_inverse, norm_one(x)});
    norm_residual = largest_of({norm_residual, norm_one(difference_of(unit, multiply(x).ax))});
  }
  result_.rcond_by_inverse = 1 / norm_a_ / norm_inverse;
  result_.computed[1] = result_.computed[7] = true;
  result_.ratios[1] = norm_residual * *result_.rcond_by_inverse / epsilon / static_cast<double>(n);
  result_.ratios[7] = ratio_of_conditions(result_.rcond, *result_.rcond_by_inverse, epsilon);
}

template <class Real>
void FullChecker<Real>::check_solution() {
  const Index n = distribution_.n;
  const double epsilon = epsilon_of(precision_of<Real>);
  exact_.resize(number_of(n));
  for (Index i = 0; i < n; ++i) exact_[number_of(i)] = rounded_to_factors(uniform_element(n, seed_of_solution, i, 0));
  b_ = multiply(exact_).ax;
  for (double& value : b_) value = precision_ == Precision::single ? rounded_to_factors(value) : value;
  x_ = solve(b_);
  result_.computed[2] = result_.computed[3] = true;
  result_.ratios[2] = scaled_residual(
      {.residual = norm_one(difference_of(b_, multiply(x_).ax)), .a = norm_a_, .x = norm_one(x_)}, epsilon, 1);
  result_.ratios[3] = largest_of(difference_of(x_, exact_)) / largest_of(exact_) *
                      result_.rcond_by_inverse.value_or(result_.rcond) / epsilon;
}

// dgerfs: until the backward error is below epsilon or no longer halves.
template <class Real>
void FullChecker<Real>::refine() {
  const double epsilon = epsilon_of(precision_), safe_minimum = precision_ == Precision::single
                                                                    ? std::numeric_limits<float>::min()
                                                                    : std::numeric_limits<double>::min();
  const int most = precision_ == Precision::mixed ? most_refinements_of_mixed : most_refinements_of_dgerfs;
  const double least = static_cast<double>(distribution_.n + 1) * safe_minimum;
  double earlier = std::numeric_limits<double>::infinity();
  for (;; ++result_.refinements) {
    of_x_ = multiply(x_);
    const Vector r = difference_of(b_, of_x_.ax);
    result_.berr = 0;
    for (std::size_t i = 0; i < r.size(); ++i) {
      const double scale = of_x_.of_magnitudes[i] + std::fabs(b_[i]);
      const double error =
          scale > least / epsilon ? std::fabs(r[i]) / scale : (std::fabs(r[i]) + least) / (scale + least);
      result_.berr = largest_of({result_.berr, error});
    }
    if (!(result_.berr > epsilon && 2 * result_.berr <= earlier) || result_.refinements == most) return;
    earlier = result_.berr;
    const Vector correction = solve(r);
    for (std::size_t i = 0; i < x_.size(); ++i) {
      x_[i] += correction[i];
      if (precision_ == Precision::single) x_[i] = rounded_to_factors(x_[i]);
    }
  }
}

template <class Real>
void FullChecker<Real>::check_bounds() {
  const double epsilon = epsilon_of(precision_), safe_minimum = precision_ == Precision::single
                                                                    ? std::numeric_limits<float>::min()
                                                                    : std::numeric_limits<double>::min();
  const double terms = static_cast<double>(distribution_.n + 1);
  const Vector r = difference_of(b_, of_x_.ax);
  Vector weights(r.size());
  double least_scale = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < r.size(); ++i) {
    const double scale = of_x_.of_magnitudes[i] + std::fabs(b_[i]);
    least_scale = std::min(least_scale, scale);
    weights[i] = std::fabs(r[i]) + terms * epsilon * scale;
    if (!(scale > terms * safe_minimum / epsilon)) weights[i] += terms * safe_minimum;
  }
  const auto weighted = [&weights](Vector v) {
    std::transform(v.begin(), v.end(), weights.begin(), v.begin(), std::multiplies());
    return v;
  };
  // ||A^-1 diag(w)||_oo = ||diag(w) A^-T||_1
  const double bound = estimate_norm_one(
      distribution_.n, [&](const Vector& v) { return weighted(factors_->solve_transposed(v)); },
      [&](const Vector& v) { return solve(weighted(v)); });
  const double error = largest_of(difference_of(x_, exact_)), norm_x = largest_of(x_);
  result_.ferr = bound / norm_x;
  result_.computed[4] = result_.computed[5] = result_.computed[6] = true;
  result_.ratios[4] = error / largest_of(exact_) * result_.rcond_by_inverse.value_or(result_.rcond) / epsilon;
  result_.ratios[5] = error / norm_x <= result_.ferr ? error / norm_x / result_.ferr : 1 / epsilon;
  result_.ratios[6] =
      result_.berr / (terms * epsilon + terms * safe_minimum / std::max(least_scale, terms * safe_minimum));
}

template class FullChecker<float>;
template class FullChecker<double>;

}  // namespace glinpack
