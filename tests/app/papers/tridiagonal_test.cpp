#include "app/papers/tridiagonal.hpp"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "tests/app/expect.hpp"

namespace glinpack::app {
namespace {

using solvers::Share;
using solvers::TridiagonalVariant;
using ::testing::ElementsAre;
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

}  // namespace
}  // namespace glinpack::app
