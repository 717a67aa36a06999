#include "app/input/matrix_file.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <sstream>

#include "tests/app/expect.hpp"

namespace glinpack::app {
namespace {

constexpr std::int64_t plenty = 1 << 30;

// A .npy file: a header in numpy's format, and the bytes of the elements.
std::string npy(const std::string& description, bool fortran_order, const std::string& shape, const std::string& data,
                int version = 1) {
  std::string header = "{'descr': " + description + ", 'fortran_order': " + (fortran_order ? "True" : "False") +
                       ", 'shape': " + shape + ", }\n";
  std::string file = "\x93NUMPY";
  file += static_cast<char>(version);
  file += '\0';
  file += static_cast<char>(header.size());
  file += '\0';
  if (version > 1) file += std::string(2, '\0');
  return file + header + data;
}

template <class Stored>
std::string bytes_of(const std::vector<Stored>& values, bool swapped = false) {
  std::string bytes;
  for (const Stored value : values) {
    std::string one(sizeof value, '\0');
    std::memcpy(one.data(), &value, sizeof value);
    bytes += swapped ? std::string(one.rbegin(), one.rend()) : one;
  }
  return bytes;
}

class MatrixFile : public FolderTest {
 protected:
  DenseMatrix read(const std::string& contents) const { return read_matrix(write("a", contents), plenty); }
  void expect_rejected(const std::string& contents, const std::vector<std::string>& parts) const {
    const std::string file = write("a", contents);
    expect_input_error([&] { read_matrix(file, plenty); }, parts);
  }
};

TEST_F(MatrixFile, NpyIsReadInEveryFormatOfNumpy) {
  const std::string shape = "(2, 2)";
  const std::vector<double> values{1, 2, 3, 4};
  const std::vector<float> singles{1, 2, 3, 4};
  EXPECT_THAT(read(npy("'<f8'", false, shape, bytes_of(values))).elements, ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(read(npy("'<f8'", false, shape, bytes_of(values), 2)).elements, ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(read(npy("'<f8'", true, shape, bytes_of(values))).elements, ElementsAre(1, 3, 2, 4));
  EXPECT_THAT(read(npy("'<f4'", false, shape, bytes_of(singles))).elements, ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(read(npy("'>f8'", false, shape, bytes_of(values, true))).elements, ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(read(npy("'>f4'", true, shape, bytes_of(singles, true))).elements, ElementsAre(1, 3, 2, 4));
}

TEST_F(MatrixFile, NpyWithAnUnusableHeaderIsRejectedWithTheField) {
  const std::string data = bytes_of(std::vector<double>(6, 1.0));
  expect_rejected(npy("'<i8'", false, "(2, 2)", data), {"'descr'", "<i8", "float64"});
  expect_rejected(npy("'<f8'", false, "(2, 3)", data), {"'shape'", "not square"});
  expect_rejected(npy("'<f8'", false, "(4,)", data), {"'shape'"});
  expect_rejected(npy("'<f8'", false, "(1, 2, 2)", data), {"'shape'"});
  expect_rejected(npy("'<f8'", false, "(0, 0)", data), {"'shape'", "'0'"});
  expect_rejected(npy("'<f8'", false, "()", data), {"'shape'"});
  expect_rejected(npy("'<f8'", false, "(2, 2)", data, 9), {"format 9"});
  std::string without_order = npy("'<f8'", false, "(2, 2)", data);
  without_order.replace(without_order.find("fortran_order"), 7, "FORTRAN");
  expect_rejected(without_order, {"'fortran_order'"});
}

TEST_F(MatrixFile, TruncatedNpyIsRejected) {
  const std::string whole = npy("'<f8'", false, "(2, 2)", bytes_of(std::vector<double>{1, 2, 3, 4}));
  expect_rejected(whole.substr(0, whole.size() - 1), {"31 bytes", "takes 32", "truncated"});
  expect_rejected(whole.substr(0, 30), {"truncated"});
  expect_rejected(whole.substr(0, 9), {"truncated"});
}

TEST_F(MatrixFile, NpyHeadersWithDoubleQuotesAreRead) {
  std::string file = npy("'<f8'", true, "(2, 2)", bytes_of(std::vector<double>{1, 2, 3, 4}));
  std::replace(file.begin(), file.end(), '\'', '"');
  EXPECT_THAT(read(file).elements, ElementsAre(1, 3, 2, 4));
}

TEST_F(MatrixFile, NpyWithMoreThanItsHeaderAnnouncesIsRejected) {
  const std::string whole = npy("'<f8'", false, "(2, 2)", bytes_of(std::vector<double>{1, 2, 3, 4}));
  const auto with = [&](const std::string& old, const std::string& text) {
    std::string file = whole;
    file.replace(file.find(old), old.size(), text);
    file[8] = static_cast<char>(file[8] + static_cast<char>(text.size()) - static_cast<char>(old.size()));
    return file;
  };
  expect_rejected(whole + '\0', {"33 bytes", "takes 32", "surplus"});
  expect_rejected(whole + whole, {"surplus"});
  for (const auto& [old, text] :
       std::vector<std::pair<std::string, std::string>>{{"'fortran_order': False", "'shape': (2, 2)"},
                                                        {"'fortran_order'", "'descr'"},
                                                        {"'fortran_order'", "'order'"},
                                                        {"}\n", "} 8\n"},
                                                        {", 'shape'", " 'shape'"},
                                                        {"{'descr'", "'descr'"}}) {
    expect_rejected(with(old, text), {"header", "spaces and a newline"});
  }
  expect_rejected(with("}\n", "}{}\n"), {"header", "spaces and a newline"});
  expect_rejected(with("False", "'False'"), {"'fortran_order'"});
  // the header's length as before
  std::string shifted = whole;
  shifted.insert(shifted.find('}') + 1, 8, ' ');
  expect_rejected(shifted, {"newline"});
  expect_rejected(shifted.substr(0, whole.size()), {"newline"});
}

TEST_F(MatrixFile, NanAndInfinityAreRejectedWithRowAndColumn) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  expect_rejected(npy("'<f8'", false, "(2, 2)", bytes_of(std::vector<double>{1, nan, 3, 4})),
                  {"row 1, column 2", "NaN"});
  expect_rejected(npy("'<f8'", true, "(2, 2)", bytes_of(std::vector<double>{1, infinity, 3, 4})),
                  {"row 2, column 1", "infinite"});
  expect_rejected("%%MatrixMarket matrix array real general\n2 2\n1\n2\nnan\n4\n", {"a:5: ", "row 1, column 2", "NaN"});
  expect_rejected("%%MatrixMarket matrix array real general\n2 2\n1\n-inf\n", {"a:4: ", "row 2, column 1", "infinite"});
}

TEST_F(MatrixFile, MatrixMarketArraysAreStoredByColumns) {
  const DenseMatrix general = read("%%MatrixMarket matrix array real general\n% comment\n\n2 2\n1.5\n2\n3\n4e0\n");
  EXPECT_EQ(general.rows, 2);
  EXPECT_THAT(general.elements, ElementsAre(1.5, 3, 2, 4));
  EXPECT_THAT(read("%%MatrixMarket matrix array integer symmetric\r\n2 2\r\n1\r\n2\r\n4\r\n").elements,
              ElementsAre(1, 2, 2, 4));
  EXPECT_THAT(read("%%MatrixMarket matrix array real skew-symmetric\n2 2\n5\n").elements, ElementsAre(0, -5, 5, 0));
}

TEST_F(MatrixFile, BlanksAndAByteOrderMarkMayPrecedeTheMatrixMarketBanner) {
  const std::string rest = "%%MatrixMarket matrix array real general\n1 2\n";
  for (const std::string before : {"\n", " \n\t\n", "  ", "\xEF\xBB\xBF", "\xEF\xBB\xBF\r\n"}) {
    EXPECT_THAT(read(before + "%%MatrixMarket matrix array real general\n1 1\n7\n").elements, ElementsAre(7));
  }
  expect_rejected("\n\n" + rest, {"a:4: ", "1 x 2"});
}

TEST_F(MatrixFile, MatrixMarketCoordinatesDefaultToZero) {
  EXPECT_THAT(read("%%MatrixMarket matrix coordinate real general\n2 2 2\n1 2 7\n2 1 -1\n").elements,
              ElementsAre(0, 7, -1, 0));
  EXPECT_THAT(read("%%MatrixMarket MATRIX Coordinate Integer Symmetric\n2 2 1\n2 1 3\n").elements,
              ElementsAre(0, 3, 3, 0));
}

TEST_F(MatrixFile, UnusableMatrixMarketFilesAreRejectedWithTheLine) {
  const std::string array = "%%MatrixMarket matrix array real general\n";
  const std::string coordinate = "%%MatrixMarket matrix coordinate real general\n";
  expect_rejected("%%MatrixMarket matrix array complex general\n1 1\n1 0\n", {"a:1: ", "'complex'"});
  expect_rejected("%%MatrixMarket matrix coordinate pattern general\n1 1 0\n", {"a:1: ", "'pattern'"});
  expect_rejected("%%MatrixMarket vector array real general\n", {"a:1: ", "'vector'"});
  expect_rejected(array + "2 3\n", {"a:2: ", "2 x 3", "square"});
  expect_rejected(array + "0 0\n", {"a:2: ", "'0'"});
  expect_rejected(array + "two 2\n", {"a:2: ", "'two'"});
  expect_rejected(array + "2 2\n1\n2\n3\n", {"a:6: ", "truncated"});
  expect_rejected(array + "2 2\n1\nx\n", {"a:4: ", "'x'", "row 2, column 1"});
  expect_rejected(array, {"a:2: ", "truncated"});
  expect_rejected(coordinate + "2 2 1\n3 1 1.0\n", {"a:3: ", "'3'", "row"});
  expect_rejected(coordinate + "2 2 2\n1 1 1.0\n", {"a:4: ", "truncated"});
  expect_rejected("%%MatrixMarket matrix coordinate integer general\n1 1 1\n1 1 2.5\n", {"a:3: ", "'2.5'", "'real'"});
  expect_rejected(array + "1 1\n1e999\n", {"a:3: ", "beyond double precision"});
  expect_rejected(array + "1 1\n" + std::string(1 << 21, '\0'), {"a:3: ", "1048575 characters", "break it"});
  expect_rejected(coordinate + "2 2 2\n1 2 1e308\n1 2 1e308\n", {"row 1, column 2", "infinite"});
  expect_rejected("%%MatrixMarketing matrix array real general\n1 1\n1\n", {"a:1: ", "'%%MatrixMarketing'"});
  expect_rejected("%%MatrixMarket matrix array real general matrix\n1 1\n1\n",
                  {"a:1: ", "'matrix'", "end of the line"});
}

TEST_F(MatrixFile, MatrixMarketFilesWithMoreThanAnnouncedAreRejectedWithTheLine) {
  const std::string array = "%%MatrixMarket matrix array real ", coordinate = "%%MatrixMarket matrix coordinate real ";
  EXPECT_THAT(read(array + "general\n1 1\n5\n\n% comment\n \t\n").elements, ElementsAre(5));
  expect_rejected(array + "general\n1 1\n5\n\n6\n", {"a:5: ", "'6'", "1 announced", "size line"});
  expect_rejected(array + "general\n1 1\n5 end", {"a:3: ", "'end'"});
  expect_rejected(array + "skew-symmetric\n2 2\n0\n5\n0\n", {"a:4: ", "'5'", "1 announced"});
  expect_rejected(array + "symmetric\n2 2\n5\n1\n1\n3\n", {"a:6: ", "both triangles", "'general'"});
  expect_rejected(coordinate + "general\n2 2 1\n1 1 1\n2 2 1\n", {"a:4: ", "'2'", "1 announced"});
  expect_rejected(coordinate + "general\n2 2 1\n1 1 1 0.5\n", {"a:3: ", "'0.5'"});
}

TEST_F(MatrixFile, SymmetricMatrixMarketFilesHaveOneTriangle) {
  const std::string symmetric = "%%MatrixMarket matrix coordinate real symmetric\n3 3 3\n1 1 4\n";
  const std::string skew = "%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 1\n";
  EXPECT_THAT(read(symmetric + "1 2 7\n1 3 8\n").elements, ElementsAre(4, 7, 8, 7, 0, 0, 8, 0, 0));
  expect_rejected(symmetric + "2 1 7\n1 2 7\n", {"a:5: ", "row 1, column 2", "line 4", "one triangle", "'general'"});
  expect_rejected(symmetric + "1 2 7\n3 1 7\n", {"a:5: ", "row 3, column 1", "line 4"});
  EXPECT_THAT(read(skew + "1 2 7\n").elements, ElementsAre(0, 7, -7, 0));
  expect_rejected(skew + "2 2 0\n", {"a:3: ", "row 2, column 2", "diagonal", "remove"});
}

TEST_F(MatrixFile, AnArrayLargerThanItsFileIsRejectedBeforeMemoryIsTaken) {
  constexpr std::int64_t terabyte = std::int64_t{1} << 40;  // would not be there
  for (const char* contents : {"array real general\n300000 300000\n1\n", "array real symmetric\n300000 300000\n1\n",
                               "coordinate real general\n300000 300000 90000000000\n1 1 1\n"}) {
    const std::string file = write("a", std::string("%%MatrixMarket matrix ") + contents);
    expect_input_error([&] { read_matrix(file, terabyte); }, {"a:2: ", "announced", "truncated"});
  }
}

TEST_F(MatrixFile, OtherFilesAreRejected) {
  expect_rejected("", {"empty"});
  expect_rejected("1 2 3\n4 5 6\n", {"neither", ".npy", "Matrix Market"});
  expect_rejected(std::string("\x00\x01\x02", 3), {"neither"});
  expect_input_error([&] { read_matrix(path("missing"), plenty); }, {"missing", "no such file"});
  expect_input_error([&] { read_matrix(path(""), plenty); }, {"is a directory; a matrix is expected"});
  ASSERT_EQ(mkfifo(path("pipe").c_str(), 0600), 0);  // without a writer
  for (const auto& read_it : {+[](const std::string& file) { read_matrix(file, plenty); },
                              +[](const std::string& file) { read_coordinates(file, plenty, MatrixShape::any); },
                              +[](const std::string& file) { read_matrix_order(file); }}) {
    expect_input_error([&] { read_it(path("pipe")); }, {"pipe", "not a regular file", "copy"});
  }
}

TEST_F(MatrixFile, AMatrixLargerThanTheMemoryIsRejectedBeforeItIsRead) {
  const std::string file = write("a", "%%MatrixMarket matrix array real general\n100000 100000\n");
  expect_input_error([&] { read_matrix(file, plenty); }, {"100000", "74.5 GiB", "1.0 GiB"});
}

TEST_F(MatrixFile, TheOrderIsReadFromTheHeader) {
  EXPECT_EQ(read_matrix_order(write("a", npy("'<f8'", false, "(5, 5)", ""))), 5);
  EXPECT_EQ(read_matrix_order(write("b", "%%MatrixMarket matrix array real general\n7 7\n")), 7);
}

TEST(Npy, VectorsAreWrittenInTheFormatOfNumpy) {
  std::ostringstream out;
  const std::vector<double> values{1.5, -2};
  write_npy(out, values);
  const std::string file = out.str();
  ASSERT_EQ(file.size(), 128U + 16U);
  EXPECT_EQ(file.substr(0, 8), std::string("\x93NUMPY\x01\x00", 8));
  EXPECT_EQ(static_cast<unsigned char>(file[8]) + 256 * static_cast<unsigned char>(file[9]), 118);
  EXPECT_NE(file.find("'shape': (2,)"), std::string::npos);
  EXPECT_EQ(file[127], '\n');
  EXPECT_EQ(file.substr(128), bytes_of(values));
}

TEST_F(MatrixFile, WrittenVectorsAreReadBack) {
  std::ostringstream out;
  write_npy(out, std::vector<double>{1, 2, 3, 4});
  std::string file = out.str();
  file.replace(file.find("(4,)"), 4, "(2,2)");
  file.erase(file.find("  "), 1);  // keeps the length of the header
  EXPECT_THAT(read(file).elements, ElementsAre(1, 2, 3, 4));
}

TEST_F(MatrixFile, RectangularMatricesAreReadIfRequested) {
  const auto rectangle = [&](const std::string& contents) {
    return read_matrix(write("a", contents), plenty, MatrixShape::any);
  };
  const std::string six = bytes_of(std::vector<double>{1, 2, 3, 4, 5, 6});
  for (const DenseMatrix& matrix : {rectangle(npy("'<f8'", false, "(2, 3)", six)),
                                    rectangle("%%MatrixMarket matrix array real general\n2 3\n1\n4\n2\n5\n3\n6\n")}) {
    EXPECT_EQ(matrix.rows, 2);
    EXPECT_EQ(matrix.columns, 3);
    EXPECT_THAT(matrix.elements, ElementsAre(1, 2, 3, 4, 5, 6));
  }
  EXPECT_THAT(rectangle(npy("'<f8'", true, "(2, 3)", six)).elements, ElementsAre(1, 3, 5, 2, 4, 6));
  EXPECT_EQ(rectangle(npy("'<f8'", false, "(6,)", six)).columns, 1);
  expect_rejected("%%MatrixMarket matrix array real general\n2 3\n1\n4\n2\n5\n3\n6\n", {"2 x 3", "square"});
  expect_input_error([&] { rectangle("%%MatrixMarket matrix array real symmetric\n2 3\n"); }, {"2 x 3", "square"});
}

TEST_F(MatrixFile, CoordinatesStaySparseAndAreSortedByRows) {
  const auto coordinates = [&](const std::string& contents) {
    return read_coordinates(write("a", contents), 100, MatrixShape::any);  // not enough memory for a dense matrix
  };
  const auto triples = [](const CoordinateMatrix& matrix) {
    std::string text;
    for (const auto& [row, column, value] : matrix.entries) {
      text += std::to_string(row) + "," + std::to_string(column) + "," + std::to_string(static_cast<int>(value)) + " ";
    }
    return text;
  };
  const CoordinateMatrix matrix =
      coordinates("%%MatrixMarket matrix coordinate real symmetric\n900 900 4\n900 1 5\n2 2 3\n2 2 4\n7 1 0\n");
  EXPECT_EQ(matrix.rows, 900);
  EXPECT_EQ(triples(matrix), "0,899,5 1,1,7 899,0,5 ");
  EXPECT_EQ(triples(coordinates(npy("'<f8'", false, "(2, 2)", bytes_of(std::vector<double>{0, 2, 3, 0})))),
            "0,1,2 1,0,3 ");
  EXPECT_EQ(triples(coordinates("%%MatrixMarket matrix array real general\n1 2\n0\n8\n")), "0,1,8 ");
  expect_input_error([&] { coordinates("%%MatrixMarket matrix coordinate real general\n3 3 1\n4 1 1\n"); },
                     {"a:3", "'4'"});
}

TEST_F(MatrixFile, WrittenMatricesAreReadBackUnchanged) {
  const DenseMatrix matrix{2, 3, {1, 0.1, -3e-300, 4, 5, 1.0 / 3}};
  for (const std::string name : {"m.npy", "m.mtx"}) {
    std::ostringstream out;
    write_matrix(out, name, matrix);
    const DenseMatrix back = read_matrix(write(name, out.str()), plenty, MatrixShape::any);
    EXPECT_EQ(back.rows, 2);
    EXPECT_EQ(back.elements, matrix.elements);
    check_matrix_name(name);
  }
  expect_input_error([] { check_matrix_name("m.txt"); }, {"--output m.txt", ".npy", ".mtx"});
}

TEST(MatrixFileValues, OutsideSinglePrecisionAreReported) {
  check_single_precision("f", std::vector<double>{1, -3.4e38}, 2);
  expect_input_error(
      [] {
        check_single_precision("f", std::vector<double>{1, 2, 3, 1e39}, 2);
      },
      {"f: row 2, column 2", "single precision"});
}

}  // namespace
}  // namespace glinpack::app
