#include "app/input/matrix_file.hpp"

#include <cmath>
#include <fstream>
#include <limits>

#include "app/input/input_error.hpp"
#include "app/input/text_file.hpp"
#include "app/input/values.hpp"

namespace glinpack::app {

namespace {

enum class Format { npy, matrix_market };

// The first bytes that are neither a byte order mark nor blanks; moves behind the mark.
std::string read_beginning(std::istream& file) {
  std::string beginning(14, '\0');
  file.read(beginning.data(), 3);
  if (!beginning.starts_with("\xEF\xBB\xBF")) {
    file.clear();
    file.seekg(0);
  }
  const std::streamoff after_mark = file.tellg();
  file >> std::ws;
  file.read(beginning.data(), static_cast<std::streamsize>(beginning.size()));
  beginning.resize(static_cast<std::size_t>(file.gcount()));
  file.clear();
  file.seekg(after_mark);
  return beginning;
}

Format format_of(std::istream& file, const std::string& path) {
  const std::string seen = read_beginning(file);
  if (seen.starts_with("\x93NUMPY")) return Format::npy;
  if (seen == "%%MatrixMarket") return Format::matrix_market;
  if (seen.empty()) throw InputError(path + ":1: the file is empty; NumPy's .npy or Matrix Market is expected");
  throw InputError(path + ":1: begins with " + in_quotes(seen) +
                   ", which is neither NumPy's .npy nor Matrix Market (%%MatrixMarket)");
}

}  // namespace

std::string extents_text(Index rows, Index columns) {
  if (rows == columns) return "of order " + std::to_string(rows);
  return "of " + std::to_string(rows) + " x " + std::to_string(columns);
}

void check_matrix_size(const std::string& path, Index rows, Index columns, std::int64_t largest_bytes) {
  const double bytes = 8.0 * static_cast<double>(rows) * static_cast<double>(columns);
  if (bytes <= static_cast<double>(largest_bytes)) return;
  throw InputError(path + ": a matrix " + extents_text(rows, columns) + " needs " + memory_text(bytes) +
                   " on the first rank, which has " + memory_text(static_cast<double>(largest_bytes)) +
                   " available; use a smaller matrix or a larger node");
}

void check_finite(const std::string& where, double value, Index row, Index column) {
  if (std::isfinite(value)) return;
  throw InputError(where + "row " + std::to_string(row) + ", column " + std::to_string(column) + " is " +
                   (std::isnan(value) ? "NaN" : "infinite") + "; every element must be a finite number");
}

DenseMatrix read_matrix(const std::string& path, std::int64_t largest_bytes, MatrixShape shape) {
  std::ifstream file = open_file(path, "a matrix");
  return format_of(file, path) == Format::npy ? read_npy(file, path, largest_bytes, shape)
                                              : read_matrix_market(file, path, largest_bytes, shape);
}

CoordinateMatrix read_coordinates(const std::string& path, std::int64_t largest_bytes, MatrixShape shape) {
  std::ifstream file = open_file(path, "a matrix");
  if (format_of(file, path) == Format::matrix_market) {
    return read_matrix_market_coordinates(file, path, largest_bytes, shape);
  }
  const DenseMatrix dense = read_npy(file, path, largest_bytes, shape);
  CoordinateMatrix matrix{dense.rows, dense.columns, {}};
  for (Index i = 0; i < dense.rows; ++i) {
    for (Index j = 0; j < dense.columns; ++j) {
      const double value = dense.elements[static_cast<std::size_t>(i * dense.columns + j)];
      if (value != 0) matrix.entries.push_back({i, j, value});
    }
  }
  return matrix;
}

Index read_matrix_order(const std::string& path) {
  std::ifstream file = open_file(path, "a matrix");
  return format_of(file, path) == Format::npy ? read_npy_header(file, path, MatrixShape::square).rows
                                              : read_matrix_market_order(file, path);
}

void check_single_precision(const std::string& path, std::span<const double> elements, Index columns) {
  constexpr double largest = std::numeric_limits<float>::max();
  for (std::size_t e = 0; e < elements.size(); ++e) {
    if (std::abs(elements[e]) <= largest) continue;
    const Index position = static_cast<Index>(e);
    throw InputError(path + ": row " + std::to_string(position / columns + 1) + ", column " +
                     std::to_string(position % columns + 1) + " is beyond single precision, 3.4e38 at most");
  }
}

void check_matrix_name(const std::string& path) {
  if (path.empty() || path.ends_with(".npy") || path.ends_with(".mtx")) return;
  throw InputError("--output " + path + ": the name ends in neither .npy nor .mtx, which name the format");
}

void write_matrix(std::ostream& out, const std::string& path, const DenseMatrix& matrix) {
  if (path.ends_with(".npy")) return write_npy(out, matrix);
  out << "%%MatrixMarket matrix array real general\n" << matrix.rows << ' ' << matrix.columns << '\n';
  out.precision(std::numeric_limits<double>::max_digits10);
  for (Index j = 0; j < matrix.columns; ++j) {  // arrays are stored by columns
    for (Index i = 0; i < matrix.rows; ++i) {
      out << matrix.elements[static_cast<std::size_t>(i * matrix.columns + j)] << '\n';
    }
  }
}

}  // namespace glinpack::app
