#include "matrix/matrix_source.hpp"

#include <algorithm>
#include <type_traits>
#include <utility>

#include "base/hpl_generator.hpp"

namespace glinpack {

namespace {

class HplSource final : public MatrixSource {
 public:
  HplSource(Index n, std::uint64_t seed) : n_(n), seed_(seed) {}

  void fill(const Distribution& distribution, GridPosition at, LocalIndex first,
            RowMajorView<double> to) const override {
    if (to.rows == 0 || to.columns == 0) return;
    // The next column of a row is n numbers further. From a block's last column to the next block's first, the distance
    // is n (c + 1), with c columns of other processes between them.
    const auto n = static_cast<std::uint64_t>(n_);
    const std::uint64_t columns_between =
        static_cast<std::uint64_t>(distribution.nb * (distribution.shape.columns - 1));
    const Walk walk{hpl_jump(n), hpl_jump(n * (columns_between + 1)), distribution.nb};
    const GlobalIndex first_column = distribution.columns.global(LocalIndex(0), at.column);
    const auto start = [&](Index i) {
      const GlobalIndex row = distribution.rows.global(first + i, at.row);
      return hpl_jump(number(row, first_column))(seed_);
    };
    Index i = 0;
    for (; i + 4 <= to.rows; i += 4) {
      fill_rows<4>(walk, {start(i), start(i + 1), start(i + 2), start(i + 3)}, to.block(i, 0, 4, to.columns));
    }
    for (; i < to.rows; ++i) fill_rows<1>(walk, {start(i)}, to.block(i, 0, 1, to.columns));
  }

  // Element (i, j) is number i + j n + 1: the state of column j is number j n + 1, and row i is i steps further.
  std::optional<MatrixElements> elements(const Distribution& distribution, GridPosition at) const override {
    HplElements elements;
    for (Index i = 0; i < distribution.local_rows(at); ++i) {
      const GlobalIndex row = distribution.rows.global(LocalIndex(i), at.row);
      elements.rows.push_back(hpl_jump(static_cast<std::uint64_t>(row.value)));
    }
    for (Index j = 0; j < distribution.local_columns_of_a(at); ++j) {
      const GlobalIndex column = distribution.columns.global(LocalIndex(j), at.column);
      elements.columns.push_back(hpl_jump(number(GlobalIndex(0), column))(seed_));
    }
    return elements;
  }
  double right_hand_side(GlobalIndex row) const override {
    return hpl_value(hpl_jump(number(row, GlobalIndex(n_)))(seed_));
  }

 private:
  std::uint64_t number(GlobalIndex row, GlobalIndex column) const {
    return static_cast<std::uint64_t>(row.value) +
           static_cast<std::uint64_t>(column.value) * static_cast<std::uint64_t>(n_) + 1;
  }

  struct Walk {
    HplJump next_column;
    HplJump next_block;
    Index nb;
  };

  // Interleaves rows, since each number of a row depends on the previous one.
  template <std::size_t count>
  static void fill_rows(const Walk& walk, std::array<std::uint64_t, count> states, RowMajorView<double> to) {
    const auto fill_column = [&](Index j, const HplJump& jump) {
      for (std::size_t row = 0; row < count; ++row) {
        to(static_cast<Index>(row), j) = hpl_value(states[row]);
        states[row] = jump(states[row]);
      }
    };
    for (Index j = 0; j < to.columns;) {
      const Index last = std::min(j + walk.nb, to.columns) - 1;
      for (; j < last; ++j) fill_column(j, walk.next_column);
      fill_column(j++, walk.next_block);
    }
  }

  Index n_;
  std::uint64_t seed_;
};

/// A given by element(i, j), b uniform.
template <class Element>
class FormulaSource final : public MatrixSource {
 public:
  FormulaSource(Index n, std::uint64_t seed, Element element) : n_(n), seed_(seed), element_(std::move(element)) {}

  void fill(const Distribution& distribution, GridPosition at, LocalIndex first,
            RowMajorView<double> to) const override {
    const Index columns_of_a = distribution.local_columns_of_a(at);
    for (Index i = 0; i < to.rows; ++i) {
      const Index row = distribution.rows.global(first + i, at.row).value;
      double* const values = to.row(i);
      for (Index j = 0; j < columns_of_a;) {
        Index column = distribution.columns.global(LocalIndex(j), at.column).value;
        for (const Index end = std::min(j + distribution.nb, columns_of_a); j < end; ++j) {
          values[j] = element_(row, column++);
        }
      }
      if (to.columns > columns_of_a) values[columns_of_a] = uniform_element(n_, seed_, row, n_);
    }
  }

  std::optional<MatrixElements> elements(const Distribution& distribution, GridPosition at) const override {
    if constexpr (std::is_same_v<Element, MxpElement>) {
      MxpElements elements{n_, {}, {}};
      for (Index i = 0; i < distribution.local_rows(at); ++i) {
        const GlobalIndex row = distribution.rows.global(LocalIndex(i), at.row);
        elements.rows.push_back(static_cast<std::int32_t>(row.value));
      }
      for (Index j = 0; j < distribution.local_columns_of_a(at); ++j) {
        const GlobalIndex column = distribution.columns.global(LocalIndex(j), at.column);
        elements.columns.push_back(static_cast<std::int32_t>(column.value));
      }
      return elements;
    }
    return std::nullopt;
  }
  double right_hand_side(GlobalIndex row) const override { return uniform_element(n_, seed_, row.value, n_); }

 private:
  Index n_;
  std::uint64_t seed_;
  Element element_;
};

// Holds a rank's part of A (local rows x local columns, row-major) and of b.
class StoredSource final : public MatrixSource {
 public:
  StoredSource(std::vector<double> local_a, std::vector<double> local_b)
      : local_a_(std::move(local_a)), local_b_(std::move(local_b)) {}

  void fill(const Distribution& distribution, GridPosition at, LocalIndex first,
            RowMajorView<double> to) const override {
    const Index columns_of_a = distribution.local_columns_of_a(at);
    for (Index i = 0; i < to.rows; ++i) {
      const Index row = first.value + i;
      std::copy_n(local_a_.begin() + row * columns_of_a, columns_of_a, to.row(i));
      if (to.columns > columns_of_a) to(i, columns_of_a) = local_b_[static_cast<std::size_t>(row)];
    }
  }

 private:
  std::vector<double> local_a_;
  std::vector<double> local_b_;
};

}  // namespace

std::unique_ptr<MatrixSource> make_hpl_source(Index n, std::uint64_t seed) {
  return std::make_unique<HplSource>(n, seed);
}

std::unique_ptr<MatrixSource> make_source(MatrixKind kind, Index n, std::uint64_t seed) {
  if (kind == MatrixKind::hpl) return make_hpl_source(n, seed);
  if (kind == MatrixKind::mxp) return std::make_unique<FormulaSource<MxpElement>>(n, seed, MxpElement(n));
  return make_formula_source(matrix_element(kind, n, seed), n, seed);
}

std::unique_ptr<MatrixSource> make_formula_source(MatrixElement element, Index n, std::uint64_t seed) {
  return std::make_unique<FormulaSource<MatrixElement>>(n, seed, std::move(element));
}

std::unique_ptr<MatrixSource> make_stored_source(std::vector<double> local_a, std::vector<double> local_b) {
  return std::make_unique<StoredSource>(std::move(local_a), std::move(local_b));
}

}  // namespace glinpack
