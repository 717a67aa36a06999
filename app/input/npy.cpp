#include <bit>
#include <cstring>
#include <ostream>

#include "app/input/input_error.hpp"
#include "app/input/matrix_readers.hpp"
#include "app/input/values.hpp"

namespace glinpack::app {

namespace {

static_assert(std::endian::native == std::endian::little, "elements are read and written as they lie in memory");

constexpr std::string_view magic = "\x93NUMPY";

// The text after 'key': in the header, a Python dictionary such as {'descr': '<f8', 'fortran_order': False, 'shape':
// (3, 3), }
std::string_view header_value(std::string_view header, std::string_view key, const std::string& path) {
  std::string quoted_key = "'";
  quoted_key.append(key).append("'");
  const std::size_t at = header.find(quoted_key);
  const std::size_t colon = at == std::string_view::npos ? at : header.find(':', at + quoted_key.size());
  if (colon == std::string_view::npos) {
    throw InputError(path + ": the .npy header has no field " + quoted_key);
  }
  std::string_view value = header.substr(colon + 1);
  value.remove_prefix(std::min(value.find_first_not_of(' '), value.size()));
  if (value.starts_with('(')) return value.substr(0, std::min(value.find(')'), value.size()));
  return value.substr(0, value.find_first_of(",}"));
}

void read_description(NpyHeader& result, std::string_view description, const std::string& path) {
  if (description == "'<f8'" || description == "'<f4'" || description == "'>f8'" || description == "'>f4'") {
    result.big_endian = description[1] == '>';
    result.bytes_per_element = description[3] - '0';
    return;
  }
  throw InputError(path + ": header field 'descr' is " + in_quotes(description) +
                   "; float64 ('<f8') or float32 ('<f4') is expected: save it with numpy.save(file, a.astype('<f8'))");
}

void read_shape(NpyHeader& result, std::string_view text, const std::string& path, MatrixShape shape) {
  const char* expected = shape == MatrixShape::square ? "a square matrix, for example (1000, 1000), is expected: "
                                                      : "a matrix, for example (1000, 500), is expected: ";
  try {
    std::string inner(text.substr(text.find('(') + 1));
    const bool one_dimension = inner.ends_with(',');  // a Python tuple with one element: (6,)
    if (shape == MatrixShape::any && one_dimension) inner += "1";
    const std::vector<std::string> extents = split_list({inner});
    if (extents.size() != 2) throw InputError("two extents are expected");
    result.rows = parse_whole(extents[0], 1, largest_n);
    result.columns = parse_whole(extents[1], 1, largest_n);
    if (shape == MatrixShape::square && result.rows != result.columns) throw InputError("the matrix is not square");
  } catch (const InputError& error) {
    throw InputError(path + ": header field 'shape' is " + in_quotes(std::string(text) + ")") + "; " + expected +
                     error.what());
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
  constexpr std::size_t longest_header = 1 << 20;
  if (length > longest_header) throw InputError(path + ": the .npy header claims " + std::to_string(length) + " bytes");
  const std::string header = read(length);

  NpyHeader result;
  read_description(result, header_value(header, "descr", path), path);
  const std::string_view order = header_value(header, "fortran_order", path);
  if (order != "True" && order != "False") {
    throw InputError(path + ": header field 'fortran_order' is " + in_quotes(order) + "; True or False is expected");
  }
  result.fortran_order = order == "True";
  read_shape(result, header_value(header, "shape", path), path, shape);
  return result;
}

DenseMatrix read_npy(std::istream& file, const std::string& path, std::int64_t largest_bytes, MatrixShape shape) {
  const NpyHeader header = read_npy_header(file, path, shape);
  const Index rows = header.rows, columns = header.columns;
  check_matrix_size(path, rows, columns, largest_bytes);
  // check the file size before allocating all elements
  const std::streamoff first = file.tellg();
  file.seekg(0, std::ios::end);
  const std::streamoff present = (file.tellg() - first) / header.bytes_per_element;
  if (present < rows * columns) {
    throw InputError(path + ": holds " + std::to_string(present) + " of the " + std::to_string(rows * columns) +
                     " elements that its header announces; it is truncated");
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

namespace {

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

void write_npy(std::ostream& out, std::span<const double> values) {
  write_npy_array(out, std::to_string(values.size()) + ",", values);
}

void write_npy(std::ostream& out, const DenseMatrix& matrix) {
  write_npy_array(out, std::to_string(matrix.rows) + ", " + std::to_string(matrix.columns), matrix.elements);
}

}  // namespace glinpack::app
