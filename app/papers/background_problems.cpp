// The kinds of problems of `glinpack-papers background`.
#include <array>
#include <cmath>
#include <random>

#include "app/papers/background.hpp"
#include "app/papers/problem.hpp"
#include "app/papers/studies.hpp"
#include "base/row_interchanges.hpp"
#include "base/scaled_residual.hpp"
#include "base/timeline.hpp"
#include "openblas/host_solvers.hpp"
#include "solvers/elimination/elimination.hpp"
#include "solvers/matmul/matmul.hpp"

namespace glinpack::app {

namespace {

using solvers::TridiagonalSystems;

using solvers::ShaderKind;

// The paper's variants are drawn.
solvers::EliminationSettings elimination_by(ShaderKind kind) {
  using Variant = solvers::EliminationVariant;
  return {.variant = kind == ShaderKind::compute ? Variant::compute : Variant::double_rows};
}
solvers::TridiagonalSettings tridiagonal_by(ShaderKind kind) {
  using Variant = solvers::TridiagonalVariant;
  return {.variant = kind == ShaderKind::compute ? Variant::compute : Variant::raster};
}
solvers::MatmulSettings product_by(ShaderKind kind) {
  using Variant = solvers::MatmulVariant;
  return {.variant = kind == ShaderKind::compute ? Variant::compute : Variant::single_pass};
}

std::size_t at(Index problem) { return static_cast<std::size_t>(problem); }

/// The matrix A of the next problem.
std::vector<float> next_matrix(const BackgroundSource& source, std::mt19937_64& random) {
  return source.matrix.empty() ? random_elements<float>(source.n * source.n, random) : source.matrix;
}

/// A vector of elements in [-1, 1), to compare matrices by their product with it (R. Freivalds, 1977).
std::vector<double> random_probe(Index n, std::mt19937_64& random) {
  std::uniform_real_distribution<double> uniform(-1, 1);
  std::vector<double> probe(at(n));
  for (double& element : probe) element = uniform(random);
  return probe;
}

/// y_i = the sum of element(i, j) x_j for first(i) <= j < last(i), in double precision.
template <class Element, class First, class Last>
std::vector<double> times_vector(const std::vector<double>& x, Element element, First first, Last last) {
  std::vector<double> y(x.size());
  for (Index i = 0; i < static_cast<Index>(x.size()); ++i) {
    for (Index j = first(i); j < last(i); ++j) y[at(i)] += static_cast<double>(element(i, j)) * x[at(j)];
  }
  return y;
}
/// A x.
std::vector<double> times_vector(const std::vector<float>& matrix, Index n, const std::vector<double>& x) {
  const RowMajorView<const float> a = square_view(matrix, n);
  return times_vector(
      x, [&](Index i, Index j) { return a(i, j); }, [](Index) { return Index{0}; }, [n](Index) { return n; });
}

double row_sum_norm(const std::vector<float>& matrix, Index n) {
  double norm = 0;
  for (Index i = 0; i < n; ++i) {
    double sum = 0;
    for (Index j = 0; j < n; ++j) sum += std::abs(static_cast<double>(square_view(matrix, n)(i, j)));
    norm = std::max(norm, sum);
  }
  return norm;
}

DenseMatrix dense(Index rows, Index columns, const std::vector<float>& numbers) {
  return {rows, columns, converted<double>(numbers)};
}

/// Problems, each of which is one of `numbers`. The steps are made for the operands of the first, then run for those of
/// each: `set` makes the operands those of a problem, whose answer has `count` numbers.
template <class Operands, class Given, class Set, class Make, class OnHost, class Error>
BackgroundProblems problems_of(std::vector<Given> numbers, Index count, Set set, Make make, OnHost on_host,
                               Error error_of, double tolerance,
                               std::function<DenseMatrix(const BackgroundAnswer&)> matrix_of) {
  const auto given = std::make_shared<const std::vector<Given>>(std::move(numbers));
  const auto prepare = [=](solvers::Device& device) -> BackgroundProblems::Solve {
    const auto operands = std::make_shared<Operands>();
    std::vector<float> unused(at(count));
    set(*operands, given->front(), unused);
    const solvers::Steps steps = make(device, *operands);
    return [=](Index problem) {
      BackgroundAnswer answer{std::vector<float>(at(count))};
      set(*operands, (*given)[at(problem)], answer.numbers);
      steps.run();
      if constexpr (std::is_same_v<Operands, solvers::DenseSystem<float>>) answer.row_order = operands->row_order;
      return answer;
    };
  };
  return {prepare, [=](Index problem) { return on_host((*given)[at(problem)]); },
          [=](Index problem, const BackgroundAnswer& answer) { return error_of((*given)[at(problem)], answer); },
          tolerance, std::move(matrix_of)};
}

/// Two matrices, row-major.
struct Pair {
  std::vector<float> left, right;
};

/// P A = L U, as in the paper's figure 5; downloads the factors. The pair: A in the device's and in LAPACK's layout.
BackgroundProblems factor_problems(const BackgroundSource& source) {
  const Index n = source.n;
  std::mt19937_64 random(source.seed);
  std::vector<Pair> pairs;
  for (Index problem = 0; problem < source.count; ++problem) {
    std::vector<float> a = next_matrix(source, random);
    std::vector<float> columns = transposed(a, n, n);
    pairs.push_back({std::move(a), std::move(columns)});
  }
  const auto set = [n](solvers::DenseSystem<float>& system, const Pair& pair, std::vector<float>& factors) {
    system.a = square_view(pair.left, n);
    system.factors = square_view(factors, n);
  };
  const auto on_host = [n](const Pair& pair) {
    BackgroundAnswer answer{.numbers = pair.right, .by_columns = true};
    std::vector<Index> pivots(at(n));
    check_regular(factorize_on_host<float>({answer.numbers.data(), n, n, n}, pivots), n);
    answer.row_order = row_order_of(pivots);
    return answer;
  };
  // || P A v - L (U v) || / (eps || A || n) in the maximum norm, for v with elements below 1 (R. Freivalds, 1977). It
  // is at most the scaled residual of the factors in `glinpack-papers plu-packed`.
  const auto error_of = [n, probe = random_probe(n, random)](const Pair& pair, const BackgroundAnswer& answer) {
    const float* factors = answer.numbers.data();
    const auto element = [&](Index i, Index j) { return answer.by_columns ? factors[i + j * n] : factors[i * n + j]; };
    const auto zero = [](Index) { return Index{0}; };
    const auto row = [](Index i) { return i; };
    const auto all = [n](Index) { return n; };
    const std::vector<double> upper = times_vector(probe, element, row, all);
    std::vector<double> product = times_vector(upper, element, zero, row);
    for (std::size_t i = 0; i < product.size(); ++i) product[i] += upper[i];
    const std::vector<double> unordered = times_vector(pair.left, n, probe);
    std::vector<double> expected(unordered.size());
    for (std::size_t i = 0; i < expected.size(); ++i) expected[i] = unordered[at(answer.row_order[i])];
    return scaled_residual({.residual = largest_difference(expected, product), .a = row_sum_norm(pair.left, n), .x = 1},
                           epsilon_of(Precision::single), static_cast<double>(n));
  };
  // L and U in one matrix, row-major
  const auto matrix_of = [n](const BackgroundAnswer& answer) {
    return dense(n, n, answer.by_columns ? transposed(answer.numbers, n, n) : answer.numbers);
  };
  return problems_of<solvers::DenseSystem<float>>(
      std::move(pairs), n * n, set,
      [settings = elimination_by(source.shaders)](solvers::Device& device, solvers::DenseSystem<float>& system) {
        return solvers::plu_packed.make(device, system, settings);
      },
      on_host, error_of, solvers::largest_scaled_residual, matrix_of);
}

/// A x = b.
BackgroundProblems equation_problems(const BackgroundSource& source) {
  const Index n = source.n;
  std::mt19937_64 random(source.seed);
  std::vector<Pair> pairs;
  for (Index problem = 0; problem < source.count; ++problem) {
    std::vector<float> a = next_matrix(source, random);
    pairs.push_back({std::move(a), random_elements<float>(n, random)});
  }
  const auto column = [n](const std::vector<float>& x) { return RowMajorView<const float>{x.data(), n, 1, 1}; };
  const auto set = [n, column](solvers::DenseSystem<float>& system, const Pair& pair, std::vector<float>& x) {
    system.a = square_view(pair.left, n);
    system.b = column(pair.right);
    system.x = {x.data(), n, 1, 1};
  };
  const auto on_host = [n](const Pair& pair) {
    std::vector<float> a = pair.left, x = pair.right;
    check_regular(solve_on_host<float>(square_view(a, n), {x.data(), n, 1, n}), n);
    return BackgroundAnswer{std::move(x)};
  };
  const auto error_of = [n, column](const Pair& pair, const BackgroundAnswer& answer) {
    return scaled_residual<float>(square_view(pair.left, n), column(answer.numbers), column(pair.right));
  };
  return problems_of<solvers::DenseSystem<float>>(
      std::move(pairs), n, set,
      [settings = elimination_by(source.shaders)](solvers::Device& device, solvers::DenseSystem<float>& system) {
        return solvers::gauss_jordan.make(device, system, settings);
      },
      on_host, error_of, solvers::largest_scaled_residual,
      [n](const BackgroundAnswer& answer) { return dense(n, 1, answer.numbers); });
}

/// C = A B.
BackgroundProblems product_problems(const BackgroundSource& source) {
  const Index n = source.n;
  std::mt19937_64 random(source.seed);
  std::vector<Pair> pairs;
  for (Index problem = 0; problem < source.count; ++problem) {
    std::vector<float> a = next_matrix(source, random);
    pairs.push_back({std::move(a), random_elements<float>(n * n, random)});
  }
  const auto set = [n](solvers::Product<float>& product, const Pair& pair, std::vector<float>& c) {
    product = {square_view(pair.left, n), square_view(pair.right, n), square_view(c, n)};
  };
  const auto on_host = [n](const Pair& pair) {
    BackgroundAnswer answer{std::vector<float>(at(n * n))};
    multiply_on_host<float>(square_view(pair.left, n), square_view(pair.right, n), square_view(answer.numbers, n));
    return answer;
  };
  // Compares C v with A (B v), so that all elements take part. A sum of n elements of C has n times their tolerance,
  // relative to the largest possible product of elements.
  const auto error_of = [n, probe = random_probe(n, random)](const Pair& pair, const BackgroundAnswer& answer) {
    const std::vector<double> expected = times_vector(pair.left, n, times_vector(pair.right, n, probe));
    const double difference = largest_difference(expected, times_vector(answer.numbers, n, probe));
    if (difference == 0) return 0.0;
    return difference / (largest_magnitude(pair.left) * largest_magnitude(pair.right) * static_cast<double>(n));
  };
  return problems_of<solvers::Product<float>>(
      std::move(pairs), n * n, set,
      [settings = product_by(source.shaders)](solvers::Device& device, solvers::Product<float>& product) {
        return solvers::make_product(device, product, settings);
      },
      on_host, error_of, tolerance<float>(n),
      [n](const BackgroundAnswer& answer) { return dense(n, n, answer.numbers); });
}

// Copies the matrix's diagonals into every system.
void take_matrix(const std::vector<float>& matrix, TridiagonalSystems<float>& systems) {
  const Index n = systems.n;
  const RowMajorView<const float> a = square_view(matrix, n);
  for (Index k = 0; k < systems.count * n; ++k) {
    const Index i = k % n;
    systems.lower[at(k)] = i > 0 ? a(i, i - 1) : 0;
    systems.diagonal[at(k)] = a(i, i);
    systems.upper[at(k)] = i + 1 < n ? a(i, i + 1) : 0;
  }
}

/// N tridiagonal systems of N equations each, as in a step along one direction of a grid.
BackgroundProblems tridiagonal_problems(const BackgroundSource& source) {
  using Systems = TridiagonalSystems<float>;
  const Index n = source.n;
  std::vector<Systems> grids;
  for (Index problem = 0; problem < source.count; ++problem) {
    const std::uint64_t seed = source.seed + static_cast<std::uint64_t>(problem);
    grids.push_back(solvers::random_tridiagonal_systems<float>(n, n, seed));
    if (!source.matrix.empty()) take_matrix(source.matrix, grids.back());
  }
  const auto on_host = [threads = source.threads](Systems systems) {
    solvers::check_pivots(solve_tridiagonal_on_host(systems, threads));
    return BackgroundAnswer{std::move(systems.right)};
  };
  constexpr double largest_residual = 16;  // HPL's
  return problems_of<solvers::TridiagonalOperands<float>>(
      std::move(grids), n * n,
      [](solvers::TridiagonalOperands<float>& operands, const Systems& systems, std::vector<float>& x) {
        operands = {&systems, x};
      },
      [settings = tridiagonal_by(source.shaders)](solvers::Device& device,
                                                  solvers::TridiagonalOperands<float>& operands) {
        return solvers::make_tridiagonal(device, operands, settings);
      },
      on_host,
      [](const Systems& systems, const BackgroundAnswer& answer) {
        return solvers::largest_tridiagonal_residual<float>(systems, answer.numbers);
      },
      largest_residual,
      // one solution per column
      [n](const BackgroundAnswer& answer) { return dense(n, n, transposed(answer.numbers, n, n)); });
}

}  // namespace

std::span<const BackgroundOperation> background_operations() {
  using Device = DeviceDescription;
  static const std::array operations{
      BackgroundOperation{
          .name = "plu-packed",
          .summary = "the factors of a matrix of order N",
          .against = "P A v = L (U v) in double precision",
          .make = factor_problems,
          .flops = [](Index n) { return 2 * square(n) * static_cast<double>(n) / 3; },
          .numbers = [](Index n) { return 3 * square(n); },
          .obstacle = [](const Device& device, Index n,
                         ShaderKind kind) { return solvers::plu_packed.obstacle(device, n, 0, elimination_by(kind)); }},
      BackgroundOperation{.name = "gauss-jordan",
                          .summary = "N equations with one right-hand side",
                          .against = "the equations, by their residual",
                          .make = equation_problems,
                          .flops = [](Index n) { return square(n) * (2 * static_cast<double>(n) / 3 + 2); },
                          .numbers = [](Index n) { return square(n) + 2 * static_cast<double>(n); },
                          .obstacle =
                              [](const Device& device, Index n, ShaderKind kind) {
                                return solvers::gauss_jordan.obstacle(device, n, 1, elimination_by(kind));
                              }},
      BackgroundOperation{.name = "matmul",
                          .summary = "a product of two matrices of order N",
                          .against = "A (B v) in double precision",
                          .make = product_problems,
                          .flops = [](Index n) { return product_flops(n, n, n); },
                          .numbers = [](Index n) { return 3 * square(n); },
                          .obstacle =
                              [](const Device& device, Index n, ShaderKind kind) {
                                return matmul_obstacle(device, {n, n, n}, product_by(kind), Precision::single);
                              }},
      BackgroundOperation{.name = "tridiagonal",
                          .summary = "N tridiagonal systems of N equations",
                          .against = "the equations, by their residual",
                          .make = tridiagonal_problems,
                          .flops = [](Index n) { return solvers::tridiagonal_flops(n, n); },
                          .numbers = [](Index n) { return 5 * square(n); },
                          .obstacle =
                              [](const Device& device, Index n, ShaderKind kind) {
                                return tridiagonal_obstacle(device, tridiagonal_by(kind), Precision::single, n, n);
                              },
                          .tridiagonal = true}};
  return operations;
}

}  // namespace glinpack::app
