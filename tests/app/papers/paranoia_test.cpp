#include "app/papers/paranoia.hpp"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "tests/app/expect.hpp"

namespace glinpack::app {
namespace {

using ::testing::ElementsAre;
using Arguments = std::vector<std::string>;

TEST(ParanoiaOptions, DefaultsMeasureEverything) {
  const ParanoiaOptions o = parse_paranoia_options({});
  EXPECT_THAT(o.part, ElementsAre("arithmetic", "lu"));
  EXPECT_THAT(o.variant, ElementsAre("compute", "fragment", "cpu"));
  EXPECT_THAT(o.precisions, ElementsAre(Precision::single, Precision::double_));
  EXPECT_THAT(o.n, ElementsAre(32, 64, 128, 256, 512));
}

TEST(ParanoiaOptions, EveryOptionReachesTheConfiguration) {
  const nlohmann::json json =
      to_json(parse_paranoia_options({"--part", "lu", "--variant", "cpu,compute", "--precision", "double", "--samples",
                                      "7", "--matrix", "uniform", "--n", "5,6", "--seed", "3"}),
              paranoia_table);
  EXPECT_EQ(json["part"], Arguments{"lu"});
  EXPECT_EQ(json["variant"], (Arguments{"cpu", "compute"}));
  EXPECT_EQ(json["precision"], Arguments{"double"});
  EXPECT_EQ(json["samples"], 7);
  EXPECT_EQ(json["matrix"], "uniform");
  EXPECT_EQ(json["n"], (std::vector<int>{5, 6}));
  EXPECT_EQ(json["seed"], 3);
  for (const char* name : {"repeat", "warm-up", "fit", "input", "output"}) EXPECT_FALSE(json.contains(name));
}

TEST(ParanoiaOptions, RejectInvalidValues) {
  const auto refused = [](const Arguments& arguments, const std::vector<std::string>& parts) {
    expect_input_error([&] { parse_paranoia_options(arguments); }, parts);
  };
  refused({"--part", "lr"}, {"--part", "'lr'", "arithmetic or lu"});
  refused({"--variant", "fragmnt"}, {"--variant", "'fragmnt'", "did you mean fragment"});
  refused({"--variant", "all,cpu"}, {"--variant", "'all'", "alone"});
  refused({"--precision", "mixed"}, {"--precision", "'mixed'", "single, fp32, double or fp64"});
  refused({"--samples", "-1"}, {"--samples", "'-1'"});
  refused({"--samples", "100000000"}, {"--samples", "'100000000'", "10000000"});
  refused({"--matrix", "hilbret"}, {"--matrix", "'hilbret'", "hilbert"});
  refused({"--variant", "fragment", "--precision", "double"}, {"--variant fragment", "single precision only"});
  refused({"--variant", "fragment", "--part", "lu"}, {"--variant fragment", "--part lu"});
  refused({"--repeat", "3"}, {"--repeat"});
}

}  // namespace
}  // namespace glinpack::app
