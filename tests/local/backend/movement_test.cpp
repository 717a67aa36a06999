// Every backend executes the operations that only move elements exactly.

#include "tests/local/backend_checks.hpp"

namespace glinpack::test {
namespace {

struct MovementExtents {
  Index rows;
  Index columns;
};
constexpr MovementExtents all_extents[] = {{1, 1}, {1, 17}, {17, 1}, {3, 5}, {32, 32}, {33, 31}, {64, 130}, {257, 70}};

template <class Case>
class Movement : public BackendTest<Case> {};
TYPED_TEST_SUITE(Movement, AllCases, CaseNames);

TYPED_TEST(Movement, a_new_matrix_is_zero) {
  auto matrix = this->tested().allocate(37, 53);
  for (const auto element : this->get(this->tested(), *matrix)) ASSERT_EQ(element, 0);
}

TYPED_TEST(Movement, a_matrix_without_rows_or_columns_can_be_allocated) {
  for (const auto& [rows, columns] : {MovementExtents{0, 0}, MovementExtents{0, 5}, MovementExtents{5, 0}}) {
    auto matrix = this->tested().allocate(rows, columns);
    EXPECT_EQ(matrix->rows(), rows);
    EXPECT_EQ(matrix->columns(), columns);
  }
  EXPECT_EQ(this->tested().allocate_host(0)->size(), 0);
}

TYPED_TEST(Movement, a_matrix_larger_than_the_memory_is_rejected) {
  constexpr Index side = Index{1} << 22;
  EXPECT_THAT([&] { this->tested().allocate(side, side); },
              testing::ThrowsMessage<std::runtime_error>(testing::Not("")));
}

TYPED_TEST(Movement, transfers_are_exact_and_change_nothing_else) {
  for (const auto& [rows, columns] : all_extents) {
    for (const Index gap : {0, 3}) check_transfers(*this, rows, columns, gap);
  }
}

TYPED_TEST(Movement, copies_on_the_device_are_exact) {
  for (const auto& [rows, columns] : all_extents) check_copies(*this, rows, columns);
}

TYPED_TEST(Movement, gathered_scattered_and_permuted_rows_are_exact) {
  for (const auto& [rows, columns] : all_extents) check_rows(*this, rows, columns, 1);
  check_rows(*this, 300, 129, 0);
  check_rows(*this, 30, 1100, 4);
}

TYPED_TEST(Movement, rows_move_as_one_parallel_assignment) {
  const std::vector<std::vector<RowMove>> sets{
      {},
      {{4, 4}},
      {{0, 9}},                                  // a copy
      {{0, 9}, {9, 0}},                          // an exchange
      {{1, 5}, {5, 8}, {8, 1}},                  // a cycle
      {{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 5}},  // a chain: each target is the next source
      {{3, 0}, {3, 1}, {3, 2}},                  // one source with several targets
      {{0, 9}, {9, 0}, {1, 5}, {5, 8}, {8, 1}, {2, 2}},
  };
  for (const Index columns : {Index{1}, Index{3}, Index{64}, Index{301}}) {
    for (const std::vector<RowMove>& moves : sets) {
      auto a = this->operand(10, columns);
      this->tested().move_rows(a.tested, moves);
      this->reference().move_rows(a.expected, moves);
      this->expect_same(a);
    }
  }
}

TYPED_TEST(Movement, moving_empty_blocks_has_no_effect) {
  auto a = this->operand(8, 8);
  auto b = this->operand(8, 8);
  auto buffer = this->tested().allocate_host(64);
  for (const auto& [rows, columns] : {MovementExtents{0, 8}, MovementExtents{8, 0}, MovementExtents{0, 0}}) {
    const DeviceBlock from = a.tested.block(0, 0, rows, columns);
    const DeviceBlock to = b.tested.block(0, 0, rows, columns);
    this->tested().wait(this->tested().upload({buffer.get(), 0, rows, columns, 8}, to));
    this->tested().wait(this->tested().download(from, {buffer.get(), 0, rows, columns, 8}));
    this->tested().wait(this->tested().download_transposed(from, {buffer.get(), 0, columns, rows, 8}));
    this->tested().copy(from, to);
    this->tested().copy_transposed(from, b.tested.block(0, 0, columns, rows));
    this->tested().wait(this->tested().gather_rows(from, {}, {buffer.get(), 0, 0, columns, 8}));
    this->tested().wait(this->tested().scatter_rows({buffer.get(), 0, 0, columns, 8}, {}, to));
    this->tested().move_rows(to, {});
  }
  const std::vector<Index> some_rows{1, 2};
  this->tested().wait(this->tested().gather_rows(a.tested.block(0, 0, 8, 0), some_rows, {buffer.get(), 0, 2, 0, 8}));
  this->expect_same(a);
  this->expect_same(b);
}

TYPED_TEST(Movement, a_fence_covers_all_earlier_operations_in_order) {
  using Real = typename TypeParam::Real;
  constexpr Index n = 200;
  auto a = this->operand(n, n);
  auto first = this->host_buffer(random_elements<Real>(n * n, this->random()));
  auto second = this->host_buffer(random_elements<Real>(n * n, this->random()));
  auto seen_first = this->tested().allocate_host(n * n);
  auto seen_second = this->tested().allocate_host(n * n);
  const auto block_of = [](const auto& buffer) { return HostBlock<Real>{buffer.get(), 0, n, n, n}; };
  this->tested().upload(block_of(first), a.tested);
  const Fence after_first = this->tested().download(a.tested, block_of(seen_first));
  this->tested().upload(block_of(second), a.tested);
  this->tested().download(a.tested, block_of(seen_second));
  this->tested().wait(after_first);
  for (Index at = 0; at < n * n; ++at) ASSERT_EQ(seen_first->data()[at], first->data()[at]) << "element " << at;
  this->tested().wait(this->tested().fence());
  for (Index at = 0; at < n * n; ++at) ASSERT_EQ(seen_second->data()[at], second->data()[at]) << "element " << at;
  this->tested().wait(Fence{});
}

TYPED_TEST(Movement, the_backend_describes_itself) {
  const BackendInfo info = this->tested().info();
  EXPECT_EQ(info.backend, TypeParam::record.name);
  EXPECT_NE(info.device, "");
  EXPECT_NE(info.driver, "");
  EXPECT_EQ(info.device_index >= 0, has_device(TypeParam::record));
  EXPECT_EQ(info.kernels.empty(), info.blas.empty());
  EXPECT_GE(info.threads, 1);
}

TEST(MakeBackend, an_unknown_name_throws_an_error_with_the_known_ones) {
  Timeline timeline;
  std::vector<std::string> names = backend_names();
  names.push_back("opencl");
  for (const std::string& name : names) {
    EXPECT_THAT([&] { make_backend<float>("opencl", {}, timeline); },
                testing::ThrowsMessage<std::runtime_error>(testing::HasSubstr(name)));
  }
}

}  // namespace
}  // namespace glinpack::test
