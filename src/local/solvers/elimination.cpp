#include "local/solvers/elimination.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cmath>

namespace glinpack::solvers {
namespace {

constexpr std::array variant_names{"double-rows", "plain", "compute"};

/// Copies the rows; returns the largest magnitude.
float copy_into(RowMajorView<const float> from, Index first_column, PaddedMatrix& to, std::string_view name) {
  float largest = 0;
  for (Index i = 0; i < from.rows; ++i) {
    float* row = to.elements.data() + i * to.columns + first_column;
    for (Index j = 0; j < from.columns; ++j) {
      const float element = from(i, j);
      if (!std::isfinite(element)) {
        throw std::invalid_argument(fmt::format("row {}, column {} of {} is {}", i + 1, j + 1, name, element));
      }
      largest = std::max(largest, std::abs(element));
      row[j] = element;
    }
  }
  return largest;
}

}  // namespace

std::string_view name_of(EliminationVariant variant) { return variant_names[static_cast<std::size_t>(variant)]; }

std::string_view name_of(EliminationPivoting pivoting) {
  return pivoting == EliminationPivoting::full ? "full" : "partial";
}

std::string_view name_of(PivotMeasure measure) { return measure == PivotMeasure::as_signed ? "signed" : "magnitudes"; }

std::optional<EliminationVariant> elimination_variant_from_name(std::string_view name) {
  for (const EliminationVariant variant : all_elimination_variants) {
    if (name_of(variant) == name) return variant;
  }
  return std::nullopt;
}

std::string block_preamble(EliminationVariant variant) {
  return fmt::format("#define BLOCK {}\n", block_size(variant));
}

PaddedMatrix padded(RowMajorView<const float> a, RowMajorView<const float> b, Index n, Index block) {
  if (a.rows != n || a.columns != n || (b.columns > 0 && b.rows != n)) {
    throw std::invalid_argument(fmt::format("a matrix of {} x {} with right-hand sides of {} rows, where n is {}",
                                            a.rows, a.columns, b.columns > 0 ? b.rows : n, n));
  }
  PaddedMatrix matrix;
  matrix.rows = round_up(n, block);
  matrix.columns = matrix.rows + b.columns;
  matrix.elements.resize(static_cast<std::size_t>(matrix.rows * matrix.columns));
  matrix.largest = copy_into(a, 0, matrix, "A");
  copy_into(b, matrix.rows, matrix, "B");
  for (Index i = n; i < matrix.rows; ++i) {
    matrix.elements[static_cast<std::size_t>(i * matrix.columns + i)] = matrix.largest;
  }
  return matrix;
}

}  // namespace glinpack::solvers
