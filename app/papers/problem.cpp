#include "app/papers/problem.hpp"

#include <spdlog/fmt/fmt.h>

#include "app/input/values.hpp"
#include "app/program/topology.hpp"
#include "host/host_memory.hpp"

namespace glinpack::app {

void check_regular(Index info, Index n) {
  if (info != 0) throw NoResult(fmt::format("singular: LAPACK's getrf finds no pivot at step {} of {}", info, n));
}

DenseMatrix read_elements(const std::string& path, Precision precision, MatrixShape shape) {
  DenseMatrix matrix = read_matrix(path, view_node().available_memory, shape);
  if (precision == Precision::single) check_single_precision(path, matrix.elements, matrix.columns);
  return matrix;
}

void check_same_rows(const ModeOptions& o, const std::string& a, Index rows_a, const std::string& b, Index rows_b) {
  if (rows_a == rows_b) return;
  throw InputError(fmt::format("--input {}, --input-b {}: {} has {} rows, but {} {}; they must be the same", o.input,
                               o.input_b, a, rows_a, b, rows_b));
}

void check_on_diagonals(const std::string& path, Index row, Index column, const std::string& expected_by) {
  if (std::abs(row - column) <= 1) return;
  throw InputError(fmt::format(
      "--input {}: row {}, column {}: the element is not on one of the three diagonals; a tridiagonal matrix is "
      "expected{}",
      path, row + 1, column + 1, expected_by));
}

void check_host_memory(const std::string& what, double bytes) {
  const auto available = static_cast<double>(available_memory());
  if (available <= 0 || bytes <= available) return;
  throw InputError(what + ": takes " + memory_text(bytes) + " of memory, but this host has " + memory_text(available) +
                   " available; use a smaller size");
}

void check_obstacle(const std::string& what, const std::string& obstacle) {
  if (!obstacle.empty()) throw InputError(what + ": " + obstacle);
}

}  // namespace glinpack::app
