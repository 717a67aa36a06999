// Checksums: no clean run is suspected, and a flipped bit is found, by the rank that has it.
// GLINPACK_ABFT_SEEDS=500 tries as many clean runs.

#include <algorithm>
#include <cstdlib>

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
  bool check_failed = false;
  bool complete = false;
};

template <class Real>
Checked factorize_with_checks(const RunParameters& parameters, const ProcessGrid& grid, const std::string& backend_name,
                              const MatrixSource& source, std::optional<Fault> fault = {}) {
  auto& [timeline, backend] = cached_backend<Real>(backend_name);
  const Distribution distribution = distribution_of(parameters, grid.shape());
  const Index columns = distribution.local_columns(grid.position());
  const auto a = on_device(*backend, local_part<Real>(source, distribution, grid.position()));
  const Fault planned = fault.value_or(Fault{});
  BitFlip<Real> flip(*backend, planned.place, planned.bit, planned.pass, planned.seed);
  if (!fault || planned.rank != rank_in(grid.all())) flip.disarm();
  FaultyBackend<Real> faulty(*backend, timeline, flip, a.get(), columns);
  FaultyTransport<Real> transport(grid, parameters.broadcast, timeline, flip);
  FaultyPasses<Real> passes(flip, *a, columns);
  const RankContext<Real> context{parameters, distribution, grid, faulty, transport};
  Checksums<Real> checks(context, *a, parameters.abft_every);
  const auto lu = make_lu<Real>(context, *a, &checks);
  const Factorization result = lu->run(passes);
  if (!result.zero_pivot && !result.check_failed) {
    const std::vector<Real> x = Substitution<Real>(context, *a).run();
    checks.check_solution(std::vector<double>(x.begin(), x.end()));
  }
  backend->wait_all();

  Checked checked;
  checked.mismatches = checks.mismatches();
  checked.flipped = !all_agree(grid.all(), !flip.is_done());
  checked.suspects = all_gathered(grid.all(), static_cast<int>(checked.mismatches.size()));
  checked.statistics = checks.statistics();
  checked.check_failed = result.check_failed;
  checked.complete = !result.zero_pivot && !result.check_failed;
  return checked;
}

template <class Value, class Values>
Value one_of(const Values& values, std::mt19937_64& random) {
  return values[random() % std::size(values)];
}

// The same on all ranks.
RunParameters random_parameters(std::mt19937_64& random) {
  return {
      .n = static_cast<Index>(1 + random() % 160),
      .nb = static_cast<Index>(1 + random() % 24),
      .pivoting = one_of<Pivoting>(all_pivotings, random),
      .row_swap = {.kind = one_of<RowSwapKind>(all_row_swaps, random), .pieces = static_cast<Index>(1 + random() % 4)},
      .lookahead = static_cast<int>(random() % 2),
      .abft = true,
      .abft_every = static_cast<Index>(1 + random() % 5)};
}

std::string text_of(const RunParameters& p, MatrixKind kind) {
  return std::string(name_of(kind)) + ", N = " + std::to_string(p.n) + ", nb = " + std::to_string(p.nb) + ", " +
         std::string(name_of(p.pivoting)) + ", look-ahead " + std::to_string(p.lookahead) + ", every " +
         std::to_string(p.abft_every);
}

template <class Real>
double expect_clean(const RunParameters& parameters, MatrixKind kind, const ProcessGrid& grid,
                    const std::string& backend, std::uint64_t seed) {
  const auto source = make_source(kind, parameters.n, seed);
  const Checked checked = factorize_with_checks<Real>(parameters, grid, backend, *source);
  EXPECT_TRUE(!checked.complete || checked.statistics.checks > 0);
  for (const Mismatch& mismatch : checked.mismatches) {
    ADD_FAILURE() << text_of(parameters, kind) << ", seed " << seed << ": " << text_of(mismatch);
  }
  return checked.statistics.largest_share;
}

TEST(Checksums, SuspectNoCleanRunOfAnyMatrixPivotingGridOrPrecision) {
  on_every_grid([](const ProcessGrid& grid) {
    std::mt19937_64 random(7);
    double largest_share = 0;
    const Index runs = std::max<Index>(grid.shape().size() == 6 ? 6 : 12, seeds());
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

// Where elements are equal, their errors of rounding add up: once a pass, or once a column of a panel.
TEST(Checksums, SuspectNoMatrixWhoseElementsAreRoundedAlike) {
  on_every_grid([](const ProcessGrid& grid) {
    for (const auto& [n, nb] : {std::pair<Index, Index>{400, 2}, {1000, 1000}}) {
      const RunParameters parameters{.n = n, .nb = nb, .pivoting = Pivoting::partial, .abft = true, .abft_every = 50};
      expect_clean<float>(parameters, MatrixKind::mxp, grid, "openblas", 1);
    }
  });
}

RunParameters parameters_of_flips(std::mt19937_64& random) {
  RunParameters parameters = random_parameters(random);
  parameters.n = 96;
  parameters.nb = 8;
  parameters.pivoting = random() % 2 == 0 ? Pivoting::partial : Pivoting::tournament;
  parameters.abft_every = 1;
  return parameters;
}

struct Found {
  Index flips = 0;
  Index found = 0;
  Index named = 0;  // by the rank of the fault, in the first check that finds one
};

// A run of HPL's matrix with a flip. All ranks of the grid have the same result.
template <class Real>
void add_flip(const ProcessGrid& grid, const std::string& backend, FlipPlace place, int bit, std::mt19937_64& random,
              Found& found) {
  const RunParameters parameters = parameters_of_flips(random);
  const auto source = make_hpl_source(parameters.n, random());
  const Fault fault{.place = place,
                    .bit = bit,
                    .pass = static_cast<Index>(random() % 8),  // of 12: later ones have places on every grid
                    .seed = random(),
                    .rank = static_cast<int>(random() % static_cast<std::uint64_t>(grid.shape().size()))};
  const Checked checked = factorize_with_checks<Real>(parameters, grid, backend, *source, fault);
  if (!checked.flipped) return;
  const Index none = parameters.n;
  const std::vector<Index> first =
      all_gathered(grid.all(), checked.mismatches.empty() ? none : checked.mismatches.front().pass);
  const Index earliest = *std::ranges::min_element(first);
  ++found.flips;
  if (earliest == none) return;
  ++found.found;
  if (first[static_cast<std::size_t>(fault.rank)] == earliest) ++found.named;
}

bool exists(FlipPlace place, const ProcessGrid& grid) {
  if (place == FlipPlace::panel_message) return grid.shape().columns > 1;
  return place != FlipPlace::rows_message || grid.shape().rows > 1;
}

// Until the next check. A row exchange may take others to another rank; L21 may still be forwarded to one.
bool stays_on_its_rank(FlipPlace place) {
  constexpr std::array stay{FlipPlace::a_before_update, FlipPlace::a_after_update, FlipPlace::panel_message,
                            FlipPlace::stored_l, FlipPlace::stored_u};
  return std::ranges::find(stay, place) != stay.end();
}

template <class Real>
void expect_flips_found(const ProcessGrid& grid, const std::string& backend, int lowest_bit, int step) {
  std::mt19937_64 random(11);
  for (const FlipPlace place : all_flip_places) {
    if (!exists(place, grid)) continue;
    Found found;
    for (int bit = lowest_bit; bit < 8 * static_cast<int>(sizeof(Real)); bit += step) {
      const Found before = found;
      add_flip<Real>(grid, backend, place, bit, random, found);
      EXPECT_EQ(found.found - before.found, found.flips - before.flips) << name_of(place) << ", bit " << bit;
    }
    EXPECT_GT(found.flips, 0) << name_of(place);
    EXPECT_TRUE(!stays_on_its_rank(place) || found.named == found.found) << name_of(place);
  }
}

TEST(Checksums, FindFlipsOfTheSignTheExponentAndTheUpperHalfOfTheMantissaOnTheirRank) {
  on_every_grid([](const ProcessGrid& grid) {
    if (grid.shape().size() == 6) return;  // finds nothing else than four ranks
    const int step = grid.shape().size() == 4 ? 8 : 3;
    expect_flips_found<double>(grid, "openblas", 26, step);
    expect_flips_found<float>(grid, "openblas", 12, step);
  });
}

class ChecksumsOf : public testing::TestWithParam<std::string> {};

TEST_P(ChecksumsOf, SuspectNoCleanRunAndFindAFlipWhereverPanelsAreFactorised) {
  const std::vector<PanelPlace> places = computes_on_device(GetParam())
                                             ? std::vector{PanelPlace::device, PanelPlace::host}
                                             : std::vector{PanelPlace::automatic};
  on_every_grid([&](const ProcessGrid& grid) {
    for (const PanelPlace place : places) {
      for (const Pivoting pivoting : {Pivoting::partial, Pivoting::tournament}) {
        const RunParameters parameters{.n = 60,
                                       .nb = 8,
                                       .pivoting = pivoting,
                                       .panel = place,
                                       .row_swap = {.pieces = 2},
                                       .abft = true,
                                       .abft_every = 2};
        const auto source = make_hpl_source(parameters.n);
        const Checked clean = factorize_with_checks<float>(parameters, grid, GetParam(), *source);
        EXPECT_EQ(clean.mismatches.size(), 0U);
        EXPECT_EQ(clean.statistics.checks, 4);
        for (const FlipPlace fault : {FlipPlace::a_before_update, FlipPlace::l21, FlipPlace::stored_l}) {
          SCOPED_TRACE(testing::Message() << name_of(place) << ", " << name_of(pivoting) << ", " << name_of(fault));
          // in the first pass on the first rank, which has the panel
          const Fault flip{.place = fault, .bit = 14, .pass = 0, .seed = 3, .rank = 0};
          const Checked faulty = factorize_with_checks<float>(parameters, grid, GetParam(), *source, flip);
          EXPECT_TRUE(faulty.flipped);
          EXPECT_GT(*std::ranges::max_element(faulty.suspects), 0);
        }
      }
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Backends, ChecksumsOf, testing::Values("reference", "openblas", "gl-compute", "vk-compute"),
                         backend_identifier);

// Also if what a change makes of a row's sum cancels: its product with the panel's part of a row of U.
TEST(Checksums, FindAnLThatChangesDuringTheUpdate) {
  on_every_grid([](const ProcessGrid& grid) {
    if (grid.shape().size() > 2) return;  // finds nothing else than two ranks
    for (const char* const backend : {"openblas", "vk-compute"}) {
      const RunParameters parameters{.n = 60,
                                     .nb = 8,
                                     .pivoting = Pivoting::tournament,
                                     .panel = computes_on_device(backend) ? PanelPlace::device : PanelPlace::automatic,
                                     .abft = true,
                                     .abft_every = 1};
      const auto source = make_hpl_source(parameters.n);
      for (std::uint64_t seed = 1; seed <= 12; ++seed) {
        const Fault flip{.place = FlipPlace::l21, .bit = 12, .pass = 0, .seed = seed, .rank = 0};
        const Checked faulty = factorize_with_checks<float>(parameters, grid, backend, *source, flip);
        EXPECT_TRUE(faulty.flipped);
        EXPECT_GT(*std::ranges::max_element(faulty.suspects), 0) << backend << ", seed " << seed;
      }
    }
  });
}

template <class Real>
void expect_solution_found(const ProcessGrid& grid, std::initializer_list<int> bits) {
  const RunParameters parameters{.n = 99, .nb = 8, .pivoting = Pivoting::partial, .abft = true, .abft_every = 3};
  const auto source = make_hpl_source(parameters.n);
  for (const int bit : bits) {
    SCOPED_TRACE(testing::Message() << name_of(precision_of<Real>) << ", bit " << bit);
    const int rank = grid.shape().size() - 1;
    const Fault flip{.place = FlipPlace::solution, .bit = bit, .pass = 0, .seed = 3, .rank = rank};
    const Checked checked = factorize_with_checks<Real>(parameters, grid, "openblas", *source, flip);
    EXPECT_TRUE(checked.flipped);
    EXPECT_EQ(std::ranges::count(checked.suspects, 0), grid.shape().size() - 1);
    EXPECT_EQ(checked.mismatches.size(), rank_in(grid.all()) == rank ? 1U : 0U);
    for (const Mismatch& mismatch : checked.mismatches) EXPECT_EQ(mismatch.part, CheckedPart::solution);
  }
}

// Bit 14 changes an element by a thousandth, which HPL's residual accepts in single precision.
TEST(Checksums, FindAWrongElementOfTheSolutionOnItsRank) {
  on_every_grid([](const ProcessGrid& grid) {
    expect_solution_found<float>(grid, {14, 22, 25, 29, 31});
    expect_solution_found<double>(grid, {30, 51, 54, 61, 63});
  });
}

TEST(Checksums, EndTheRunAtAMismatchOnEveryRank) {
  on_every_grid([](const ProcessGrid& grid) {
    for (const int lookahead : {0, 1}) {
      const RunParameters parameters{
          .n = 60, .nb = 8, .pivoting = Pivoting::partial, .lookahead = lookahead, .abft = true, .abft_every = 1};
      const auto source = make_hpl_source(parameters.n);
      const Fault flip{.place = FlipPlace::a_before_update, .bit = 54, .pass = 2, .seed = 3, .rank = 0};
      const Checked checked = factorize_with_checks<double>(parameters, grid, "openblas", *source, flip);
      EXPECT_TRUE(checked.check_failed);
      EXPECT_LT(checked.statistics.checks, 7);
      for (const Mismatch& mismatch : checked.mismatches) EXPECT_FALSE(mismatch.overflow) << text_of(mismatch);
    }
  });
}

// Moler's matrix: L^-1 b grows by 2 a row, beyond the largest float after 128 rows.
TEST(Checksums, SayThatAMatrixMayOverflowWithoutAFault) {
  on_every_grid([](const ProcessGrid& grid) {
    for (const Index every : {1, 100}) {
      const RunParameters parameters{
          .n = 160, .nb = 8, .pivoting = Pivoting::partial, .abft = true, .abft_every = every};
      const auto source = make_formula_source(
          [](Index i, Index j) { return static_cast<double>(i == j ? i + 1 : std::min(i, j) - 1); }, parameters.n, 1);
      const Checked checked = factorize_with_checks<float>(parameters, grid, "openblas", *source);
      for (const Mismatch& mismatch : checked.mismatches) EXPECT_TRUE(mismatch.overflow) << text_of(mismatch);
      EXPECT_FALSE(all_agree(grid.all(), checked.mismatches.empty()));
      EXPECT_TRUE(factorize_with_checks<double>(parameters, grid, "openblas", *source).mismatches.empty());
    }
  });
}

}  // namespace
}  // namespace glinpack
