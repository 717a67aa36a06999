#include "app/papers/background.hpp"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "app/manual/pages.hpp"
#include "tests/app/expect.hpp"

namespace glinpack::app {
namespace {

using ::testing::HasSubstr;

TEST(BackgroundOptions, DefaultsAreThePapersThirtyFactorisationsAndAMeasuredRatio) {
  const BackgroundOptions o = parse_background_options({});
  EXPECT_EQ(o.systems, 30);
  EXPECT_FALSE(o.ratio);
  EXPECT_STREQ(o.operation->name, "plu-packed");
  EXPECT_EQ(o.operation, &background_operations().front());
  EXPECT_EQ(to_json(o, background_table)["ratio"], "auto");
}

TEST(BackgroundOptions, EveryOptionIsParsedAndIsInTheConfiguration) {
  const BackgroundOptions o =
      parse_background_options({"--systems", "7", "--operation", "tridiagonal", "--ratio", "0.5", "--n", "8,9"});
  EXPECT_EQ(o.systems, 7);
  EXPECT_STREQ(o.operation->name, "tridiagonal");
  EXPECT_EQ(o.ratio, 0.5);
  const nlohmann::json json = to_json(o, background_table);
  EXPECT_EQ(json["systems"], 7);
  EXPECT_EQ(json["operation"], "tridiagonal");
  EXPECT_EQ(json["ratio"], 0.5);
  const BackgroundOptions files = parse_background_options({"--input", "a.mtx", "--output", "x.npy"});
  EXPECT_EQ(to_json(files, background_table)["input"], "a.mtx");
  EXPECT_EQ(to_json(files, background_table)["output"], "x.npy");
}

TEST(BackgroundOptions, InvalidValuesAreNamed) {
  const auto refused = [](const std::vector<std::string>& arguments, const std::vector<std::string>& parts) {
    expect_input_error([&] { parse_background_options(arguments); }, parts);
  };
  for (const char* ratio : {"-1", "x", "nan", "inf", ""}) refused({"--ratio", ratio}, {"--ratio", "auto"});
  refused({"--systems", "0"}, {"--systems", "'0'"});
  refused({"--operation", "matmull"}, {"--operation", "'matmull'", "did you mean matmul"});
  refused({"--operation", "plu"}, {"--operation", "'plu'", "plu-packed"});
  refused({"--input", "a.mtx", "--n", "3"}, {"--n", "--input a.mtx", "leave one"});
}

TEST(BackgroundOptions, HelpNamesEveryOperation) {
  for (const BackgroundOperation& operation : background_operations()) {
    EXPECT_THAT(help_of(background_table), HasSubstr(operation.name));
  }
}

}  // namespace
}  // namespace glinpack::app
