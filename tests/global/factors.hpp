// Factorises on a grid and gathers the factors on the root in LAPACK's form, to compare them with LAPACK's.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "abft/checksums.hpp"
#include "lu/factorize.hpp"
#include "lu/no_transport.hpp"
#include "matrix/matrix_source.hpp"
#include "mpi/communication.hpp"
#include "mpi/mpi_transport.hpp"
#include "solve/substitution.hpp"
#include "tests/global/cached_backend.hpp"
#include "tests/local/device_values.hpp"

namespace glinpack::test {

struct Size {
  Index n, nb;
};
inline RunParameters parameters_of(Size size, Pivoting pivoting) {
  return {.n = size.n, .nb = size.nb, .pivoting = pivoting};
}

/// Filled on rank (0, 0) of the grid, empty on the others.
template <class Real>
struct GatheredFactors {
  Index n = 0;
  std::vector<double> lu;     // n x n row-major: L below the diagonal, U on and above, as from LAPACK's getrf
  std::vector<double> y;      // n: L^-1 P b
  std::vector<Index> pivots;  // n: row interchanged with row j
  std::vector<double> x;      // n: the solution
  std::optional<Index> zero_pivot;
};

template <class Element>
std::vector<std::vector<Element>> gather(const Communicator& communicator, const std::vector<Element>& local) {
  std::string bytes(local.size() * sizeof(Element), '\0');
  if (!local.empty()) std::memcpy(bytes.data(), local.data(), bytes.size());
  std::vector<std::vector<Element>> all;
  for (const std::string& part : communicator.gather(0, bytes)) {
    all.emplace_back(part.size() / sizeof(Element));
    if (!part.empty()) std::memcpy(all.back().data(), part.data(), part.size());
  }
  return all;
}

/// Applies the interchanges of each pass to the columns of earlier passes, as LAPACK does; a factorisation does not.
template <class Real>
void apply_later_interchanges(GatheredFactors<Real>& factors, Index nb) {
  for (Index j = 0; j < factors.n; ++j) {
    const Index pivot = factors.pivots[static_cast<std::size_t>(j)];
    double* const row = factors.lu.data() + j * factors.n;
    if (pivot != j) std::swap_ranges(row, row + j / nb * nb, factors.lu.data() + pivot * factors.n);
  }
}

class NoObserver final : public PassObserver {
 public:
  NextPass before(const PassPlan&) override { return NextPass::run; }
  void after(const PassPlan&) override {}
};

/// MPI messages alone, but panels as if the ranks of a process column shared memory.
template <class Real>
class AsInOneNode final : public MpiTransport<Real> {
 public:
  using MpiTransport<Real>::MpiTransport;
  bool column_shares_memory() const override { return true; }
};

/// Factorises the matrix whose local part is `a`: over MPI, or without messages for RunParts::compute. `Messages`: the
/// transport over MPI.
template <class Real, class Messages = MpiTransport<Real>>
Factorization factorize(const RunParameters& parameters, const Distribution& distribution, const ProcessGrid& grid,
                        Backend<Real>& backend, Timeline& timeline, DeviceMatrix<Real>& a,
                        NodeWindows* windows = nullptr) {
  Messages messages(grid, parameters.broadcast, timeline, {windows});
  NoTransport<Real> placeholders(distribution, grid.position(), parameters.pivoting, 1024);
  Transport<Real>& transport =
      parameters.parts == RunParts::compute ? static_cast<Transport<Real>&>(placeholders) : messages;
  const auto lu = make_lu<Real>({parameters, distribution, grid, backend, transport}, a);
  if constexpr (requires { messages.map_windows(); }) messages.map_windows();
  NoObserver observer;
  return lu->run(observer);
}

/// This rank's part of [A | b], rounded to Real, and its checksums if the distribution has them.
template <class Real>
Values<Real> local_part(const MatrixSource& source, const Distribution& distribution, GridPosition at) {
  const Index rows = distribution.local_rows(at), columns = distribution.local_columns(at);
  Values<double> filled(rows, columns);
  source.fill(distribution, at, LocalIndex(0), view(filled));
  Values<Real> part(rows, distribution.stored_columns(at));
  const RowChecksums<Real> checksums(columns);
  for (Index i = 0; i < rows; ++i) {
    for (Index j = 0; j < columns; ++j) part(i, j) = static_cast<Real>(filled(i, j));
    if (part.columns > columns) checksums.append(i, &part(i, 0));
  }
  return part;
}

template <class Real, class Messages = MpiTransport<Real>>
GatheredFactors<Real> factorize_and_gather(const RunParameters& parameters, const ProcessGrid& grid,
                                           const std::string& backend_name, const MatrixSource& source,
                                           NodeWindows* windows = nullptr) {
  auto& [timeline, backend] = cached_backend<Real>(backend_name);
  const Distribution distribution(parameters.n, parameters.nb, grid.shape());
  const auto a = on_device(*backend, local_part<Real>(source, distribution, grid.position()));
  MpiTransport<Real> transport(grid, parameters.broadcast, timeline);
  Substitution<Real> substitution({parameters, distribution, grid, *backend, transport}, *a);
  const Factorization result =
      factorize<Real, Messages>(parameters, distribution, grid, *backend, timeline, *a, windows);
  GatheredFactors<Real> factors;
  factors.n = parameters.n;
  if (result.zero_pivot) {
    factors.zero_pivot = result.zero_pivot->value;
    return factors;
  }
  const std::vector<Real> x = substitution.run();
  const auto parts = gather(grid.all(), from_device(*backend, *a).elements);
  const auto pivots = gather(grid.all(), result.interchanges.pivots);
  const auto solutions = gather(grid.all(), x);
  if (!grid.is_root()) return factors;
  const Index n = parameters.n;
  factors.lu.resize(static_cast<std::size_t>(n * n));
  factors.y.resize(static_cast<std::size_t>(n));
  factors.x.resize(static_cast<std::size_t>(n));
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j <= n; ++j) {
      const GridPosition owner{distribution.rows.owner(GlobalIndex(i)), distribution.columns.owner(GlobalIndex(j))};
      const auto rank = static_cast<std::size_t>(owner.row * grid.shape().columns + owner.column);
      const Index local = distribution.rows.local(GlobalIndex(i)).value * distribution.local_columns(owner) +
                          distribution.columns.local(GlobalIndex(j)).value;
      const auto value = static_cast<double>(parts[rank][static_cast<std::size_t>(local)]);
      (j < n ? factors.lu[static_cast<std::size_t>(i * n + j)] : factors.y[static_cast<std::size_t>(i)]) = value;
    }
    const int column = distribution.columns.owner(GlobalIndex(i));
    factors.x[static_cast<std::size_t>(i)] =
        static_cast<double>(solutions[static_cast<std::size_t>(column)]
                                     [static_cast<std::size_t>(distribution.columns.local(GlobalIndex(i)).value)]);
  }
  for (Index j = 0; j < n; ++j) {
    // with local pivoting only the pivot's process row knows the pivots of a pass
    const GridPosition owner = pivot_position(grid.shape(), j / parameters.nb);
    const auto rank = static_cast<std::size_t>(owner.row * grid.shape().columns + owner.column);
    factors.pivots.push_back(pivots[rank][static_cast<std::size_t>(j)].value);
  }
  apply_later_interchanges(factors, parameters.nb);
  return factors;
}

/// [A | b] before the factorisation, N x (N + 1), rounded to Real.
template <class Real>
std::vector<double> original_system(const MatrixSource& source, Index n) {
  const Distribution alone(n, std::max<Index>(1, n), {1, 1});
  std::vector<double> augmented(static_cast<std::size_t>(n * (n + 1)));
  source.fill(alone, {0, 0}, LocalIndex(0), {augmented.data(), n, n + 1, n + 1});
  for (double& value : augmented) value = static_cast<double>(static_cast<Real>(value));
  return augmented;
}

/// A alone.
template <class Real>
std::vector<double> original_matrix(const MatrixSource& source, Index n) {
  std::vector<double> a = original_system<Real>(source, n);
  for (Index i = n; i-- > 0;) a.erase(a.begin() + i * (n + 1) + n);
  return a;
}

/// The backward error of factors.
struct FactorizationError {
  double error = 0;      // max |P A - L U|
  double l_times_u = 0;  // max |L| |U|: error / l_times_u is at most n eps for any pivots (Higham, theorem 9.3)
  double largest_a = 0;  // max |A|
};
/// The same of [A | b] and [U | y].
template <class Real>
FactorizationError factorization_error(const GatheredFactors<Real>& factors, std::vector<double> system) {
  const Index n = factors.n;
  FactorizationError result;
  for (Index j = 0; j < n; ++j) {
    const auto row = system.begin() + j * (n + 1);
    const Index pivot = factors.pivots[static_cast<std::size_t>(j)];
    if (pivot != j) std::swap_ranges(row, row + n + 1, system.begin() + pivot * (n + 1));
  }
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j <= n; ++j) {
      double sum = 0, magnitude = 0;
      for (Index k = 0; k <= std::min(i, j); ++k) {
        const double l = k == i ? 1 : factors.lu[static_cast<std::size_t>(i * n + k)];
        const double u =
            j < n ? factors.lu[static_cast<std::size_t>(k * n + j)] : factors.y[static_cast<std::size_t>(k)];
        sum += l * u;
        magnitude += std::fabs(l * u);
      }
      const double value = system[static_cast<std::size_t>(i * (n + 1) + j)];
      result.error = std::max(result.error, std::fabs(sum - value));
      result.l_times_u = std::max(result.l_times_u, magnitude);
      result.largest_a = std::max(result.largest_a, std::fabs(value));
    }
  }
  return result;
}

/// || b - A x || / (|| A || || x || + || b ||), maxima and row sums: the backward error of the solution.
template <class Real>
double solution_error(const GatheredFactors<Real>& factors, const std::vector<double>& system) {
  const Index n = factors.n;
  double error = 0, norm_a = 0, norm_x = 0, norm_b = 0;
  for (Index i = 0; i < n; ++i) {
    const double* const row = system.data() + i * (n + 1);
    double residual = row[n], row_sum = 0;
    for (Index j = 0; j < n; ++j) {
      residual -= row[j] * factors.x[static_cast<std::size_t>(j)];
      row_sum += std::fabs(row[j]);
    }
    error = std::max(error, std::fabs(residual));
    norm_a = std::max(norm_a, row_sum);
    norm_x = std::max(norm_x, std::fabs(factors.x[static_cast<std::size_t>(i)]));
    norm_b = std::max(norm_b, std::fabs(row[n]));
  }
  return error / (norm_a * norm_x + norm_b);
}

/// Expects bitwise equality.
template <class Real>
void expect_equal(const GatheredFactors<Real>& factors, const GatheredFactors<Real>& expected) {
  EXPECT_EQ(factors.pivots, expected.pivots);
  EXPECT_EQ(factors.lu, expected.lu);
  EXPECT_EQ(factors.y, expected.y);
  EXPECT_EQ(factors.x, expected.x);
}

}  // namespace glinpack::test
