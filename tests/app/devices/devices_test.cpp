#include <cstdlib>

#include "app/devices/devices_command.hpp"
#include "app/options/plu_options.hpp"
#include "app/tune/tune_command.hpp"
#include "tests/app/expect.hpp"

namespace glinpack::app {
namespace {

DeviceDescription hardware() {
  DeviceDescription device;
  device.index = 0;
  device.usable = true;
  device.vendor = "NVIDIA Corporation";
  device.renderer = "NVIDIA H200/PCIe/SSE2";
  device.version = "4.6.0 NVIDIA 580.159";
  device.cuda_ordinal = 0;
  device.total_memory = std::int64_t{139} << 30;
  device.free_memory = std::int64_t{138} << 30;
  device.storage_block = (std::int64_t{1} << 31) - 1;
  device.texture_side = 32768;
  device.shared_memory = 49152;
  device.invocations = 1024;
  return device;
}

DeviceDescription software() {
  DeviceDescription device;
  device.index = 1;
  device.usable = true;
  device.software = true;
  device.vendor = "Mesa";
  device.renderer = "llvmpipe";
  device.version = "4.5 Mesa 22.3.6";
  device.storage_block = std::int64_t{128} << 20;
  device.texture_side = 16384;
  device.shared_memory = 32768;
  device.invocations = 1024;
  return device;
}

DeviceDescription in_vulkan(DeviceDescription device) {
  device.api = "Vulkan";
  device.version = "Vulkan 1.4.312 NVIDIA 580.159";
  return device;
}

DeviceDescription broken() {
  DeviceDescription device;
  device.index = 2;
  device.why_unusable = "no OpenGL 4.5: update the driver";
  return device;
}

TEST(DevicesCommand, names_each_device_with_limits_and_the_automatic_choice) {
  EXPECT_EQ(devices_text(std::vector<SeenDevice>{{hardware(), in_vulkan(hardware())}, {broken()}}),
            "device 0: NVIDIA H200/PCIe/SSE2  <- --backend auto takes it\n"
            "  vendor          NVIDIA Corporation\n"
            "  OpenGL          4.6.0 NVIDIA 580.159\n"
            "  Vulkan          Vulkan 1.4.312 NVIDIA 580.159\n"
            "  kind            hardware\n"
            "  memory          139.0 GiB, 138.0 GiB free\n"
            "  storage block   2.0 GiB at most\n"
            "  texture side    32768 texels at most\n"
            "  shared memory   48.0 KiB a work group\n"
            "  invocations     1024 a work group\n"
            "  CUDA ordinal    0\n"
            "\n"
            "device 2: (no renderer)\n"
            "  OpenGL          no: no OpenGL 4.5: update the driver\n"
            "\n");
}

TEST(DevicesCommand, reports_that_auto_skips_software_devices) {
  const std::string text = devices_text(std::vector<SeenDevice>{{software()}});
  EXPECT_THAT(text, HasSubstr("  kind            software: computed by the processor\n"));
  EXPECT_THAT(text, HasSubstr("  memory          not known\n"));
  EXPECT_THAT(text, HasSubstr("--backend auto takes openblas: no usable device is hardware."));
}

TEST(DevicesCommand, gives_a_remedy_if_no_device_is_usable) {
  EXPECT_THAT(devices_text(std::vector<SeenDevice>{{broken()}}), HasSubstr("No usable OpenGL device."));
  EXPECT_THAT(devices_text({}), AllOf(HasSubstr("libegl-mesa0"), HasSubstr("mesa-vulkan-drivers")));
  DeviceDescription by_vulkan = in_vulkan(hardware());
  by_vulkan.index = broken().index;
  EXPECT_THAT(devices_text(std::vector<SeenDevice>{{broken(), by_vulkan}}),
              AllOf(HasSubstr("No usable OpenGL device."), HasSubstr("<- --backend auto takes it")));
}

TEST(DevicesCommand, names_the_variables_that_may_hide_devices_first) {
  setenv("EGL_VISIBLE_DEVICES", "all", 1);
  EXPECT_THAT(devices_text({}),
              StartsWith("EGL_VISIBLE_DEVICES=all is set: correct or unset it (EGL_VISIBLE_DEVICES takes indices"));
  setenv("LIBGL_DRIVERS_PATH", "/nowhere", 1);
  EXPECT_THAT(devices_text({}),
              StartsWith("EGL_VISIBLE_DEVICES=all, LIBGL_DRIVERS_PATH=/nowhere are set: correct or unset them ("));
  unsetenv("EGL_VISIBLE_DEVICES");
  EXPECT_THAT(devices_text({}), StartsWith("LIBGL_DRIVERS_PATH=/nowhere is set: correct or unset it\nNo usable"));
  unsetenv("LIBGL_DRIVERS_PATH");
}

TEST(DevicesCommand, json_has_the_same_values_with_null_for_unknown_ones) {
  const nlohmann::json document =
      devices_json(std::vector<SeenDevice>{{hardware(), in_vulkan(hardware())}, {software()}, {broken()}});
  EXPECT_EQ(document["automatic"], 0);
  ASSERT_EQ(document["devices"].size(), 3u);
  EXPECT_EQ(document["devices"][0]["storage_block"], 2147483647);
  EXPECT_TRUE(document["devices"][1]["total_memory"].is_null());
  EXPECT_TRUE(document["devices"][1]["cuda_ordinal"].is_null());
  EXPECT_EQ(document["devices"][0]["apis"]["Vulkan"]["version"], "Vulkan 1.4.312 NVIDIA 580.159");
  EXPECT_EQ(document["devices"][2]["why_unusable"], "no OpenGL 4.5: update the driver");
  EXPECT_TRUE(devices_json({})["automatic"].is_null());
}

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
