// The operations of a backend beside the reference's, for extents of the caller's choice.
#pragma once

#include <numeric>
#include <vector>

#include "tests/local/backend_harness.hpp"

namespace glinpack::test {

inline constexpr Triangle triangles[] = {Triangle::unit_lower, Triangle::upper};

inline std::string name_of(Triangle triangle) { return triangle == Triangle::upper ? "upper" : "unit lower"; }

template <class Real>
void check_update(BackendPair<Real>& pair, Index rows, Index columns, Index k) {
  SCOPED_TRACE(testing::Message() << "update of " << rows << " x " << columns << ", k = " << k);
  const auto l21 = pair.operand(k, rows), u12 = pair.operand(k, columns), a22 = pair.operand(rows, columns);
  pair.tested().update(l21.tested, u12.tested, a22.tested);
  pair.reference().update(l21.expected, u12.expected, a22.expected);
  pair.expect_same(a22, tolerance<Real>(k));
  pair.expect_same(l21);
  pair.expect_same(u12);
}

template <class Real>
void check_solve_unit_lower(BackendPair<Real>& pair, Index k, Index columns) {
  SCOPED_TRACE(testing::Message() << "solve_unit_lower of " << k << " x " << columns);
  const auto l11 = pair.operand(k, k, [&](Real* first, Index leading_dimension) {
    make_well_conditioned(first, k, leading_dimension, pair.random());
    // neither the diagonal nor the lower triangle is read
    for (Index i = 0; i < k; ++i) {
      std::fill_n(first + i * leading_dimension, i + 1, std::numeric_limits<Real>::quiet_NaN());
    }
  });
  const auto a12 = pair.operand(k, columns);
  pair.tested().solve_unit_lower(l11.tested, a12.tested);
  pair.reference().solve_unit_lower(l11.expected, a12.expected);
  pair.expect_same(a12, tolerance<Real>(k));
}

template <class Real>
void check_solve_triangle(BackendPair<Real>& pair, Triangle triangle, Index k, Index columns) {
  SCOPED_TRACE(testing::Message() << "solve_triangle, " << name_of(triangle) << ", " << k << " x " << columns);
  const auto t = pair.operand(k, k, [&](Real* first, Index leading_dimension) {
    make_well_conditioned(first, k, leading_dimension, pair.random());
    for (Index i = 0; i < k; ++i) {  // nothing but the triangle is read
      Real* const row = first + i * leading_dimension;
      const Index begin = triangle == Triangle::upper ? 0 : i, end = triangle == Triangle::upper ? i : k;
      std::fill(row + begin, row + end, std::numeric_limits<Real>::quiet_NaN());
    }
  });
  const auto x = pair.operand(k, columns);
  pair.tested().solve_triangle(triangle, t.tested, x.tested);
  pair.reference().solve_triangle(triangle, t.expected, x.expected);
  pair.expect_same(x, tolerance<Real>(k));
}

template <class Real>
void check_subtract_product(BackendPair<Real>& pair, Index rows, Index columns) {
  SCOPED_TRACE(testing::Message() << "subtract_product of " << rows << " x " << columns);
  const auto a = pair.operand(rows, columns), x = pair.operand(columns, 1), y = pair.operand(rows, 1);
  pair.tested().subtract_product(a.tested, x.tested, y.tested);
  pair.reference().subtract_product(a.expected, x.expected, y.expected);
  pair.expect_same(y, tolerance<Real>(columns));
}

/// Host memory of both backends, with the same elements: a block whose rows are `gap` elements apart, in a larger
/// buffer.
template <class Real>
class HostBlocks {
 public:
  HostBlocks(BackendPair<Real>& pair, Index rows, Index columns, Index gap) {
    const Index offset = pair.up_to(100), leading_dimension = columns + gap;
    const std::vector<Real> elements = random_elements<Real>(offset + rows * leading_dimension, pair.random());
    for (Backend<Real>* backend : {&pair.tested(), &pair.reference()}) {
      buffers_.push_back(backend->allocate_host(static_cast<Index>(elements.size())));
      std::copy(elements.begin(), elements.end(), buffers_.back()->data());
    }
    tested = {buffers_[0].get(), offset, rows, columns, leading_dimension};
    expected = {buffers_[1].get(), offset, rows, columns, leading_dimension};
  }

  /// `gaps`: also the elements between the rows.
  void expect_same(bool gaps = true) const {
    for (Index at = 0; at < buffers_[0]->size(); ++at) {
      if (!gaps && at > tested.offset && (at - tested.offset) % tested.leading_dimension >= tested.columns) continue;
      ASSERT_EQ(buffers_[0]->data()[at], buffers_[1]->data()[at]) << "element " << at;
    }
  }

 private:
  std::vector<std::unique_ptr<HostBuffer<Real>>> buffers_;

 public:
  HostBlock<Real> tested;
  HostBlock<Real> expected;
};

/// Uploads, downloads and downloads of the transpose are exact and change nothing else; downloads may change the
/// elements between rows unless `gaps`.
template <class Real>
void check_transfers(BackendPair<Real>& pair, Index rows, Index columns, Index gap, bool gaps = true) {
  SCOPED_TRACE(testing::Message() << "transfers of " << rows << " x " << columns << ", gap " << gap);
  const auto a = pair.operand(rows, columns);
  const HostBlocks<Real> sent(pair, rows, columns, gap), seen(pair, rows, columns, gap),
      turned(pair, columns, rows, gap);
  pair.tested().upload(sent.tested, a.tested);
  pair.reference().upload(sent.expected, a.expected);
  pair.tested().download(a.tested, seen.tested);
  pair.reference().download(a.expected, seen.expected);
  pair.tested().wait(pair.tested().download_transposed(a.tested, turned.tested));
  pair.reference().download_transposed(a.expected, turned.expected);
  for (Index i = 0; i < rows; ++i) {
    for (Index j = 0; j < columns; ++j) ASSERT_EQ(seen.tested.view()(i, j), sent.tested.view()(i, j));
  }
  seen.expect_same(gaps);
  turned.expect_same(gaps);
  pair.expect_same(a);
}

/// Copies on the device, plain and transposed.
template <class Real>
void check_copies(BackendPair<Real>& pair, Index rows, Index columns) {
  SCOPED_TRACE(testing::Message() << "copies of " << rows << " x " << columns);
  const auto from = pair.operand(rows, columns), to = pair.operand(rows, columns), turned = pair.operand(columns, rows);
  pair.tested().copy(from.tested, to.tested);
  pair.reference().copy(from.expected, to.expected);
  pair.tested().copy_transposed(from.tested, turned.tested);
  pair.reference().copy_transposed(from.expected, turned.expected);
  pair.expect_same(to);
  pair.expect_same(turned);
  pair.expect_same(from);
}

/// Half of the rows, in random order, to and from host memory; then all rows by a permutation.
template <class Real>
void check_rows(BackendPair<Real>& pair, Index rows, Index columns, Index gap) {
  SCOPED_TRACE(testing::Message() << "rows of " << rows << " x " << columns << ", gap " << gap);
  std::vector<Index> order(static_cast<std::size_t>(rows));
  std::iota(order.begin(), order.end(), Index{0});
  std::shuffle(order.begin(), order.end(), pair.random());
  std::vector<RowMove> moves;
  for (Index from = 0; from < rows; ++from) moves.push_back({from, order[static_cast<std::size_t>(from)]});
  order.resize((order.size() + 1) / 2);
  const auto a = pair.operand(rows, columns), b = pair.operand(rows, columns);
  const HostBlocks<Real> listed(pair, static_cast<Index>(order.size()), columns, gap);
  pair.tested().wait(pair.tested().gather_rows(a.tested, order, listed.tested));
  pair.reference().gather_rows(a.expected, order, listed.expected);
  listed.expect_same();
  pair.tested().wait(pair.tested().scatter_rows(listed.tested, order, b.tested));
  pair.reference().scatter_rows(listed.expected, order, b.expected);
  pair.tested().move_rows(a.tested, moves);
  pair.reference().move_rows(a.expected, moves);
  pair.expect_same(a);
  pair.expect_same(b);
}

}  // namespace glinpack::test
