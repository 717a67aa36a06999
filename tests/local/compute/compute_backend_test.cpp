// Tests specific to gl-compute and vk-compute. The tests of all backends compare their operations with the reference.
#include <GL/glew.h>

#include <stdexcept>

#include "backend/registry.hpp"
#include "gl/gl_compute.hpp"
#include "kernels/compute_memory.hpp"
#include "kernels/tuning.hpp"
#include "tests/local/backend_checks.hpp"
#include "tests/local/changed_shader.hpp"
#include "tests/local/compute_cases.hpp"
#include "tests/local/device_values.hpp"

namespace glinpack {
namespace {

using namespace test;
using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

BackendOptions debugging() { return {.debug = true}; }

/// Backends for the tests of a precision; they check every GL call.
template <class Case>
class ComputeBackendTest : public testing::Test {
 protected:
  using Real = typename Case::Real;
  static Backend<Real>& backend() {
    static const auto instance = Case::make(debugging(), timeline());
    return *instance;
  }
  /// With windows of 16 KiB, with matrices of many stripes, and with one or a few stripes per buffer.
  static const std::vector<std::unique_ptr<Backend<Real>>>& divided_backends() {
    static const auto instances = [] {
      std::vector<std::unique_ptr<Backend<Real>>> made;
      for (const ComputeLimits& limits :
           {ComputeLimits{.window_bytes = 16 * 1024, .stripe_width = 64}, ComputeLimits{.stripe_width = 64},
            ComputeLimits{.stripe_width = 64, .buffer_bytes = 2 * 64 * 90 * static_cast<std::int64_t>(sizeof(Real))}}) {
        made.push_back(Case::make(debugging(), timeline(), limits));
      }
      return made;
    }();
    return instances;
  }
  /// Operands begin in any of the first stripes.
  static BackendPair<Real> beside_reference(Backend<Real>& tested) {
    static const auto reference = make_backend<Real>(oracle.name, debugging(), timeline());
    return {&tested, reference.get(), 130};
  }
  static Timeline& timeline() {
    static Timeline instance;
    return instance;
  }
};
TYPED_TEST_SUITE(ComputeBackendTest, ComputeCases, ComputeCaseNames);

TEST(ComputeMemory, bytes_that_free_memory_does_not_account_for_are_displaced) {
  EXPECT_EQ(compute::displaced_bytes(1600, 5000, 3400), 0);
  EXPECT_EQ(compute::displaced_bytes(1600, 5000, 3300), 0) << "other processes allocated memory";
  EXPECT_EQ(compute::displaced_bytes(1600, 5000, 3499), 0) << "the driver used memory that it already had";
  EXPECT_EQ(compute::displaced_bytes(1600, 5000, 3500), 100);
  EXPECT_EQ(compute::displaced_bytes(1600, 1600, 1700), 1600) << "other processes freed memory";
  EXPECT_EQ(compute::displaced_bytes(1600, 0, 0), 0) << "the driver does not report free memory";
}

TYPED_TEST(ComputeBackendTest, ComputesInStripesBuffersAndWindows) {
  for (const auto& backend : this->divided_backends()) {
    auto pair = this->beside_reference(*backend);
    for (int turn = 0; turn < 16; ++turn) check_update(pair, 150, 137, 32);
    check_update(pair, 150, 300, 70);
    check_update(pair, 150, 299, 71);
    for (const Index columns : {1, 63, 64, 200}) check_subtract_product(pair, 130, columns);
    check_subtract_product(pair, 300, 290);
    check_solve_unit_lower(pair, 75, 140);
    check_solve_unit_lower(pair, 150, 300);
    check_solve_unit_lower(pair, 77, 299);
    for (const Triangle triangle : triangles) {
      check_solve_triangle(pair, triangle, 75, 3);
      check_solve_triangle(pair, triangle, 300, 70);
    }
  }
}

TYPED_TEST(ComputeBackendTest, MovesBlocksOfStripesBuffersAndWindows) {
  for (const auto& backend : this->divided_backends()) {
    auto pair = this->beside_reference(*backend);
    for (int turn = 0; turn < 10; ++turn) {
      const Index rows = 1 + pair.up_to(199), columns = 1 + pair.up_to(399), gap = pair.up_to(4);
      check_transfers(pair, rows, columns, gap);
      check_copies(pair, rows, columns);
      check_rows(pair, rows, columns, gap);
    }
  }
}

TYPED_TEST(ComputeBackendTest, SolvesMoreRowsThanALaunchOrAWorkGroupTakes) {
  auto pair = this->beside_reference(this->backend());
  check_solve_unit_lower(pair, 530, 4);
  for (const Triangle triangle : triangles) check_solve_triangle(pair, triangle, 1027, 2);
}

TYPED_TEST(ComputeBackendTest, RejectsAnUnknownTile) {
  BackendOptions options = debugging();
  options.values["tile"] = "7x7";
  EXPECT_THAT([&] { TypeParam::make(options, this->timeline()); },
              ThrowsMessage<std::runtime_error>(HasSubstr("there is no tile '7x7'")));
}

TYPED_TEST(ComputeBackendTest, SolvesU12AColumnIndependentlyOfTheOtherColumns) {
  using Real = typename TypeParam::Real;
  constexpr Index k = 80, columns = 150;
  const auto l = this->beside_reference(this->backend()).operand(k, k, true);
  const auto a = random_values<Real>(k, columns, 6);
  const auto joined = on_device(this->backend(), a), separate = on_device(this->backend(), a);
  this->backend().solve_unit_lower(l.tested, whole(*joined));
  for (const auto& [first, count] : {std::pair<Index, Index>{0, 8}, {8, 29}, {37, 64}, {101, 49}}) {
    this->backend().solve_unit_lower(l.tested, {separate.get(), 0, first, k, count});
  }
  EXPECT_EQ(from_device(this->backend(), *joined), from_device(this->backend(), *separate));
}

TYPED_TEST(ComputeBackendTest, UpdatesAndSolvesU12InEveryTile) {
  for (const compute::UpdateTile& tile : compute::update_tiles(precision_of<typename TypeParam::Real>)) {
    BackendOptions options = debugging();
    options.values["tile"] = name_of(tile, precision_of<typename TypeParam::Real>);
    SCOPED_TRACE(options.values["tile"]);
    const auto backend = TypeParam::make(options, this->timeline());
    auto pair = this->beside_reference(*backend);
    check_update(pair, 128, 256, 32);                  // whole tiles
    check_update(pair, 130, 200, 40);                  // partial tiles; a depth with a remainder
    check_update(pair, 75, 61, 19);                    // nothing aligned
    check_update(pair, 18 * tile.rows() + 1, 70, 16);  // two bands
    check_solve_unit_lower(pair, 80, 140);
    check_solve_unit_lower(pair, 75, 61);
  }
}

// Software drivers take strips of two vectors.
TYPED_TEST(ComputeBackendTest, SolvesU12InStripsOfOneVector) {
  const auto backend = TypeParam::make(debugging(), this->timeline(), {.queued_bytes = Index{1} << 40});
  auto pair = this->beside_reference(*backend);
  for (const Index columns : {1, 64, 131}) check_solve_unit_lower(pair, 144, columns);
  check_solve_unit_lower(pair, 75, 61);
}

// GPUs use the unrolled variants. This test makes software drivers use them, from a shader folder.
TYPED_TEST(ComputeBackendTest, UpdatesAndSolvesU12WithUnrolledLoops) {
  const ChangedShader unrolled("compute/tile_product.glsl", "#if UNROLLED", "#if 1");
  BackendOptions options = debugging();
  options.values["shader-dir"] = unrolled.folder();
  const auto backend = TypeParam::make(options, this->timeline());
  auto pair = this->beside_reference(*backend);
  check_update(pair, 130, 260, 48);
  check_update(pair, 64, 128, 32);
  check_update(pair, 67, 131, 37);
  check_solve_unit_lower(pair, 144, 140);
}

TYPED_TEST(ComputeBackendTest, MovesMoreRowsThanOneMoveListHolds) {
  constexpr Index rows = 9000, columns = 3;
  auto values = random_values<typename TypeParam::Real>(rows, columns, 9);
  const auto matrix = on_device(this->backend(), values);
  std::vector<RowMove> moves;
  for (Index i = 0; i < rows; ++i) moves.push_back({i, (i * 7 + 1) % rows});  // 7 and 9000 have no common factor
  for (int turn = 0; turn < 9; ++turn) {
    const auto before = values;
    for (const RowMove& move : moves) {
      for (Index j = 0; j < columns; ++j) values(move.to, j) = before(move.from, j);
    }
    this->backend().move_rows(whole(*matrix), moves);
  }
  EXPECT_EQ(from_device(this->backend(), *matrix), values);
}

// Pairwise interchanges, an open chain of moves, and a cycle of `closed` moves.
std::vector<RowMove> chains_of_rows(Index closed) {
  std::vector<RowMove> moves{{0, 5}, {5, 0}, {9, 7}, {7, 9}, {20, 21}, {21, 22}, {22, 30}};
  for (Index i = 0; i < closed; ++i) moves.push_back({40 + 2 * i, 40 + 2 * ((i + 1) % closed)});
  return moves;
}

template <class Real>
void check_chains(Backend<Real>& backend, Index columns, Index closed, int turns) {
  auto values = random_values<Real>(120, columns, 4);
  const auto matrix = on_device(backend, values);
  const std::vector<RowMove> moves = chains_of_rows(closed);
  for (int turn = 0; turn < turns; ++turn) {
    const auto before = values;
    for (const RowMove& move : moves) {
      for (Index j = 0; j < columns; ++j) values(move.to, j) = before(move.from, j);
    }
    backend.move_rows(whole(*matrix), moves);
  }
  EXPECT_EQ(from_device(backend, *matrix), values);
}

// in place for up to 32 moves, through a temporary buffer for more
TYPED_TEST(ComputeBackendTest, MovesRowsByShortAndLongChainsInSeveralWorkGroupsOfColumns) {
  for (const Index closed : {2, 32, 33}) {
    SCOPED_TRACE(closed);
    check_chains(this->backend(), 1100, closed, 2);
    for (const auto& backend : this->divided_backends()) check_chains(*backend, 600, closed, 2);
  }
}

TYPED_TEST(ComputeBackendTest, MovesRowsMoreOftenThanTheListHasRoomFor) { check_chains(this->backend(), 3, 3, 1100); }

TYPED_TEST(ComputeBackendTest, MatricesWithoutElementsMayBeOperands) {
  using Real = typename TypeParam::Real;
  Backend<Real>& backend = this->backend();
  const auto matrix = backend.allocate(0, 0), other = backend.allocate(4, 0), third = backend.allocate(0, 4);
  const auto host = backend.allocate_host(0);
  const HostBlock<Real> nothing{host.get(), 0, 0, 0, 0};
  EXPECT_EQ(backend.upload(nothing, whole(*matrix)).id, 0u);
  EXPECT_EQ(backend.download(whole(*matrix), nothing).id, 0u);
  backend.copy_transposed(whole(*other), whole(*third));
  backend.solve_unit_lower(whole(*matrix), whole(*third));
  backend.update(whole(*matrix), whole(*third), whole(*matrix));
  backend.wait_all();
}

TYPED_TEST(ComputeBackendTest, ReportsSizesAndRemedyIfTheMatrixDoesNotFit) {
  EXPECT_THAT([&] { this->backend().allocate(2'000'000, 2'000'000); },
              ThrowsMessage<std::runtime_error>(
                  AllOf(HasSubstr("2000000 x 2000000"), HasSubstr("GiB"), HasSubstr("use a smaller N"))));
  EXPECT_NO_THROW(this->backend().allocate(10, 10)) << "backend unusable after the failure";
}

TYPED_TEST(ComputeBackendTest, RejectsBlocksBeyondTheirMatrixOrBuffer) {
  using Real = typename TypeParam::Real;
  Backend<Real>& backend = this->backend();
  const auto matrix = backend.allocate(10, 10);
  const auto host = backend.allocate_host(20);
  EXPECT_THROW(backend.download({matrix.get(), 0, 1, 2, 10}, {host.get(), 0, 2, 10, 10}), std::invalid_argument);
  EXPECT_THROW(backend.download({matrix.get(), 0, 0, 2, 10}, {host.get(), 1, 2, 10, 10}), std::invalid_argument);
  const std::vector<Index> rows{10};
  EXPECT_THROW(backend.gather_rows(whole(*matrix), rows, {host.get(), 0, 1, 10, 10}), std::invalid_argument);
}

TYPED_TEST(ComputeBackendTest, RecordsOperationsWithThePassAndRoleOfTheirCall) {
  using Real = typename TypeParam::Real;
  Backend<Real>& backend = this->backend();
  const auto l = backend.allocate(16, 64), u = backend.allocate(16, 64), a = backend.allocate(64, 64);
  backend.wait_all();
  backend.collect_timings();
  this->timeline().restart();
  this->timeline().enter_pass(3, Role::reduce);
  backend.update(whole(*l), whole(*u), whole(*a));
  this->timeline().enter_pass(4, Role::normalize);
  backend.wait_all();
  backend.collect_timings();
  std::vector<Interval> device;
  for (const Interval& interval : this->timeline().intervals()) {
    if (interval.lane == Lane::gpu) device.push_back(interval);
  }
  ASSERT_EQ(device.size(), 1u);
  EXPECT_EQ(device[0].phase, Phase::reduce);
  EXPECT_EQ(device[0].pass, 3);
  EXPECT_EQ(device[0].role, Role::reduce);
  EXPECT_EQ(device[0].flops, 2.0 * 64 * 64 * 16);
  EXPECT_GT(device[0].seconds(), 0);
  EXPECT_GT(device[0].start, -1e-3);
  EXPECT_LT(device[0].end, this->timeline().now() + 1e-3);
}

TEST(GlComputeBackends, ThrowTheErrorOfTheDriverAtTheNextCall) {
  Timeline timeline;
  const auto made = make_gl_compute_backend<float>(debugging(), timeline);
  Backend<float>& backend = *made;
  const auto matrix = backend.allocate(4, 4);  // makes its context current
  glEnable(0xffff);
  EXPECT_THAT([&] { backend.allocate_host(1); }, ThrowsMessage<std::runtime_error>(HasSubstr("OpenGL reports error")));
  while (glGetError() != GL_NO_ERROR) {
    // the same error again
  }
  EXPECT_NO_THROW(backend.allocate_host(1));
}

template <class Case>
class ComputeBackends : public testing::Test {};
TYPED_TEST_SUITE(ComputeBackends, ApiCases, ComputeCaseNames);

TYPED_TEST(ComputeBackends, OfBothPrecisionsCanCoexist) {
  Timeline timeline;
  const auto single = TypeParam::make(debugging(), timeline);
  const auto real = make_backend<double>(TypeParam::record.name, debugging(), timeline);
  const auto single_values = random_values<float>(5, 5, 1);
  const auto double_values = random_values<double>(5, 5, 1);
  const auto single_matrix = on_device(*single, single_values);
  const auto double_matrix = on_device(*real, double_values);
  EXPECT_EQ(from_device(*single, *single_matrix), single_values);
  EXPECT_EQ(from_device(*real, *double_matrix), double_values);
}

TYPED_TEST(ComputeBackends, MayBeDestroyedBeforeTheirMatrices) {
  Timeline timeline;
  std::unique_ptr<DeviceMatrix<float>> matrix;
  {
    const auto backend = TypeParam::make(debugging(), timeline);
    matrix = backend->allocate(3, 3);
  }
  EXPECT_NO_THROW(matrix.reset());
}

}  // namespace
}  // namespace glinpack
