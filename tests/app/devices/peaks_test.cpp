#include "app/devices/peaks_command.hpp"
#include "tests/app/expect.hpp"

namespace glinpack::app {
namespace {

TEST(PeaksOptions, DefaultsMeasureTheDeviceThatPluUses) {
  const PeaksOptions o = parse_peaks_options({});
  EXPECT_EQ(o.backend, "auto");
  EXPECT_FALSE(o.device);
  EXPECT_FALSE(o.threads);
  EXPECT_EQ(o.measuring.repeat, 5);
  EXPECT_EQ(o.measuring.seconds, 0.25);
  EXPECT_TRUE(o.json.empty());
}

TEST(PeaksOptions, EveryOptionIsParsedAndIsInTheConfiguration) {
  const PeaksOptions o =
      parse_peaks_options(arguments_of("--backend gl-compute --device 2 --threads 3 --shader-dir shaders --repeat 7 "
                                       "--seconds 0.5 --json c.json --force"));
  EXPECT_EQ(to_json(o, peaks_table), nlohmann::json::parse(R"({"backend": "gl-compute", "device": 2, "threads": 3,
    "shader-dir": "shaders", "repeat": 7, "seconds": 0.5, "json": "c.json", "force": true, "log-level": "info"})"));
  EXPECT_EQ(to_json(PeaksOptions{}, peaks_table)["device"], nlohmann::json());
}

TEST(PeaksOptions, RejectsInvalidValues) {
  const auto refused = [](const Arguments& arguments, const std::vector<std::string>& parts) {
    expect_input_error([&] { parse_peaks_options(arguments); }, parts);
  };
  refused({"--backend", "gl-raster"}, {"--backend", "'gl-raster'", "openblas, gl-compute"});
  refused({"--backend", "openblas", "--device", "0"}, {"--device 0", "--backend openblas", "leave one"});
  refused({"--device", "-1"}, {"--device", "-1"});
  refused({"--repeat", "0"}, {"--repeat", "0"});
  refused({"--seconds", "0"}, {"--seconds", "out of range"});
  refused({"--seconds", "soon"}, {"--seconds", "'soon'"});
  refused({"--reapet", "2"}, {"'--reapet'", "--repeat", "glinpack peaks --help"});
}

Measured around(double median) { return {median, median * 0.9, median * 1.1, 5}; }

Peaks measured() {
  DeviceCeilings device;
  device.device.index = 1;
  device.device.renderer = "Some GPU";
  device.device.version = "4.6.0 Some driver";
  device.copy = {around(4e12), CopyWay::shader, std::int64_t{1} << 30};
  device.upload = {around(50e9), CopyWay::driver, std::int64_t{64} << 20};
  device.download = {around(52e9), CopyWay::driver, std::int64_t{64} << 20};
  device.fma_single = around(60e12);
  device.fma_double = around(30e12);
  device.dispatch = around(5e-6);
  device.read_back = around(15e-6);
  device.read_back_bytes = 4096;
  device.fetches = around(8e12);
  device.fill = around(90e9);
  device.vertices = around(66e6);
  const HostCeilings host{.processor = "Some processor",
                          .blas = "OpenBLAS 0.3.21",
                          .kernels = "SkylakeX",
                          .threads = 16,
                          .gemm_single = around(1300e9),
                          .gemm_double = around(650e9),
                          .gemm_single_n = 3328,
                          .gemm_double_n = 2560,
                          .copy = around(180e9),
                          .copy_bytes = std::int64_t{512} << 20};
  return {.device = device, .host = host, .host_name = "node7", .notes = {}};
}

TEST(PeaksCommand, prints_a_table_with_units_of_device_and_host) {
  EXPECT_EQ(
      peaks_text(measured()),
      "device 1: Some GPU\n"
      "  driver 4.6.0 Some driver\n"
      "                          median              min      max\n"
      "  copy, read + written      4000 GB/s        3600     4400  1.0 GiB at a time, by a compute shader\n"
      "  fma, single              60000 GFLOPS     54000    66000\n"
      "  fma, double              30000 GFLOPS     27000    33000\n"
      "  upload                   50.00 GB/s       45.00    55.00  64.0 MiB at a time, by the driver\n"
      "  download                 52.00 GB/s       46.80    57.20  64.0 MiB at a time, by the driver\n"
      "  dispatch                 5.000 us         4.500    5.500  a small work group and a barrier, many in a row\n"
      "  read-back                15.00 us         13.50    16.50  4.0 KiB, waited for\n"
      "  fetches                   8000 GB/s        7200     8800  of fragments, from a texture in cache\n"
      "  fill                     90.00 G/s        81.00    99.00  texels of 16 bytes\n"
      "  vertices                 66.00 M/s        59.40    72.60  of rectangles of one texel\n"
      "\n"
      "host node7: Some processor\n"
      "  OpenBLAS 0.3.21, kernels SkylakeX, 16 threads\n"
      "                          median              min      max\n"
      "  gemm, single              1300 GFLOPS      1170     1430  matrices of 3328 x 3328\n"
      "  gemm, double             650.0 GFLOPS     585.0    715.0  matrices of 2560 x 2560\n"
      "  copy, read + written     180.0 GB/s       162.0    198.0  512.0 MiB at a time\n");
}

TEST(PeaksCommand, marks_software_devices_and_prints_notes) {
  Peaks peaks = measured();
  peaks.device->device.software = true;
  peaks.host.threads = 1;
  peaks.notes = {"something to note"};
  const std::string text = peaks_text(peaks);
  EXPECT_THAT(text, HasSubstr("device 1: Some GPU (software OpenGL: computed by the processor)\n"));
  EXPECT_THAT(text, HasSubstr(", 1 thread\n"));
  EXPECT_EQ(text.find("something to note\n\ndevice"), 0u);
}

TEST(PeaksCommand, without_a_device_shows_the_host_alone) {
  Peaks peaks = measured();
  peaks.device.reset();
  EXPECT_THAT(peaks_text(peaks), Not(HasSubstr("device")));
  EXPECT_TRUE(peaks_json(peaks)["device"].is_null());
  EXPECT_EQ(peaks_json(peaks)["host"]["threads"], 16);
}

TEST(PeaksCommand, says_that_a_device_has_no_double_precision) {
  Peaks peaks = measured();
  peaks.device->device.doubles = false;
  peaks.device->fma_double = {};
  EXPECT_THAT(peaks_text(peaks), HasSubstr("the device has no double precision\n"));
  EXPECT_TRUE(peaks_json(peaks)["device"]["fma_double"].is_null());
}

TEST(PeaksCommand, json_has_every_measurement_with_its_unit) {
  const nlohmann::json document = peaks_json(measured());
  const nlohmann::json& copy = document["device"]["copy"];
  EXPECT_EQ(copy["unit"], "GB/s");
  EXPECT_DOUBLE_EQ(copy["median"], 4000);
  EXPECT_DOUBLE_EQ(copy["least"], 3600);
  EXPECT_DOUBLE_EQ(copy["most"], 4400);
  EXPECT_EQ(copy["repetitions"], 5);
  EXPECT_EQ(copy["way"], "shader");
  EXPECT_EQ(copy["bytes"], 1 << 30);
  EXPECT_DOUBLE_EQ(document["device"]["fma_double"]["median"], 30000);
  EXPECT_DOUBLE_EQ(document["device"]["dispatch"]["median"], 5);
  EXPECT_EQ(document["device"]["dispatch"]["unit"], "us");
  EXPECT_EQ(document["host"]["gemm_double"]["n"], 2560);
  EXPECT_TRUE(document["device"]["uuid"].is_null());
}

}  // namespace
}  // namespace glinpack::app
