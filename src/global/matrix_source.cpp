#include "global/matrix_source.hpp"

#include <algorithm>
#include <utility>

#include "global/hpl_generator.hpp"

namespace glinpack {

namespace {

class HplSource final : public MatrixSource {
 public:
  HplSource(Index n, std::uint64_t seed) : n_(n), seed_(seed) {}

  Index order() const override { return n_; }

  void fill(const Distribution& distribution, GridPosition at, LocalIndex first,
            RowMajorView<double> to) const override {
    if (to.rows == 0 || to.columns == 0) return;
    const auto n = static_cast<std::uint64_t>(n_);
    const Index nb = distribution.nb;
    // along a row: n numbers further is the next column; from a block's last column to the next block's first it is
    // n times as many as there are columns of other processes between, and one
    const HplJump next_column = hpl_jump(n);
    const HplJump next_block = hpl_jump(n * static_cast<std::uint64_t>(nb * (distribution.shape.columns - 1) + 1));
    const GlobalIndex first_column = distribution.columns.global(LocalIndex(0), at.column);
    for (Index i = 0; i < to.rows; ++i) {
      const GlobalIndex row = distribution.rows.global(first + i, at.row);
      const std::uint64_t number =
          static_cast<std::uint64_t>(row.value) + static_cast<std::uint64_t>(first_column.value) * n + 1;
      std::uint64_t state = hpl_jump(number)(seed_);
      double* const values = to.row(i);
      for (Index j = 0; j < to.columns;) {
        const Index end = std::min(j + nb, to.columns);
        for (; j < end - 1; ++j) {
          values[j] = hpl_value(state);
          state = next_column(state);
        }
        values[j++] = hpl_value(state);
        state = next_block(state);
      }
    }
  }

 private:
  Index n_;
  std::uint64_t seed_;
};

class StoredSource final : public MatrixSource {
 public:
  StoredSource(Index n, std::vector<double> local_a, std::vector<double> local_b)
      : n_(n), local_a_(std::move(local_a)), local_b_(std::move(local_b)) {}

  Index order() const override { return n_; }

  void fill(const Distribution& distribution, GridPosition at, LocalIndex first,
            RowMajorView<double> to) const override {
    const Index columns_of_a = distribution.columns.lower_bound(distribution.right_hand_side(), at.column).value;
    for (Index i = 0; i < to.rows; ++i) {
      const Index row = first.value + i;
      std::copy_n(local_a_.begin() + row * columns_of_a, columns_of_a, to.row(i));
      if (to.columns > columns_of_a) to(i, columns_of_a) = local_b_[static_cast<std::size_t>(row)];
    }
  }

 private:
  Index n_;
  std::vector<double> local_a_;
  std::vector<double> local_b_;
};

}  // namespace

std::unique_ptr<MatrixSource> make_hpl_source(Index n, std::uint64_t seed) {
  return std::make_unique<HplSource>(n, seed);
}

std::unique_ptr<MatrixSource> make_stored_source(Index n, std::vector<double> local_a, std::vector<double> local_b) {
  return std::make_unique<StoredSource>(n, std::move(local_a), std::move(local_b));
}

}  // namespace glinpack
