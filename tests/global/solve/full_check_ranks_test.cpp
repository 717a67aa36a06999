// LAPACK's ratios over every grid and kind of matrix.
#include <gtest/gtest.h>

#include <mutex>
#include <set>

#include "lu/run.hpp"
#include "tests/global/cached_backend.hpp"
#include "tests/global/tested_kinds.hpp"
#include "tests/global/world.hpp"

namespace glinpack {
namespace {

using namespace test;

template <class Real>
RunResult checked_run(const MatrixSource& source, Pivoting pivoting, const ProcessGrid& grid, bool refine = false) {
  RunParameters parameters;
  parameters.n = source.order();
  parameters.nb = 8;
  parameters.pivoting = pivoting;
  parameters.full_check = true;
  parameters.refine = refine;
  auto& [timeline, backend] = cached_backend<Real>("openblas");
  return run(parameters, grid, *backend, timeline, source);
}

template <class Real>
void expect_passed(const MatrixKind& kind, const ProcessGrid& grid) {
  const auto source = make_source(kind, 29, 100, precision_of<Real>);
  const RunResult result = checked_run<Real>(*source, Pivoting::partial, grid);
  EXPECT_EQ(result.failure, "") << kind.name();
  EXPECT_TRUE(result.passed) << kind.name();
  ASSERT_TRUE(result.full_check) << kind.name();
  EXPECT_EQ(std::ranges::count(result.full_check->computed, true), result.singular_column ? 0 : 8) << kind.name();
}

TEST(FullCheck, PassesForEveryKindButWilkinsons) {
  on_every_grid([](const ProcessGrid& grid) {
    // one rank takes all kinds, and each larger grid its share of them
    const std::vector<MatrixKind> kinds = tested_kinds();
    const std::size_t step = world_size() == 1 ? 1 : world_size() == 2 ? 2 : 5;
    for (std::size_t i = static_cast<std::size_t>(grid.shape().columns) % step; i < kinds.size(); i += step) {
      const MatrixKind& kind = kinds[i];
      if (kind == MatrixKind::wilkinson) continue;
      expect_passed<double>(kind, grid);
      if (step == 1) expect_passed<float>(kind, grid);
    }
  });
}

TEST(FullCheck, FailsForTheGrowthOfWilkinsons) {
  on_every_grid([](const ProcessGrid& grid) {
    const auto source = make_source(MatrixKind::wilkinson, 100, 100);
    const RunResult result = checked_run<double>(*source, Pivoting::partial, grid);
    EXPECT_FALSE(result.passed);
    EXPECT_NE(result.failure.find("full check: ratio 1, norm(LU - A)"), std::string::npos) << result.failure;
  });
}

TEST(FullCheck, PassesWithEveryPivotingAndWithMixedPrecision) {
  on_every_grid([](const ProcessGrid& grid) {
    for (const Pivoting pivoting : all_pivotings) {
      EXPECT_EQ(checked_run<double>(*make_source(MatrixKind::hpl, 29, 100), pivoting, grid).failure, "");
      EXPECT_EQ(checked_run<float>(*make_source(MatrixKind::hpl, 29, 100), pivoting, grid, true).failure, "");
    }
  });
}

/// One element differs from the second time on that its row is made: the factors are of another matrix.
class ChangedLater final : public MatrixSource {
 public:
  explicit ChangedLater(std::unique_ptr<MatrixSource> source) : source_(std::move(source)) {}
  Index order() const override { return source_->order(); }
  Singularity singularity() const override { return source_->singularity(); }
  void fill(const Distribution& distribution, GridPosition at, LocalIndex first,
            RowMajorView<double> to) const override {
    source_->fill(distribution, at, first, to);
    const std::lock_guard lock(mutex_);
    if (made_.insert(first.value).second) return;
    const GlobalIndex changed(order() / 2);
    const LocalIndex row = distribution.rows.local(changed), column = distribution.columns.local(changed);
    if (distribution.rows.owner(changed) != at.row || distribution.columns.owner(changed) != at.column) return;
    if (row >= first && row < first + to.rows) to(row - first, column.value) *= 1 + 1e-9;
  }

 private:
  std::unique_ptr<MatrixSource> source_;
  mutable std::mutex mutex_;
  mutable std::set<Index> made_;
};

TEST(FullCheck, FindsFactorsOfAnotherMatrix) {
  on_every_grid([](const ProcessGrid& grid) {
    const ChangedLater source(make_source(MatrixKind::dominant, 40, 1));
    const RunResult result = checked_run<double>(source, Pivoting::partial, grid);
    for (const char* ratio : {"ratio 1,", "ratio 2,", "ratio 3,"}) {
      EXPECT_NE(result.failure.find(ratio), std::string::npos) << result.failure;
    }
  });
}

/// Claims to be singular in column 3.
class Claimed final : public MatrixSource {
 public:
  explicit Claimed(std::unique_ptr<MatrixSource> source) : source_(std::move(source)) {}
  Index order() const override { return source_->order(); }
  Singularity singularity() const override { return {.column = 3}; }
  void fill(const Distribution& distribution, GridPosition at, LocalIndex first,
            RowMajorView<double> to) const override {
    source_->fill(distribution, at, first, to);
  }

 private:
  std::unique_ptr<MatrixSource> source_;
};

TEST(FullCheck, TellsAMissingOrMisplacedZeroPivot) {
  on_every_grid([](const ProcessGrid& grid) {
    const auto failure = [&](const char* kind) {
      return checked_run<double>(Claimed(make_source(MatrixKind::parse(kind), 20, 1)), Pivoting::partial, grid).failure;
    };
    EXPECT_EQ(failure("rands_zerocol3"), "");
    EXPECT_NE(failure("rands").find("expected in column 3, found in none"), std::string::npos);
    EXPECT_NE(failure("rands_zerocol2").find("expected in column 3, found in 2"), std::string::npos);
  });
}

}  // namespace
}  // namespace glinpack
