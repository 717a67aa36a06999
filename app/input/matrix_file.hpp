// Reads matrices and writes solutions: NumPy's .npy (numpy.lib.format) and Matrix Market's .mtx
// (math.nist.gov/MatrixMarket/formats.html).
#pragma once

#include <iosfwd>
#include <span>
#include <string>
#include <vector>

#include "base/matrix_view.hpp"

namespace glinpack::app {

/// Row-major, rows x columns elements.
struct DenseMatrix {
  Index rows = 0;
  Index columns = 0;
  std::vector<double> elements;
};

/// The nonzero elements of a matrix, each at most once, ordered by row, then column. Positions count from 0.
struct CoordinateMatrix {
  struct Entry {
    Index row = 0;
    Index column = 0;
    double value = 0;
  };
  Index rows = 0;
  Index columns = 0;
  std::vector<Entry> entries;
};

/// The accepted shapes; a one-dimensional .npy array is a column.
enum class MatrixShape { square, any };

/// Detects the format by the first bytes. .npy: format 1 or 2, float32 or float64 of either byte order, C or Fortran
/// order. Matrix Market: array or coordinate, real or integer, general, symmetric or skew-symmetric. Missing coordinate
/// entries are 0, duplicates are added. Throws InputError that names the file and the line or header field: no regular
/// file, another format or shape, truncated or longer than announced, an entry out of range, entries in both triangles
/// of a symmetric file or on the diagonal of a skew-symmetric one, NaN or Inf (with its row and column, counted from
/// 1), or larger than `largest_bytes` in memory.
DenseMatrix read_matrix(const std::string& path, std::int64_t largest_bytes, MatrixShape shape = MatrixShape::square);

/// Like read_matrix(), for sparse matrices: a coordinate file is never expanded. Keeps the nonzeros of dense files.
CoordinateMatrix read_coordinates(const std::string& path, std::int64_t largest_bytes, MatrixShape shape);

/// The order of the matrix, read from the header only; a plan needs no more. Throws like read_matrix().
Index read_matrix_order(const std::string& path);

/// Throws InputError if an element overflows single precision. The message has its row and column, counted from 1.
void check_single_precision(const std::string& path, std::span<const double> elements, Index columns);

/// Writes a vector of float64 as .npy, format 1.
void write_npy(std::ostream& out, std::span<const double> values);
/// Writes a matrix of float64 in the format that the file extension names: .npy, or .mtx (Matrix Market's array).
void write_matrix(std::ostream& out, const std::string& path, const DenseMatrix& matrix);
/// Throws InputError unless the name of --output ends in one of the two.
void check_matrix_name(const std::string& path);

// The readers behind read_matrix, one per format. Rows and columns in messages count from 1.

/// Throws InputError if rows x columns doubles exceed `largest_bytes`.
void check_matrix_size(const std::string& path, Index rows, Index columns, std::int64_t largest_bytes);
/// "of order 5", "of 5 x 4".
std::string extents_text(Index rows, Index columns);
/// Throws InputError if the value is NaN or infinite. The message begins with `where` ("FILE:7: " or "FILE: ").
void check_finite(const std::string& where, double value, Index row, Index column);

/// The fields of a .npy header.
struct NpyHeader {
  Index rows = 0;
  Index columns = 0;
  bool fortran_order = false;
  int bytes_per_element = 8;
  bool big_endian = false;
};
/// Leaves the stream at the first element.
NpyHeader read_npy_header(std::istream& file, const std::string& path, MatrixShape shape);
DenseMatrix read_npy(std::istream& file, const std::string& path, std::int64_t largest_bytes, MatrixShape shape);

Index read_matrix_market_order(std::istream& file, const std::string& path);
DenseMatrix read_matrix_market(std::istream& file, const std::string& path, std::int64_t largest_bytes,
                               MatrixShape shape);
CoordinateMatrix read_matrix_market_coordinates(std::istream& file, const std::string& path, std::int64_t largest_bytes,
                                                MatrixShape shape);

void write_npy(std::ostream& out, const DenseMatrix& matrix);

}  // namespace glinpack::app
