// Options of `glinpack tridiagonal` and `glinpack background`.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "app/modes/background_options.hpp"
#include "app/modes/tridiagonal_options.hpp"
#include "tests/app/expect.hpp"

namespace glinpack::app {
namespace {

using solvers::Share;
using solvers::TridiagonalVariant;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(TridiagonalOptions, DefaultsSolve1024SystemsOnComputeShaders) {
  const TridiagonalOptions o = parse_tridiagonal_options({});
  EXPECT_THAT(o.systems, ElementsAre(1024));
  EXPECT_THAT(o.n, ElementsAre(256));
  EXPECT_THAT(o.variant, ElementsAre("compute"));
  EXPECT_EQ(o.share, Share::automatic);
  EXPECT_FALSE(o.steps || o.tile);
  EXPECT_THAT(parse_tridiagonal_options({"--input", "a.mtx"}).systems, IsEmpty()) << "given by the files";
}

TEST(TridiagonalOptions, EveryOptionIsParsedAndIsInTheConfiguration) {
  const TridiagonalOptions o = parse_tridiagonal_options(
      {"--systems", "3,4", "--variant", "all", "--equations", "all", "--steps", "5", "--tile", "64", "--n", "7"});
  EXPECT_THAT(o.systems, ElementsAre(3, 4));
  EXPECT_THAT(o.variant, ElementsAre("raster", "compute", "cyclic-reduction", "lapack"));
  const solvers::TridiagonalSettings settings = o.settings_of(TridiagonalVariant::raster);
  EXPECT_EQ(settings.variant, TridiagonalVariant::raster);
  EXPECT_EQ(settings.share, Share::system);
  EXPECT_EQ(settings.steps, 5);
  EXPECT_EQ(settings.tile, 64);
  const nlohmann::json json = to_json(o, tridiagonal_table);
  EXPECT_EQ(json["systems"], nlohmann::json({3, 4}));
  EXPECT_EQ(json["equations"], "all");
  EXPECT_EQ(json["steps"], 5);
  EXPECT_EQ(json["tile"], 64);
  EXPECT_EQ(to_json(parse_tridiagonal_options({"--equations", "16"}), tridiagonal_table)["equations"], "16");
  EXPECT_EQ(to_json(parse_tridiagonal_options({"--steps", "auto"}), tridiagonal_table)["steps"], "auto");
}

TEST(TridiagonalOptions, InvalidValuesAreNamed) {
  const auto refused = [](const std::vector<std::string>& arguments, const std::vector<std::string>& parts) {
    expect_input_error([&] { parse_tridiagonal_options(arguments); }, parts);
  };
  refused({"--variant", "rastr"}, {"--variant", "'rastr'", "did you mean raster"});
  refused({"--equations", "8"}, {"--equations", "'8'", "16"});
  refused({"--steps", "-1"}, {"--steps", "'-1'"});
  refused({"--tile", "0"}, {"--tile", "'0'"});
  refused({"--systems", "0"}, {"--systems", "'0'"});
  refused({"--precision", "mixed"}, {"--precision", "'mixed'"});
  refused({"--precision", "double", "--variant", "compute,raster"}, {"--precision double", "raster", "compute"});
  refused({"--input-b", "b.npy"}, {"--input-b b.npy", "--input"});
  refused({"--input", "a.mtx", "--input-b", "b.npy", "--systems", "3"}, {"--systems", "--input-b b.npy", "leave one"});
  refused({"--input", "a.mtx", "--n", "3"}, {"--n", "--input a.mtx", "leave one"});
  refused({"--fit", "--systems", "1,2"}, {"--fit", "--systems", "2"});
}

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
