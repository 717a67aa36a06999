// Tests specific to gl-compute and vk-compute. The tests of all backends compare their operations with the reference.
#include <GL/glew.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "backend/registry.hpp"
#include "device/shader_source.hpp"
#include "gl/gl_compute.hpp"
#include "kernels/compute_memory.hpp"
#include "kernels/tuning.hpp"
#include "tests/local/compute_cases.hpp"
#include "tests/local/device_values.hpp"

namespace glinpack {
namespace {

using namespace test;
using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

BackendOptions debugging() {
  BackendOptions options;
  options.debug = true;
  return options;
}

/// Backends for the tests of a precision; they check every GL call. One has default limits, one has matrices of many
/// stripes, and one has windows of 16 KiB.
template <class Case>
class ComputeBackendTest : public testing::Test {
 protected:
  using Real = typename Case::Real;
  static Backend<Real>& backend() {
    static const auto instance = Case::make(debugging(), timeline());
    return *instance;
  }
  static Backend<Real>& narrow_backend() {
    static const auto instance = Case::make(debugging(), timeline(), {16 * 1024, 64});
    return *instance;
  }
  static Backend<Real>& striped_backend() {
    static const auto instance = Case::make(debugging(), timeline(), {0, 64});
    return *instance;
  }
  // One or a few stripes per buffer.
  static Backend<Real>& split_backend() {
    static const auto instance =
        Case::make(debugging(), timeline(),
                   {.stripe_width = 64, .buffer_bytes = 2 * 64 * 90 * static_cast<std::int64_t>(sizeof(Real))});
    return *instance;
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

struct Offset {
  Index row = 0;
  Index column = 0;
};

/// C - L U in double precision, with the three blocks at their offsets.
template <class Real>
Values<Real> reduced(Values<Real> c, Offset at, Index m, Index n, const Values<Real>& l, Offset l_at,
                     const Values<Real>& u, Offset u_at, Index depth) {
  for (Index i = 0; i < m; ++i) {
    for (Index j = 0; j < n; ++j) {
      double sum = 0;
      for (Index k = 0; k < depth; ++k) {
        sum += static_cast<double>(l(l_at.row + k, l_at.column + i)) *
               static_cast<double>(u(u_at.row + k, u_at.column + j));
      }
      Real& element = c(at.row + i, at.column + j);
      element = static_cast<Real>(static_cast<double>(element) - sum);
    }
  }
  return c;
}

/// Reduces blocks at these offsets of larger matrices and compares whole matrices: other elements must not change.
template <class Real>
void check_update(Backend<Real>& backend, Index m, Index n, Index depth, Offset l_at, Offset u_at, Offset c_at) {
  SCOPED_TRACE(testing::Message() << m << " x " << n << " x " << depth << ", columns " << l_at.column << ' '
                                  << u_at.column << ' ' << c_at.column);
  auto l = random_values<Real>(l_at.row + depth + 1, l_at.column + m + 3, 1);
  auto u = random_values<Real>(u_at.row + depth + 1, u_at.column + n + 3, 2);
  const auto c = random_values<Real>(c_at.row + m + 2, c_at.column + n + 5, 3);
  // NaN around the blocks: reading one of them fails the test
  const auto surround = [](Values<Real>& values, Offset at, Index rows, Index columns) {
    for (Index i = 0; i < values.rows; ++i) {
      for (Index j = 0; j < values.columns; ++j) {
        const bool inside = i >= at.row && i < at.row + rows && j >= at.column && j < at.column + columns;
        if (!inside) values(i, j) = std::numeric_limits<Real>::quiet_NaN();
      }
    }
  };
  surround(l, l_at, depth, m);
  surround(u, u_at, depth, n);
  const auto l_matrix = on_device(backend, l), u_matrix = on_device(backend, u), c_matrix = on_device(backend, c);
  backend.update({l_matrix.get(), l_at.row, l_at.column, depth, m}, {u_matrix.get(), u_at.row, u_at.column, depth, n},
                 {c_matrix.get(), c_at.row, c_at.column, m, n});
  const auto expected = reduced(c, c_at, m, n, l, l_at, u, u_at, depth);
  EXPECT_LE(largest_difference(from_device(backend, *c_matrix), expected), tolerance<Real>(depth));
}

TYPED_TEST(ComputeBackendTest, UpdatesAnyExtents) {
  for (const Index m : {1, 63, 64, 65, 130}) {
    for (const Index n : {1, 3, 64, 127, 129}) {
      for (const Index depth : {1, 15, 16, 17, 32, 50}) check_update(this->backend(), m, n, depth, {}, {}, {});
    }
  }
}

TYPED_TEST(ComputeBackendTest, UpdatesAtAnyOffsets) {
  for (const Index l_column : {0, 1, 4, 66}) {
    for (const Index u_column : {0, 2, 8, 65}) {
      for (const Index c_column : {0, 3, 4, 70}) {
        check_update(this->backend(), 70, 37, 16, {1, l_column}, {2, u_column}, {3, c_column});
        for (Backend<typename TypeParam::Real>* backend : {&this->striped_backend(), &this->split_backend()}) {
          check_update(*backend, 150, 137, 32, {1, l_column}, {2, u_column}, {3, c_column});
        }
      }
    }
  }
}

TYPED_TEST(ComputeBackendTest, RejectsAnUnknownTile) {
  BackendOptions options = debugging();
  options.values["tile"] = "7x7";
  EXPECT_THAT([&] { TypeParam::make(options, this->timeline()); },
              ThrowsMessage<std::runtime_error>(HasSubstr("there is no tile '7x7'")));
}

TYPED_TEST(ComputeBackendTest, UpdatesThroughWindowsSmallerThanTheMatrices) {
  check_update(this->narrow_backend(), 150, 300, 70, {1, 4}, {2, 8}, {3, 4});
  check_update(this->narrow_backend(), 150, 299, 71, {1, 5}, {0, 7}, {5, 2});
}

/// A unit lower triangle, stored as the upper triangle of L^T; the other elements must not be read.
template <class Real>
Values<Real> triangle(Index k, Index margin) {
  auto l = random_values<Real>(k + margin, k + margin, 4);
  for (Index i = 0; i < l.rows; ++i) {
    for (Index j = 0; j < l.columns; ++j) {
      const bool upper = i >= margin && j >= margin && j > i;
      if (!upper) l(i, j) = std::numeric_limits<Real>::quiet_NaN();
    }
  }
  // bounded growth: |X| <= (1 + 1/k)^k < e
  for (Real& element : l.elements) element *= Real(2) / static_cast<Real>(k);
  return l;
}

template <class Real>
void check_solve_u12(Backend<Real>& backend, Index k, Index columns, Index margin) {
  SCOPED_TRACE(testing::Message() << k << " x " << columns << ", margin " << margin);
  const auto l = triangle<Real>(k, margin);
  auto a = random_values<Real>(k + margin + 1, columns + margin + 1, 5);
  const auto l_matrix = on_device(backend, l), a_matrix = on_device(backend, a);
  backend.solve_unit_lower({l_matrix.get(), margin, margin, k, k}, {a_matrix.get(), margin, margin, k, columns});
  for (Index j = 0; j < columns; ++j) {
    for (Index i = 0; i < k; ++i) {
      double value = a(margin + i, margin + j);
      for (Index p = 0; p < i; ++p) {
        value -= static_cast<double>(l(margin + p, margin + i)) * static_cast<double>(a(margin + p, margin + j));
      }
      a(margin + i, margin + j) = static_cast<Real>(value);
    }
  }
  EXPECT_LE(largest_difference(from_device(backend, *a_matrix), a), tolerance<Real>(k));
}

TYPED_TEST(ComputeBackendTest, SolvesU12AnyExtents) {
  for (const Index k : {1, 2, 31, 32, 33, 64, 100, 200}) {
    for (const Index columns : {1, 64, 131}) check_solve_u12(this->backend(), k, columns, 0);
  }
  for (const Index margin : {1, 2, 64}) check_solve_u12(this->backend(), 75, 40, margin);
  for (const Index margin : {0, 3}) {
    for (Backend<typename TypeParam::Real>* backend : {&this->striped_backend(), &this->split_backend()}) {
      check_solve_u12(*backend, 75, 140, margin);
    }
  }
}

TYPED_TEST(ComputeBackendTest, SolvesU12WithMoreRowsThanALaunchTakes) { check_solve_u12(this->backend(), 530, 4, 0); }

TYPED_TEST(ComputeBackendTest, SolvesU12AColumnIndependentlyOfTheOtherColumns) {
  using Real = typename TypeParam::Real;
  constexpr Index k = 80, columns = 150;
  const auto l_matrix = on_device(this->backend(), triangle<Real>(k, 0));
  const auto a = random_values<Real>(k, columns, 6);
  const auto joined = on_device(this->backend(), a), separate = on_device(this->backend(), a);
  this->backend().solve_unit_lower(whole(*l_matrix), whole(*joined));
  for (const auto& [first, count] : {std::pair<Index, Index>{0, 8}, {8, 29}, {37, 64}, {101, 49}}) {
    this->backend().solve_unit_lower(whole(*l_matrix), {separate.get(), 0, first, k, count});
  }
  EXPECT_EQ(from_device(this->backend(), *joined), from_device(this->backend(), *separate));
}

TYPED_TEST(ComputeBackendTest, SolvesU12ThroughWindowsSmallerThanTheMatrices) {
  check_solve_u12(this->narrow_backend(), 150, 300, 0);
  check_solve_u12(this->narrow_backend(), 77, 299, 3);
}

TYPED_TEST(ComputeBackendTest, UpdatesAndSolvesU12InEveryTile) {
  for (const compute::UpdateTile& tile : compute::update_tiles(precision_of<typename TypeParam::Real>)) {
    BackendOptions options = debugging();
    options.values["tile"] = name_of(tile, precision_of<typename TypeParam::Real>);
    SCOPED_TRACE(options.values["tile"]);
    const auto backend = TypeParam::make(options, this->timeline());
    check_update(*backend, 128, 256, 32, {}, {}, {});                  // whole tiles
    check_update(*backend, 130, 200, 40, {1, 4}, {2, 8}, {3, 4});      // partial tiles; a depth with a remainder
    check_update(*backend, 75, 61, 19, {1, 5}, {0, 7}, {5, 2});        // nothing aligned
    check_update(*backend, 18 * tile.rows() + 1, 70, 16, {}, {}, {});  // two bands
    check_solve_u12(*backend, 80, 140, 0);
    check_solve_u12(*backend, 75, 61, 1);
  }
}

// Software drivers take strips of two vectors.
TYPED_TEST(ComputeBackendTest, SolvesU12InStripsOfOneVector) {
  const auto backend = TypeParam::make(debugging(), this->timeline(), {.queued_bytes = Index{1} << 40});
  for (const Index columns : {1, 64, 131}) check_solve_u12(*backend, 144, columns, 0);
  check_solve_u12(*backend, 75, 61, 1);
}

// GPUs use the unrolled variants. This test makes software drivers use them, from a shader folder.
TYPED_TEST(ComputeBackendTest, UpdatesAndSolvesU12WithUnrolledLoops) {
  const auto folder = std::filesystem::temp_directory_path() / ("glinpack_unrolled_" + std::to_string(getpid()));
  std::filesystem::create_directories(folder / "compute");
  for (const EmbeddedShader& shader : embedded_shaders()) {
    if (shader.name != "compute/tile_product.glsl") continue;
    std::string text(shader.text);
    const std::size_t at = text.find("#if UNROLLED");
    ASSERT_NE(at, std::string::npos);
    std::ofstream(folder / shader.name) << text.replace(at, 12, "#if 1");
  }
  BackendOptions options = debugging();
  options.values["shader-dir"] = folder.string();
  const auto backend = TypeParam::make(options, this->timeline());
  check_update(*backend, 130, 260, 48, {1, 4}, {2, 8}, {3, 4});
  check_update(*backend, 64, 128, 32, {}, {}, {});
  check_update(*backend, 67, 131, 37, {1, 3}, {2, 5}, {3, 2});
  check_solve_u12(*backend, 144, 140, 0);
  std::filesystem::remove_all(folder);
}

/// Checks every operation that only moves elements, at random offsets of a matrix. Compares whole matrices.
template <class Real>
void check_moves(Backend<Real>& backend, Index rows, Index columns, unsigned seed) {
  std::mt19937 random(seed);
  const auto below = [&](Index limit) { return static_cast<Index>(random() % static_cast<unsigned>(limit)); };
  const Index m = 1 + below(rows - 1), n = 1 + below(columns - 1);
  const Offset at{below(rows - m + 1), below(columns - n + 1)};
  const Index gap = below(5), offset = below(100);
  SCOPED_TRACE(testing::Message() << m << " x " << n << " at " << at.row << ' ' << at.column << ", gap " << gap);
  auto values = random_values<Real>(rows, columns, seed + 1);
  const auto matrix = on_device(backend, values);
  const DeviceBlock<Real> block{matrix.get(), at.row, at.column, m, n};

  const Real untouched = Real(7);
  const auto filled = [&](Index elements) {
    auto buffer = backend.allocate_host(elements);
    std::fill(buffer->data(), buffer->data() + elements, untouched);
    return buffer;
  };
  const auto down = filled(offset + m * (n + gap)), turned = filled(offset + n * (m + gap));
  const auto gathered = filled(offset + m * (n + gap)), up = filled(offset + m * (n + gap));
  std::vector<Index> order(static_cast<std::size_t>(m));
  for (Index i = 0; i < m; ++i) order[static_cast<std::size_t>(i)] = i;
  std::shuffle(order.begin(), order.end(), random);

  backend.download(block, {down.get(), offset, m, n, n + gap});
  backend.download_transposed(block, {turned.get(), offset, n, m, m + gap});
  backend.wait(backend.gather_rows(block, order, {gathered.get(), offset, m, n, n + gap}));
  for (Index i = 0; i < m; ++i) {
    for (Index j = 0; j < n + gap; ++j) {
      const Index e = offset + i * (n + gap) + j;
      const Index listed = order[static_cast<std::size_t>(i)];
      ASSERT_EQ(down->data()[e], j < n ? values(at.row + i, at.column + j) : untouched);
      ASSERT_EQ(gathered->data()[e], j < n ? values(at.row + listed, at.column + j) : untouched);
    }
  }
  for (Index j = 0; j < n; ++j) {
    for (Index i = 0; i < m + gap; ++i) {
      ASSERT_EQ(turned->data()[offset + j * (m + gap) + i], i < m ? values(at.row + i, at.column + j) : untouched);
    }
  }

  const auto fresh = random_values<Real>(m, n, seed + 2);
  const HostBlock<Real> source{up.get(), offset, m, n, n + gap};
  for (Index i = 0; i < m; ++i) {
    for (Index j = 0; j < n; ++j) values(at.row + i, at.column + j) = source.view()(i, j) = fresh(i, j);
  }
  backend.upload(source, block);
  ASSERT_EQ(from_device(backend, *matrix), values);

  for (Index i = 0; i < m; ++i) {
    for (Index j = 0; j < n; ++j) values(at.row + order[static_cast<std::size_t>(i)], at.column + j) = fresh(i, j);
  }
  backend.scatter_rows(source, order, block);
  ASSERT_EQ(from_device(backend, *matrix), values);

  std::vector<RowMove> moves;  // a cyclic shift of the rows
  const auto before = values;
  for (Index i = 0; i < m; ++i) {
    moves.push_back({i, (i + 1) % m});
    for (Index j = 0; j < n; ++j) values(at.row + (i + 1) % m, at.column + j) = before(at.row + i, at.column + j);
  }
  backend.move_rows(block, moves);
  ASSERT_EQ(from_device(backend, *matrix), values);

  auto copy = random_values<Real>(rows, columns, seed + 3), turned_copy = random_values<Real>(columns, rows, seed + 4);
  const auto copy_matrix = on_device(backend, copy), turned_matrix = on_device(backend, turned_copy);
  backend.copy(block, {copy_matrix.get(), at.row, at.column, m, n});
  backend.copy_transposed(block, {turned_matrix.get(), at.column, at.row, n, m});
  for (Index i = 0; i < m; ++i) {
    for (Index j = 0; j < n; ++j) {
      copy(at.row + i, at.column + j) = values(at.row + i, at.column + j);
      turned_copy(at.column + j, at.row + i) = values(at.row + i, at.column + j);
    }
  }
  ASSERT_EQ(from_device(backend, *copy_matrix), copy);
  ASSERT_EQ(from_device(backend, *turned_matrix), turned_copy);
}

TYPED_TEST(ComputeBackendTest, MovesBlocksAtAnyOffsetAndChangesNothingElse) {
  for (unsigned seed = 0; seed < 12; ++seed) check_moves(this->backend(), 90, 170, 10 * seed);
  check_moves(this->backend(), 40, 1100, 5);
  for (unsigned seed = 1; seed < 6; ++seed) {
    check_moves(this->striped_backend(), 90, 270, 10 * seed);
    check_moves(this->split_backend(), 90, 270, 10 * seed);
    check_moves(this->split_backend(), 200, 400, 10 * seed);
  }
}

TYPED_TEST(ComputeBackendTest, MovesBlocksThroughWindowsSmallerThanTheMatrices) {
  for (unsigned seed = 0; seed < 6; ++seed) check_moves(this->narrow_backend(), 150, 170, 10 * seed);
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
    check_chains(this->striped_backend(), 600, closed, 2);
    check_chains(this->split_backend(), 600, closed, 2);
    check_chains(this->narrow_backend(), 170, closed, 2);
  }
}

TYPED_TEST(ComputeBackendTest, MovesRowsMoreOftenThanTheListHasRoomFor) { check_chains(this->backend(), 3, 3, 1100); }

template <class Real>
void check_substitute(Backend<Real>& backend, Index rows, Index columns) {
  const auto a = random_values<Real>(rows, columns + 1, 1), x = random_values<Real>(columns, 2, 2);
  auto y = random_values<Real>(rows + 1, 3, 3);
  const auto a_matrix = on_device(backend, a), x_matrix = on_device(backend, x), y_matrix = on_device(backend, y);
  backend.subtract_product({a_matrix.get(), 0, 1, rows, columns}, {x_matrix.get(), 0, 1, columns, 1},
                           {y_matrix.get(), 1, 2, rows, 1});
  for (Index i = 0; i < rows; ++i) {
    double sum = 0;
    for (Index k = 0; k < columns; ++k) sum += static_cast<double>(a(i, k + 1)) * static_cast<double>(x(k, 1));
    y(i + 1, 2) = static_cast<Real>(static_cast<double>(y(i + 1, 2)) - sum);
  }
  EXPECT_LE(largest_difference(from_device(backend, *y_matrix), y), tolerance<Real>(columns));
}

TYPED_TEST(ComputeBackendTest, Substitutes) {
  for (const Index columns : {1, 63, 64, 200}) {
    check_substitute(this->backend(), 130, columns);
    check_substitute(this->striped_backend(), 130, columns);
    check_substitute(this->split_backend(), 130, columns);
  }
}

TYPED_TEST(ComputeBackendTest, SubstitutesThroughWindowsSmallerThanTheMatrices) {
  check_substitute(this->narrow_backend(), 300, 290);
}

template <class Real>
void check_solve_triangle(Backend<Real>& backend, Triangle triangle, Index k, Index columns, Index margin) {
  auto t = random_values<Real>(k + margin, k + margin, 1), x = random_values<Real>(k + 1, columns + margin, 2);
  for (Index i = 0; i < k; ++i) {
    for (Index j = 0; j < k; ++j) t(i + margin, j + margin) /= static_cast<Real>(k);
    t(i + margin, i + margin) += Real{2};
  }
  const auto t_matrix = on_device(backend, t), x_matrix = on_device(backend, x);
  backend.solve_triangle(triangle, {t_matrix.get(), margin, margin, k, k}, {x_matrix.get(), 1, margin, k, columns});
  for (Index j = margin; j < columns + margin; ++j) {
    for (Index step = 0; step < k; ++step) {
      const bool upper = triangle == Triangle::upper;
      const Index i = upper ? k - 1 - step : step;
      auto value = static_cast<double>(x(i + 1, j));
      for (Index c = upper ? i + 1 : 0; c < (upper ? k : i); ++c) {
        value -= static_cast<double>(t(i + margin, c + margin)) * static_cast<double>(x(c + 1, j));
      }
      x(i + 1, j) = static_cast<Real>(upper ? value / static_cast<double>(t(i + margin, i + margin)) : value);
    }
  }
  EXPECT_LE(largest_difference(from_device(backend, *x_matrix), x), tolerance<Real>(k));
}

TYPED_TEST(ComputeBackendTest, SolvesTriangles) {
  for (const Triangle triangle : {Triangle::unit_lower, Triangle::upper}) {
    for (const Index margin : {0, 1, 4}) {
      check_solve_triangle(this->backend(), triangle, 75, 3, margin);
      check_solve_triangle(this->striped_backend(), triangle, 75, 3, margin);
      check_solve_triangle(this->split_backend(), triangle, 75, 3, margin);
    }
  }
}

TYPED_TEST(ComputeBackendTest, SolvesTrianglesWithMoreRowsThanAWorkGroupTakes) {
  check_solve_triangle(this->backend(), Triangle::unit_lower, 1027, 2, 0);
  check_solve_triangle(this->backend(), Triangle::upper, 1027, 2, 0);
}

TYPED_TEST(ComputeBackendTest, SolvesTrianglesThroughWindowsSmallerThanTheMatrices) {
  check_solve_triangle(this->narrow_backend(), Triangle::unit_lower, 300, 70, 3);
  check_solve_triangle(this->narrow_backend(), Triangle::upper, 300, 70, 3);
}

TYPED_TEST(ComputeBackendTest, DoesNothingForEmptyBlocks) {
  using Real = typename TypeParam::Real;
  Backend<Real>& backend = this->backend();
  const auto matrix = backend.allocate(0, 0), other = backend.allocate(4, 0), third = backend.allocate(0, 4);
  const auto host = backend.allocate_host(0);
  const HostBlock<Real> nothing{host.get(), 0, 0, 0, 0};
  EXPECT_EQ(backend.upload(nothing, whole(*matrix)).id, 0u);
  EXPECT_EQ(backend.download(whole(*matrix), nothing).id, 0u);
  EXPECT_EQ(backend.download_transposed(whole(*other), nothing).id, 0u);
  EXPECT_EQ(backend.gather_rows(whole(*matrix), {}, nothing).id, 0u);
  EXPECT_EQ(backend.scatter_rows(nothing, {}, whole(*matrix)).id, 0u);
  backend.move_rows(whole(*matrix), {});
  backend.copy(whole(*matrix), whole(*matrix));
  backend.copy_transposed(whole(*other), whole(*third));
  backend.solve_unit_lower(whole(*matrix), whole(*third));
  backend.update(whole(*matrix), whole(*third), whole(*matrix));
  backend.solve_triangle(Triangle::upper, whole(*matrix), whole(*third));
  backend.subtract_product(whole(*matrix), whole(*matrix), whole(*matrix));
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
