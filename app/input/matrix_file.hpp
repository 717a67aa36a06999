// Matrices from files and solutions to files: NumPy's .npy (numpy.lib.format) and Matrix Market's .mtx
// (math.nist.gov/MatrixMarket/formats.html).
#pragma once

#include <iosfwd>
#include <span>
#include <string>
#include <vector>

#include "local/matrix_view.hpp"

namespace glinpack::app {

/// A square matrix of order n, row-major, n x n elements.
struct DenseMatrix {
  Index n = 0;
  std::vector<double> elements;
};

/// By the file's beginning: .npy, format 1 or 2, float32 or float64 of either byte order, C or Fortran order; or Matrix
/// Market, array or coordinate, real or integer, general, symmetric or skew-symmetric (entries that a coordinate file
/// leaves out are 0, duplicates are added). Throws InputError, naming file and line or header field: not such a file,
/// not square, truncated, an entry out of range, NaN or Inf (with its row and column, counted from 1), or larger than
/// `largest_bytes` in memory.
DenseMatrix read_matrix(const std::string& path, std::int64_t largest_bytes);

/// The order of the matrix, from the header alone: what a plan needs. Throws as read_matrix does.
Index read_matrix_order(const std::string& path);

/// A vector of float64 as .npy, format 1.
void write_npy(std::ostream& out, std::span<const double> values);

}  // namespace glinpack::app
