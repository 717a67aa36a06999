#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <optional>
#include <sstream>
#include <string_view>
#include <utility>

#include "app/input/input_error.hpp"
#include "app/input/matrix_file.hpp"
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
    do {
      next_line("the %%MatrixMarket line");
    } while (line_.find_first_not_of(" \t\r") == std::string_view::npos);
    banner_line_ = line_number_;
    std::istringstream words{std::string(line_)};
    std::string magic, object, format, field, symmetry;
    words >> magic >> object >> format >> field >> symmetry;
    if (magic != "%%MatrixMarket") unusable("first word", magic, "%%MatrixMarket");
    for (std::string* word : {&object, &format, &field, &symmetry}) {
      for (char& c : *word) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
    if (object != "matrix") unusable("object", object, "matrix");
    if (format != "array" && format != "coordinate") unusable("format", format, "array or coordinate");
    if (field != "real" && field != "integer" && field != "double") unusable("field", field, "real or integer");
    is_integer_ = field == "integer";
    Banner banner{.coordinate = format == "coordinate"};
    if (symmetry == "symmetric" || symmetry == "hermitian") {
      banner.symmetry = Symmetry::symmetric;
    } else if (symmetry == "skew-symmetric") {
      banner.symmetry = Symmetry::skew_symmetric;
    } else if (symmetry != "general") {
      unusable("symmetry", symmetry, "general, symmetric or skew-symmetric");
    }
    if (std::string surplus; words >> surplus) unusable("word", surplus, "the end of the line after the symmetry");
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
    const bool is_number = error != std::errc::invalid_argument && end == digits.data() + digits.size();
    if (error != std::errc() || !is_number) {
      fail("row " + std::to_string(row) + ", column " + std::to_string(column) + ": " + in_quotes(token) +
           (is_number ? " is beyond double precision" : " is not a number"));
    }
    if (!std::isfinite(value)) check_finite(where(), value, row, column);
    if (is_integer_ && value != std::trunc(value)) {
      fail("row " + std::to_string(row) + ", column " + std::to_string(column) + ": " + in_quotes(token) +
           " is not a whole number; write 'real' for the field 'integer' in the first line");
    }
    return value;
  }

  /// Throws InputError if the rest of the file is too small for so many entries of `min_bytes` each, before memory is
  /// taken for them. Of few entries, reading finds the line at which the file ends.
  void check_bytes_left(Index count, Index min_bytes) {
    constexpr Index few = 100'000;
    if (count < few) return;
    file_.clear();
    const std::streamoff next = file_.tellg();
    const std::streamoff end = file_.seekg(0, std::ios::end).tellg();
    file_.seekg(next);
    const Index left = end - next + static_cast<Index>(line_.size() - position_);
    if (left / min_bytes >= count - 1) return;
    fail(std::to_string(count) + " entries are announced, but the file has only " + std::to_string(left) +
         " bytes more; it is truncated, or its size line is wrong");
  }

  /// Throws InputError if an entry follows the last of `count`.
  void expect_end(Index count) {
    const std::optional<std::string_view> token = find_token();
    if (!token) return;
    fail(in_quotes(*token) + " follows the last of the " + std::to_string(count) +
         " announced entries; correct the size line, or remove what follows; if the file has both triangles, write "
         "'general' for the symmetry");
  }

  Index line_number() const { return line_number_; }
  [[noreturn]] void fail(const std::string& message) const { throw InputError(where() + message); }

 private:
  std::string where() const { return path_ + ":" + std::to_string(line_number_) + ": "; }
  [[noreturn]] void unusable(const char* what, const std::string& value, const char* expected) const {
    fail(std::string(what) + " " + in_quotes(value) + " in the %%MatrixMarket line; " + expected + " is expected");
  }

  bool read_line() {
    position_ = 0;
    ++line_number_;
    line_ = {};
    file_.getline(buffer_.data(), static_cast<std::streamsize>(buffer_.size()));
    const auto length = static_cast<std::size_t>(file_.gcount());
    if (file_.fail() && length + 1 == buffer_.size()) {
      fail("the line has more than " + std::to_string(length) + " characters; break it");
    }
    if (file_.fail()) return false;
    line_ = std::string_view(buffer_.data(), file_.eof() ? length : length - 1);  // without its end
    return true;
  }

  void next_line(const std::string& expected) {
    if (!read_line()) fail_at_end(expected);
  }

  [[noreturn]] void fail_at_end(const std::string& expected) const {
    fail("the file ends here; expected: " + expected + "; it is truncated");
  }

  /// The next word outside comments; none at the end of the file.
  std::optional<std::string_view> find_token() {
    constexpr const char* blanks = " \t\r";
    while (true) {
      const std::size_t start =
          line_number_ == banner_line_ ? std::string::npos : line_.find_first_not_of(blanks, position_);
      const bool comment = start != std::string::npos && position_ == 0 && line_[start] == '%';
      if (start == std::string::npos || comment) {
        if (!read_line()) return std::nullopt;
        continue;
      }
      position_ = std::min(line_.find_first_of(blanks, start), line_.size());
      return line_.substr(start, position_ - start);
    }
  }

  std::string_view next_token(const std::string& expected) {
    const std::optional<std::string_view> token = find_token();
    if (!token) fail_at_end(expected);
    return *token;
  }

  std::istream& file_;
  const std::string& path_;
  std::vector<char> buffer_ = std::vector<char>(std::size_t{1} << 20);  // a file of zeros is one line
  std::string_view line_;
  std::size_t position_ = 0;
  Index line_number_ = 0;
  Index banner_line_ = 0;
  bool is_integer_ = false;
};

/// Refuses entries that would be counted twice, and those that a skew-symmetric matrix cannot have.
class TriangleCheck {
 public:
  TriangleCheck(const MatrixMarketReader& reader, Symmetry symmetry) : reader_(reader), symmetry_(symmetry) {}

  /// Row and column of the entry that was just read, counted from 1.
  void check(Index row, Index column) {
    if (symmetry_ == Symmetry::general || (row == column && symmetry_ == Symmetry::symmetric)) return;
    if (row == column)
      refuse(row, column, " is on the diagonal, which is 0 in a skew-symmetric matrix; remove the entry");
    Index& line = row > column ? line_below_ : line_above_;
    const Index other_line = row > column ? line_above_ : line_below_;
    if (line == 0) line = reader_.line_number();
    if (other_line == 0) return;
    refuse(row, column,
           " and that of line " + std::to_string(other_line) +
               " are on both sides of the diagonal, but a symmetric file has one triangle; remove the other, or write "
               "'general' for the symmetry");
  }

 private:
  [[noreturn]] void refuse(Index row, Index column, const std::string& reason) const {
    reader_.fail("the entry of row " + std::to_string(row) + ", column " + std::to_string(column) + reason);
  }

  const MatrixMarketReader& reader_;
  Symmetry symmetry_;
  Index line_below_ = 0;  // of the first entry below the diagonal; 0: none
  Index line_above_ = 0;
};

Index first_row_of(Symmetry symmetry, Index column) {
  return symmetry == Symmetry::general ? 0 : symmetry == Symmetry::symmetric ? column : column + 1;
}

struct Size {
  Index rows = 0;
  Index columns = 0;
  Index entries = 0;  // in the file
};

/// Reads the size line. Throws InputError if the elements, or the entries, exceed the memory or the file.
Size read_size(MatrixMarketReader& reader, const Banner& banner, MatrixShape shape, const std::string& path,
               std::int64_t largest_bytes, bool sparse) {
  const auto [rows, columns] = reader.read_extents(shape, banner.symmetry);
  if (!sparse || !banner.coordinate) check_matrix_size(path, rows, columns, largest_bytes);
  Size size{rows, columns, 0};
  if (banner.coordinate) {
    size.entries = reader.next_whole("the number of entries", 0, largest_n);
  } else if (banner.symmetry == Symmetry::general) {
    size.entries = rows * columns;
  } else {
    size.entries = rows * (rows - 1) / 2 + (banner.symmetry == Symmetry::symmetric ? rows : 0);
  }
  reader.check_bytes_left(size.entries, banner.coordinate ? 6 : 2);  // "1 1 1\n", "1\n"
  return size;
}

/// Calls add(row, column, value) for every entry, and for its mirror image if the matrix is symmetric.
template <class Add>
void read_entries(MatrixMarketReader& reader, const Banner& banner, const Size& size, const Add& add) {
  const auto add_mirrored = [&](Index row, Index column, double value) {
    add(row, column, value);
    if (banner.symmetry == Symmetry::general || row == column) return;
    add(column, row, banner.symmetry == Symmetry::symmetric ? value : -value);
  };
  if (banner.coordinate) {
    TriangleCheck triangles(reader, banner.symmetry);
    for (Index i = 0; i < size.entries; ++i) {
      const Index row = reader.next_whole("the row of an entry", 1, size.rows);
      const Index column = reader.next_whole("the column of an entry", 1, size.columns);
      triangles.check(row, column);
      add_mirrored(row - 1, column - 1, reader.next_element(row, column));
    }
  } else {
    for (Index column = 0; column < size.columns; ++column) {  // arrays are stored by columns
      for (Index row = first_row_of(banner.symmetry, column); row < size.rows; ++row) {
        add_mirrored(row, column, reader.next_element(row + 1, column + 1));
      }
    }
  }
  reader.expect_end(size.entries);
}

/// Throws InputError if the entries of one place add up to infinity.
void check_sum(const std::string& path, double sum, Index row, Index column) {
  if (!std::isfinite(sum)) check_finite(path + ": the sum of the entries of ", sum, row + 1, column + 1);
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
  const Size size = read_size(reader, banner, shape, path, largest_bytes, false);
  DenseMatrix matrix{size.rows, size.columns, std::vector<double>(static_cast<std::size_t>(size.rows * size.columns))};
  read_entries(reader, banner, size, [&](Index row, Index column, double value) {
    double& sum = matrix.elements[static_cast<std::size_t>(row * matrix.columns + column)];
    check_sum(path, sum += value, row, column);
  });
  return matrix;
}

CoordinateMatrix read_matrix_market_coordinates(std::istream& file, const std::string& path, std::int64_t largest_bytes,
                                                MatrixShape shape) {
  MatrixMarketReader reader(file, path);
  const Banner banner = reader.read_banner();
  const Size size = read_size(reader, banner, shape, path, largest_bytes, true);
  CoordinateMatrix matrix{size.rows, size.columns, {}};
  read_entries(reader, banner, size, [&](Index row, Index column, double value) {
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
      check_sum(path, entries[kept - 1].value += entry.value, entry.row, entry.column);
    } else {
      entries[kept++] = entry;
    }
  }
  entries.resize(kept);
  return matrix;
}

}  // namespace glinpack::app
