#include <cctype>
#include <charconv>
#include <sstream>

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

  Index read_order() {
    const Index rows = next_whole("the number of rows", 1, largest_n);
    const Index columns = next_whole("the number of columns", 1, largest_n);
    if (rows != columns) {
      fail("the matrix is " + std::to_string(rows) + " x " + std::to_string(columns) + "; a square one is expected");
    }
    return rows;
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

class Mirror {
 public:
  Mirror(DenseMatrix& matrix, Symmetry symmetry) : matrix_(matrix), symmetry_(symmetry) {}

  void add(Index row, Index column, double value) const {
    element(row, column) += value;
    if (symmetry_ == Symmetry::general || row == column) return;
    element(column, row) += symmetry_ == Symmetry::symmetric ? value : -value;
  }

 private:
  double& element(Index row, Index column) const {
    return matrix_.elements[static_cast<std::size_t>(row * matrix_.n + column)];
  }

  DenseMatrix& matrix_;
  Symmetry symmetry_;
};

}  // namespace

Index read_matrix_market_order(std::istream& file, const std::string& path) {
  MatrixMarketReader reader(file, path);
  reader.read_banner();
  return reader.read_order();
}

DenseMatrix read_matrix_market(std::istream& file, const std::string& path, std::int64_t largest_bytes) {
  MatrixMarketReader reader(file, path);
  const Banner banner = reader.read_banner();
  const Index n = reader.read_order();
  check_matrix_size(path, n, largest_bytes);
  const Index entries = banner.coordinate ? reader.next_whole("the number of entries", 0, largest_n) : 0;
  DenseMatrix matrix{n, std::vector<double>(static_cast<std::size_t>(n * n))};
  const Mirror mirror(matrix, banner.symmetry);
  if (banner.coordinate) {
    for (Index i = 0; i < entries; ++i) {
      const Index row = reader.next_whole("the row of an entry", 1, n);
      const Index column = reader.next_whole("the column of an entry", 1, n);
      mirror.add(row - 1, column - 1, reader.next_element(row, column));
    }
    return matrix;
  }
  for (Index column = 0; column < n; ++column) {  // arrays are stored by columns
    const Index first_row = banner.symmetry == Symmetry::general     ? 0
                            : banner.symmetry == Symmetry::symmetric ? column
                                                                     : column + 1;
    for (Index row = first_row; row < n; ++row) mirror.add(row, column, reader.next_element(row + 1, column + 1));
  }
  return matrix;
}

}  // namespace glinpack::app
