#include <algorithm>
#include <cctype>
#include <charconv>
#include <sstream>
#include <utility>

#include "app/input/input_error.hpp"
#include "app/input/matrix_readers.hpp"
#include "app/input/values.hpp"

namespace glinpack::app {

namespace {

enum class Symmetry { general, symmetric, skew_symmetric };

struct Banner {
  bool coordinate = false;
  Symmetry symmetry = Symmetry::general;
};

class MatrixMarketReader {
 public:
  MatrixMarketReader(std::istream& file, const std::string& path) : file_(file), path_(path) {}

  Banner read_banner() {
    next_line("the %%MatrixMarket line");
    std::istringstream words(line_);
    std::string magic, object, format, field, symmetry;
    words >> magic >> object >> format >> field >> symmetry;
    for (std::string* word : {&object, &format, &field, &symmetry}) {
      for (char& c : *word) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
    if (object != "matrix") unusable("object", object, "matrix");
    if (format != "array" && format != "coordinate") unusable("format", format, "array or coordinate");
    if (field != "real" && field != "integer" && field != "double") unusable("field", field, "real or integer");
    Banner banner{.coordinate = format == "coordinate"};
    if (symmetry == "symmetric" || symmetry == "hermitian") {
      banner.symmetry = Symmetry::symmetric;
    } else if (symmetry == "skew-symmetric") {
      banner.symmetry = Symmetry::skew_symmetric;
    } else if (symmetry != "general") {
      unusable("symmetry", symmetry, "general, symmetric or skew-symmetric");
    }
    return banner;
  }

  struct Extents {
    Index rows = 0;
    Index columns = 0;
  };
  Extents read_extents(MatrixShape shape) {
    const Index rows = next_whole("the number of rows", 1, largest_n);
    const Index columns = next_whole("the number of columns", 1, largest_n);
    if (shape == MatrixShape::square && rows != columns) {
      fail("the matrix is " + std::to_string(rows) + " x " + std::to_string(columns) + "; a square one is expected");
    }
    return {rows, columns};
  }
  /// Reads the extents of a symmetric or skew-symmetric matrix.
  Extents read_extents(MatrixShape shape, Symmetry symmetry) {
    return read_extents(symmetry == Symmetry::general ? shape : MatrixShape::square);
  }

  Index next_whole(const std::string& what, Index minimum, Index maximum) {
    const std::string_view token = next_token(what);
    try {
      return parse_whole(token, minimum, maximum);
    } catch (const InputError& error) {
      fail(what + ": " + error.what());
    }
  }

  double next_element(Index row, Index column) {
    const std::string_view token = next_token("an element");
    double value = 0;
    const std::string_view digits = token.starts_with('+') ? token.substr(1) : token;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error != std::errc() || end != digits.data() + digits.size()) {
      fail("row " + std::to_string(row) + ", column " + std::to_string(column) + ": " + in_quotes(token) +
           " is not a number");
    }
    check_finite(where(), value, row, column);
    return value;
  }

 private:
  std::string where() const { return path_ + ":" + std::to_string(line_number_) + ": "; }
  [[noreturn]] void fail(const std::string& message) const { throw InputError(where() + message); }
  [[noreturn]] void unusable(const char* what, const std::string& value, const char* expected) const {
    fail(std::string(what) + " " + in_quotes(value) + " in the %%MatrixMarket line; " + expected + " is expected");
  }

  void next_line(const std::string& expected) {
    position_ = 0;
    ++line_number_;
    if (!std::getline(file_, line_)) fail("the file ends here; expected: " + expected + "; it is truncated");
  }

  std::string_view next_token(const std::string& expected) {
    constexpr const char* blanks = " \t\r";
    while (true) {
      const std::size_t start = line_number_ == 1 ? std::string::npos : line_.find_first_not_of(blanks, position_);
      const bool comment = start != std::string::npos && position_ == 0 && line_[start] == '%';
      if (start == std::string::npos || comment) {
        next_line(expected);
        continue;
      }
      position_ = std::min(line_.find_first_of(blanks, start), line_.size());
      return std::string_view(line_).substr(start, position_ - start);
    }
  }

  std::istream& file_;
  const std::string& path_;
  std::string line_;
  std::size_t position_ = 0;
  Index line_number_ = 0;
};

/// Calls add(row, column, value) for every entry after the extents, and for its mirror image if the matrix is
/// symmetric.
template <class Add>
void read_entries(MatrixMarketReader& reader, const Banner& banner, Index rows, Index columns, const Add& add) {
  const auto add_mirrored = [&](Index row, Index column, double value) {
    add(row, column, value);
    if (banner.symmetry == Symmetry::general || row == column) return;
    add(column, row, banner.symmetry == Symmetry::symmetric ? value : -value);
  };
  if (banner.coordinate) {
    const Index entries = reader.next_whole("the number of entries", 0, largest_n);
    for (Index i = 0; i < entries; ++i) {
      const Index row = reader.next_whole("the row of an entry", 1, rows);
      const Index column = reader.next_whole("the column of an entry", 1, columns);
      add_mirrored(row - 1, column - 1, reader.next_element(row, column));
    }
    return;
  }
  for (Index column = 0; column < columns; ++column) {  // arrays are stored by columns
    const Index first_row = banner.symmetry == Symmetry::general     ? 0
                            : banner.symmetry == Symmetry::symmetric ? column
                                                                     : column + 1;
    for (Index row = first_row; row < rows; ++row) add_mirrored(row, column, reader.next_element(row + 1, column + 1));
  }
}

}  // namespace

Index read_matrix_market_order(std::istream& file, const std::string& path) {
  MatrixMarketReader reader(file, path);
  reader.read_banner();
  return reader.read_extents(MatrixShape::square).rows;
}

DenseMatrix read_matrix_market(std::istream& file, const std::string& path, std::int64_t largest_bytes,
                               MatrixShape shape) {
  MatrixMarketReader reader(file, path);
  const Banner banner = reader.read_banner();
  const auto [rows, columns] = reader.read_extents(shape, banner.symmetry);
  check_matrix_size(path, rows, columns, largest_bytes);
  DenseMatrix matrix{rows, columns, std::vector<double>(static_cast<std::size_t>(rows * columns))};
  read_entries(reader, banner, rows, columns, [&](Index row, Index column, double value) {
    matrix.elements[static_cast<std::size_t>(row * matrix.columns + column)] += value;
  });
  return matrix;
}

CoordinateMatrix read_matrix_market_coordinates(std::istream& file, const std::string& path, std::int64_t largest_bytes,
                                                MatrixShape shape) {
  MatrixMarketReader reader(file, path);
  const Banner banner = reader.read_banner();
  const auto [rows, columns] = reader.read_extents(shape, banner.symmetry);
  if (!banner.coordinate) check_matrix_size(path, rows, columns, largest_bytes);
  CoordinateMatrix matrix{rows, columns, {}};
  read_entries(reader, banner, rows, columns, [&](Index row, Index column, double value) {
    if (value != 0) matrix.entries.push_back({row, column, value});
  });
  using Entry = CoordinateMatrix::Entry;
  std::vector<Entry>& entries = matrix.entries;
  std::stable_sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return std::pair(a.row, a.column) < std::pair(b.row, b.column);
  });
  // duplicates are added
  std::size_t kept = 0;
  for (const Entry& entry : entries) {
    if (kept > 0 && entries[kept - 1].row == entry.row && entries[kept - 1].column == entry.column) {
      entries[kept - 1].value += entry.value;
    } else {
      entries[kept++] = entry;
    }
  }
  entries.resize(kept);
  return matrix;
}

}  // namespace glinpack::app
