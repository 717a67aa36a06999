// Compares banded matrix-vector products, on a device and by rows on the host, with sums in double precision.

#include <random>

#include "base/precision.hpp"
#include "solvers/banded/banded.hpp"
#include "tests/local/backend_harness.hpp"
#include "tests/local/gl_objects.hpp"

namespace glinpack::solvers {
namespace {

using testing::HasSubstr;

struct Case {
  Index n = 0;
  std::vector<Index> offsets;  // of diagonals, positive above the main one
};

const std::vector<Case> cases{
    {1, {0}}, {5, {0, 1, -1}}, {17, {3, -14}}, {64, {0, 63, -63, 8, -8, 1, -1}}, {130, {-129, 129}}};

std::vector<SparseEntry> entries_of(const Case& c) {
  std::mt19937 random(static_cast<unsigned>(c.n));
  std::uniform_real_distribution<float> uniform(-0.5F, 0.5F);
  std::vector<SparseEntry> entries;
  for (Index row = 0; row < c.n; ++row) {
    for (const Index offset : c.offsets) {
      if (row + offset >= 0 && row + offset < c.n) entries.push_back({row, row + offset, uniform(random)});
    }
  }
  return entries;
}

std::vector<float> vector_of(Index n) {
  std::mt19937 random(7);
  std::uniform_real_distribution<float> uniform(-0.5F, 0.5F);
  std::vector<float> x(static_cast<std::size_t>(n));
  for (float& element : x) element = uniform(random);
  return x;
}

void expect_product(const Case& c, std::span<const SparseEntry> entries, std::span<const float> x,
                    std::span<const float> y) {
  std::vector<double> expected(static_cast<std::size_t>(c.n));
  for (const SparseEntry& entry : entries) {
    expected[static_cast<std::size_t>(entry.row)] +=
        double{entry.value} * double{x[static_cast<std::size_t>(entry.column)]};
  }
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_NEAR(y[i], expected[i], tolerance<float>(static_cast<Index>(c.offsets.size()))) << "row " << i;
  }
}

class GlBanded : public testing::Test {
 protected:
  Device device_{test::any_gl_device(), {}, true};
};

TEST_F(GlBanded, EveryVariantMultiplies) {
  for (const BandedVariant variant : all_banded_variants) {
    for (const Case& c : cases) {
      SCOPED_TRACE(std::string(name_of(variant)) + " " + std::to_string(c.n));
      const std::vector<SparseEntry> entries = entries_of(c);
      const std::vector<float> x = vector_of(c.n);
      std::vector<float> y(x.size(), 9.0F);
      const BandedProduct product{c.n, entries, x, y};
      const Steps steps = make_banded_product(device_, product, variant);
      steps.load();
      for (int round = 0; round < 2; ++round) {
        steps.compute();
        steps.store();
        expect_product(c, entries, x, y);
      }
    }
  }
}

TEST_F(GlBanded, EveryVariantAppliesEveryOperation) {
  const Case& c = cases[3];
  const std::vector<SparseEntry> entries = entries_of(c);
  const std::vector<float> x = vector_of(c.n);
  std::vector<float> z = vector_of(c.n), product(x.size()), y(x.size());
  for (float& element : z) element += 1.5F;
  for (const BandedVariant variant : all_banded_variants) {
    make_banded_product(device_, {c.n, entries, x, product}, variant).run();
    for (const BandedOperation operation : all_banded_operations) {
      make_banded_product(device_, {c.n, entries, x, y, operation, z}, variant).run();
      for (std::size_t i = 0; i < y.size(); ++i) {
        EXPECT_NEAR(y[i], applied(operation, product[i], z[i]), tolerance<float>(1) * 4) << name_of(operation) << i;
      }
    }
  }
}

TEST_F(GlBanded, ConjugateGradientsSolveOnTheDeviceAndOnTheHost) {
  for (const Index n : {1, 2, 37, 300}) {
    std::vector<SparseEntry> entries;
    for (Index i = 0; i < n; ++i) {
      if (i > 0) entries.push_back({i, i - 1, -1});
      entries.push_back({i, i, 2.5F});
      if (i + 1 < n) entries.push_back({i, i + 1, -1});
    }
    const std::vector<float> b = vector_of(n);
    std::vector<float> x(b.size(), 9.0F), y(x);
    BandedSystem on_device{.n = n, .entries = entries, .b = b, .x = x},
        on_host{.n = n, .entries = entries, .b = b, .x = y};
    make_banded_solver(device_, on_device).run();
    ThreadTeam team(2);
    solve_by_rows(compress_rows(n, entries), on_host, team);
    EXPECT_GT(on_device.iterations, 0);
    for (const std::vector<float>& solution : {x, y}) {
      for (const SparseEntry& entry : entries) {
        if (entry.row != entry.column) continue;
        const auto i = static_cast<std::size_t>(entry.row);
        const float below = i > 0 ? solution[i - 1] : 0, above = i + 1 < b.size() ? solution[i + 1] : 0;
        EXPECT_NEAR(2.5F * solution[i] - below - above, b[i], 1e-4) << i;
      }
    }
  }
  const std::vector<SparseEntry> indefinite{{0, 0, 1}, {1, 1, -1}};
  const std::vector<float> b{1, 1};
  std::vector<float> x(2);
  BandedSystem system{.n = 2, .entries = indefinite, .b = b, .x = x};
  EXPECT_THROW(make_banded_solver(device_, system).run(), NoResult);
}

TEST_F(GlBanded, AMatrixWithoutElementsGivesZeros) {
  for (const BandedVariant variant : all_banded_variants) {
    const std::vector<float> x = vector_of(6);
    std::vector<float> y(6, 9.0F);
    make_banded_product(device_, {6, {}, x, y}, variant).run();
    EXPECT_THAT(y, testing::Each(0.0F)) << name_of(variant);
  }
}

TEST_F(GlBanded, ProductsLeaveNoGlObjectsNorDoFailedOnes) {
  device_.staging(1 << 12);
  const int before = test::count_gl_objects(*device_.context());
  for (const BandedVariant variant : all_banded_variants) {
    const std::vector<SparseEntry> entries{{0, 0, 1}, {0, 1, 1}};
    std::vector<float> x(20), longer(21);
    BandedProduct product{20, entries, x, x};
    const Steps steps = make_banded_product(device_, product, variant);
    EXPECT_GT(test::count_gl_objects(*device_.context()), before);
    product.entries = std::span(entries).first(1);
    EXPECT_THROW(steps.load(), std::invalid_argument);
    EXPECT_THROW(make_banded_product(device_, {20, entries, longer, x}, variant), std::invalid_argument);
    EXPECT_THROW(make_banded_product(device_, {20, entries, x, longer}, variant), std::invalid_argument);
  }
  EXPECT_EQ(test::count_gl_objects(*device_.context()), before);
}

TEST_F(GlBanded, RejectsATooLargeMatrixAndNamesTheLimit) {
  DeviceDescription small = device_.description();
  small.texture_side = 8;
  small.storage_block = 1024;
  small.free_memory = 4096;
  EXPECT_THAT(banded_obstacle(small, 65, 3, BandedVariant::diagonals), HasSubstr("8 a side"));
  EXPECT_EQ(banded_obstacle(small, 64, 3, BandedVariant::diagonals), "");
  EXPECT_THAT(banded_obstacle(small, 64, 5, BandedVariant::compute), HasSubstr("storage block"));
  EXPECT_THAT(banded_obstacle(small, 64, 30, BandedVariant::diagonals), HasSubstr("free"));
}

TEST(Banded, ComplementaryDiagonalsAreJoinedAndEmptyOnesAreDropped) {
  //  1 . . 2
  //  . 3 4 .      shift 0: 1 3 . 7, shift 1: . 4 . 6 (the second from the one at the lower left), shift 3: 2 . 5 .
  //  . 5 . .
  //  6 . . 7
  const std::vector<SparseEntry> entries{{0, 0, 1}, {0, 3, 2}, {1, 1, 3}, {1, 2, 4},
                                         {2, 1, 5}, {3, 0, 6}, {3, 3, 7}, {2, 0, 0}};
  const JoinedDiagonals joined = join_diagonals(4, entries);
  ASSERT_EQ(joined.diagonals.size(), 3U);
  EXPECT_EQ(count_joined_diagonals(4, entries), 3);
  EXPECT_EQ(joined.diagonals[0].shift, 0);
  EXPECT_THAT(joined.diagonals[0].elements, testing::ElementsAre(1, 3, 0, 7));
  EXPECT_EQ(joined.diagonals[1].shift, 1);
  EXPECT_THAT(joined.diagonals[1].elements, testing::ElementsAre(0, 4, 0, 6));
  EXPECT_EQ(joined.diagonals[2].shift, 3);
  EXPECT_THAT(joined.diagonals[2].elements, testing::ElementsAre(2, 0, 5, 0));
}

TEST(Banded, RowsOnTheHostMultiplyWithAnyNumberOfThreads) {
  for (const int threads : {1, 3}) {
    ThreadTeam team(threads);
    for (const Case& c : {cases[3], Case{40000, {0, 1, -1, 200, -200}}}) {
      const std::vector<SparseEntry> entries = entries_of(c);
      const std::vector<float> x = vector_of(c.n);
      std::vector<float> y(x.size(), 9.0F);
      multiply(compress_rows(c.n, entries), x, y, team);
      expect_product(c, entries, x, y);
    }
  }
}

}  // namespace
}  // namespace glinpack::solvers
