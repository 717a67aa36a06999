#include "app/papers/elimination.hpp"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "tests/app/expect.hpp"

namespace glinpack::app {
namespace {

using solvers::EliminationPivoting;
using solvers::EliminationVariant;
using solvers::PivotMeasure;
using ::testing::ElementsAre;
using Arguments = std::vector<std::string>;

TEST(EliminationOptions, DefaultsAreThePapers) {
  const EliminationOptions o = parse_gauss_jordan_options({});
  EXPECT_THAT(o.variant, ElementsAre("double-rows"));
  EXPECT_THAT(o.pivoting, ElementsAre(EliminationPivoting::partial));
  EXPECT_THAT(o.measure, ElementsAre(PivotMeasure::magnitudes));
  EXPECT_EQ(o.right_hand_sides, 1);
  EXPECT_FALSE(o.inverse);
  EXPECT_EQ(parse_plu_packed_options({}).right_hand_sides, 1);
}

TEST(EliminationOptions, EveryOptionReachesTheConfiguration) {
  nlohmann::json json = to_json(parse_gauss_jordan_options({"--input", "a.npy", "--input-b", "b.npy", "--variant",
                                                            "all", "--measure", "signed", "--pivoting", "all"}),
                                gauss_jordan_table);
  EXPECT_EQ(json["input-b"], "b.npy");
  EXPECT_EQ(json["variant"], (Arguments{"double-rows", "plain", "compute", "openblas"}));
  EXPECT_EQ(json["measure"], Arguments{"signed"});
  EXPECT_EQ(json["pivoting"], (Arguments{"partial", "full"}));
  EXPECT_EQ(to_json(parse_gauss_jordan_options({"--inverse"}), gauss_jordan_table)["inverse"], true);
  json = to_json(parse_plu_packed_options({"--n", "5,6", "--rhs", "0"}), plu_packed_table);
  EXPECT_EQ(json["n"], (std::vector<int>{5, 6}));
  EXPECT_EQ(json["rhs"], 0);
}

TEST(EliminationOptions, MeasuresMultiplyOnlyVariantsThatSupportThem) {
  const EliminationOptions o =
      parse_gauss_jordan_options({"--variant", "all", "--measure", "all", "--pivoting", "full"});
  const auto settings = settings_of(o);
  ASSERT_EQ(settings.size(), 5U);
  EXPECT_EQ(settings[1].measure, PivotMeasure::as_signed);
  EXPECT_EQ(settings[2].variant, EliminationVariant::plain);
  for (const auto& each : settings) EXPECT_EQ(each.pivoting, EliminationPivoting::full);
  EXPECT_TRUE(settings_of(parse_gauss_jordan_options({"--variant", "openblas"})).empty());
}

TEST(EliminationOptions, RejectContradictoryOptions) {
  const auto refused = [](const Arguments& arguments, const std::vector<std::string>& parts) {
    expect_input_error([&] { parse_gauss_jordan_options(arguments); }, parts);
  };
  refused({"--inverse", "--rhs", "2"}, {"--inverse", "--rhs", "leave one"});
  refused({"--inverse", "--input", "a.npy", "--input-b", "b.npy"}, {"--inverse", "--input-b b.npy", "leave one"});
  refused({"--input-b", "b.npy"}, {"--input-b b.npy", "--input"});
  refused({"--input", "a.npy", "--n", "5"}, {"--n", "--input a.npy", "leave one"});
  refused({"--input", "a.npy", "--input-b", "b.npy", "--rhs", "2"}, {"--rhs", "--input-b b.npy", "leave one"});
  refused({"--rhs", "0"}, {"--rhs", "'0'"});
  refused({"--variant", "dobule-rows"}, {"--variant", "'dobule-rows'", "did you mean double-rows"});
  refused({"--pivoting", "complete"}, {"--pivoting", "'complete'", "partial or full"});
  expect_input_error(
      [] {
        parse_plu_packed_options({"--rhs", "0", "--output", "x.npy"});
      },
      {"--output x.npy", "--rhs 0"});
}

}  // namespace
}  // namespace glinpack::app
