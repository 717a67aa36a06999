#include "app/input/matrix_file.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string_view>

#include "app/input/input_error.hpp"
#include "app/input/matrix_readers.hpp"
#include "app/input/values.hpp"

namespace glinpack::app {

namespace {

enum class Format { npy, matrix_market };

std::ifstream open_matrix(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::exists(path, error)) throw InputError(path + ": no such file; check --input");
  if (std::filesystem::is_directory(path, error)) throw InputError(path + ": is a directory; a matrix is expected");
  // opening a pipe waits for its writer, and the file is read twice: first its header
  if (!std::filesystem::is_regular_file(path, error)) {
    throw InputError(path + ": is not a regular file; save the matrix in one");
  }
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (!file) throw InputError(path + ": cannot be read: " + std::strerror(errno != 0 ? errno : EIO));
  return file;
}

struct Compression {
  std::string_view beginning;
  const char* command;
};
constexpr std::array compressions{Compression{"\x1f\x8b", "gunzip"}, Compression{"BZh", "bunzip2"},
                                  Compression{"\xfd\x37zXZ", "unxz"}, Compression{"\x28\xb5\x2f\xfd", "unzstd"},
                                  Compression{"PK\x03\x04", "unzip"}};

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
  for (const Compression& compression : compressions) {
    if (!seen.starts_with(compression.beginning)) continue;
    throw InputError(path + " is compressed; run " + compression.command + " on it, and name the file that it makes");
  }
  if (seen.empty()) throw InputError(path + ":1: the file is empty; NumPy's .npy or Matrix Market is expected");
  throw InputError(path + ":1: begins with " + in_quotes(seen) +
                   ", which is neither NumPy's .npy nor Matrix Market (%%MatrixMarket)");
}

/// The exponent of a number in [1/2, 1) times 2^exponent; 0 for 0.
int exponent_of(double value) {
  int exponent = 0;
  std::frexp(value, &exponent);
  return exponent;
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
  std::ifstream file = open_matrix(path);
  return format_of(file, path) == Format::npy ? read_npy(file, path, largest_bytes, shape)
                                              : read_matrix_market(file, path, largest_bytes, shape);
}

CoordinateMatrix read_coordinates(const std::string& path, std::int64_t largest_bytes, MatrixShape shape) {
  std::ifstream file = open_matrix(path);
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
  std::ifstream file = open_matrix(path);
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

std::string scale_to_precision(const std::string& path, DenseMatrix& matrix, Precision precision) {
  using Single = std::numeric_limits<float>;
  using Double = std::numeric_limits<double>;
  const bool is_double = precision == Precision::double_;
  const int usual_exponent = is_double ? 512 : 64;
  // of a row: its elements that rounding keeps in sums with the largest stay normal numbers
  const double least = is_double ? Double::min() / Double::epsilon() : double{Single::min()} / Single::epsilon();
  const std::string name = is_double ? "double" : "single";

  std::vector<double> largest(static_cast<std::size_t>(matrix.rows));  // of each row
  auto element = matrix.elements.begin();
  for (double& of_row : largest) {
    for (Index j = 0; j < matrix.columns; ++j) of_row = std::max(of_row, std::abs(*element++));
  }
  const double largest_of_all = *std::max_element(largest.begin(), largest.end());
  int exponent = exponent_of(largest_of_all);
  if (std::abs(exponent) <= usual_exponent) exponent = 0;

  std::vector<Index> small_rows;  // counted from 1
  for (Index i = 0; i < matrix.rows; ++i) {
    const double of_row = largest[static_cast<std::size_t>(i)];
    const bool is_small = of_row > 0 && std::ldexp(of_row, -exponent) < least;
    if (is_small) small_rows.push_back(i + 1);
    const int of_power = is_small ? exponent_of(of_row) : exponent;
    if (of_power == 0) continue;
    for (double& value :
         std::span(matrix.elements)
             .subspan(static_cast<std::size_t>(i * matrix.columns), static_cast<std::size_t>(matrix.columns))) {
      value = std::ldexp(value, -of_power);
    }
  }
  std::vector<double> of_columns(static_cast<std::size_t>(matrix.columns));
  element = matrix.elements.begin();
  for (Index i = 0; i < matrix.rows; ++i) {
    for (double& of_column : of_columns) of_column = std::max(of_column, std::abs(*element++));
  }
  for (Index j = 0; j < matrix.columns; ++j) {
    const double of_column = of_columns[static_cast<std::size_t>(j)];
    if (of_column == 0 || of_column >= least) continue;
    throw InputError(fmt::format(
        "{}: column {}: its largest element is too small relative to other columns: beyond {} precision; multiply "
        "the column by a power of two, which divides its unknown by that{}",
        path, j + 1, name, is_double ? "" : ", or use --precision double"));
  }
  std::string note;
  if (exponent != 0) {
    note = fmt::format(
        "; A and b are multiplied by 2^{}, since the largest element, {:.3g}, is far from 1 for {} precision",
        -exponent, largest_of_all, name);
  }
  if (!small_rows.empty()) {
    note += fmt::format(
        "; rows of A and b that are too small for {} precision are multiplied by powers of two: {}, the first is row "
        "{}",
        name, small_rows.size(), small_rows.front());
  }
  return note.empty() ? "" : path + ":" + note.substr(1) + "; the solution stays the same";
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
