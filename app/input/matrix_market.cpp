#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <sstream>
#include <string_view>
#include <tuple>

#include "app/input/input_error.hpp"
#include "app/input/matrix_file.hpp"
#include "app/input/values.hpp"

namespace glinpack::app {

namespace {

enum class Symmetry { general, symmetric, skew_symmetric };

constexpr const char* blanks = " \t\r";

std::string place_text(Index row, Index column) { return fmt::format("row {}, column {}", row, column); }

// Messages count rows and columns from 1.
class MatrixMarketReader {
 public:
  /// Reads the first line and the extents.
  MatrixMarketReader(std::istream& file, const std::string& path, MatrixShape shape) : file_(file), path_(path) {
    read_banner();
    rows_ = next_whole("the number of rows", 1, largest_n);
    columns_ = next_whole("the number of columns", 1, largest_n);
    if (rows_ == columns_ || (shape == MatrixShape::any && symmetry_ == Symmetry::general)) return;
    fail(fmt::format("the matrix is {} x {}; a square one is expected", rows_, columns_));
  }

  Index rows() const { return rows_; }
  Index columns() const { return columns_; }
  bool is_coordinate() const { return is_coordinate_; }

  /// Reads the number of entries. Throws InputError if the rest of the file is too small for them.
  void read_count() {
    count_ = is_coordinate_ ? next_whole("the number of entries", 0, largest_n) : array_entries();
    check_bytes_left();
  }

  /// Calls add(row, column, value) for every entry, counted from 0, and for its mirror image if the matrix is
  /// symmetric.
  template <class Add>
  void read_entries(const Add& add) {
    const auto read_element = [&](Index row, Index column) {
      const double value = next_element(row, column);
      add(row - 1, column - 1, value);
      if (symmetry_ == Symmetry::general || row == column) return;
      add(column - 1, row - 1, symmetry_ == Symmetry::symmetric ? value : -value);
    };
    if (is_coordinate_) {
      for (Index i = 0; i < count_; ++i) {
        const Index row = next_whole("the row of an entry", 1, rows_);
        const Index column = next_whole("the column of an entry", 1, columns_);
        check_triangle(row, column);
        read_element(row, column);
      }
    } else {
      for (Index column = 1; column <= columns_; ++column) {  // arrays are stored by columns
        const Index diagonal = symmetry_ == Symmetry::skew_symmetric ? column + 1 : column;
        for (Index row = symmetry_ == Symmetry::general ? 1 : diagonal; row <= rows_; ++row) read_element(row, column);
      }
    }
    if (const auto surplus = find_token()) {
      fail(
          fmt::format("{} follows the last of the {} announced entries; correct the size line, or remove what "
                      "follows; if the file has both triangles, write 'general' for the symmetry",
                      in_quotes(*surplus), count_));
    }
  }

 private:
  void read_banner() {
    while (line_.find_first_not_of(blanks) == std::string_view::npos) {
      if (!read_line()) fail_at_end("the %%MatrixMarket line");
    }
    position_ = line_.size();
    std::istringstream words{std::string(line_)};
    std::string magic, object, format, field, symmetry, surplus;
    words >> magic >> object >> format >> field >> symmetry >> surplus;
    for (std::string* word : {&object, &format, &field, &symmetry}) *word = in_lower_case(*word);
    // `alias`: also accepted
    const auto expect = [this](const char* what, const std::string& word, const std::vector<std::string>& names,
                               const char* alias = "") {
      if (std::ranges::find(names, word) != names.end() || (!word.empty() && word == alias)) return;
      fail(fmt::format("{} {} in the %%MatrixMarket line; {} is expected", what, in_quotes(word), enumerate(names)));
    };
    expect("first word", magic, {"%%MatrixMarket"});
    expect("object", object, {"matrix"});
    expect("format", format, {"array", "coordinate"});
    expect("field", field, {"real", "integer"}, "double");
    expect("symmetry", symmetry, {"general", "symmetric", "skew-symmetric"}, "hermitian");
    if (!surplus.empty()) {
      fail("word " + in_quotes(surplus) +
           " in the %%MatrixMarket line; the end of the line after the symmetry is expected");
    }
    is_coordinate_ = format == "coordinate";
    is_integer_ = field == "integer";
    if (symmetry != "general") {
      symmetry_ = symmetry == "skew-symmetric" ? Symmetry::skew_symmetric : Symmetry::symmetric;
    }
  }

  Index array_entries() const {
    if (symmetry_ == Symmetry::general) return rows_ * columns_;
    return rows_ * (rows_ - 1) / 2 + (symmetry_ == Symmetry::symmetric ? rows_ : 0);
  }

  // Before memory is taken for the entries. If they are few, reading finds the line at which the file ends.
  void check_bytes_left() {
    constexpr Index few = 100'000;
    const Index min_bytes = is_coordinate_ ? 6 : 2;  // "1 1 1\n", "1\n"
    if (count_ < few) return;
    file_.clear();
    const std::streamoff next = file_.tellg();
    const std::streamoff end = file_.seekg(0, std::ios::end).tellg();
    file_.seekg(next);
    const Index left = end - next + static_cast<Index>(line_.size() - position_);
    if (left / min_bytes >= count_ - 1) return;
    fail(
        fmt::format("{} entries are announced, but the file has only {} bytes more; it is truncated, or its size line "
                    "is wrong",
                    count_, left));
  }

  /// Refuses an entry that would be counted twice, or that a skew-symmetric matrix cannot have.
  void check_triangle(Index row, Index column) {
    if (symmetry_ == Symmetry::general || (row == column && symmetry_ == Symmetry::symmetric)) return;
    const std::string entry = "the entry of " + place_text(row, column);
    if (row == column) fail(entry + " is on the diagonal, which is 0 in a skew-symmetric matrix; remove the entry");
    Index& line = row > column ? line_below_ : line_above_;
    const Index other_line = row > column ? line_above_ : line_below_;
    if (line == 0) line = line_number_;
    if (other_line == 0) return;
    fail(
        fmt::format("{} and that of line {} are on both sides of the diagonal, but a symmetric file has one triangle; "
                    "remove the other, or write 'general' for the symmetry",
                    entry, other_line));
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
    const auto refuse = [&](const char* why) { fail(place_text(row, column) + ": " + in_quotes(token) + why); };
    double value = 0;
    const std::string_view digits = token.starts_with('+') ? token.substr(1) : token;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error == std::errc::invalid_argument || end != digits.data() + digits.size()) refuse(" is not a number");
    if (error != std::errc()) refuse(" is beyond double precision");
    if (!std::isfinite(value)) check_finite(where(), value, row, column);
    if (is_integer_ && value != std::trunc(value)) {
      refuse(" is not a whole number; write 'real' for the field 'integer' in the first line");
    }
    return value;
  }

  /// The next word outside comments; none at the end of the file.
  std::optional<std::string_view> find_token() {
    while (true) {
      const std::size_t start = line_.find_first_not_of(blanks, position_);
      const bool comment = start != std::string::npos && position_ == 0 && line_[start] == '%';
      if (start != std::string::npos && !comment) {
        position_ = std::min(line_.find_first_of(blanks, start), line_.size());
        return line_.substr(start, position_ - start);
      }
      if (!read_line()) return std::nullopt;
    }
  }

  std::string_view next_token(const std::string& expected) {
    const std::optional<std::string_view> token = find_token();
    if (!token) fail_at_end(expected);
    return *token;
  }

  bool read_line() {
    position_ = 0;
    ++line_number_;
    line_ = {};
    file_.getline(buffer_.data(), static_cast<std::streamsize>(buffer_.size()));
    const auto length = static_cast<std::size_t>(file_.gcount());
    if (file_.fail() && length + 1 == buffer_.size()) {
      fail(fmt::format("the line has more than {} characters; break it", length));
    }
    if (file_.fail()) return false;
    line_ = std::string_view(buffer_.data(), file_.eof() ? length : length - 1);  // without its end
    return true;
  }

  std::string where() const { return fmt::format("{}:{}: ", path_, line_number_); }
  [[noreturn]] void fail(const std::string& message) const { throw InputError(where() + message); }
  [[noreturn]] void fail_at_end(const std::string& expected) const {
    fail("the file ends here; expected: " + expected + "; it is truncated");
  }

  std::istream& file_;
  const std::string& path_;
  std::vector<char> buffer_ = std::vector<char>(std::size_t{1} << 20);  // a file of zeros is one line
  std::string_view line_;
  std::size_t position_ = 0;
  Index line_number_ = 0;
  bool is_coordinate_ = false, is_integer_ = false;
  Symmetry symmetry_ = Symmetry::general;
  Index rows_ = 0, columns_ = 0, count_ = 0;
  Index line_below_ = 0, line_above_ = 0;  // of the first entry on that side of the diagonal; 0: none
};

/// Adds to the sum of the entries of one place. Throws InputError if it becomes infinite.
void add(double& sum, double value, const std::string& path, Index row, Index column) {
  sum += value;
  if (!std::isfinite(sum)) check_finite(path + ": the sum of the entries of ", sum, row + 1, column + 1);
}

}  // namespace

Index read_matrix_market_order(std::istream& file, const std::string& path) {
  return MatrixMarketReader(file, path, MatrixShape::square).rows();
}

DenseMatrix read_matrix_market(std::istream& file, const std::string& path, std::int64_t largest_bytes,
                               MatrixShape shape) {
  MatrixMarketReader reader(file, path, shape);
  const Index rows = reader.rows(), columns = reader.columns();
  check_matrix_size(path, rows, columns, largest_bytes);
  reader.read_count();
  DenseMatrix matrix{rows, columns, std::vector<double>(static_cast<std::size_t>(rows * columns))};
  reader.read_entries([&](Index row, Index column, double value) {
    add(matrix.elements[static_cast<std::size_t>(row * columns + column)], value, path, row, column);
  });
  return matrix;
}

CoordinateMatrix read_matrix_market_coordinates(std::istream& file, const std::string& path, std::int64_t largest_bytes,
                                                MatrixShape shape) {
  MatrixMarketReader reader(file, path, shape);
  if (!reader.is_coordinate()) check_matrix_size(path, reader.rows(), reader.columns(), largest_bytes);
  reader.read_count();
  CoordinateMatrix matrix{reader.rows(), reader.columns(), {}};
  std::vector<CoordinateMatrix::Entry>& entries = matrix.entries;
  reader.read_entries([&](Index row, Index column, double value) {
    if (value != 0) entries.push_back({row, column, value});
  });
  const auto place_of = [](const CoordinateMatrix::Entry& entry) { return std::tuple(entry.row, entry.column); };
  std::ranges::stable_sort(entries, {}, place_of);
  // duplicates are added
  std::size_t kept = 0;
  for (const CoordinateMatrix::Entry& entry : entries) {
    if (kept > 0 && place_of(entries[kept - 1]) == place_of(entry)) {
      add(entries[kept - 1].value, entry.value, path, entry.row, entry.column);
    } else {
      entries[kept++] = entry;
    }
  }
  entries.resize(kept);
  return matrix;
}

}  // namespace glinpack::app
