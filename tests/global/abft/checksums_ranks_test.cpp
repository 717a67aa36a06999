// Checksums: no clean run is suspected, and a flipped bit is found, by the rank that has it.
//
// GLINPACK_ABFT_SEEDS=500 tries as many clean runs, and prints the table of flips found by place and bit.
#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>

#include "abft/checksums.hpp"
#include "tests/global/abft/bit_flips.hpp"
#include "tests/global/factors.hpp"
#include "tests/global/world.hpp"

namespace glinpack {
namespace {

using namespace test;

Index seeds() {
  const char* text = std::getenv("GLINPACK_ABFT_SEEDS");
  return text == nullptr ? 0 : std::atoll(text);
}

struct Fault {
  FlipPlace place;
  int bit;
  Index pass;
  std::uint64_t seed;
  int rank;  // of the grid
};

struct Checked {
  bool flipped = false;              // anywhere
  std::vector<Mismatch> mismatches;  // of this rank
  std::vector<int> suspects;         // mismatches of every rank
  ChecksumStatistics statistics;
  bool stopped = false;
  bool complete = false;
};

template <class Real>
Checked factorize_with_checks(const RunParameters& parameters, const ProcessGrid& grid, const std::string& backend_name,
                              const MatrixSource& source, std::optional<Fault> fault = {}) {
  auto& [timeline, backend] = cached_backend<Real>(backend_name);
  const Distribution distribution = distribution_of(parameters, grid.shape());
  const GridPosition at = grid.position();
  const Index rows = distribution.local_rows(at), columns = distribution.local_columns(at);
  const Index stored = distribution.stored_columns(at);
  const auto a = backend->allocate(rows, stored);
  const auto buffer = backend->allocate_host(rows * stored);
  std::vector<double> filled(static_cast<std::size_t>(rows * columns));
  source.fill(distribution, at, LocalIndex(0), {filled.data(), rows, columns, columns});
  const RowChecksums<Real> checksums(columns);
  for (Index i = 0; i < rows; ++i) {
    Real* const to = buffer->data() + i * stored;
    std::transform(filled.data() + i * columns, filled.data() + (i + 1) * columns, to,
                   [](double v) { return static_cast<Real>(v); });
    checksums.append(i, to);
  }
  backend->wait(backend->upload({buffer.get(), 0, rows, stored, stored}, whole(*a)));

  const Fault planned = fault.value_or(Fault{});
  BitFlip<Real> flip(*backend, planned.place, planned.bit, planned.pass, planned.seed);
  if (!fault || planned.rank != rank_in(grid.all())) flip.disarm();
  FaultyBackend<Real> faulty(*backend, timeline, flip, a.get());
  FaultyTransport<Real> transport(grid, parameters.broadcast, timeline, flip);
  FaultyPasses<Real> passes(flip, *a, columns);
  Checksums<Real> checks(distribution, grid, faulty, timeline, *a, parameters.abft_every);
  const auto lu = make_lu<Real>({parameters, distribution, at, faulty, transport, timeline, *a, &checks});
  const Factorization result = lu->run(passes);
  backend->wait_all();

  Checked checked;
  checked.mismatches = checks.mismatches();
  checked.flipped = !all_agree(grid.all(), !flip.is_done());
  checked.suspects = all_gather(grid.all(), static_cast<int>(checked.mismatches.size()));
  checked.statistics = checks.statistics();
  checked.stopped = result.stopped;
  checked.complete = !result.zero_pivot && !result.stopped;
  return checked;
}

template <class Value, class Values>
Value one_of(const Values& values, std::mt19937_64& random) {
  return values[random() % std::size(values)];
}

// The same on all ranks.
RunParameters random_parameters(std::mt19937_64& random) {
  RunParameters parameters;
  parameters.n = static_cast<Index>(1 + random() % 160);
  parameters.nb = static_cast<Index>(1 + random() % 24);
  parameters.pivoting = one_of<Pivoting>(all_pivotings, random);
  parameters.lookahead = static_cast<int>(random() % 2);
  parameters.row_swap.kind = one_of<RowSwapKind>(all_row_swaps, random);
  parameters.row_swap.pieces = static_cast<Index>(1 + random() % 4);
  parameters.abft_every = static_cast<Index>(1 + random() % 5);
  return parameters;
}

std::string text_of(const RunParameters& p, MatrixKind kind) {
  return std::string(name_of(kind)) + ", N = " + std::to_string(p.n) + ", nb = " + std::to_string(p.nb) + ", " +
         std::string(name_of(p.pivoting)) + ", look-ahead " + std::to_string(p.lookahead) + ", every " +
         std::to_string(p.abft_every);
}

std::string text_of(const Mismatch& m) {
  std::ostringstream text;
  text << name_of(m.part) << " after pass " << m.pass << ", block row " << m.block_row << ": " << m.difference
       << ", bound " << m.bound;
  return text.str();
}

template <class Real>
double expect_clean(const RunParameters& parameters, MatrixKind kind, const ProcessGrid& grid,
                    const std::string& backend, std::uint64_t seed) {
  const auto source = make_source(kind, parameters.n, seed);
  const Checked checked = factorize_with_checks<Real>(parameters, grid, backend, *source);
  if (checked.complete) EXPECT_GT(checked.statistics.checks, 0);
  for (const Mismatch& mismatch : checked.mismatches) {
    ADD_FAILURE() << text_of(parameters, kind) << ", seed " << seed << ": " << text_of(mismatch);
  }
  return checked.statistics.largest_share;
}

TEST(Checksums, SuspectNoCleanRunOfAnyMatrixPivotingGridOrPrecision) {
  on_every_grid([](const ProcessGrid& grid) {
    std::mt19937_64 random(7);
    double largest_share = 0;
    const Index runs = std::max<Index>(12, seeds());
    for (Index run = 0; run < runs; ++run) {
      const RunParameters parameters = random_parameters(random);
      const auto kind = one_of<MatrixKind>(matrix_formulas, random);
      const std::uint64_t seed = random();
      const double share = run % 2 == 0 ? expect_clean<double>(parameters, kind, grid, "openblas", seed)
                                        : expect_clean<float>(parameters, kind, grid, "openblas", seed);
      largest_share = std::max(largest_share, share);
    }
    all_reduce(grid.all(), &largest_share, 1, MPI_DOUBLE, MPI_MAX);
    if (seeds() > 0 && grid.is_root()) {
      std::cout << grid.shape().rows << "x" << grid.shape().columns << ": " << runs
                << " clean runs, largest difference " << largest_share << " of its bound\n";
    }
  });
}

}  // namespace
}  // namespace glinpack
