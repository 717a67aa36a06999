// The options of `glinpack-papers poisson`, and the criteria for its results.
#include "app/papers/poisson.hpp"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "solvers/poisson/poisson_problem.hpp"
#include "tests/app/expect.hpp"

namespace glinpack::app {
namespace {

using solvers::PoissonMemory;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

PoissonOptions poisson_options(const std::vector<std::string>& arguments) {
  TextFiles files;
  return parse_poisson_options(arguments, files);
}

TEST(PoissonOptions, DefaultsAreThePapersSizesInDouble) {
  const PoissonOptions o = poisson_options({});
  EXPECT_THAT(o.n, ElementsAre(32, 64, 128, 256));
  EXPECT_THAT(o.memory, ElementsAre(PoissonMemory::global));
  EXPECT_THAT(o.host, ElementsAre("serial", "threads"));
  EXPECT_EQ(o.precision, Precision::double_);
  EXPECT_FALSE(o.textures_skipped);
}

TEST(PoissonOptions, AllMeansEveryVariantOfThePrecision) {
  const PoissonOptions single = poisson_options({"--memory", "all", "--precision", "single"});
  EXPECT_THAT(single.memory, ElementsAre(PoissonMemory::global, PoissonMemory::texture1d, PoissonMemory::texture2d,
                                         PoissonMemory::shared));
  EXPECT_FALSE(single.textures_skipped);
  const PoissonOptions two = poisson_options({"--precision", "double", "--memory", "all"});
  EXPECT_THAT(two.memory, ElementsAre(PoissonMemory::global, PoissonMemory::shared));
  EXPECT_TRUE(two.textures_skipped);
}

TEST(PoissonOptions, EveryOptionIsInTheConfiguration) {
  const nlohmann::json json = to_json(
      poisson_options({"--n", "5,6", "--memory", "shared", "--host", "none", "--output", "u.npy"}), poisson_table);
  EXPECT_EQ(json["n"], nlohmann::json({5, 6}));
  EXPECT_EQ(json["memory"], nlohmann::json({"shared"}));
  EXPECT_EQ(json["host"], nlohmann::json::array());
  EXPECT_EQ(json["precision"], "double");
  EXPECT_EQ(json["output"], "u.npy");
  EXPECT_FALSE(json.contains("seed"));
}

class PoissonConfigFile : public FolderTest {};

TEST_F(PoissonConfigFile, OtherRanksGetTheSameOptionsWithoutTheDisk) {
  const std::vector<std::string> arguments{
      "--config", write("poisson.toml", "n = [5, 6]\nmemory = \"all\"\nfit = true\n"), "--host", "none"};
  TextFiles files;
  const PoissonOptions of_root = parse_poisson_options(arguments, files);
  write("poisson.toml", "n = 7\n");
  TextFiles of_other_rank(files.contents());
  const PoissonOptions options = parse_poisson_options(arguments, of_other_rank);
  EXPECT_THAT(options.n, ElementsAre(5, 6));
  EXPECT_TRUE(options.all_memories);
  EXPECT_EQ(to_json(options, poisson_table), to_json(of_root, poisson_table));
}

TEST(PoissonOptions, EveryRankNeedsARow) {
  PoissonOptions o = poisson_options({"--n", "8,3"});
  EXPECT_THAT(adapt_to_ranks(o, 1), IsEmpty());
  EXPECT_THAT(adapt_to_ranks(o, 3), ElementsAre(HasSubstr("3 ranks")));
  expect_input_error([&] { adapt_to_ranks(o, 4); }, {"--n 3", "4 processes", "start 3 at most", "larger N"});
}

TEST(PoissonOptions, TwoDimensionalTexturesNeedOneRank) {
  const std::vector<std::string> single{"--precision", "single", "--memory"};
  const auto parsed = [&](const std::string& memory) {
    std::vector<std::string> arguments = single;
    arguments.push_back(memory);
    return poisson_options(arguments);
  };
  PoissonOptions all = parsed("all"), named = parsed("global,texture2d");
  EXPECT_THAT(adapt_to_ranks(named, 1), IsEmpty());
  EXPECT_THAT(adapt_to_ranks(all, 2), ElementsAre(HasSubstr("2 ranks"), HasSubstr("2D textures")));
  EXPECT_THAT(all.memory, ElementsAre(PoissonMemory::global, PoissonMemory::texture1d, PoissonMemory::shared));
  expect_input_error([&] { adapt_to_ranks(named, 2); },
                     {"--memory texture2d", "whole square", "global,texture1d,shared"});
}

TEST(PoissonOptions, MultigridNeedsStorageBuffersAndOneRank) {
  const auto parsed = [](const std::string& memory, const std::string& preconditioner) {
    return poisson_options({"--precision", "single", "--memory", memory, "--preconditioner", preconditioner});
  };
  expect_input_error([&] { parsed("global,texture1d", "multigrid"); },
                     {"--preconditioner multigrid", "--memory texture1d", "global,shared"});
  EXPECT_THAT(parsed("all", "multigrid").preconditioner, ElementsAre(PoissonPreconditioner::multigrid));
  EXPECT_FALSE(allowed(PoissonMemory::texture2d, PoissonPreconditioner::multigrid));
  EXPECT_TRUE(allowed(PoissonMemory::texture2d, PoissonPreconditioner::jacobi));
  EXPECT_TRUE(allowed(PoissonMemory::shared, PoissonPreconditioner::multigrid));
  PoissonOptions named = parsed("global", "none,multigrid"), all = parsed("global", "all");
  EXPECT_THAT(adapt_to_ranks(named, 1), IsEmpty());
  expect_input_error([&] { adapt_to_ranks(named, 2); },
                     {"--preconditioner multigrid", "2 were started", "none,jacobi"});
  EXPECT_THAT(adapt_to_ranks(all, 2), ElementsAre(HasSubstr("2 ranks"), HasSubstr("multigrid is for one process")));
  EXPECT_THAT(all.preconditioner, ElementsAre(PoissonPreconditioner::none, PoissonPreconditioner::jacobi));
}

TEST(PoissonOptions, RejectsUnsupportedCombinations) {
  expect_input_error([] { poisson_options({"--preconditioner", "ilu"}); }, {"--preconditioner", "'ilu'", "multigrid"});
  expect_input_error(
      [] {
        poisson_options({"--memory", "texture2d"});
      },
      {"--memory texture2d", "single precision", "--precision single"});
  expect_input_error([] { poisson_options({"--memory", "textur"}); }, {"--memory", "'textur'", "texture1d"});
  expect_input_error([] { poisson_options({"--memory", "none", "--host", "none"}); }, {"nothing to compute"});
  expect_input_error([] { poisson_options({"--precision", "mixed"}); }, {"'mixed'", "single"});
  expect_input_error([] { poisson_options({"--n", "0"}); }, {"--n", "'0'"});
  expect_input_error([] { poisson_options({"--n", "many"}); }, {"--n", "'many'"});
  expect_input_error([] { poisson_options({"--seed", "3"}); }, {"'--seed'"});
}

constexpr auto none = PoissonPreconditioner::none;

TEST(PoissonTable, MultigridIsCheckedAgainstTheProvenBound) {
  const std::optional<ModeCheck> check =
      check_poisson({64, Precision::double_, PoissonPreconditioner::multigrid, 6, 7.9e-4});
  EXPECT_TRUE(check->passed());
  EXPECT_DOUBLE_EQ(check->tolerance, poisson_discretisation_bound(64));
  EXPECT_FALSE(check_poisson({64, Precision::double_, PoissonPreconditioner::jacobi, 6, 7.7811e-4})->passed());
}

TEST(PoissonTable, ThePapersSizesAreCheckedAgainstThePaper) {
  EXPECT_TRUE(check_poisson({64, Precision::double_, none, 96, 7.78114e-4})->passed());
  EXPECT_FALSE(check_poisson({64, Precision::double_, none, 96, 7.78116e-4})->passed());
  const std::optional<ModeCheck> iterations = check_poisson({64, Precision::double_, none, 97, 7.7811e-4});
  EXPECT_FALSE(iterations->passed());
  EXPECT_THAT(iterations->against, HasSubstr("96 iterations"));
}

TEST(PoissonTable, OtherSizesAreCheckedAgainstTheProvenBound) {
  const double bound = poisson_discretisation_bound(100);
  EXPECT_TRUE(check_poisson({100, Precision::double_, none, 150, bound})->passed());
  EXPECT_FALSE(check_poisson({100, Precision::double_, none, 150, 1.01 * bound})->passed());
  // every value of the paper is within the bound
  for (const PaperPoisson& row : paper_poisson_table()) {
    EXPECT_LT(row.largest_error, poisson_discretisation_bound(row.n));
  }
}

TEST(PoissonTable, SinglePrecisionAllowsForRoundingAndIsNotCheckedIfRoundingDominates) {
  const std::optional<ModeCheck> check = check_poisson({64, Precision::single, none, 99, 1e-3});
  EXPECT_DOUBLE_EQ(check->tolerance, poisson_discretisation_bound(64) + poisson_rounding_bound(64, Precision::single));
  EXPECT_TRUE(check_poisson({1294, Precision::single, none, 99, 1e-3}));
  EXPECT_FALSE(check_poisson({1295, Precision::single, none, 99, 1e-3}));
  EXPECT_TRUE(check_poisson({1295, Precision::double_, none, 99, 1e-3}));
}

}  // namespace
}  // namespace glinpack::app
