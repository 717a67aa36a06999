// Matrices from files and solutions to files: NumPy's .npy (numpy.lib.format) and Matrix Market's .mtx
// (math.nist.gov/MatrixMarket/formats.html).
#pragma once

#include <iosfwd>
#include <span>
#include <string>
#include <vector>

#include "backend/matrix_view.hpp"

namespace glinpack::app {

/// Row-major, rows x columns elements.
struct DenseMatrix {
  Index rows = 0;
  Index columns = 0;
  std::vector<double> elements;
};

/// What is not 0 of a matrix; each place at most once, in the order of rows, then columns. Positions count from 0.
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

/// What a file may hold; of one dimension, a .npy array is a column.
enum class MatrixShape { square, any };

/// By the file's beginning: .npy, format 1 or 2, float32 or float64 of either byte order, C or Fortran order; or Matrix
/// Market, array or coordinate, real or integer, general, symmetric or skew-symmetric (entries that a coordinate file
/// leaves out are 0, duplicates are added). Throws InputError, naming file and line or header field: not such a file,
/// of another shape, truncated, an entry out of range, NaN or Inf (with its row and column, counted from 1), or larger
/// than `largest_bytes` in memory.
DenseMatrix read_matrix(const std::string& path, std::int64_t largest_bytes, MatrixShape shape = MatrixShape::square);

/// The same of a matrix that is mostly 0: a coordinate file never becomes dense. Of dense files, what is not 0.
CoordinateMatrix read_coordinates(const std::string& path, std::int64_t largest_bytes, MatrixShape shape);

/// The order of the matrix, from the header alone: what a plan needs. Throws as read_matrix does.
Index read_matrix_order(const std::string& path);

/// Throws InputError where an element is beyond single precision, naming its row and column, counted from 1.
void check_single_precision(const std::string& path, std::span<const double> elements, Index columns);

/// A vector of float64 as .npy, format 1.
void write_npy(std::ostream& out, std::span<const double> values);
/// A matrix of float64, in the format that the name's end asks for: .npy, or .mtx, Matrix Market's array.
void write_matrix(std::ostream& out, const std::string& path, const DenseMatrix& matrix);
/// Throws InputError where the name of --output ends in neither.
void check_matrix_name(const std::string& path);

}  // namespace glinpack::app
