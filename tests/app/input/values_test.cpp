#include "app/input/values.hpp"

#include <limits>

#include "app/input/input_error.hpp"
#include "tests/app/expect.hpp"

namespace glinpack::app {
namespace {

TEST(Values, WholeNumbersAreReadWithinTheirRange) {
  EXPECT_EQ(parse_whole("1", 1, 10), 1);
  EXPECT_EQ(parse_whole("+10", 1, 10), 10);
  EXPECT_EQ(parse_whole("-3", -5, 10), -3);
  EXPECT_EQ(parse_whole("007", 1, 10), 7);
}

TEST(Values, OtherTextIsRejectedAsWholeNumber) {
  for (const char* text : {"", "x", "1.5", "1e3", "1k", "0x10", " 1", "1 ", "+-1", "++1", "--1", "1,2"}) {
    expect_input_error([&] { parse_whole(text, 1, 100); }, {std::string("'") + text + "'", "not a whole number"});
  }
}

TEST(Values, SizesMayHaveExponentsAndUnits) {
  const std::vector<std::pair<const char*, Index>> sizes{
      {"8000", 8000},    {"+8", 8},        {"8k", 8000},    {"8K", 8000},     {"8Ki", 8192},
      {"2M", 2'000'000}, {"1Mi", 1 << 20}, {"1e4", 10'000}, {"1E+4", 10'000}, {"1.5e4", 15'000},
      {"4.35k", 4350},   {"1.5Ki", 1536},  {"100.0", 100},  {"200e-1", 20},   {"1e15", largest_n}};
  for (const auto& [text, value] : sizes) {
    EXPECT_EQ(parse_size(text, 1, largest_n), value) << text;
  }
}

TEST(Values, SizesThatAreNoWholeNumbersAreRejected) {
  for (const char* text :
       {"1.5", "1.2345k", "1.3Ki", "5e-1", "1e", "e4", "k", "8q", "8kk", "8 k", "-8k", "1.5.2", ""}) {
    expect_input_error([&] { parse_size(text, 1, largest_n); },
                       {std::string("'") + text + "'", "not a whole number", "from 1 to"});
  }
  expect_input_error([] { parse_size("0.5k", 1, 400); }, {"'0.5k'", "out of range", "from 1 to 400"});
  constexpr Index largest = std::numeric_limits<Index>::max();
  for (const char* text : {"1e99", "1e19", "9223372036854775808", "999999999999e9"}) {
    expect_input_error([&] { parse_size(text, 0, largest); }, {text, "out of range"});
  }
  EXPECT_EQ(parse_size("9223372036854775807", 0, largest), largest);
  expect_input_error([] { parse_size("0k", 1, largest_n); }, {"'0k'", "out of range"});
}

TEST(Values, WholeNumbersOutOfRangeAreRejectedWithTheRange) {
  for (const char* text : {"0", "-1", "11", "9223372036854775808", "99999999999999999999999"}) {
    expect_input_error([&] { parse_whole(text, 1, 10); }, {text, "out of range", "from 1 to 10"});
  }
}

TEST(Values, RealNumbersMustBeFinite) {
  EXPECT_EQ(parse_real("16.0"), 16.0);
  EXPECT_EQ(parse_real("-1e-3"), -1e-3);
  for (const char* text : {"", "nan", "inf", "1e999", "1.0x", "sixteen"}) {
    expect_input_error([&] { parse_real(text); }, {text, "not a finite real number"});
  }
}

TEST(Values, GridsAreRowsTimesColumns) {
  EXPECT_EQ(parse_grid("2x3"), (GridShape{2, 3}));
  EXPECT_EQ(parse_grid("1X1"), (GridShape{1, 1}));
  for (const char* text : {"", "2", "x", "2x", "x3", "0x1", "-1x2", "2x3x4", "2*3", "1000000x2"}) {
    expect_input_error([&] { parse_grid(text); }, {std::string("'") + text + "'"});
  }
}

TEST(Values, ListsAreSplitAtCommasAndSpaces) {
  EXPECT_THAT(split_list({"1,2", "3"}), ElementsAre("1", "2", "3"));
  EXPECT_THAT(split_list({"1,", "2"}), ElementsAre("1", "2"));
  EXPECT_THAT(split_list({" 1 2\t3 "}), ElementsAre("1", "2", "3"));
}

TEST(Values, ListsWithEmptyElementsAreRejected) {
  for (const std::string text : {"", " ", ",", ",1", "1,,2", "1,"}) {
    expect_input_error([&] { split_list({text}); }, {"empty"});
  }
  expect_input_error([] { split_list({}); }, {"empty"});
}

TEST(Values, ListsOfMoreThanAThousandValuesAreRejected) {
  expect_input_error([] { split_list(std::vector<std::string>(1001, "1")); }, {"1001", "1000"});
}

TEST(Values, QuotedTextIsPrintableAndLimitedInLength) {
  EXPECT_EQ(in_quotes("a\nb\x01"), "'a?b?'");
  EXPECT_LT(in_quotes(std::string(1000, 'x')).size(), 70U);
}

TEST(NearestName, CountsEdits) {
  EXPECT_EQ(edit_distance("", ""), 0U);
  EXPECT_EQ(edit_distance("", "abc"), 3U);
  EXPECT_EQ(edit_distance("backend", "bakend"), 1U);
  EXPECT_EQ(edit_distance("ring", "rign"), 1U);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3U);
}

TEST(NearestName, IsTheIntendedName) {
  const std::vector<std::string> names{"reference", "openblas", "gl-compute", "auto"};
  EXPECT_EQ(nearest_name("openblass", names), "openblas");
  EXPECT_EQ(nearest_name("GL-Compute", names), "gl-compute");
  EXPECT_EQ(nearest_name("glcompute", names), "gl-compute");
  EXPECT_EQ(nearest_name("raster", names), std::nullopt);
  EXPECT_EQ(nearest_name("x", {}), std::nullopt);
}

TEST(NearestName, IsSuggested) {
  const std::vector<std::string> names{"plu", "devices"};
  EXPECT_EQ(did_you_mean("plx", names), " (did you mean plu?)");
  EXPECT_EQ(did_you_mean("nothing", names), "");
  EXPECT_EQ(enumerate(names), "plu or devices");
}

}  // namespace
}  // namespace glinpack::app
