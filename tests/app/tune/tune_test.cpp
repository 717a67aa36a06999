#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "app/options/plu_options.hpp"
#include "app/tune/tune_command.hpp"
#include "tests/app/expect.hpp"

namespace glinpack::app {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

KeptTuning tuned() {
  KeptTuning kept{.tuning = {}, .file = "/cache/1.tile"};
  kept.tuning.device.index = 2;
  kept.tuning.device.renderer = "Some GPU";
  kept.tuning.device.version = "4.6.0 Some driver";
  kept.tuning.order = 8192;
  kept.tuning.depth = 256;
  double rate = 40e12;
  for (const char* tile : {"64x128", "64x128-band16", "64x128-prefetch"}) {
    kept.tuning.trials.push_back({tile, {rate, rate * 0.9, rate * 1.1, 3}, true});
    rate += 1e12;
  }
  kept.tuning.trials.back().right = false;
  return kept;
}

TEST(TuneOptions, DefaultsAreBothPrecisionsAndPlusDevice) {
  const TuneOptions o = parse({}, tune_table).options;
  EXPECT_THAT(o.precisions, ElementsAre(Precision::single, Precision::double_));
  EXPECT_FALSE(o.device);
  EXPECT_EQ(to_json(o, tune_table)["precision"], "both");
}

TEST(TuneOptions, EveryOptionIsParsed) {
  const TuneOptions o =
      parse({"--backend", "vk-compute", "--device", "3", "--precision", "double", "--json", "t.json", "--force"},
            tune_table)
          .options;
  EXPECT_EQ(to_json(o, tune_table),
            nlohmann::json::parse(
                R"({"backend": "vk-compute", "device": 3, "precision": "double", "json": "t.json", "force": true,
    "log-level": "info"})"));
}

TEST(TuneOptions, RejectsInvalidPrecisionsAndDevices) {
  expect_input_error([] { parse({"--precision", "half"}, tune_table); }, {"--precision", "'half'", "single"});
  expect_input_error([] { parse({"--device", "-1"}, tune_table); }, {"--device"});
}

TEST(TuneCommand, ShowsEveryTileAndChoosesTheFastestCorrectOne) {
  EXPECT_EQ(tuning_text(std::vector{tuned()}),
            "device 2: Some GPU\n"
            "  driver 4.6.0 Some driver\n"
            "\n"
            "single precision, 8192 x 8192 x 256\n"
            "  tile                         median              min      max\n"
            "  64x128                        40000 GFLOPS     36000    44000\n"
            "  64x128-band16                 41000 GFLOPS     36900    45100  <- taken\n"
            "  64x128-prefetch               42000 GFLOPS     37800    46200  wrong results: not taken\n"
            "  kept in /cache/1.tile\n");
}

TEST(TuneCommand, ReportsIfTheChoiceCannotBeStored) {
  KeptTuning kept = tuned();
  kept.file.clear();
  EXPECT_THAT(tuning_text(std::vector{kept}), HasSubstr("  not kept: the cache folder cannot be written"));
  EXPECT_TRUE(tuning_json(std::vector{kept})["tunings"][0]["file"].is_null());
}

TEST(TuneCommand, JsonHasEveryTrial) {
  const nlohmann::json tuning = tuning_json(std::vector{tuned()})["tunings"][0];
  EXPECT_EQ(tuning["taken"], "64x128-band16");
  ASSERT_EQ(tuning["trials"].size(), 3u);
  EXPECT_EQ(tuning["trials"][0]["tile"], "64x128");
  EXPECT_DOUBLE_EQ(tuning["trials"][0]["median"], 40000);
  EXPECT_EQ(tuning["trials"][2]["right"], false);
}

TEST(TileOption, IsCheckedAgainstThePrecisionOfTheFactors) {
  EXPECT_EQ(parse_plu_options({"--tile", "128x128", "--precision", "mixed"}).options.backend_values.at("tile"),
            "128x128");
  expect_input_error([] { parse_plu_options({"--tile", "128x128"}); }, {"--tile", "'128x128'", "double", "64x64"});
  expect_input_error([] { parse_plu_options({"--tile", "64x64", "--backend", "openblas"}); }, {"--tile", "openblas"});
}

}  // namespace
}  // namespace glinpack::app
