// Strips of the elliptic test problem, iterated in lockstep by one thread as processes would iterate theirs.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <vector>

#include "base/precision.hpp"
#include "solvers/poisson/poisson_cg.hpp"

namespace glinpack::test {

/// The double-precision rows of the paper's Table 1 that tests use.
struct PoissonRow {
  Index n;
  Index iterations;
  double error;       // as printed
  double half_digit;  // of its last printed digit
};
inline constexpr PoissonRow poisson_rows[] = {
    {32, 48, 3.0128e-3, 5e-8}, {64, 96, 7.7811e-4, 5e-9}, {128, 192, 1.9765e-4, 5e-9}, {256, 387, 4.9797e-5, 5e-10}};

/// ||b - A u|| / ||b||: r of the recursion without its rounding errors.
template <class Real>
double relative_residual(Index n, const std::vector<Real>& u) {
  const auto squares = PoissonProblem(n).residual_squares<Real>(u, 0, {}, {});
  return std::sqrt(squares.residual / squares.right);
}

template <class Real>
struct PoissonSolution {
  CgOutcome outcome;
  std::vector<Real> u;
};

/// Solves with the driver on one strip, the whole square.
template <class Real>
PoissonSolution<Real> solve_poisson(PoissonStrip<Real>& strip, CgLimits limits = {}) {
  const Index n = strip.extents().n;
  if (limits.max_iterations == 0) limits.max_iterations = poisson_max_iterations(n);
  PoissonSolution<Real> solution{{}, std::vector<Real>(static_cast<std::size_t>(n * n))};
  PoissonNeighbours<Real> none;
  strip.begin(PoissonProblem(n), limits);
  solution.outcome = conjugate_gradients(strip, none, limits);
  strip.store(solution.u);
  return solution;
}

template <class Real>
using PoissonStrips = std::vector<std::unique_ptr<PoissonStrip<Real>>>;

template <class Real>
void set_total(const PoissonStrips<Real>& strips, PoissonSum which) {
  double total = 0;
  for (const auto& strip : strips) total += strip->own_sum(which);
  for (const auto& strip : strips) strip->set_sum(which, total);
}

/// Updates the first and last row, then the rows between them, as a process that overlaps the exchange of its edges.
/// Then writes the ghost rows.
template <class Real>
void update_and_exchange(const PoissonStrips<Real>& strips, Index iteration) {
  std::vector<std::vector<Real>> first, last;
  for (const auto& strip : strips) {
    const Index rows = strip->extents().rows;
    strip->update(iteration, {0, 1});
    if (rows > 1) strip->update(iteration, {rows - 1, rows});
    strip->begin_reading_edges();
    if (rows > 2) strip->update(iteration, {1, rows - 1});
    const PoissonEdges<Real> edges = strip->edges();
    first.emplace_back(edges.first.begin(), edges.first.end());
    last.emplace_back(edges.last.begin(), edges.last.end());
  }
  for (std::size_t s = 0; s < strips.size(); ++s) {
    strips[s]->write_ghost_rows(s > 0 ? std::span<const Real>(last[s - 1]) : std::span<const Real>(),
                                s + 1 < strips.size() ? std::span<const Real>(first[s + 1]) : std::span<const Real>());
  }
}

/// Iterates limits.max_iterations times; strips within the tolerance no longer change. Returns u of all strips.
template <class Real>
std::vector<Real> iterate(const PoissonStrips<Real>& strips, const CgLimits& limits) {
  const Index n = strips.front()->extents().n;
  const PoissonProblem problem(n);
  for (const auto& strip : strips) strip->begin(problem, limits);
  set_total(strips, PoissonSum::residual);
  for (Index k = 0; k < limits.max_iterations; ++k) {
    for (const auto& strip : strips) strip->advance_direction(k);
    set_total(strips, PoissonSum::curvature);
    update_and_exchange(strips, k);
    set_total(strips, PoissonSum::residual);
  }
  std::vector<Real> u(static_cast<std::size_t>(n * n));
  for (const auto& strip : strips) {
    const PoissonExtents& e = strip->extents();
    strip->store(
        std::span<Real>(u).subspan(static_cast<std::size_t>(e.first_row * n), static_cast<std::size_t>(e.rows * n)));
  }
  return u;
}

/// Calls make(extents) for strips of these numbers of rows, from the top.
template <class Real, class Make>
PoissonStrips<Real> make_strips(Index n, const std::vector<Index>& rows, const Make& make) {
  PoissonStrips<Real> strips;
  Index first = 0;
  for (const Index count : rows) {
    strips.push_back(make(PoissonExtents{n, first, count}));
    first += count;
  }
  EXPECT_EQ(first, n);
  return strips;
}

/// The allowed difference of u <= 1 if scalar products over n x n points are summed in another order.
template <class Real>
constexpr double scalar_products(Index n) {
  return tolerance<Real>(n * n);
}

template <class Real>
void expect_near(const std::vector<Real>& computed, const std::vector<Real>& expected, double difference) {
  ASSERT_EQ(computed.size(), expected.size());
  for (std::size_t e = 0; e < computed.size(); ++e) {
    ASSERT_NEAR(computed[e], expected[e], difference) << "element " << e;
  }
}

/// What `make`, a function of the extents of a strip and a preconditioner, makes must reproduce a row of Table 1.
template <class Make>
void check_table_1(const PoissonRow& row, const Make& make) {
  SCOPED_TRACE(row.n);
  const auto strip = make(PoissonExtents{row.n, 0, row.n}, PoissonPreconditioner::none);
  const PoissonSolution<double> solution = solve_poisson(*strip);
  EXPECT_TRUE(solution.outcome.converged);
  EXPECT_EQ(solution.outcome.iterations, row.iterations);
  EXPECT_LE(solution.outcome.relative_residual, 1e-6);
  EXPECT_NEAR(PoissonProblem(row.n).largest_error<double>(solution.u), row.error, row.half_digit);
}

template <class Make>
void check_multigrid(std::initializer_list<Index> sizes, const Make& make) {
  for (const Index n : sizes) {
    SCOPED_TRACE(n);
    const auto strip = make(PoissonExtents{n, 0, n}, PoissonPreconditioner::multigrid);
    const PoissonSolution<double> solution = solve_poisson(*strip);
    EXPECT_TRUE(solution.outcome.converged);
    EXPECT_LE(solution.outcome.iterations, 7);
    EXPECT_LE(relative_residual(n, solution.u), 1.001e-6);
    EXPECT_LE(PoissonProblem(n).largest_error<double>(solution.u), poisson_discretisation_bound(n));
  }
}

/// Compares divided squares with the host's whole one.
template <class Real, class Make>
void check_strips(Index n, std::initializer_list<std::vector<Index>> divisions, const Make& make) {
  const auto make_host = [](const PoissonExtents& extents) { return make_host_poisson_strip<Real>(extents, 1); };
  const CgLimits limits{.max_iterations = 20};
  const std::vector<Real> expected = iterate(make_strips<Real>(n, {n}, make_host), limits);
  for (const std::vector<Index>& rows : divisions) {
    SCOPED_TRACE(rows.front());
    expect_near(iterate(make_strips<Real>(n, rows, make), limits), expected, scalar_products<Real>(n));
  }
}

template <class Make>
void check_no_convergence(const Make& make) {
  const auto strip = make(PoissonExtents{32, 0, 32}, PoissonPreconditioner::none);
  const CgOutcome outcome = solve_poisson(*strip, {.max_iterations = 40}).outcome;
  EXPECT_FALSE(outcome.converged);
  EXPECT_EQ(outcome.iterations, 40);
  EXPECT_GT(outcome.relative_residual, 1e-6);
}

}  // namespace glinpack::test
