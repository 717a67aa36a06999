#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "app/papers/banded.hpp"
#include "app/papers/matmul.hpp"
#include "tests/app/expect.hpp"

namespace glinpack::app {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Arguments = std::vector<std::string>;

class ModesConfigFile : public FolderTest {};

TEST(ModeOptions, DefaultsMeasureTheFastestVariantOnce) {
  const MatmulOptions o = parse_matmul_options({});
  EXPECT_THAT(o.n, ElementsAre(256));
  EXPECT_TRUE(o.variant.empty());
  EXPECT_EQ(o.precision, Precision::single);
  EXPECT_FALSE(o.device);
  EXPECT_THAT(parse_banded_options({}).n, ElementsAre(4096));
}

TEST(ModeOptions, EveryOptionIsParsedAndIsInTheConfiguration) {
  const MatmulOptions o = parse_matmul_options({"--n",
                                                "5,6",
                                                "--seed",
                                                "9",
                                                "--output",
                                                "c.npy",
                                                "--repeat",
                                                "7",
                                                "--warm-up",
                                                "0",
                                                "--fit",
                                                "--device",
                                                "2",
                                                "--threads",
                                                "3",
                                                "--shader-dir",
                                                "s",
                                                "--output-dir",
                                                "d",
                                                "--json",
                                                "m.json",
                                                "--csv",
                                                "m.csv",
                                                "--trace",
                                                "m.trace",
                                                "--force",
                                                "--progress",
                                                "never",
                                                "--variant",
                                                "multi-pass",
                                                "--packing",
                                                "1x4,4x1",
                                                "--pass-length",
                                                "2,8",
                                                "--tune"});
  EXPECT_EQ(to_json(o, matmul_table),
            nlohmann::json::parse(R"({"n": [5, 6], "seed": 9, "input": null, "output": "c.npy", "repeat": 7,
    "warm-up": 0, "fit": true, "device": 2, "threads": 3, "shader-dir": "s", "output-dir": "d", "json": "m.json",
    "csv": "m.csv", "trace": "m.trace", "force": true, "progress": "never", "log-level": "info",
    "shape": [], "input-b": null,
    "variant": ["multi-pass"], "packing": ["1x4", "4x1"], "pass-length": [2, 8], "precision": "single", "tune": true,
    "tile": null})"));
  const BandedOptions b = parse_banded_options({"--offsets", "0,-3,4", "--variant", "all"});
  EXPECT_THAT(b.offsets, ElementsAre(0, -3, 4));
  EXPECT_THAT(b.variant, ElementsAre("diagonals", "compute", "csr"));
}

TEST(ModeOptions, AllMeansEveryNameAndRepeatedNamesCountOnce) {
  EXPECT_THAT(
      parse_matmul_options({"--variant", "all"}).variant,
      ElementsAre("single-pass", "multi-pass", "multi-pass-two-buffers", "larsen-mcallister", "compute", "openblas"));
  EXPECT_THAT(parse_matmul_options({"--variant", "compute,openblas,compute"}).variant,
              ElementsAre("compute", "openblas"));
}

TEST(ModeOptions, AShapeHasThreeExtents) {
  const MatmulOptions o = parse_matmul_options({"--shape", "3x4x5,6X7X8"});
  ASSERT_EQ(o.shape.size(), 2U);
  EXPECT_EQ(o.shape[1].rows, 6);
  EXPECT_EQ(o.shape[1].depth, 7);
  EXPECT_EQ(o.shape[1].columns, 8);
  for (const char* text : {"3", "3x4", "3x4x5x6", "x4x5", "3x4x", "3xfourx5", "3x-4x5"}) {
    expect_input_error([&] { parse_matmul_options({"--shape", text}); }, {"--shape", "MxKxN", text});
  }
}

TEST_F(ModesConfigFile, IsOverriddenByTheCommandLine) {
  const std::string file = write("m.toml", "n = [3, 4]\nvariant = \"compute\"\nrepeat = 9\n");
  const MatmulOptions o = parse_matmul_options({"--config", file, "--repeat", "2"});
  EXPECT_THAT(o.n, ElementsAre(3, 4));
  EXPECT_THAT(o.variant, ElementsAre("compute"));
  EXPECT_EQ(o.repeat, 2);
  expect_input_error(
      [&] {
        parse_matmul_options({"--config", write("bad.toml", "\npaking = \"2x2\"\n")});
      },
      {"bad.toml:2", "'paking'", "packing"});
}

TEST(BandedOptions, DiagonalsAreCentredOnTheMainOne) {
  EXPECT_THAT(offsets_around_main(1), ElementsAre(0));
  EXPECT_THAT(offsets_around_main(4), ElementsAre(0, 1, -1, 2));
}

}  // namespace
}  // namespace glinpack::app
