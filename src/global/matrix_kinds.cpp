#include "global/matrix_kinds.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace glinpack {

namespace {

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

}  // namespace

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

}  // namespace glinpack
