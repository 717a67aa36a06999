#include "matrix/matrix_source.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>

#include "backend/hpl_generator.hpp"
#include "mpi/communication.hpp"

namespace glinpack {

namespace {

class HplSource final : public MatrixSource {
 public:
  HplSource(Index n, std::uint64_t seed) : n_(n), seed_(seed) {}

  Index order() const override { return n_; }

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
  std::optional<HplElements> hpl_elements(const Distribution& distribution, GridPosition at) const override {
    HplElements elements;
    for (Index i = 0; i < distribution.local_rows(at); ++i) {
      const GlobalIndex row = distribution.rows.global(LocalIndex(i), at.row);
      elements.rows.push_back(hpl_jump(static_cast<std::uint64_t>(row.value)));
    }
    for (Index j = 0; j < distribution.local_columns(at); ++j) {
      const GlobalIndex column = distribution.columns.global(LocalIndex(j), at.column);
      elements.columns.push_back(hpl_jump(number(GlobalIndex(0), column))(seed_));
    }
    return elements;
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

constexpr double diagonal_of_hilbert = 0x1p-10;
constexpr Index log2_growth_of_wilkinson = 30;

/// Uniform in [-1, 1): the upper 53 bits of number i (n+1) + j.
struct Uniform {
  Index n;
  std::uint64_t seed;

  double operator()(Index i, Index j) const {
    const auto number =
        static_cast<std::uint64_t>(i) * static_cast<std::uint64_t>(n + 1) + static_cast<std::uint64_t>(j);
    return static_cast<double>(splitmix64(seed, number) >> 11U) * 0x1p-52 - 1;
  }
};

struct Hilbert {
  Index n;
  bool reversed;

  double operator()(Index i, Index j) const {
    const Index row = reversed ? n - 1 - i : i;
    return 1 / static_cast<double>(row + j + 1) + (row == j ? diagonal_of_hilbert : 0);
  }
};

struct Wilkinson {
  Index n;
  double below;

  explicit Wilkinson(Index order) : n(order), below(-1) {
    if (n - 1 > log2_growth_of_wilkinson) {
      below = 1 - std::exp2(static_cast<double>(log2_growth_of_wilkinson) / static_cast<double>(n - 1));
    }
  }

  double operator()(Index i, Index j) const { return i == j || j == n - 1 ? 1 : i > j ? below : 0; }
};

struct Dominant {
  Uniform off_diagonal;

  double operator()(Index i, Index j) const {
    return i == j ? static_cast<double>(off_diagonal.n) : off_diagonal(i, j);
  }
};

/// A given by element(i, j), b uniform.
template <class Element>
class FormulaSource final : public MatrixSource {
 public:
  FormulaSource(Index n, std::uint64_t seed, Element element)
      : n_(n), element_(std::move(element)), right_hand_side_{n, seed} {}

  Index order() const override { return n_; }

  void fill(const Distribution& distribution, GridPosition at, LocalIndex first,
            RowMajorView<double> to) const override {
    const Index columns_of_a = distribution.columns.lower_bound(distribution.right_hand_side(), at.column).value;
    for (Index i = 0; i < to.rows; ++i) {
      const Index row = distribution.rows.global(first + i, at.row).value;
      double* const values = to.row(i);
      for (Index j = 0; j < columns_of_a;) {
        Index column = distribution.columns.global(LocalIndex(j), at.column).value;
        for (const Index end = std::min(j + distribution.nb, columns_of_a); j < end; ++j) {
          values[j] = element_(row, column++);
        }
      }
      if (to.columns > columns_of_a) values[columns_of_a] = right_hand_side_(row, n_);
    }
  }

 private:
  Index n_;
  Element element_;
  Uniform right_hand_side_;
};

template <class Element>
std::unique_ptr<MatrixSource> formula(Index n, std::uint64_t seed, Element element) {
  return std::make_unique<FormulaSource<Element>>(n, seed, std::move(element));
}

// The elements of a row of A on a process column, then the sum of the whole row.
std::vector<double> pack_row(const Distribution& distribution, const double* row, int column) {
  const Index columns = distribution.columns.lower_bound(distribution.right_hand_side(), column).value;
  std::vector<double> packed(static_cast<std::size_t>(columns + 1));
  for (Index j = 0; j < columns; j += distribution.nb) {
    const Index first = distribution.columns.global(LocalIndex(j), column).value;
    std::copy_n(row + first, std::min(distribution.nb, columns - j), packed.begin() + j);
  }
  packed.back() = std::accumulate(row, row + distribution.n, 0.0);
  return packed;
}

// Holds a rank's part of A (local rows x local columns, row-major) and of b.
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

std::uint64_t splitmix64(std::uint64_t seed, std::uint64_t number) {
  std::uint64_t z = seed + (number + 1) * 0x9e3779b97f4a7c15U;
  z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31U);
}

std::string_view name_of(MatrixKind kind) {
  switch (kind) {
    case MatrixKind::hpl:
      return "hpl";
    case MatrixKind::uniform:
      return "uniform";
    case MatrixKind::hilbert:
      return "hilbert";
    case MatrixKind::hilbert_reversed:
      return "hilbert-reversed";
    case MatrixKind::wilkinson:
      return "wilkinson";
    case MatrixKind::dominant:
      return "dominant";
    case MatrixKind::file:
      return "file";
  }
  return "?";
}

std::string_view description_of(MatrixKind kind) {
  switch (kind) {
    case MatrixKind::hpl:
      return "HPL's own, randomly generated for each test.";
    case MatrixKind::uniform:
      return "random, uniform in [-1, 1); so is the right-hand side.";
    case MatrixKind::hilbert:
      return "Hilbert's plus 2^-10 on the diagonal; the right-hand side is random.";
    case MatrixKind::hilbert_reversed:
      return "Hilbert's plus 2^-10 on the diagonal, rows reversed; the right-hand side is random.";
    case MatrixKind::wilkinson:
      return "Wilkinson's, of growth 2^min(N-1,30); the right-hand side is random.";
    case MatrixKind::dominant:
      return "random and strictly diagonally dominant; the right-hand side is random.";
    case MatrixKind::file:
      return "read from a file; the right-hand side is A times ones.";
  }
  return "?";
}

std::unique_ptr<MatrixSource> make_source(MatrixKind kind, Index n, std::uint64_t seed) {
  switch (kind) {
    case MatrixKind::hpl:
      return make_hpl_source(n, seed);
    case MatrixKind::uniform:
      return formula(n, seed, Uniform{n, seed});
    case MatrixKind::hilbert:
      return formula(n, seed, Hilbert{n, false});
    case MatrixKind::hilbert_reversed:
      return formula(n, seed, Hilbert{n, true});
    case MatrixKind::wilkinson:
      return formula(n, seed, Wilkinson(n));
    case MatrixKind::dominant:
      return formula(n, seed, Dominant{{n, seed}});
    case MatrixKind::file:
      break;
  }
  throw std::invalid_argument("a matrix from a file is no formula");
}

std::unique_ptr<MatrixSource> scatter_matrix(const ProcessGrid& grid, const Distribution& distribution,
                                             const std::vector<double>* dense_on_root) {
  const GridPosition at = grid.position();
  const Index rows = distribution.local_rows(at);
  const Index columns = distribution.columns.lower_bound(distribution.right_hand_side(), at.column).value;
  std::vector<double> local_a;
  std::vector<double> local_b;
  std::string error;
  try {
    local_a.resize(static_cast<std::size_t>(rows * columns));
    local_b.resize(static_cast<std::size_t>(rows));
  } catch (const std::exception&) {
    error =
        "no memory for this rank's " + std::to_string(rows) + " x " + std::to_string(columns) + " part of the matrix";
  }
  agree_or_throw(grid.all(), error);  // before any rank waits for a message
  const auto keep = [&](Index local_row, const std::vector<double>& packed) {
    std::copy_n(packed.begin(), columns, local_a.begin() + local_row * columns);
    local_b[static_cast<std::size_t>(local_row)] = packed.back();
  };

  if (grid.is_root()) {
    for (Index i = 0; i < distribution.n; ++i) {
      const int process_row = distribution.rows.owner(GlobalIndex(i));
      for (int q = 0; q < grid.shape().columns; ++q) {
        const std::vector<double> packed = pack_row(distribution, dense_on_root->data() + i * distribution.n, q);
        if (GridPosition{process_row, q} == at) {
          keep(distribution.rows.local(GlobalIndex(i)).value, packed);
          continue;
        }
        const int coordinates[2] = {process_row, q};
        int rank = 0;
        GLINPACK_MPI(MPI_Cart_rank(grid.all(), coordinates, &rank));
        send_message(grid.all(), packed.data(), static_cast<Index>(packed.size()), MPI_DOUBLE, rank, tags::scatter);
      }
    }
  } else {
    std::vector<double> packed(static_cast<std::size_t>(columns + 1));
    for (Index local_row = 0; local_row < rows; ++local_row) {
      receive_message(grid.all(), packed.data(), static_cast<Index>(packed.size()), MPI_DOUBLE, 0, tags::scatter);
      keep(local_row, packed);
    }
  }
  return std::make_unique<StoredSource>(distribution.n, std::move(local_a), std::move(local_b));
}

}  // namespace glinpack
