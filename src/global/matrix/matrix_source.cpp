#include "matrix/matrix_source.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>

#include "base/hpl_generator.hpp"
#include "matrix/spectrum.hpp"

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

/// A given by element(i, j), b uniform.
template <class Element>
class FormulaSource final : public MatrixSource {
 public:
  FormulaSource(Index n, std::uint64_t seed, Element element, double scale_of_b, Singularity singularity)
      : n_(n), seed_(seed), element_(std::move(element)), scale_of_b_(scale_of_b), singularity_(singularity) {}

  Index order() const override { return n_; }
  Singularity singularity() const override { return singularity_; }

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
      if (to.columns > columns_of_a) values[columns_of_a] = scale_of_b_ * uniform_element(n_, seed_, row, n_);
    }
  }

 private:
  Index n_;
  std::uint64_t seed_;
  Element element_;
  double scale_of_b_;
  Singularity singularity_;
};

/// Of the precision of the factors. `epsilon` is LAPACK's dlamch('Precision').
struct Limits {
  double epsilon;
  double safe_minimum;
};
Limits limits_of(Precision factors) {
  using Single = std::numeric_limits<float>;
  using Double = std::numeric_limits<double>;
  return factors == Precision::double_ ? Limits{Double::epsilon(), Double::min()}
                                       : Limits{Single::epsilon(), Single::min()};
}

double scale_of(MatrixSpec::Scale scale, const Limits& limits) {
  const double ufl = limits.safe_minimum / limits.epsilon / 4;
  switch (scale) {
    case MatrixSpec::Scale::one:
      return 1;
    case MatrixSpec::Scale::ufl:
      return ufl;
    case MatrixSpec::Scale::ofl:
      return 1 / ufl;
    case MatrixSpec::Scale::small:
      return std::sqrt(limits.safe_minimum);
    case MatrixSpec::Scale::large:
      return 1 / std::sqrt(limits.safe_minimum);
  }
  return 1;
}

double condition_of(const MatrixSpec& spec, const Limits& limits) {
  if (spec.condition) return *spec.condition;
  if (spec.share_of_epsilon == 0) return 1 / std::sqrt(limits.epsilon);
  const double condition = spec.share_of_epsilon / limits.epsilon;
  return spec.root_of_condition ? std::sqrt(condition) : condition;
}

// dlatb4's types 2 and 3: the diagonal decreases from 1 to 1/2, and the triangle is so small that the condition is
// below 10.
MatrixElement triangle(Index n, std::uint64_t seed, bool upper) {
  return [n, seed, upper](Index i, Index j) {
    if (i == j) return std::exp2(-static_cast<double>(i) / static_cast<double>(std::max<Index>(1, n - 1)));
    return (j > i) == upper ? uniform_element(n, seed, i, j) / static_cast<double>(n) : 0.0;
  };
}

MatrixElement element_of(const MatrixSpec& spec, Index n, std::uint64_t seed, const Limits& limits) {
  if (const MatrixBase* base = find_matrix_base(spec.base)) return base->element(n, seed);
  if (spec.base == "upper" || spec.base == "lower") return triangle(n, seed, spec.base == "upper");
  const SpectrumUse use = spec.base == "diag"                         ? SpectrumUse::diag
                          : spec.base == "svd"                        ? SpectrumUse::svd
                          : spec.base == "poev" || spec.base == "spd" ? SpectrumUse::poev
                                                                      : SpectrumUse::heev;
  return spectrum_matrix(use, spectrum_values(spec.spectrum, n, condition_of(spec, limits), seed), seed);
}

MatrixElement modified(MatrixElement element, const MatrixSpec& spec, Index n, double scale) {
  if (spec.dominant) {
    element = [element = std::move(element), n](Index i, Index j) {
      return element(i, j) + (i == j ? static_cast<double>(n) : 0);
    };
  }
  if (scale != 1) {
    element = [element = std::move(element), scale](Index i, Index j) { return scale * element(i, j); };
  }
  if (!spec.zero_half && !spec.zero_column) return element;
  const Index first_zero = *spec.first_zero_column(n);
  return [element = std::move(element), first_zero, half = spec.zero_half](Index i, Index j) {
    return j == first_zero || (half && j >= first_zero) ? 0.0 : element(i, j);
  };
}

Singularity singularity_of(const MatrixSpec& spec, Index n) {
  const MatrixBase* base = find_matrix_base(spec.base);
  Singularity result = base != nullptr && base->singularity && !spec.dominant ? base->singularity(n) : Singularity{};
  const std::optional<Index> zero = spec.first_zero_column(n);
  if (zero && (!result.column || *zero < *result.column)) result.column = zero;
  return result;
}

// Holds a rank's part of A (local rows x local columns, row-major) and of b.
class StoredSource final : public MatrixSource {
 public:
  StoredSource(Index n, std::vector<double> local_a, std::vector<double> local_b)
      : n_(n), local_a_(std::move(local_a)), local_b_(std::move(local_b)) {}

  Index order() const override { return n_; }
  // not known before its factorisation
  Singularity singularity() const override { return {.uncertain = true}; }

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
  Index n_;
  std::vector<double> local_a_;
  std::vector<double> local_b_;
};

}  // namespace

std::unique_ptr<MatrixSource> make_hpl_source(Index n, std::uint64_t seed) {
  return std::make_unique<HplSource>(n, seed);
}

std::unique_ptr<MatrixSource> make_source(const MatrixKind& kind, Index n, std::uint64_t seed, Precision factors) {
  if (kind == MatrixKind::file) throw std::invalid_argument("a matrix from a file is no formula");
  if (kind == MatrixKind::hpl) return make_hpl_source(n, seed);
  if (kind == MatrixKind::mxp) {
    return std::make_unique<FormulaSource<MxpElement>>(n, seed, MxpElement(n), 1, Singularity{});
  }
  const MatrixSpec spec = spec_of(std::string(kind.name()));
  const Limits limits = limits_of(factors);
  const double scale = scale_of(spec.scale, limits);
  MatrixElement element = modified(element_of(spec, n, seed, limits), spec, n, scale);
  return std::make_unique<FormulaSource<MatrixElement>>(n, seed, std::move(element), scale, singularity_of(spec, n));
}

std::unique_ptr<MatrixSource> make_stored_source(Index n, std::vector<double> local_a, std::vector<double> local_b) {
  return std::make_unique<StoredSource>(n, std::move(local_a), std::move(local_b));
}

}  // namespace glinpack
