#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "app/devices/ceilings_command.hpp"
#include "app/manual/pages.hpp"
#include "tests/app/expect.hpp"

namespace glinpack::app {
namespace {

using ::testing::HasSubstr;
using Arguments = std::vector<std::string>;

class CeilingsConfigFile : public FolderTest {};

TEST(CeilingsOptions, DefaultsMeasureTheDeviceThatPluUses) {
  const CeilingsOptions o = parse_ceilings_options({});
  EXPECT_EQ(o.backend, "auto");
  EXPECT_FALSE(o.device);
  EXPECT_FALSE(o.threads);
  EXPECT_EQ(o.measuring.repeat, 5);
  EXPECT_EQ(o.measuring.seconds, 0.25);
  EXPECT_TRUE(o.json.empty());
}

TEST(CeilingsOptions, EveryOptionIsParsedAndIsInTheConfiguration) {
  const CeilingsOptions o =
      parse_ceilings_options({"--backend", "gl-compute", "--device", "2", "--threads", "3", "--shader-dir", "shaders",
                              "--repeat", "7", "--seconds", "0.5", "--json", "c.json", "--force"});
  EXPECT_EQ(to_json(o, ceilings_table), nlohmann::json::parse(R"({"backend": "gl-compute", "device": 2, "threads": 3,
    "shader-dir": "shaders", "repeat": 7, "seconds": 0.5, "json": "c.json", "force": true, "log-level": "info"})"));
  EXPECT_EQ(to_json(CeilingsOptions{}, ceilings_table)["device"], nlohmann::json());
}

TEST_F(CeilingsConfigFile, IsOverriddenByTheCommandLine) {
  const std::string file = write("c.toml", "repeat = 3\nseconds = 0.1\nbackend = \"openblas\"\n");
  const CeilingsOptions o = parse_ceilings_options({"--config", file, "--repeat", "9"});
  EXPECT_EQ(o.measuring.repeat, 9);
  EXPECT_EQ(o.measuring.seconds, 0.1);
  EXPECT_EQ(o.backend, "openblas");
}

TEST(CeilingsOptions, RejectsInvalidValues) {
  const auto refused = [](const Arguments& arguments, const std::vector<std::string>& parts) {
    expect_input_error([&] { parse_ceilings_options(arguments); }, parts);
  };
  refused({"--backend", "gl-raster"}, {"--backend", "'gl-raster'", "openblas, gl-compute"});
  refused({"--backend", "openblas", "--device", "0"}, {"--device 0", "--backend openblas", "leave one"});
  refused({"--device", "-1"}, {"--device", "-1"});
  refused({"--repeat", "0"}, {"--repeat", "0"});
  refused({"--seconds", "0"}, {"--seconds", "out of range"});
  refused({"--seconds", "soon"}, {"--seconds", "'soon'"});
  refused({"--reapet", "2"}, {"'--reapet'", "--repeat", "glinpack ceilings --help"});
}

TEST(CeilingsOptions, HelpHasUnitsExamplesAndExitCodes) {
  const std::string help = help_of(ceilings_table);
  for (const char* part : {"glinpack ceilings", "GFLOPS", "Examples:", "Exit code:", "--seconds"}) {
    EXPECT_THAT(help, HasSubstr(part));
  }
}

}  // namespace
}  // namespace glinpack::app
