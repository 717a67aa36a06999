// Compares solve_unit_lower, update, substitute and solve_triangle of every backend with the reference.
#include "tests/local/backend_checks.hpp"

namespace glinpack::test {
namespace {

struct Extents {
  Index rows;
  Index columns;
  Index k;
};

template <class Case>
class Arithmetic : public BackendTest<Case> {};
TYPED_TEST_SUITE(Arithmetic, AllCases, CaseNames);

TYPED_TEST(Arithmetic, update_subtracts_the_product_and_changes_nothing_else) {
  for (const auto& [rows, columns, k] :
       {Extents{1, 1, 1},      Extents{3, 5, 2},     Extents{4, 4, 4},     Extents{17, 1, 3},     Extents{1, 33, 8},
        Extents{64, 128, 8},   Extents{65, 127, 9},  Extents{70, 130, 31}, Extents{129, 131, 32}, Extents{128, 256, 64},
        Extents{200, 77, 130}, Extents{5, 300, 100}, Extents{300, 5, 128}, Extents{2, 1, 7},      Extents{2, 64, 9},
        Extents{2, 300, 100},  Extents{63, 127, 17}, Extents{65, 3, 15},   Extents{64, 129, 16},  Extents{1, 64, 50}}) {
    check_update(*this, rows, columns, k);
  }
}

// a device has another kernel for a matrix L with one or two rows
TYPED_TEST(Arithmetic, update_takes_a_matrix_of_few_rows) {
  using Real = typename TypeParam::Real;
  for (const auto& [rows, columns, k] :
       {Extents{1, 1, 1}, Extents{1, 33, 8}, Extents{2, 1, 7}, Extents{2, 64, 9}, Extents{2, 300, 100}}) {
    SCOPED_TRACE(testing::Message() << rows << " x " << columns << ", k = " << k);
    const auto l21 = this->operand(k, rows), u12 = this->operand(k, columns), a22 = this->operand(rows, columns);
    const auto matrix_of_l21 = this->tested().allocate(k, rows);
    this->tested().copy(l21.tested, whole(*matrix_of_l21));
    this->tested().update(whole(*matrix_of_l21), u12.tested, a22.tested);
    this->reference().update(l21.expected, u12.expected, a22.expected);
    this->expect_same(a22, tolerance<Real>(k));
  }
}

TYPED_TEST(Arithmetic, update_is_correct_for_any_offsets_of_its_operands) {
  using Real = typename TypeParam::Real;
  constexpr Index k = 12;
  for (Index offsets = 0; offsets < 4 * 4 * 4; ++offsets) {
    const Index of_l = offsets / 16, of_u = offsets / 4 % 4, of_a = offsets % 4;
    SCOPED_TRACE(testing::Message() << "offsets " << of_l << ", " << of_u << ", " << of_a);
    const auto l21 = this->operand(k, 44), u12 = this->operand(k, 54), a22 = this->operand(44, 54);
    this->tested().update(l21.tested.block(0, of_l, k, 40), u12.tested.block(0, of_u, k, 50),
                          a22.tested.block(of_a, of_a, 40, 50));
    this->reference().update(l21.expected.block(0, of_l, k, 40), u12.expected.block(0, of_u, k, 50),
                             a22.expected.block(of_a, of_a, 40, 50));
    this->expect_same(a22, tolerance<Real>(k));
  }
}

TYPED_TEST(Arithmetic, solve_unit_lower_solves_with_the_unit_lower_triangle_alone) {
  for (const auto& [columns, k] : std::initializer_list<std::pair<Index, Index>>{{1, 1},
                                                                                 {9, 1},
                                                                                 {3, 2},
                                                                                 {1, 7},
                                                                                 {64, 8},
                                                                                 {65, 16},
                                                                                 {130, 31},
                                                                                 {131, 32},
                                                                                 {33, 64},
                                                                                 {100, 65},
                                                                                 {257, 96},
                                                                                 {70, 130},
                                                                                 {64, 200}}) {
    check_solve_unit_lower(*this, k, columns);
  }
}

// All multipliers are -1: elements double from row to row, the largest growth that pivoting allows. Nothing cancels, so
// every element must be accurate.
TYPED_TEST(Arithmetic, solve_unit_lower_is_accurate_for_the_largest_growth) {
  using Real = typename TypeParam::Real;
  constexpr Index k = 100, columns = 19;
  auto l11 = this->operand(k, k, [](Real* first, Index leading_dimension) {
    for (Index i = 0; i < k; ++i) std::fill_n(first + i * leading_dimension, k, Real{-1});
  });
  auto a12 = this->operand(k, columns, [](Real* first, Index leading_dimension) {
    for (Index i = 0; i < k; ++i) {
      for (Index j = 0; j < columns; ++j) first[i * leading_dimension + j] += Real{1};
    }
  });
  this->tested().solve_unit_lower(l11.tested, a12.tested);
  this->reference().solve_unit_lower(l11.expected, a12.expected);
  const std::vector<Real> actual = this->get(this->tested(), *a12.tested_matrix);
  const std::vector<Real> wanted = this->get(this->reference(), *a12.expected_matrix);
  for (Index i = 0; i < k; ++i) {
    for (Index j = 0; j < columns; ++j) {
      const Index at = (a12.tested.row + i) * a12.tested_matrix->columns() + a12.tested.column + j;
      const double value = wanted[static_cast<std::size_t>(at)];
      EXPECT_GT(value, 0.4 * std::exp2(i));
      EXPECT_NEAR(actual[static_cast<std::size_t>(at)], value, tolerance<Real>(k) * value) << i << ", " << j;
    }
  }
}

TYPED_TEST(Arithmetic, solve_triangle_solves_with_either_triangle_alone) {
  for (const Triangle triangle : triangles) {
    for (const Index k : {1, 2, 3, 7, 31, 32, 33, 64, 65, 127, 128, 130, 257}) {
      for (const Index columns : {1, 3}) check_solve_triangle(*this, triangle, k, columns);
    }
  }
}

// All multipliers are -1: unknowns double from one to the next, and nothing cancels.
TYPED_TEST(Arithmetic, solve_triangle_is_accurate_for_the_largest_growth) {
  using Real = typename TypeParam::Real;
  constexpr Index k = 100;
  for (const Triangle triangle : triangles) {
    SCOPED_TRACE(name_of(triangle));
    auto t = this->operand(k, k, [](Real* first, Index leading_dimension) {
      for (Index i = 0; i < k; ++i) {
        std::fill_n(first + i * leading_dimension, k, Real{-1});
        first[i * leading_dimension + i] = Real{1};
      }
    });
    auto x = this->operand(k, 1, [](Real* first, Index leading_dimension) {
      for (Index i = 0; i < k; ++i) first[i * leading_dimension] += Real{1};
    });
    this->tested().solve_triangle(triangle, t.tested, x.tested);
    this->reference().solve_triangle(triangle, t.expected, x.expected);
    const std::vector<Real> actual = this->get(this->tested(), *x.tested_matrix);
    const std::vector<Real> wanted = this->get(this->reference(), *x.expected_matrix);
    for (Index i = 0; i < k; ++i) {
      const auto at = static_cast<std::size_t>((x.tested.row + i) * x.tested_matrix->columns() + x.tested.column);
      const double value = wanted[at];
      EXPECT_GT(value, 0.4 * std::exp2(triangle == Triangle::upper ? k - 1 - i : i));
      EXPECT_NEAR(actual[at], value, tolerance<Real>(k) * value) << i;
    }
  }
}

// A diagonal block and its unknowns are parts of larger matrices; the unknowns are multiplied where they are.
TYPED_TEST(Arithmetic, substitute_takes_the_vector_from_other_rows_of_the_result) {
  using Real = typename TypeParam::Real;
  auto a = this->operand(50, 20);
  auto y = this->operand(70, 1);
  this->tested().subtract_product(a.tested, y.tested.block(0, 0, 20, 1), y.tested.block(20, 0, 50, 1));
  this->reference().subtract_product(a.expected, y.expected.block(0, 0, 20, 1), y.expected.block(20, 0, 50, 1));
  this->expect_same(y, tolerance<Real>(21));
}

TYPED_TEST(Arithmetic, substitute_subtracts_the_matrix_times_the_vector) {
  for (const auto& [rows, columns] : std::initializer_list<std::pair<Index, Index>>{
           {1, 1}, {7, 3}, {3, 130}, {64, 64}, {333, 65}, {130, 200}, {1000, 127}}) {
    check_subtract_product(*this, rows, columns);
  }
}

TYPED_TEST(Arithmetic, empty_extents_change_nothing) {
  auto l = this->operand(20, 20, true);
  auto u = this->operand(20, 20);
  auto a = this->operand(20, 20);
  for (const auto& [rows, columns, k] : {Extents{0, 20, 5}, Extents{20, 0, 5}, Extents{20, 20, 0}, Extents{0, 0, 0}}) {
    this->tested().update(l.tested.block(0, 0, k, rows), u.tested.block(0, 0, k, columns),
                          a.tested.block(0, 0, rows, columns));
  }
  this->tested().solve_unit_lower(l.tested.block(0, 0, 0, 0), a.tested.block(0, 0, 0, 20));
  this->tested().solve_unit_lower(l.tested.block(0, 0, 20, 20), a.tested.block(0, 0, 20, 0));
  this->tested().subtract_product(l.tested.block(0, 0, 0, 20), u.tested.block(0, 0, 20, 1), a.tested.block(0, 0, 0, 1));
  this->tested().subtract_product(l.tested.block(0, 0, 20, 0), u.tested.block(0, 0, 0, 1), a.tested.block(0, 0, 20, 1));
  this->tested().solve_triangle(Triangle::upper, l.tested.block(0, 0, 0, 0), a.tested.block(0, 0, 0, 1));
  this->tested().solve_triangle(Triangle::unit_lower, l.tested, a.tested.block(0, 0, 20, 0));
  this->expect_same(l);
  this->expect_same(u);
  this->expect_same(a);
}

TYPED_TEST(Arithmetic, update_propagates_nan_and_infinity) {
  using Real = typename TypeParam::Real;
  auto l21 = this->operand(6, 9);
  auto u12 = this->operand(6, 11);
  auto a22 = this->operand(9, 11);
  auto nan = this->host_buffer({std::numeric_limits<Real>::quiet_NaN()});
  this->tested().upload({nan.get(), 0, 1, 1, 1}, l21.tested.block(2, 4, 1, 1));
  this->tested().update(l21.tested, u12.tested, a22.tested);
  auto row = this->tested().allocate_host(11);
  this->tested().wait(this->tested().download(a22.tested.block(4, 0, 1, 11), {row.get(), 0, 1, 11, 11}));
  for (Index j = 0; j < 11; ++j) EXPECT_TRUE(std::isnan(row->data()[j])) << "column " << j;
}

TYPED_TEST(Arithmetic, the_timeline_counts_the_flops_of_each_phase) {
  auto l = this->operand(8, 30, true);
  auto u = this->operand(8, 40);
  auto a = this->operand(30, 40);
  auto x = this->operand(40, 1);
  auto y = this->operand(30, 1);
  this->tested().wait_all();
  this->tested().collect_timings();
  this->timeline().restart();
  this->tested().solve_unit_lower(l.tested.block(0, 0, 8, 8), u.tested);
  this->tested().update(l.tested, u.tested, a.tested);
  this->tested().subtract_product(a.tested, x.tested, y.tested);
  this->tested().solve_triangle(Triangle::upper, l.tested.block(0, 0, 8, 8), x.tested.block(0, 0, 8, 1));
  this->tested().solve_triangle(Triangle::unit_lower, l.tested.block(0, 0, 8, 8), x.tested.block(0, 0, 8, 1));
  this->tested().wait_all();
  this->tested().collect_timings();
  const auto flops_of = [this](Phase phase) {
    double flops = 0;
    for (const Interval& interval : this->timeline().intervals()) {
      if (interval.phase == phase) flops += interval.flops;
    }
    return flops;
  };
  EXPECT_EQ(flops_of(Phase::reduce), 2.0 * 30 * 40 * 8);
  EXPECT_EQ(flops_of(Phase::substitution), 2.0 * 30 * 40 + 8 * 8 + 8 * 7);
  // BLAS counts k (k-1) n for a unit triangle; implementations may count k^2 n.
  EXPECT_GE(flops_of(Phase::normalize), 8.0 * 7 * 40);
  EXPECT_LE(flops_of(Phase::normalize), 8.0 * 8 * 40);
}

}  // namespace
}  // namespace glinpack::test
