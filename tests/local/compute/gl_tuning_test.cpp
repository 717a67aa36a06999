#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <stdexcept>

#include "compute/tuning.hpp"
#include "device/shader_source.hpp"
#include "gl/gl_compute.hpp"

namespace glinpack::compute {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

constexpr MeasuringOptions brief{.repeat = 1, .seconds = 1e-3};

class GlTuning : public testing::TestWithParam<Precision> {
 protected:
  ~GlTuning() override { fs::remove_all(folder_); }

  DeviceDescription device() const {
    DeviceDescription description;
    description.renderer = "Some GPU";
    description.version = "4.6.0 driver 1";
    return description;
  }

  fs::path folder_ = fs::temp_directory_path() / ("glinpack_gl_tuning_test_" + std::to_string(getpid()));
  TileCache cache_{folder_.string()};
};

INSTANTIATE_TEST_SUITE_P(Gl, GlTuning, testing::Values(Precision::single, Precision::double_),
                         [](const auto& info) { return std::string(name_of(info.param)); });

TEST_P(GlTuning, TilesHaveUniqueNamesThatIdentifyThem) {
  std::set<std::string> names;
  for (const ReduceTile& tile : reduce_tiles(GetParam())) {
    EXPECT_TRUE(names.insert(name_of(tile, GetParam())).second);
    EXPECT_EQ(reduce_tile(name_of(tile, GetParam()), GetParam()), tile);
  }
  EXPECT_GE(names.size(), 5u);
}

TEST_P(GlTuning, TilesFitTheLimitsOfEveryDevice) {
  for (const ReduceTile& tile : reduce_tiles(GetParam())) {
    EXPECT_LE(tile.across * tile.down, 1024);
    const Index left_vectors = GetParam() == Precision::double_ ? tile.rows() / 2 : tile.rows() / 4;
    EXPECT_LE(2 * tile.stage_depth * (left_vectors + tile.vectors()) * 16, 32 * 1024) << name_of(tile, GetParam());
  }
}

TEST_P(GlTuning, AcceptsCorrectTiles) {
  const Tuning tuning =
      tune_reduce(gl::open_device(0), GetParam(), brief, ShaderSource(), reduce_tiles(GetParam()).first(2));
  ASSERT_EQ(tuning.trials.size(), 2u);
  for (const TileTrial& trial : tuning.trials) {
    EXPECT_TRUE(trial.right) << trial.tile;
    EXPECT_GT(trial.rate.median, 0);
    EXPECT_GE(tuning.best().rate.median, trial.rate.median);
  }
}

TEST_P(GlTuning, SkipsIncorrectTiles) {
  const fs::path shader = folder_ / "compute" / "reduce.comp";
  fs::create_directories(shader.parent_path());
  for (const EmbeddedShader& embedded : embedded_shaders()) {
    if (embedded.name != "compute/reduce.comp") continue;
    std::string text(embedded.text);
    const std::string start = "int fetch_k = 0;";
    const std::size_t at = text.find(start);
    ASSERT_NE(at, std::string::npos);
    std::ofstream(shader) << text.replace(at, start.size(), "int fetch_k = 0; if (BAND == 8) left_at = 0;");
  }
  const Tuning tuning = tune_reduce(gl::open_device(0), GetParam(), brief, ShaderSource(folder_.string()),
                                    reduce_tiles(GetParam()).first(2));
  ASSERT_EQ(tuning.trials.size(), 2u);
  EXPECT_FALSE(tuning.trials[0].right);
  EXPECT_TRUE(tuning.trials[1].right);
  EXPECT_EQ(tuning.best().tile, tuning.trials[1].tile);
}

TEST_P(GlTuning, CachesAChoicePerDeviceDriverAndPrecision) {
  const ReduceTile other = reduce_tiles(GetParam()).back();
  EXPECT_FALSE(cache_.load(device(), GetParam()));
  EXPECT_TRUE(cache_.store(device(), GetParam(), other));
  EXPECT_EQ(cache_.load(device(), GetParam()), other);
  EXPECT_EQ(chosen_tile("", device(), GetParam(), cache_), other);
  EXPECT_FALSE(cache_.load(device(), GetParam() == Precision::single ? Precision::double_ : Precision::single));
  DeviceDescription updated = device();
  updated.version = "4.6.0 driver 2";
  EXPECT_FALSE(cache_.load(updated, GetParam()));
}

TEST_P(GlTuning, PrefersTheNamedTileThenTheCachedOneThenTheFirst) {
  const ReduceTile named = reduce_tiles(GetParam())[1];
  EXPECT_EQ(chosen_tile("", device(), GetParam(), cache_), reduce_tiles(GetParam()).front());
  cache_.store(device(), GetParam(), reduce_tiles(GetParam()).back());
  EXPECT_EQ(chosen_tile(name_of(named, GetParam()), device(), GetParam(), cache_), named);
}

TEST_P(GlTuning, IgnoresACachedNameThatIsNoTile) {
  cache_.store(device(), GetParam(), reduce_tiles(GetParam()).back());
  std::ofstream(cache_.path_of(device(), GetParam())) << "7x7\n";
  EXPECT_FALSE(cache_.load(device(), GetParam()));
}

TEST(GlTileCache, StoresNothingWithoutAFolder) {
  const TileCache cache("/proc/glinpack");
  EXPECT_FALSE(cache.store({}, Precision::single, {}));
  EXPECT_FALSE(cache.load({}, Precision::single));
}

TEST(GlTuningOrder, IsAsLargeAsMemoryAllowsUpTo8192) {
  DeviceDescription device;
  device.free_memory = std::int64_t{100} << 30;
  EXPECT_EQ(tuning_order(device, Precision::single), 8192);
  device.free_memory = std::int64_t{512} << 20;
  EXPECT_EQ(tuning_order(device, Precision::single), 4096);
  EXPECT_LT(tuning_order(device, Precision::double_), 4096);
  device.software = true;
  EXPECT_EQ(tuning_order(device, Precision::single), 256);
}

}  // namespace
}  // namespace glinpack::compute
