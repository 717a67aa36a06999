#include <bit>
#include <cstring>
#include <map>
#include <ostream>
#include <regex>

#include "app/input/input_error.hpp"
#include "app/input/matrix_file.hpp"
#include "app/input/values.hpp"

namespace glinpack::app {

namespace {

static_assert(std::endian::native == std::endian::little, "elements are read and written as they lie in memory");

constexpr std::string_view magic = "\x93NUMPY";

// The texts of the fields, a string with its quotes. The header is a Python dictionary, such as
// {'descr': '<f8', 'fortran_order': False, 'shape': (3, 3), }, followed by spaces and a newline.
std::map<std::string, std::string> fields_of(const std::string& header, const std::string& path) {
  static const std::string field =
      R"( *(['"])(descr|fortran_order|shape)\1 *: *(\([^)]*\)|\[[^\]]*\]|'[^']*'|"[^"]*"|\w+) *)";
  static const std::regex one(field);
  static const std::regex whole("\\{" + field + "," + std::regex_replace(field, std::regex("1"), "4") + "," +
                                std::regex_replace(field, std::regex("1"), "7") + ",? *\\} *\n");
  std::map<std::string, std::string> fields;
  for (std::sregex_iterator found(header.begin(), header.end(), one), end; found != end; ++found) {
    fields.emplace((*found)[2], (*found)[3]);
  }
  if (fields.size() != 3 || !std::regex_match(header, whole)) {
    throw InputError(path + ": the .npy header is " + in_quotes(header) +
                     ", not {'descr': ..., 'fortran_order': ..., 'shape': ...}, spaces and a newline; save the file "
                     "again with numpy.save");
  }
  return fields;
}

void read_description(NpyHeader& result, const std::string& text, const std::string& path) {
  static const std::regex known("['\"]([<>])f([48])['\"]");
  std::smatch parts;
  if (!std::regex_match(text, parts, known)) {
    throw InputError(
        path + ": header field 'descr' is " + text +
        "; float64 ('<f8') or float32 ('<f4') is expected: save it with numpy.save(file, a.astype('<f8'))");
  }
  result.big_endian = parts[1] == ">";
  result.bytes_per_element = parts[2] == "8" ? 8 : 4;
}

void read_order(NpyHeader& result, const std::string& text, const std::string& path) {
  if (text != "True" && text != "False") {
    throw InputError(path + ": header field 'fortran_order' is " + text +
                     "; True or False is expected, without quotes");
  }
  result.fortran_order = text == "True";
}

// `text`: with parentheses
void read_shape(NpyHeader& result, std::string_view text, const std::string& path, MatrixShape shape) {
  const char* expected = shape == MatrixShape::square ? "a square matrix, for example (1000, 1000), is expected: "
                                                      : "a matrix, for example (1000, 500), is expected: ";
  try {
    if (!text.starts_with('(')) throw InputError("a tuple is expected");
    std::string inner(text.substr(1, text.size() - 2));
    const bool one_dimension = inner.ends_with(',');  // a Python tuple with one element: (6,)
    if (shape == MatrixShape::any && one_dimension) inner += "1";
    const std::vector<std::string> extents = split_list({inner});
    if (extents.size() != 2) throw InputError("two extents are expected");
    result.rows = parse_whole(extents[0], 1, largest_n);
    result.columns = parse_whole(extents[1], 1, largest_n);
    if (shape == MatrixShape::square && result.rows != result.columns) throw InputError("the matrix is not square");
  } catch (const InputError& error) {
    throw InputError(path + ": header field 'shape' is " + in_quotes(text) + "; " + expected + error.what());
  }
}

template <class Stored>
double element_at(const char* bytes, bool big_endian) {
  char ordered[sizeof(Stored)];
  for (std::size_t i = 0; i < sizeof(Stored); ++i) ordered[i] = bytes[big_endian ? sizeof(Stored) - 1 - i : i];
  Stored value;
  std::memcpy(&value, ordered, sizeof value);
  return static_cast<double>(value);
}

void write_npy_array(std::ostream& out, const std::string& shape, std::span<const double> values) {
  std::string header = "{'descr': '<f8', 'fortran_order': False, 'shape': (" + shape + "), }";
  constexpr std::size_t before_header = 10;  // magic, version and length
  constexpr std::size_t alignment = 64;      // of the first element's offset
  while ((before_header + header.size() + 1) % alignment != 0) header += ' ';
  header += '\n';
  out << magic << '\x01' << '\0' << static_cast<char>(header.size() % 256) << static_cast<char>(header.size() / 256)
      << header;
  out.write(reinterpret_cast<const char*>(values.data()), static_cast<std::streamsize>(values.size_bytes()));
}

}  // namespace

NpyHeader read_npy_header(std::istream& file, const std::string& path, MatrixShape shape) {
  const auto read = [&](std::size_t count) {
    std::string bytes(count, '\0');
    if (!file.read(bytes.data(), static_cast<std::streamsize>(count))) {
      throw InputError(path + ": the file ends within its .npy header; it is truncated");
    }
    return bytes;
  };
  const std::string start = read(magic.size() + 2);
  const int version = static_cast<unsigned char>(start[magic.size()]);
  if (version < 1 || version > 3) {
    throw InputError(path + ": .npy format " + std::to_string(version) + " is not known; 1, 2 or 3 is expected");
  }
  const std::string length_bytes = read(version == 1 ? 2 : 4);
  std::size_t length = 0;
  for (std::size_t i = length_bytes.size(); i-- > 0;) {
    length = length * 256 + static_cast<unsigned char>(length_bytes[i]);
  }
  constexpr std::size_t longest_header = 4096;
  if (length > longest_header) throw InputError(path + ": the .npy header claims " + std::to_string(length) + " bytes");
  const std::string header = read(length);

  const std::map<std::string, std::string> fields = fields_of(header, path);
  NpyHeader result;
  read_description(result, fields.at("descr"), path);
  read_order(result, fields.at("fortran_order"), path);
  read_shape(result, fields.at("shape"), path, shape);
  return result;
}

DenseMatrix read_npy(std::istream& file, const std::string& path, std::int64_t largest_bytes, MatrixShape shape) {
  const NpyHeader header = read_npy_header(file, path, shape);
  const Index rows = header.rows, columns = header.columns;
  check_matrix_size(path, rows, columns, largest_bytes);
  // check the file size before allocating all elements
  const std::streamoff first = file.tellg();
  file.seekg(0, std::ios::end);
  const std::streamoff present = file.tellg() - first, announced = rows * columns * header.bytes_per_element;
  if (present != announced) {
    throw InputError(path + ": has " + std::to_string(present) + " bytes after its header, but a matrix " +
                     extents_text(rows, columns) + " takes " + std::to_string(announced) + "; it " +
                     (present < announced ? "is truncated" : "has surplus bytes, and elements may be shifted") +
                     ": save it again with numpy.save");
  }
  file.seekg(first);

  DenseMatrix matrix{rows, columns, std::vector<double>(static_cast<std::size_t>(rows * columns))};
  // a line is a row in C order, a column in Fortran order
  const Index lines = header.fortran_order ? columns : rows, length = header.fortran_order ? rows : columns;
  std::string line(static_cast<std::size_t>(length * header.bytes_per_element), '\0');
  for (Index i = 0; i < lines; ++i) {
    if (!file.read(line.data(), static_cast<std::streamsize>(line.size()))) throw InputError(path + ": cannot be read");
    for (Index j = 0; j < length; ++j) {
      const char* bytes = line.data() + j * header.bytes_per_element;
      const double value = header.bytes_per_element == 8 ? element_at<double>(bytes, header.big_endian)
                                                         : element_at<float>(bytes, header.big_endian);
      const Index row = header.fortran_order ? j : i;
      const Index column = header.fortran_order ? i : j;
      check_finite(path + ": ", value, row + 1, column + 1);
      matrix.elements[static_cast<std::size_t>(row * columns + column)] = value;
    }
  }
  return matrix;
}

void write_npy(std::ostream& out, std::span<const double> values) {
  write_npy_array(out, std::to_string(values.size()) + ",", values);
}

void write_npy(std::ostream& out, const DenseMatrix& matrix) {
  write_npy_array(out, std::to_string(matrix.rows) + ", " + std::to_string(matrix.columns), matrix.elements);
}

}  // namespace glinpack::app
