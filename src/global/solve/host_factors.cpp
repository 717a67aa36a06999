#include "solve/host_factors.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "base/threads.hpp"
#include "matrix/pass.hpp"
#include "mpi/communication.hpp"

namespace glinpack {

namespace {

constexpr Index rows_per_thread = 16;

std::size_t place(Index i) { return static_cast<std::size_t>(i); }

// With local pivoting, only the pivot's process row knows the pivots of a pass.
std::vector<Index> shared_pivots(const Distribution& distribution, const ProcessGrid& grid,
                                 const Interchanges& interchanges) {
  std::vector<Index> pivots(place(distribution.n), -1);
  for (Index j = 0; j < distribution.n; ++j) {
    const bool known =
        interchanges.across_process_rows || distribution.rows.owner(GlobalIndex(j)) == grid.position().row;
    if (known) pivots[place(j)] = interchanges.pivots[place(j)].value;
  }
  all_reduce(grid.column(), pivots.data(), message_count(distribution.n), MPI_INT64_T, MPI_MAX);
  return pivots;
}

}  // namespace

template <class Real>
HostFactors<Real>::HostFactors(const Distribution& distribution, const ProcessGrid& grid, std::vector<Real> local,
                               const Interchanges& interchanges)
    : distribution_(distribution),
      grid_(grid),
      rows_(distribution.local_rows(grid.position())),
      columns_(distribution.local_columns_of_a(grid.position())),
      stored_(distribution.stored_columns(grid.position())),
      local_(std::move(local)),
      pivots_(shared_pivots(distribution, grid, interchanges)) {
  gather_diagonal_blocks();
}

template <class Real>
void HostFactors<Real>::gather_diagonal_blocks() {
  const Index nb = distribution_.nb;
  diagonal_.assign(place(distribution_.n * nb), 0);
  for (Index k = 0; k < distribution_.passes(); ++k) {
    const PassPlan plan = plan_pass(distribution_, k, grid_.position());
    if (plan.role != Role::pivot) continue;
    for (Index i = 0; i < plan.width; ++i) {
      for (Index j = 0; j < plan.width; ++j) {
        diagonal_[place((k * nb + i) * nb + j)] = element(plan.panel_row.value + i, plan.panel_column.value + j);
      }
    }
  }
  all_reduce(grid_.all(), diagonal_.data(), message_count(distribution_.n * nb), MPI_DOUBLE, MPI_SUM);
}

template <class Real>
void HostFactors<Real>::subtract_product(std::vector<double>& a, int threads,
                                         const std::function<void()>& after_pass) const {
  const Index n = distribution_.n, nb = distribution_.nb;
  const GridPosition position = grid_.position();
  std::vector<Index> original(place(n));  // the row of A that is in a row after the passes so far
  std::iota(original.begin(), original.end(), Index{0});
  std::vector<double> l(place(n * nb)), u(place(nb * columns_));  // L of the pass in A's order of rows; U's block row
  for (Index k = 0; k < distribution_.passes(); ++k) {
    const PassPlan plan = plan_pass(distribution_, k, position);
    const Index first = k * nb, width = plan.width;
    for (Index j = first; j < first + width; ++j) std::swap(original[place(j)], original[place(pivots_[place(j)])]);
    std::ranges::fill(l, 0.0);
    std::ranges::fill(u, 0.0);
    for (Index i = distribution_.rows.lower_bound(GlobalIndex(first), position.row).value; i < rows_; ++i) {
      if (!plan.in_pivot_column) break;
      const Index row = distribution_.rows.global(LocalIndex(i), position.row).value;
      double* const values = l.data() + original[place(row)] * nb;
      for (Index j = 0; j < width && first + j <= row; ++j) {
        values[j] = first + j == row ? 1 : element(i, plan.panel_column.value + j);
      }
    }
    for (Index i = 0; i < width && plan.in_pivot_row; ++i) {
      for (Index j = distribution_.columns.lower_bound(GlobalIndex(first + i), position.column).value; j < columns_;
           ++j) {
        u[place(i * columns_ + j)] = element(plan.panel_row.value + i, j);
      }
    }
    all_reduce(grid_.all(), l.data(), message_count(n * nb), MPI_DOUBLE, MPI_SUM);
    all_reduce(grid_.column(), u.data(), message_count(nb * columns_), MPI_DOUBLE, MPI_SUM);
    const Index first_column = distribution_.columns.lower_bound(GlobalIndex(first), position.column).value;
    parallel_for(threads, rows_, rows_per_thread, [&](Index begin, Index end) {
      for (Index i = begin; i < end; ++i) {
        const double* const multipliers = l.data() + distribution_.rows.global(LocalIndex(i), position.row).value * nb;
        double* const to = a.data() + i * columns_;
        for (Index p = 0; p < width; ++p) {
          if (multipliers[p] == 0) continue;  // a row whose elimination is complete
          const double* const from = u.data() + p * columns_;
          for (Index j = first_column; j < columns_; ++j) to[j] -= multipliers[p] * from[j];
        }
      }
    });
    after_pass();
  }
}

template <class Real>
std::vector<double> HostFactors<Real>::products(const std::vector<double>& y, Index pass, GlobalIndex begin,
                                                GlobalIndex end) const {
  const PassPlan plan = plan_pass(distribution_, pass, grid_.position());
  std::vector<double> sums(place(plan.width));
  if (plan.in_pivot_column) {
    const int row = grid_.position().row;
    const Index last = distribution_.rows.lower_bound(end, row).value;
    for (Index i = distribution_.rows.lower_bound(begin, row).value; i < last; ++i) {
      const double factor = y[place(distribution_.rows.global(LocalIndex(i), row).value)];
      for (Index j = 0; j < plan.width; ++j) sums[place(j)] += element(i, plan.panel_column.value + j) * factor;
    }
  }
  sum_over(grid_.all(), sums);
  return sums;
}

// A = P_1 L_1 P_2 L_2 ... U with the interchanges P_k and elimination L_k of pass k, hence
// A^-T = P_1 L_1^-T P_2 L_2^-T ... U^-T.
template <class Real>
std::vector<double> HostFactors<Real>::solve_transposed(std::vector<double> w) const {
  const Index nb = distribution_.nb, passes = distribution_.passes();
  const auto diagonal = [&](Index row, Index j) { return diagonal_[place(row * nb + j)]; };
  for (Index k = 0; k < passes; ++k) {
    const Index first = k * nb, width = distribution_.pass_width(k);
    const std::vector<double> sums = products(w, k, GlobalIndex(0), GlobalIndex(first));
    for (Index j = 0; j < width; ++j) {
      double value = w[place(first + j)] - sums[place(j)];
      for (Index i = 0; i < j; ++i) value -= diagonal(first + i, j) * w[place(first + i)];
      w[place(first + j)] = value / diagonal(first + j, j);
    }
  }
  for (Index k = passes - 1; k >= 0; --k) {
    const Index first = k * nb, width = distribution_.pass_width(k);
    const std::vector<double> sums = products(w, k, GlobalIndex(first + width), GlobalIndex(distribution_.n));
    for (Index j = width - 1; j >= 0; --j) {
      double value = w[place(first + j)] - sums[place(j)];
      for (Index i = j + 1; i < width; ++i) value -= diagonal(first + i, j) * w[place(first + i)];
      w[place(first + j)] = value;
    }
    for (Index j = first + width - 1; j >= first; --j) std::swap(w[place(j)], w[place(pivots_[place(j)])]);
  }
  return w;
}

double estimate_norm_one(Index n, const std::function<std::vector<double>(const std::vector<double>&)>& apply,
                         const std::function<std::vector<double>(const std::vector<double>&)>& apply_transposed) {
  constexpr int most_iterations = 5;
  const auto norm = [](const std::vector<double>& v) {
    return std::transform_reduce(v.begin(), v.end(), 0.0, std::plus(), [](double value) { return std::fabs(value); });
  };
  const auto signs = [](std::vector<double> v) {
    for (double& value : v) value = std::signbit(value) ? -1 : 1;
    return v;
  };
  const auto largest = [](const std::vector<double>& v) {
    return std::ranges::max_element(v, {}, [](double value) { return std::fabs(value); }) - v.begin();
  };
  const auto climb_from = [&](const std::vector<double>& start) {
    std::vector<double> v = apply(start);
    double estimate = norm(v);
    if (n == 1) return estimate;
    std::vector<double> sign = signs(v);
    std::vector<double> gradient = apply_transposed(sign);
    for (int iteration = 2; iteration <= most_iterations; ++iteration) {
      const auto unit = largest(gradient);
      std::vector<double> e(place(n));
      e[static_cast<std::size_t>(unit)] = 1;
      v = apply(e);
      const double earlier = estimate;
      estimate = std::max(estimate, norm(v));
      const std::vector<double> next_sign = signs(v);
      if (next_sign == sign || !(norm(v) > earlier)) break;
      sign = next_sign;
      gradient = apply_transposed(sign);
      if (largest(gradient) == unit) break;
    }
    return estimate;
  };
  std::vector<double> start(place(n), 1 / static_cast<double>(n));
  double estimate = climb_from(start);
  if (n == 1) return estimate;
  std::minstd_rand generator;
  for (double& value : start) value = generator() % 2 == 0 ? value : -value;
  estimate = std::max(estimate, climb_from(start));
  std::vector<double> alternating(place(n));
  for (Index i = 0; i < n; ++i) {
    alternating[place(i)] = (i % 2 == 0 ? 1 : -1) * (1 + static_cast<double>(i) / static_cast<double>(n - 1));
  }
  return std::max(estimate, 2 * norm(apply(alternating)) / (3 * static_cast<double>(n)));
}

template class HostFactors<float>;
template class HostFactors<double>;

}  // namespace glinpack
