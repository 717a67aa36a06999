// The readers behind read_matrix, one per format. Rows and columns in messages count from 1.
#pragma once

#include <istream>

#include "app/input/matrix_file.hpp"

namespace glinpack::app {

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
