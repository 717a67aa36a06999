// Transfers that overlap kernels, in a second queue: they copy the values at the time of the call.

#include <algorithm>

#include "gl/gl_compute.hpp"
#include "tests/local/backend_checks.hpp"
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
    const BackendOptions options{.device = Case::any_device(), .debug = true};
    if (options.device < 0) GTEST_SKIP() << "no device";
    backend_ = Case::make(options, timeline_, limits);
  }

  Timeline timeline_;
  std::unique_ptr<Backend<Real>> backend_;
};
TYPED_TEST_SUITE(CopyQueueTest, ComputeCases, ComputeCaseNames);

TYPED_TEST(CopyQueueTest, TransfersAreExactAndChangeNothingElse) {
  using Real = typename TypeParam::Real;
  Timeline timeline;
  const auto reference = make_backend<Real>(oracle.name, {}, timeline);
  BackendPair<Real> pair(this->backend_.get(), reference.get(), 130);
  constexpr Index padding = HostBlock<Real>::padding;
  for (const Index gap : {Index{0}, padding, padding + 1}) {
    const bool gaps = gap > padding;
    check_transfers(pair, this->rows, this->columns, gap, gaps);
    check_transfers(pair, this->rows, 4, gap, gaps);
    check_transfers(pair, 10, 70, gap, gaps);
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
