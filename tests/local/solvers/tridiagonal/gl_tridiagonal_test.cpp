// Compares every variant of the tridiagonal solver on a device with LAPACK's gtsv.

#include <cmath>
#include <limits>

#include "openblas/host_solvers.hpp"
#include "solvers/tridiagonal/tridiagonal.hpp"
#include "tests/local/backend_harness.hpp"
#include "tests/local/gl_objects.hpp"

namespace glinpack::solvers {
namespace {

template <class Real>
std::vector<Real> solved_by_lapack(TridiagonalSystems<Real> systems) {
  const std::optional<ZeroPivot> zero = solve_tridiagonal_on_host(systems, 1);
  EXPECT_FALSE(zero.has_value());
  return systems.right;
}

/// The largest difference, relative to the largest element; infinite if an element is not finite.
template <class Real>
double relative_difference(const std::vector<Real>& computed, const std::vector<Real>& expected) {
  double difference = 0, largest = 0;
  for (std::size_t k = 0; k < expected.size(); ++k) {
    if (!std::isfinite(computed[k])) return std::numeric_limits<double>::infinity();
    difference = std::max(difference, std::abs(static_cast<double>(computed[k]) - static_cast<double>(expected[k])));
    largest = std::max(largest, std::abs(static_cast<double>(expected[k])));
  }
  return difference / largest;
}

std::optional<ZeroPivot> zero_pivot_of(const Steps& steps) {
  try {
    steps.run();
  } catch (const ZeroPivotError& error) {
    return error.at();
  }
  return std::nullopt;
}

struct Extents {
  Index count;
  Index n;
};

class GlTridiagonal : public testing::Test {
 protected:
  template <class Real>
  void expect_solved(const Extents& e, const TridiagonalSettings& settings) {
    SCOPED_TRACE(std::string(name_of(settings.variant)) + ", " +
                 describe(device_.description(), settings, e.count, e.n) + ": " + std::to_string(e.count) +
                 " systems of " + std::to_string(e.n));
    const auto systems = random_tridiagonal_systems<Real>(e.count, e.n, 7);
    const std::vector<Real> expected = solved_by_lapack(systems);
    std::vector<Real> computed(expected.size());
    const TridiagonalOperands<Real> operands{&systems, computed};
    const Steps steps = make_tridiagonal(device_, operands, settings);
    steps.load();
    for (int round = 0; round < 2; ++round) {  // the second run must also start from the loaded systems
      steps.compute();
      std::fill(computed.begin(), computed.end(), Real{0});
      steps.store();
      EXPECT_LE(relative_difference(computed, expected), random_tridiagonal_condition * tolerance<Real>(e.n));
    }
  }

  template <class Real>
  void expect_zero_pivot(const ZeroPivot& at, const TridiagonalSettings& settings) {
    SCOPED_TRACE(std::string(name_of(settings.variant)) + ", equation " + std::to_string(at.equation));
    auto systems = random_tridiagonal_systems<Real>(6, 40, 3);
    const auto make_singular = [&](Index system, Index equation) {
      const auto k = static_cast<std::size_t>(system * systems.n + equation);
      systems.lower[k] = systems.diagonal[k] = 0;
    };
    make_singular(at.system, at.equation);
    make_singular(at.system + 1, 0);  // a later system
    std::vector<Real> computed(systems.right.size());
    TridiagonalOperands<Real> operands{&systems, computed};
    const Steps steps = make_tridiagonal(device_, operands, settings);
    EXPECT_EQ(zero_pivot_of(steps), at);
    // the steps still solve regular systems
    const auto sound = random_tridiagonal_systems<Real>(6, 40, 4);
    operands.systems = &sound;
    EXPECT_EQ(zero_pivot_of(steps), std::nullopt);
    EXPECT_LE(relative_difference(computed, solved_by_lapack(sound)),
              random_tridiagonal_condition * tolerance<Real>(sound.n));
  }

  Device device_{test::any_gl_device(), {}, true};
};

constexpr Extents tested_extents[] = {{1, 1}, {70, 1}, {3, 2}, {1, 3}, {5, 15}, {2, 16}, {9, 17}, {130, 33}, {4, 64}};

constexpr TridiagonalSettings raster{.variant = TridiagonalVariant::raster};
constexpr TridiagonalSettings whole{.variant = TridiagonalVariant::compute, .share = Share::system};
constexpr TridiagonalSettings pieces{.variant = TridiagonalVariant::compute, .share = Share::sixteen};
constexpr TridiagonalSettings reduction{.variant = TridiagonalVariant::cyclic_reduction};

TEST_F(GlTridiagonal, FragmentShadersSolve) {
  for (const Extents& e : tested_extents) expect_solved<float>(e, raster);
}

TEST_F(GlTridiagonal, FragmentShadersSolveSystemsLargerThanATextureInTiles) {
  for (const Index tile : {1, 5, 8, 16}) {
    TridiagonalSettings settings = raster;
    settings.tile = tile;
    expect_solved<float>({11, 18}, settings);
    expect_solved<float>({8, 16}, settings);
  }
}

TEST_F(GlTridiagonal, AnInvocationSolvesASystem) {
  for (const Extents& e : tested_extents) {
    expect_solved<float>(e, whole);
    expect_solved<double>(e, whole);
  }
}

TEST_F(GlTridiagonal, InvocationsSolvePiecesOfASystem) {
  for (const Extents& e : tested_extents) {
    expect_solved<float>(e, pieces);
    expect_solved<double>(e, pieces);
  }
  expect_solved<float>({2, 2048}, pieces);
}

TEST_F(GlTridiagonal, SystemsTooLongForAWorkGroupAreReducedLevelByLevel) {
  expect_solved<float>({3, 8193}, pieces);
  expect_solved<float>({2, 65600}, pieces);
  expect_solved<double>({2, 4097}, pieces);
}

TEST_F(GlTridiagonal, CyclicReductionSolvesAfterAnyNumberOfSteps) {
  for (const Extents& e : tested_extents) {
    expect_solved<float>(e, reduction);
    expect_solved<double>(e, reduction);
    for (const Index steps : {0, 1, 2, 3}) {
      TridiagonalSettings settings = reduction;
      settings.steps = steps;
      expect_solved<float>(e, settings);
    }
  }
}

TEST_F(GlTridiagonal, SystemsBeyondAStorageBlockAreSolvedInBatches) {
  for (TridiagonalSettings settings : {whole, pieces, reduction}) {
    settings.elements = 100;
    expect_solved<float>({10, 30}, settings);
    expect_solved<double>({7, 48}, settings);
  }
}

TEST_F(GlTridiagonal, ZeroPivotsAreReportedWithSystemAndEquation) {
  for (const Index equation : {0, 1, 5, 16, 39}) {
    for (const TridiagonalSettings& settings : {raster, whole, pieces, reduction}) {
      expect_zero_pivot<float>({2, equation}, settings);
    }
    for (const TridiagonalSettings& settings : {whole, pieces, reduction}) {
      expect_zero_pivot<double>({2, equation}, settings);
    }
  }
}

TEST_F(GlTridiagonal, ZeroPivotsAreNumberedAcrossTilesAndBatches) {
  for (TridiagonalSettings settings : {raster, whole, pieces, reduction}) {
    settings.tile = 3;
    settings.elements = 100;
    expect_zero_pivot<float>({4, 35}, settings);
  }
}

TEST_F(GlTridiagonal, RasterVariantsRejectDoublePrecision) {
  TridiagonalSystems<double> systems(4, 4);
  EXPECT_THROW(make_tridiagonal<double>(device_, {&systems, systems.right}, raster), std::invalid_argument);
}

TEST_F(GlTridiagonal, StagesAreTimedSeparately) {
  const auto systems = random_tridiagonal_systems<float>(8, 8, 1);
  std::vector<float> solution(systems.right.size());
  for (const TridiagonalSettings& settings : {raster, whole, pieces, reduction}) {
    device_.clock().clear();
    make_tridiagonal<float>(device_, {&systems, solution}, settings).run();
    for (const Stage stage : all_stages) EXPECT_GT(device_.clock().times().of(stage), 0) << name_of(stage);
  }
}

TEST_F(GlTridiagonal, RejectsSystemsThatDoNotFitTheDeviceAndLeavesNoGlObjects) {
  device_.staging(1 << 12);
  const int before = test::count_gl_objects(*device_.context());
  TridiagonalSettings settings = pieces;
  settings.elements = 31;
  EXPECT_THAT(tridiagonal_obstacle(device_.description(), settings, Precision::single, 2, 32),
              testing::HasSubstr("32 equations"));
  TridiagonalSystems<float> two(2, 32), none(0, 4);
  EXPECT_THROW(make_tridiagonal<float>(device_, {&two, two.right}, settings), std::runtime_error);
  const Index huge = Index{1} << 20;
  EXPECT_THAT(tridiagonal_obstacle(device_.description(), raster, Precision::single, huge, huge),
              testing::HasSubstr("use fewer systems"));
  EXPECT_THROW(make_tridiagonal<float>(device_, {&none, none.right}, raster), std::invalid_argument);
  for (const TridiagonalSettings& sound : {raster, whole, pieces, reduction}) {
    expect_solved<float>({3, 20}, sound);
    TridiagonalSystems<float> systems(3, 20);
    const TridiagonalOperands<float> operands{&systems, systems.right};
    const Steps steps = make_tridiagonal(device_, operands, sound);
    EXPECT_GT(test::count_gl_objects(*device_.context()), before);
    std::vector<float> short_solution(59);
    EXPECT_THROW(make_tridiagonal<float>(device_, {&systems, short_solution}, sound), std::invalid_argument);
    systems.upper.resize(61);
    EXPECT_THROW(make_tridiagonal(device_, operands, sound), std::invalid_argument);
  }
  EXPECT_EQ(test::count_gl_objects(*device_.context()), before);
}

}  // namespace
}  // namespace glinpack::solvers
