// Transfers that overlap kernels, in a second queue: they copy the values at the time of the call.
#include <gtest/gtest.h>

#include <algorithm>

#include "gl/gl_compute.hpp"
#include "tests/local/backend_harness.hpp"
#include "tests/local/compute_cases.hpp"
#include "tests/local/device_values.hpp"

namespace glinpack::test {
namespace {

template <class Case>
class CopyQueueTest : public testing::Test {
 protected:
  using Real = typename Case::Real;
  static constexpr Index rows = 37, columns = 150;
  // narrow stripes; every transfer in the queue
  static constexpr ComputeLimits limits{.stripe_width = 64, .queued_bytes = 1};

  void SetUp() override {
    BackendOptions options;
    options.debug = true;
    options.device = Case::any_device();
    if (options.device < 0) GTEST_SKIP() << "no device";
    backend_ = Case::make(options, timeline_, limits);
  }

  Timeline timeline_;
  std::unique_ptr<Backend<Real>> backend_;
};
TYPED_TEST_SUITE(CopyQueueTest, ComputeCases, ComputeCaseNames);

TYPED_TEST(CopyQueueTest, UploadsAndDownloads) {
  const auto values = random_values<typename TypeParam::Real>(this->rows, this->columns, 1);
  const auto matrix = on_device(*this->backend_, values);
  EXPECT_EQ(from_device(*this->backend_, *matrix), values);
}

TYPED_TEST(CopyQueueTest, PartsOfBuffersAndMatrices) {
  constexpr Index above = 3, offset = 5, width = 70, padding = HostBlock<typename TypeParam::Real>::padding;
  const auto values = random_values<typename TypeParam::Real>(this->rows, this->columns, 2);
  const auto matrix = on_device(*this->backend_, values);
  const auto buffer = this->backend_->allocate_host(this->rows * this->columns);
  std::fill_n(buffer->data(), buffer->size(), typename TypeParam::Real(7));
  const HostBlock<typename TypeParam::Real> part{buffer.get(), offset, 10, width, width + padding};
  this->backend_->wait(this->backend_->download(whole(*matrix).block(above, 60, 10, width), part));
  for (Index i = 0; i < part.rows; ++i) {
    for (Index j = 0; j < width; ++j) ASSERT_EQ(part.view()(i, j), values(above + i, 60 + j)) << i << ", " << j;
  }
  for (Index e = 0; e < offset; ++e) EXPECT_EQ(buffer->data()[e], typename TypeParam::Real(7));
  const Index end = offset + (part.rows - 1) * part.leading_dimension + width;
  EXPECT_TRUE(std::all_of(buffer->data() + end, buffer->data() + buffer->size(), [](auto e) { return e == 7; }));

  auto expected = values;
  for (Index i = 0; i < part.rows; ++i) {
    for (Index j = 0; j < width; ++j) expected(20 + i, 1 + j) = values(above + i, 60 + j);
  }
  this->backend_->wait(this->backend_->upload(part, whole(*matrix).block(20, 1, 10, width)));
  EXPECT_EQ(from_device(*this->backend_, *matrix), expected);
}

// A download of distant rows must not change the elements between them.
TYPED_TEST(CopyQueueTest, LeavesElementsBetweenDistantRowsUnchanged) {
  const auto values = random_values<typename TypeParam::Real>(this->rows, this->columns, 3);
  const auto matrix = on_device(*this->backend_, values);
  constexpr Index width = 4, leading_dimension = width + HostBlock<typename TypeParam::Real>::padding + 1;
  const auto buffer = this->backend_->allocate_host(this->rows * leading_dimension);
  std::fill_n(buffer->data(), buffer->size(), typename TypeParam::Real(7));
  const HostBlock<typename TypeParam::Real> part{buffer.get(), 0, this->rows, width, leading_dimension};
  this->backend_->wait(this->backend_->download(whole(*matrix).block(0, 0, this->rows, width), part));
  for (Index i = 0; i < this->rows; ++i) {
    for (Index j = 0; j < leading_dimension; ++j) {
      ASSERT_EQ(buffer->data()[i * leading_dimension + j], j < width ? values(i, j) : typename TypeParam::Real(7))
          << i << ", " << j;
    }
  }
}

TYPED_TEST(CopyQueueTest, DownloadsPanelsTransposed) {
  const auto values = random_values<typename TypeParam::Real>(this->rows, this->columns, 4);
  const auto matrix = on_device(*this->backend_, values);
  const auto buffer = this->backend_->allocate_host(this->rows * this->columns);
  const HostBlock<typename TypeParam::Real> part{buffer.get(), 0, this->columns, this->rows, this->rows};
  this->backend_->wait(this->backend_->download_transposed(whole(*matrix), part));
  for (Index i = 0; i < this->rows; ++i) {
    for (Index j = 0; j < this->columns; ++j) ASSERT_EQ(part.view()(j, i), values(i, j)) << i << ", " << j;
  }
}

// A download does not see later kernels, and later kernels see an upload, in any order of waiting.
TYPED_TEST(CopyQueueTest, KeepsTheOrderOfOperations) {
  auto& backend = *this->backend_;
  const auto first = random_values<typename TypeParam::Real>(this->rows, this->columns, 5);
  const auto second = random_values<typename TypeParam::Real>(this->rows, this->columns, 6);
  const auto matrix = on_device(backend, first);
  const auto other = on_device(backend, second);
  const auto third = backend.allocate(this->rows, this->columns);
  const auto seen = backend.allocate_host(this->rows * this->columns);
  const auto sent = backend.allocate_host(this->rows * this->columns);
  const HostBlock<typename TypeParam::Real> seen_block{seen.get(), 0, this->rows, this->columns, this->columns};
  const HostBlock<typename TypeParam::Real> sent_block{sent.get(), 0, this->rows, this->columns, this->columns};
  std::copy(second.elements.begin(), second.elements.end(), sent->data());
  const Fence downloaded = backend.download(whole(*matrix), seen_block);
  backend.upload(sent_block, whole(*matrix));
  backend.copy(whole(*matrix), whole(*third));
  backend.wait(downloaded);
  EXPECT_TRUE(std::equal(first.elements.begin(), first.elements.end(), seen->data()));
  EXPECT_EQ(from_device(backend, *third), second);
  backend.download(whole(*other), seen_block);
  backend.wait_all();
  EXPECT_TRUE(std::equal(second.elements.begin(), second.elements.end(), seen->data()));
}

TYPED_TEST(CopyQueueTest, RecordsCopiesInASeparateLane) {
  const auto values = random_values<typename TypeParam::Real>(this->rows, this->columns, 7);
  this->timeline_.restart();
  const auto matrix = on_device(*this->backend_, values);
  EXPECT_EQ(from_device(*this->backend_, *matrix), values);
  this->backend_->wait_all();
  this->backend_->collect_timings();
  std::int64_t bytes = 0, elsewhere = 0;
  for (const Interval& interval : this->timeline_.intervals()) {
    if (interval.phase != Phase::transfer) continue;
    (interval.lane == Lane::copy ? bytes : elsewhere) += interval.bytes;
    EXPECT_LE(interval.start, interval.end);
  }
  EXPECT_EQ(bytes, 2 * this->rows * this->columns * static_cast<std::int64_t>(sizeof(typename TypeParam::Real)));
  EXPECT_EQ(elsewhere, 0);
}

}  // namespace
}  // namespace glinpack::test
