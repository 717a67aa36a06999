// The reference backend: hand-computed cases and exact identities.
#include <gtest/gtest.h>

#include "reference/reference_backend.hpp"
#include "tests/local/random_matrix.hpp"

namespace glinpack::test {
namespace {

class ReferencePanel : public ::testing::Test {
 protected:
  std::unique_ptr<PanelArithmetic<double>> arithmetic_ = make_reference_panel_arithmetic<double>();
};

ColumnMajorView<double> columns_of(std::vector<double>& elements, Index rows) {
  return {elements.data(), rows, static_cast<Index>(elements.size()) / rows, rows};
}

TEST_F(ReferencePanel, factorises_a_three_by_three_matrix_as_by_hand) {
  // A = [1 2 4; 2 8 4; 4 8 8]: row 3 first, then row 2; all quotients are exact.
  std::vector<double> a{1, 2, 4, 2, 8, 8, 4, 4, 8};
  std::vector<Index> pivots(3);
  EXPECT_EQ(arithmetic_->factorize_partial(columns_of(a, 3), pivots), std::nullopt);
  EXPECT_EQ(pivots, (std::vector<Index>{2, 1, 2}));
  EXPECT_EQ(a, (std::vector<double>{4, 0.5, 0.25, 8, 4, 0, 8, 0, 2}));
}

TEST_F(ReferencePanel, finds_the_zero_pivot_that_appears_during_elimination) {
  std::vector<double> a{1, 2, 3, 2, 4, 6, 1, 1, 1};  // the second column is twice the first
  std::vector<Index> pivots(3);
  EXPECT_EQ(arithmetic_->factorize_partial(columns_of(a, 3), pivots), 1);
}

TEST_F(ReferencePanel, solves_with_triangles_as_by_hand) {
  std::vector<double> u{2, 99, 4, 8};  // [2 4; . 8]
  std::vector<double> row{6, 28};      // x U = (6, 28): x = (3, 2)
  arithmetic_->solve_l21(columns_of(u, 2), columns_of(row, 1));
  EXPECT_EQ(row, (std::vector<double>{3, 2}));
  std::vector<double> l{99, 3, 99, 99};  // [1 0; 3 1]
  std::vector<double> right{2, 10};      // L x = (2, 10): x = (2, 4)
  arithmetic_->solve_unit_lower(columns_of(l, 2), columns_of(right, 2));
  EXPECT_EQ(right, (std::vector<double>{2, 4}));
}

TEST_F(ReferencePanel, subtracts_products_as_by_hand) {
  std::vector<double> l{1, 2, 3, 4};  // [1 3; 2 4]
  std::vector<double> u{5, 6};        // a column
  std::vector<double> a{100, 100};
  arithmetic_->update(columns_of(l, 2), columns_of(u, 2), columns_of(a, 2));
  EXPECT_EQ(a, (std::vector<double>{100 - 5 - 18, 100 - 10 - 24}));
  std::vector<double> multipliers{8, 2};
  const std::vector<double> row{3, 99, 5};
  std::vector<double> rest{20, 20, 20, 20};
  arithmetic_->eliminate_column(4, multipliers, row.data(), 2, columns_of(rest, 2));
  EXPECT_EQ(multipliers, (std::vector<double>{2, 0.5}));
  EXPECT_EQ(rest, (std::vector<double>{20 - 6, 20 - 1.5, 20 - 10, 20 - 2.5}));
}

TEST(ReferenceBackend, computes_on_row_major_blocks_as_by_hand) {
  Timeline timeline;
  const auto backend = make_reference_backend<double>({}, timeline);
  const auto matrix = [&](Index rows, Index columns, const std::vector<double>& elements) {
    auto result = backend->allocate(rows, columns);
    auto buffer = backend->allocate_host(rows * columns);
    std::copy(elements.begin(), elements.end(), buffer->data());
    backend->upload({buffer.get(), 0, rows, columns, columns}, whole(*result));
    return result;
  };
  const auto elements = [&](DeviceMatrix<double>& from) {
    auto buffer = backend->allocate_host(from.rows() * from.columns());
    backend->download(whole(from), {buffer.get(), 0, from.rows(), from.columns(), from.columns()});
    return std::vector<double>(buffer->data(), buffer->data() + buffer->size());
  };
  // L = [1 0; 3 1], transposed; its diagonal and lower triangle have values that must not be read.
  auto l11_transposed = matrix(2, 2, {99, 3, 99, 99});
  auto a12 = matrix(2, 3, {1, 2, 3, 4, 5, 6});
  backend->solve_unit_lower(whole(*l11_transposed), whole(*a12));
  EXPECT_EQ(elements(*a12), (std::vector<double>{1, 2, 3, 1, -1, -3}));

  auto l21_transposed = matrix(2, 1, {2, 10});
  auto a22 = matrix(1, 3, {100, 100, 100});
  backend->update(whole(*l21_transposed), whole(*a12), whole(*a22));
  EXPECT_EQ(elements(*a22), (std::vector<double>{100 - 2 - 10, 100 - 4 + 10, 100 - 6 + 30}));

  auto x = matrix(3, 1, {1, 2, 3});
  auto y = matrix(2, 1, {50, 60});
  backend->subtract_product(whole(*a12), whole(*x), whole(*y));
  EXPECT_EQ(elements(*y), (std::vector<double>{50 - 14, 60 + 10}));

  auto t = matrix(2, 2, {2, 4, 3, 8});  // L = [1 0; 3 1], U = [2 4; 0 8]
  auto below = matrix(2, 2, {2, 1, 10, 1}), above = matrix(2, 2, {14, 2, 24, 0});
  backend->solve_triangle(Triangle::unit_lower, whole(*t), whole(*below));
  EXPECT_EQ(elements(*below), (std::vector<double>{2, 1, 4, -2}));
  backend->solve_triangle(Triangle::upper, whole(*t), whole(*above));
  EXPECT_EQ(elements(*above), (std::vector<double>{1, 1, 3, 0}));
}

// Right-looking elimination with blocks of `width` columns, as in the global algorithm.
template <class Real>
void factorise_by_blocks(PanelArithmetic<Real>& arithmetic, ColumnMajorView<Real> a, Index width,
                         std::vector<Index>& pivots) {
  for (Index k = 0; k < a.columns; k += width) {
    const Index block = std::min(width, a.columns - k);
    const Index rest = a.columns - k - block;
    const std::span<Index> block_pivots(pivots.data() + k, static_cast<std::size_t>(block));
    ASSERT_EQ(arithmetic.factorize_partial(a.block(k, k, a.rows - k, block), block_pivots), std::nullopt);
    for (Index i = 0; i < block; ++i) {
      block_pivots[static_cast<std::size_t>(i)] += k;
      const Index p = block_pivots[static_cast<std::size_t>(i)];
      for (Index j = 0; j < a.columns; ++j) {
        if ((j < k || j >= k + block) && p != k + i) std::swap(a(k + i, j), a(p, j));
      }
    }
    arithmetic.solve_unit_lower(a.block(k, k, block, block), a.block(k, k + block, block, rest));
    arithmetic.update(a.block(k + block, k, a.rows - k - block, block), a.block(k, k + block, block, rest),
                      a.block(k + block, k + block, a.rows - k - block, rest));
  }
}

template <class Real>
void expect_equal_factors_for_all_block_sizes() {
  constexpr Index n = 61;
  const auto arithmetic = make_reference_panel_arithmetic<Real>();
  Random random(3);
  const std::vector<Real> original = random_elements<Real>(n * n, random);
  std::vector<Real> unblocked = original;
  std::vector<Index> unblocked_pivots(n);
  ASSERT_EQ(arithmetic->factorize_partial({unblocked.data(), n, n, n}, unblocked_pivots), std::nullopt);
  for (const Index width : {1, 2, 7, 16, 60}) {
    std::vector<Real> blocked = original;
    std::vector<Index> pivots(n);
    factorise_by_blocks<Real>(*arithmetic, {blocked.data(), n, n, n}, width, pivots);
    EXPECT_EQ(pivots, unblocked_pivots) << "blocks of " << width;
    EXPECT_EQ(blocked, unblocked) << "blocks of " << width;
  }
}

TEST(Reference, factors_are_bitwise_equal_for_any_block_size) {
  expect_equal_factors_for_all_block_sizes<float>();
  expect_equal_factors_for_all_block_sizes<double>();
}

}  // namespace
}  // namespace glinpack::test
