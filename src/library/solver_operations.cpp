// Operations by src/local/solvers, whose operands are in host memory.
#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <limits>

#include "library/operations.hpp"
#include "openblas/host_solvers.hpp"
#include "solvers/banded/banded.hpp"
#include "solvers/poisson/poisson_cg.hpp"
#include "solvers/poisson/poisson_device_strip.hpp"
#include "solvers/tridiagonal/tridiagonal.hpp"

namespace glinpack::library {
namespace {

template <class Real>
std::vector<Real> gather_columns(RowMajorView<const Real> a) {
  std::vector<Real> elements;
  elements.reserve(static_cast<std::size_t>(a.rows * a.columns));
  for (Index j = 0; j < a.columns; ++j) {
    for (Index i = 0; i < a.rows; ++i) elements.push_back(a(i, j));
  }
  return elements;
}

/// Throws ZeroPivotError.
template <class Real>
void solve_systems(Engine& engine, solvers::TridiagonalSystems<Real>& systems) {
  if (!engine.on_gl()) return solvers::check_pivots(solve_tridiagonal_on_host(systems, engine.threads()));
  const solvers::TridiagonalOperands<Real> operands{&systems, systems.right};
  make_tridiagonal(engine.device(), operands, {.variant = solvers::TridiagonalVariant::compute}).run();
}

/// In single precision on a device.
std::vector<float> banded_on_device(Engine& engine, RowMajorView<const float> diagonals, std::span<const Index> offsets,
                                    std::span<const float> x) {
  const Index n = diagonals.rows;
  std::vector<solvers::SparseEntry> entries;
  for (Index i = 0; i < n; ++i) {
    for (std::size_t k = 0; k < offsets.size(); ++k) {
      const Index j = i + offsets[k];
      if (j >= 0 && j < n) entries.push_back({i, j, diagonals(i, static_cast<Index>(k))});
    }
  }
  std::vector<float> y(static_cast<std::size_t>(n));
  make_banded_product(engine.device(), {n, entries, x, y}, solvers::BandedVariant::compute).run();
  return y;
}

template <class Real>
std::vector<Real> banded_on_host(RowMajorView<const Real> diagonals, std::span<const Index> offsets,
                                 std::span<const Real> x) {
  const Index n = diagonals.rows;
  std::vector<Real> y(static_cast<std::size_t>(n));
  for (std::size_t k = 0; k < offsets.size(); ++k) {
    for (Index i = std::max<Index>(0, -offsets[k]); i < std::min(n, n - offsets[k]); ++i) {
      y[static_cast<std::size_t>(i)] +=
          diagonals(i, static_cast<Index>(k)) * x[static_cast<std::size_t>(i + offsets[k])];
    }
  }
  return y;
}

}  // namespace

Value solve_tridiagonal(Engine& engine, const Value& lower, const Value& diagonal, const Value& upper,
                        const Value& right) {
  return right.visit([&]<class Real>(DeviceMatrix<Real>& b) {
    Arithmetic<Real>& arithmetic = engine.arithmetic<Real>();
    if constexpr (std::is_same_v<Real, float>) {
      if (engine.is_packed()) {
        return Value(solve_packed_tridiagonal(arithmetic, lower.matrix<Real>(), diagonal.matrix<Real>(),
                                              upper.matrix<Real>(), b));
      }
    }
    const Index n = b.rows(), count = b.columns();
    solvers::TridiagonalSystems<Real> systems;
    systems.count = count;
    systems.n = n;
    systems.lower = gather_columns(arithmetic.read(lower.matrix<Real>()));
    systems.diagonal = gather_columns(arithmetic.read(diagonal.matrix<Real>()));
    systems.upper = gather_columns(arithmetic.read(upper.matrix<Real>()));
    systems.right = gather_columns(arithmetic.read(b));
    for (Index s = 0; s < count; ++s) {
      systems.lower[static_cast<std::size_t>(s * n)] = 0;
      systems.upper[static_cast<std::size_t>(s * n + n - 1)] = 0;
    }
    try {
      solve_systems(engine, systems);
    } catch (const solvers::ZeroPivotError& error) {
      throw Failure(GLINPACK_SINGULAR, "tridiagonal system " + std::to_string(error.at().system) +
                                           ": the pivot of equation " + std::to_string(error.at().equation) + " is 0");
    }
    return from_elements(engine, n, count, gather_columns<Real>({systems.right.data(), count, n, n}));
  });
}

Value banded_product(Engine& engine, const Value& diagonals, std::span<const Index> offsets, const Value& x) {
  return x.visit([&]<class Real>(DeviceMatrix<Real>& vector) {
    Arithmetic<Real>& arithmetic = engine.arithmetic<Real>();
    const Index n = vector.rows();
    if (diagonals.empty()) return Value(arithmetic.make(n, 1));
    const std::vector<Real> of_x = elements_of<Real>(arithmetic.read(vector));
    const RowMajorView<const Real> elements = arithmetic.read(diagonals.matrix<Real>());
    if constexpr (std::is_same_v<Real, float>) {
      if (engine.on_gl()) return from_elements(engine, n, 1, banded_on_device(engine, elements, offsets, of_x));
    }
    return from_elements(engine, n, 1, banded_on_host<Real>(elements, offsets, of_x));
  });
}

BandedFactorsOfMatrix factorize_banded(Engine& engine, const Value& diagonals, std::span<const Index> offsets) {
  if (diagonals.empty()) return {};
  return diagonals.visit([&]<class Real>(DeviceMatrix<Real>& elements) -> BandedFactorsOfMatrix {
    const Index n = elements.rows();
    BandedFactors<Real> factors(n, offsets);
    const Index bytes_of_row = n * static_cast<Index>(sizeof(Real));
    if (factors.rows() > std::numeric_limits<Index>::max() / bytes_of_row || !host_has(factors.rows() * bytes_of_row)) {
      throw too_little_memory(n, factors.rows(), sizeof(Real));
    }
    factors.factorize(engine.arithmetic<Real>().read(elements), offsets);
    return factors;
  });
}

Value solve_banded(Engine& engine, const BandedFactorsOfMatrix& factors, const Value& b) {
  return b.visit([&]<class Real>(DeviceMatrix<Real>& right) {
    const auto* of_matrix = std::get_if<BandedFactors<Real>>(&factors);
    if (!of_matrix || of_matrix->singular()) {
      throw Failure(GLINPACK_SINGULAR, "a banded matrix to be solved with is singular: a pivot is exactly 0");
    }
    const Index n = right.rows(), columns = right.columns();
    std::vector<Real> x = gather_columns(engine.arithmetic<Real>().read(right));
    of_matrix->substitute({x.data(), n, columns, n});
    return from_elements(engine, n, columns, gather_columns<Real>({x.data(), columns, n, n}));
  });
}

Value solve_poisson(Engine& engine, const Value& b, double tolerance, Index max_iterations) {
  return b.visit([&]<class Real>(DeviceMatrix<Real>& right) {
    const Index n = right.rows();
    const PoissonProblem problem(n, elements_of<double>(engine.arithmetic<Real>().read(right)));
    const CgLimits limits{tolerance, max_iterations};
    const std::unique_ptr<PoissonStrip<Real>> strip =
        engine.on_gl() ? solvers::make_poisson_strip<Real>(engine.device(), {n, 0, n}, solvers::PoissonMemory::global)
                       : make_host_poisson_strip<Real>({n, 0, n}, engine.threads());
    strip->begin(problem, limits);
    PoissonNeighbours<Real> none;
    const CgOutcome outcome = conjugate_gradients(*strip, none, limits);
    if (!outcome.converged) {
      throw Failure(GLINPACK_NOT_CONVERGED,
                    fmt::format("conjugate gradients: a relative residual of {:.2e} after {} iterations",
                                outcome.relative_residual, outcome.iterations));
    }
    std::vector<Real> u(static_cast<std::size_t>(n * n));
    strip->store(u);
    return from_elements(engine, n, n, u);
  });
}

}  // namespace glinpack::library
