// Compares each operation of the white paper's local algorithm (row_by_row.hpp) with the reference's arithmetic.
#include "base/row_by_row.hpp"

#include <algorithm>
#include <numeric>

#include "tests/local/backend_harness.hpp"

namespace glinpack::test {
namespace {

struct RowByRowExtents {
  Index rows;
  Index width;     // of the panel
  Index trailing;  // columns to the right of the panel
};

// Square and tall panels, no trailing columns, one row, widths not a multiple of four, blocks wider than tall.
const std::vector<RowByRowExtents> pivot_extents{{1, 1, 0},    {1, 1, 5},    {2, 2, 1},   {4, 4, 4},
                                                 {7, 3, 9},    {8, 8, 8},    {16, 8, 8},  {33, 13, 21},
                                                 {40, 16, 49}, {64, 64, 64}, {90, 30, 1}, {50, 17, 0}};

template <class Case>
class RowByRow : public BackendTest<Case> {
 protected:
  using Real = typename Case::Real;

  RowByRowAlgorithm<Real>& algorithm() { return *this->tested().row_by_row(); }
  PanelArithmetic<Real>& arithmetic() { return this->reference().panel(); }

  // A separate host block whose leading dimension and offset are not multiples of four.
  HostBlock<Real> host_block(Index rows, Index columns) {
    buffers_.push_back(this->tested().allocate_host(3 + rows * (columns + 3)));
    return {buffers_.back().get(), 3, rows, columns, columns + 3};
  }

  // Copies the expected block to column-major storage; put_back() copies it back.
  std::vector<Real> column_major_copy(const DeviceBlock<Real>& block) {
    auto buffer = this->reference().allocate_host(std::max<Index>(1, block.rows * block.columns));
    if (block.empty()) return {};
    this->reference().wait(
        this->reference().download_transposed(block, {buffer.get(), 0, block.columns, block.rows, block.rows}));
    return {buffer->data(), buffer->data() + block.rows * block.columns};
  }
  void put_back(const std::vector<Real>& elements, const DeviceBlock<Real>& block) {
    if (block.empty()) return;
    const auto matrix = this->put(this->reference(), elements, block.columns, block.rows);
    this->reference().copy_transposed(whole(*matrix), block);
  }

  // A large element in every column of the panel, in random rows: well conditioned, with known pivots.
  void set_pivots(Real* panel, Index rows, Index width, Index leading_dimension) {
    std::vector<Index> order(static_cast<std::size_t>(rows));
    std::iota(order.begin(), order.end(), Index{0});
    std::shuffle(order.begin(), order.end(), this->random());
    const Real scale = Real{4} / static_cast<Real>(std::max<Index>(width, 4));
    for (Index j = 0; j < width; ++j) {
      for (Index i = 0; i < rows; ++i) panel[i * leading_dimension + j] *= scale;
      panel[order[static_cast<std::size_t>(j)] * leading_dimension + j] =
          Real{2} + random_element<Real>(this->random());
    }
  }

  // Compares a transposed host block with a column-major one.
  void expect_transposed(const HostBlock<Real>& actual, ColumnMajorView<const Real> wanted, double allowed) {
    for (Index j = 0; j < wanted.columns; ++j) {
      for (Index i = 0; i < wanted.rows; ++i) {
        ASSERT_NEAR(actual.view()(j, i), wanted(i, j), allowed) << "element (" << i << ", " << j << ")";
      }
    }
  }

  // The expected result of pivot_rows, by the reference's panel and blocked operations, in place.
  void pivot_expected(ColumnMajorView<Real> a, std::vector<Index>& pivots) {
    const auto width = static_cast<Index>(pivots.size());
    const ColumnMajorView<Real> panel = a.block(0, 0, a.rows, width);
    const ColumnMajorView<Real> trailing = a.block(0, width, a.rows, a.columns - width);
    ASSERT_EQ(arithmetic().factorize_partial(panel, pivots), std::nullopt);
    normalize_expected(panel, pivots, trailing);
  }
  void normalize_expected(ColumnMajorView<const Real> panel, const std::vector<Index>& pivots,
                          ColumnMajorView<Real> a) {
    if (a.columns == 0) return;  // a.data may be null
    const auto width = static_cast<Index>(pivots.size());
    for (Index j = 0; j < width; ++j) {
      for (Index c = 0; c < a.columns; ++c) std::swap(a(j, c), a(pivots[static_cast<std::size_t>(j)], c));
    }
    const ColumnMajorView<Real> u = a.block(0, 0, width, a.columns);
    arithmetic().solve_unit_lower(panel.block(0, 0, width, width), u);
    arithmetic().update(panel.block(width, 0, a.rows - width, width), u, a.block(width, 0, a.rows - width, a.columns));
  }

 private:
  std::vector<std::unique_ptr<HostBuffer<Real>>> buffers_;
};

constexpr bool has_row_by_row(const BackendRecord& record) { return record.row_by_row; }
TYPED_TEST_SUITE(RowByRow, CasesIf<has_row_by_row>::Types, CaseNames);

TYPED_TEST(RowByRow, pivot_matches_the_reference_s_pivots_and_factors_and_reduces_the_rest) {
  using Real = typename TypeParam::Real;
  for (const auto& [rows, width, trailing] : pivot_extents) {
    SCOPED_TRACE(testing::Message() << rows << " x " << width << ", " << trailing << " trailing columns");
    auto a =
        this->operand(rows, width + trailing, [this, rows = rows, width = width](Real* first, Index leading_dimension) {
          this->set_pivots(first, rows, width, leading_dimension);
        });
    std::vector<Real> elements = this->column_major_copy(a.expected);
    const ColumnMajorView<Real> expected{elements.data(), rows, width + trailing, rows};
    std::vector<Index> wanted(static_cast<std::size_t>(width)), pivots(wanted);
    this->pivot_expected(expected, wanted);
    this->put_back(elements, a.expected);
    const HostBlock<Real> panel = this->host_block(width, rows);
    const HostBlock<Real> u = this->host_block(width, trailing);
    ASSERT_EQ(this->algorithm().pivot_rows(a.tested, panel, u, pivots), std::nullopt);
    EXPECT_EQ(pivots, wanted);
    const double allowed = tolerance<Real>(width + 1) * std::max(1.0, a.largest);
    this->expect_same(a, allowed);
    this->expect_transposed(panel, expected.block(0, 0, rows, width), allowed * std::max(1.0, a.largest));
    for (Index k = 0; k < width; ++k) {
      for (Index j = 0; j < trailing; ++j) ASSERT_NEAR(u.view()(k, j), expected(k, width + j), allowed);
    }
  }
}

TYPED_TEST(RowByRow, pivot_reports_the_first_column_whose_pivot_is_zero) {
  using Real = typename TypeParam::Real;
  for (const Index zero : {0, 3, 9}) {
    std::vector<Real> elements = random_elements<Real>(20 * 10, this->random());
    for (Index i = 0; i < 20; ++i) elements[static_cast<std::size_t>(i * 10 + zero)] = 0;
    const auto a = this->put(this->tested(), elements, 20, 10);
    std::vector<Index> pivots(10);
    EXPECT_EQ(this->algorithm().pivot_rows(whole(*a), this->host_block(10, 20), this->host_block(10, 0), pivots), zero);
  }
}

TYPED_TEST(RowByRow, a_nan_in_the_panel_becomes_the_pivot_and_propagates) {
  using Real = typename TypeParam::Real;
  std::vector<Real> elements = random_elements<Real>(12 * 6, this->random());
  elements[7 * 6 + 2] = std::numeric_limits<Real>::quiet_NaN();
  const auto a = this->put(this->tested(), elements, 12, 6);
  std::vector<Index> pivots(6);
  const HostBlock<Real> panel = this->host_block(6, 12);
  EXPECT_EQ(this->algorithm().pivot_rows(whole(*a), panel, this->host_block(6, 0), pivots), std::nullopt);
  EXPECT_TRUE(std::isnan(panel.view()(2, 2)));
}

TYPED_TEST(RowByRow, normalize_exchanges_eliminates_and_reduces) {
  using Real = typename TypeParam::Real;
  for (const auto& [rows, width, trailing] : pivot_extents) {
    SCOPED_TRACE(testing::Message() << rows << " x " << width << ", " << trailing << " columns");
    std::vector<Real> factors = random_elements<Real>(rows * width, this->random());
    std::vector<Real> row_major = factors;
    this->set_pivots(row_major.data(), rows, width, width);
    for (Index i = 0; i < rows; ++i) {
      for (Index j = 0; j < width; ++j)
        factors[static_cast<std::size_t>(j * rows + i)] = row_major[static_cast<std::size_t>(i * width + j)];
    }
    const ColumnMajorView<Real> l{factors.data(), rows, width, rows};
    std::vector<Index> pivots(static_cast<std::size_t>(width));
    ASSERT_EQ(this->arithmetic().factorize_partial(l, pivots), std::nullopt);
    const HostBlock<Real> panel = this->host_block(width, rows);
    for (Index j = 0; j < width; ++j) std::copy_n(l.column(j), rows, panel.view().row(j));

    auto a = this->operand(rows, trailing);
    std::vector<Real> elements = this->column_major_copy(a.expected);
    const ColumnMajorView<Real> expected{elements.data(), rows, trailing, rows};
    this->normalize_expected(l, pivots, expected);
    this->put_back(elements, a.expected);
    const HostBlock<Real> u = this->host_block(width, trailing);
    this->algorithm().normalize_rows(panel, pivots, a.tested, u);
    const double allowed = tolerance<Real>(width + 1) * std::max(1.0, largest_magnitude(elements));
    this->expect_same(a, allowed);
    for (Index k = 0; k < width; ++k) {
      for (Index j = 0; j < trailing; ++j) ASSERT_NEAR(u.view()(k, j), expected(k, j), allowed);
    }
  }
}

TYPED_TEST(RowByRow, eliminate_computes_the_multipliers) {
  using Real = typename TypeParam::Real;
  for (const auto& [rows, width, unused] : pivot_extents) {
    SCOPED_TRACE(testing::Message() << rows << " x " << width);
    std::vector<Real> upper = random_elements<Real>(width * width, this->random());
    make_well_conditioned(upper.data(), width, width, this->random());
    const ColumnMajorView<const Real> u11{upper.data(), width, width, width};
    auto a = this->operand(rows, width);
    std::vector<Real> elements = this->column_major_copy(a.expected);
    const ColumnMajorView<Real> expected{elements.data(), rows, width, rows};
    this->arithmetic().solve_l21(u11, expected);
    this->put_back(elements, a.expected);
    const HostBlock<Real> panel = this->host_block(width, rows);
    this->algorithm().eliminate_rows(u11, a.tested, panel);
    const double allowed = tolerance<Real>(width + 1) * std::max(1.0, largest_magnitude(elements));
    this->expect_same(a, allowed);
    this->expect_transposed(panel, expected, allowed * std::max(1.0, a.largest));
  }
}

TYPED_TEST(RowByRow, reduce_subtracts_the_product_of_host_blocks) {
  using Real = typename TypeParam::Real;
  for (const auto& [rows, width, trailing] :
       {RowByRowExtents{5, 3, 0}, RowByRowExtents{0, 3, 5}, RowByRowExtents{1, 1, 1}, RowByRowExtents{9, 4, 8},
        RowByRowExtents{33, 16, 50}, RowByRowExtents{64, 20, 31}}) {
    SCOPED_TRACE(testing::Message() << rows << " x " << trailing << ", k = " << width);
    const auto filled = [this](Index block_rows, Index columns) {
      const HostBlock<Real> block = this->host_block(block_rows, columns);
      const std::vector<Real> elements = random_elements<Real>(block_rows * columns, this->random());
      for (Index i = 0; i < block_rows; ++i) std::copy_n(elements.data() + i * columns, columns, block.view().row(i));
      return block;
    };
    const HostBlock<Real> l = filled(width, rows);
    const HostBlock<Real> u = filled(width, trailing);
    auto a = this->operand(rows, trailing);
    if (rows > 0 && trailing > 0) {
      std::vector<Real> elements = this->column_major_copy(a.expected);
      const ColumnMajorView<Real> expected{elements.data(), rows, trailing, rows};
      for (Index i = 0; i < rows; ++i) {
        for (Index j = 0; j < trailing; ++j) {
          for (Index k = 0; k < width; ++k) expected(i, j) -= l.view()(k, i) * u.view()(k, j);
        }
      }
      this->put_back(elements, a.expected);
    }
    this->tested().wait(this->algorithm().reduce_rows(l, u, a.tested));
    this->expect_same(a, tolerance<Real>(width + 1));
  }
}

// The host searches for a pivot while the device reduces (white paper 3.2.1). Whether the two overlap depends on the
// machine; the order of the calls does not.
TYPED_TEST(RowByRow, the_next_pivot_is_searched_between_starting_the_reduction_and_reading_the_row) {
  using Real = typename TypeParam::Real;
  if (!this->tested().info().software_device) GTEST_SKIP() << "a GPU has its own clock";
  constexpr Index rows = 600;
  constexpr Index width = 8;
  const auto a = this->put(this->tested(), random_elements<Real>(rows * rows, this->random()), rows, rows);
  std::vector<Index> pivots(width);
  this->timeline().restart();
  ASSERT_EQ(this->algorithm().pivot_rows(whole(*a), this->host_block(width, rows),
                                         this->host_block(width, rows - width), pivots),
            std::nullopt);
  this->tested().wait_all();
  this->tested().collect_timings();
  std::vector<double> reductions, transfers, searches;
  for (const Interval& interval : this->timeline().intervals()) {
    if (interval.lane == Lane::cpu && interval.phase == Phase::panel) searches.push_back(interval.start);
    if (interval.lane == Lane::gpu && interval.phase == Phase::reduce) reductions.push_back(interval.start);
    if (interval.lane == Lane::gpu && interval.phase == Phase::transfer) transfers.push_back(interval.start);
  }
  for (std::vector<double>* starts : {&reductions, &transfers, &searches}) std::sort(starts->begin(), starts->end());
  EXPECT_EQ(reductions.size(), static_cast<std::size_t>(width));
  for (const double reduction : reductions) {
    const auto search = std::upper_bound(searches.begin(), searches.end(), reduction);
    const auto transfer = std::upper_bound(transfers.begin(), transfers.end(), reduction);
    ASSERT_TRUE(search != searches.end() && transfer != transfers.end());
    EXPECT_LT(*search, *transfer);
  }
}

}  // namespace
}  // namespace glinpack::test
