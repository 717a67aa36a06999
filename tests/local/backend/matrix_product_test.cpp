// Compares products with matrices whose elements are generated on the device and on the host.
#include "base/matrix_product.hpp"

#include "tests/local/backend_harness.hpp"

namespace glinpack {
namespace {

using namespace test;

/// Random 64-bit jumps and states: a superset of those of a matrix.
HplElements random_elements_of(Index rows, Index columns) {
  Random random(static_cast<std::uint64_t>(1000 * rows + columns));
  HplElements elements;
  for (Index i = 0; i < rows; ++i) elements.rows.push_back({random(), random()});
  for (Index j = 0; j < columns; ++j) elements.columns.push_back(random());
  return elements;
}

/// Rows and columns in another order than those of a matrix.
MxpElements mxp_elements_of(Index rows, Index columns) {
  MxpElements elements{1000, {}, {}};
  for (Index i = 0; i < rows; ++i) elements.rows.push_back(static_cast<std::int32_t>(i * 611 % 1000));
  for (Index j = 0; j < columns; ++j) elements.columns.push_back(static_cast<std::int32_t>(j * 377 % 1000));
  return elements;
}

double generated(const HplElements& elements, std::size_t i, std::size_t j) {
  return hpl_value(elements.rows[i](elements.columns[j]));
}
double generated(const MxpElements& elements, std::size_t i, std::size_t j) {
  return MxpElement(elements.n)(elements.rows[i], elements.columns[j]);
}
template <class Elements>
double element(const Elements& elements, std::size_t i, std::size_t j, Precision precision) {
  const double value = generated(elements, i, j);
  return precision == Precision::single ? static_cast<double>(static_cast<float>(value)) : value;
}

template <class Case>
class MatrixProducts : public BackendTest<Case> {
 protected:
  void SetUp() override {
    BackendTest<Case>::SetUp();
    if (this->IsSkipped()) return;
    if (!product_with(random_elements_of(1, 1), Precision::single)) GTEST_SKIP() << "the backend has no such products";
  }
  std::unique_ptr<MatrixProduct> product_with(const MatrixElements& elements, Precision precision) {
    return this->tested().make_matrix_product(elements, precision, DeviceUse::always);
  }
};
TYPED_TEST_SUITE(MatrixProducts, CasesIf<has_device>::Types, CaseNames);

constexpr Precision precisions[] = {Precision::single, Precision::double_};

TYPED_TEST(MatrixProducts, GenerateBitwiseTheElementsOfTheHost) {
  constexpr std::size_t rows = 70, columns = 300;
  struct Variant {
    MatrixElements elements;
    Precision precision;
    std::size_t step;  // from a column that is looked at to the next
  };
  for (const Variant& variant : {Variant{random_elements_of(rows, columns), Precision::single, 1},
                                 Variant{random_elements_of(rows, columns), Precision::double_, 1},
                                 Variant{mxp_elements_of(rows, columns), Precision::double_, 7}}) {
    const auto product = this->product_with(variant.elements, variant.precision);
    for (std::size_t j = 0; j < columns; j += variant.step) {
      std::vector<double> unit(columns), column(rows);
      unit[j] = 1;
      product->multiply(unit, column);
      for (std::size_t i = 0; i < rows; ++i) {
        const double expected = std::visit(
            [&](const auto& elements) { return element(elements, i, j, variant.precision); }, variant.elements);
        ASSERT_EQ(column[i], expected) << i << ", " << j << ", " << name_of(variant.precision);
      }
    }
  }
}

TYPED_TEST(MatrixProducts, SumOverAllElementsOfAnyExtents) {
  for (const Index rows : {0, 1, 31, 32, 33, 257, 600}) {
    for (const Index columns : {0, 1, 33, 256, 257, 513}) {
      const HplElements elements = random_elements_of(rows, columns);
      const std::vector<double> x = random_elements<double>(columns, this->random());
      for (const Precision precision : precisions) {
        SCOPED_TRACE(testing::Message() << rows << " x " << columns << ", " << name_of(precision));
        std::vector<double> expected(elements.rows.size()), expected_rows(elements.rows.size());
        std::vector<double> expected_columns(elements.columns.size());
        double largest = 0;
        for (std::size_t i = 0; i < expected.size(); ++i) {
          for (std::size_t j = 0; j < x.size(); ++j) {
            const double value = element(elements, i, j, precision);
            expected[i] += value * x[j];
            expected_rows[i] += std::abs(value);
            expected_columns[j] += std::abs(value);
            largest = std::max(largest, std::abs(value));
          }
        }
        const auto product = this->product_with(elements, precision);
        std::vector<double> y(expected.size(), -1.0), row_sums(y), column_sums(x.size(), -1.0);
        product->multiply(x, y);
        EXPECT_EQ(product->sum_rows(row_sums), largest);
        EXPECT_EQ(product->sum_columns(column_sums), largest);
        const auto expect_near = [](const std::vector<double>& sums, const std::vector<double>& wanted, Index terms) {
          const double allowed = tolerance<double>(terms) * std::max(1.0, largest_magnitude(wanted));
          for (std::size_t k = 0; k < sums.size(); ++k) ASSERT_NEAR(sums[k], wanted[k], allowed) << k;
        };
        expect_near(y, expected, columns);
        expect_near(row_sums, expected_rows, columns);
        expect_near(column_sums, expected_columns, rows);
        std::vector<double> again(y.size());
        product->multiply(x, again);
        EXPECT_EQ(again, y);
      }
    }
  }
}

TYPED_TEST(MatrixProducts, ReachRowsBeyondTheWorkGroupsOfOneDispatch) {
  constexpr std::size_t rows = 4096 * 32 + 33;
  HplElements elements = random_elements_of(100, 1);
  for (std::size_t i = 100; i < rows; ++i) elements.rows.push_back(elements.rows[i % 97]);
  const auto product = this->product_with(elements, Precision::double_);
  std::vector<double> y(rows);
  product->multiply(std::vector<double>{1.0}, y);
  for (std::size_t i = 0; i < rows; ++i) ASSERT_EQ(y[i], element(elements, i, 0, Precision::double_)) << i;
}

TYPED_TEST(MatrixProducts, PropagateNan) {
  const auto product = this->product_with(random_elements_of(40, 300), Precision::double_);
  std::vector<double> x(300, 1.0), y(40);
  x[299] = std::numeric_limits<double>::quiet_NaN();
  product->multiply(x, y);
  for (const double value : y) EXPECT_TRUE(std::isnan(value));
}

TYPED_TEST(MatrixProducts, AreRecordedAsWorkOfTheDevice) {
  const auto product = this->product_with(random_elements_of(40, 30), Precision::double_);
  this->tested().wait_all();
  this->tested().collect_timings();
  this->timeline().restart();
  std::vector<double> x(30, 1.0), y(40);
  product->multiply(x, y);
  this->tested().collect_timings();
  int intervals = 0;
  for (const Interval& interval : this->timeline().intervals()) {
    if (interval.phase != Phase::refinement) continue;
    ++intervals;
    EXPECT_EQ(interval.lane, Lane::gpu);
    EXPECT_EQ(interval.flops, 2.0 * 40 * 30);
  }
  EXPECT_EQ(intervals, 1);
}

TYPED_TEST(MatrixProducts, RejectVectorsOfWrongLength) {
  const auto product = this->product_with(random_elements_of(4, 3), Precision::double_);
  std::vector<double> three(3), four(4);
  EXPECT_THROW(product->multiply(four, four), std::invalid_argument);
  EXPECT_THROW(product->multiply(three, three), std::invalid_argument);
  EXPECT_THROW(product->sum_rows(three), std::invalid_argument);
  EXPECT_THROW(product->sum_columns(four), std::invalid_argument);
}

}  // namespace
}  // namespace glinpack
