#include "kernels/tuning.hpp"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "device/shader_source.hpp"
#include "tests/local/changed_shader.hpp"
#include "tests/local/compute_cases.hpp"

namespace glinpack::compute {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

constexpr MeasuringOptions brief{.repeat = 1, .seconds = 1e-3};

class TileChoice : public testing::TestWithParam<Precision> {
 protected:
  ~TileChoice() override { fs::remove_all(folder_); }

  DeviceDescription device() const {
    DeviceDescription description;
    description.renderer = "Some GPU";
    description.version = "4.6.0 driver 1";
    return description;
  }

  fs::path folder_ = fs::temp_directory_path() / ("glinpack_tuning_test_" + std::to_string(getpid()));
  TileCache cache_{folder_.string()};
};

INSTANTIATE_TEST_SUITE_P(Precisions, TileChoice, testing::Values(Precision::single, Precision::double_),
                         [](const auto& info) { return std::string(name_of(info.param)); });

TEST_P(TileChoice, TilesHaveUniqueNamesThatIdentifyThem) {
  std::set<std::string> names;
  for (const UpdateTile& tile : update_tiles(GetParam())) {
    EXPECT_TRUE(names.insert(name_of(tile, GetParam())).second);
    EXPECT_EQ(update_tile(name_of(tile, GetParam()), GetParam()), tile);
  }
  EXPECT_GE(names.size(), 5u);
}

TEST_P(TileChoice, TilesFitTheLimitsOfEveryDevice) {
  for (const UpdateTile& tile : update_tiles(GetParam())) {
    EXPECT_LE(tile.across * tile.down, 1024);
    const Index left_vectors = GetParam() == Precision::double_ ? tile.rows() / 2 : tile.rows() / 4;
    EXPECT_LE(2 * tile.stage_depth * (left_vectors + tile.vectors()) * 16, 32 * 1024) << name_of(tile, GetParam());
  }
}

TEST_P(TileChoice, CachesAChoicePerDeviceDriverAndPrecision) {
  const UpdateTile other = update_tiles(GetParam()).back();
  EXPECT_FALSE(cache_.load(device(), GetParam()));
  EXPECT_TRUE(cache_.store(device(), GetParam(), other));
  EXPECT_EQ(cache_.load(device(), GetParam()), other);
  EXPECT_EQ(chosen_tile("", device(), GetParam(), cache_), other);
  EXPECT_FALSE(cache_.load(device(), GetParam() == Precision::single ? Precision::double_ : Precision::single));
  DeviceDescription updated = device();
  updated.version = "4.6.0 driver 2";
  EXPECT_FALSE(cache_.load(updated, GetParam()));
}

TEST_P(TileChoice, PrefersTheNamedTileThenTheCachedOneThenTheFirst) {
  const UpdateTile named = update_tiles(GetParam())[1];
  EXPECT_EQ(chosen_tile("", device(), GetParam(), cache_), update_tiles(GetParam()).front());
  cache_.store(device(), GetParam(), update_tiles(GetParam()).back());
  EXPECT_EQ(chosen_tile(name_of(named, GetParam()), device(), GetParam(), cache_), named);
}

TEST_P(TileChoice, IgnoresACachedNameThatIsNoTile) {
  cache_.store(device(), GetParam(), update_tiles(GetParam()).back());
  std::ofstream(cache_.path_of(device(), GetParam())) << "7x7\n";
  EXPECT_FALSE(cache_.load(device(), GetParam()));
}

template <class Case>
class TileTrials : public testing::Test {
 protected:
  static constexpr Precision precision = precision_of<typename Case::Real>;
  static Tuning tuned(const std::string& shader_folder = {}) {
    return tune_update(Case::open({}), precision, brief, ShaderSource(shader_folder), update_tiles(precision).first(2));
  }
};
TYPED_TEST_SUITE(TileTrials, test::ComputeCases, test::ComputeCaseNames);

TYPED_TEST(TileTrials, AcceptCorrectTiles) {
  const Tuning tuning = this->tuned();
  ASSERT_EQ(tuning.trials.size(), 2u);
  for (const TileTrial& trial : tuning.trials) {
    EXPECT_TRUE(trial.right) << trial.tile;
    EXPECT_GT(trial.rate.median, 0);
    EXPECT_GE(tuning.best().rate.median, trial.rate.median);
  }
}

TYPED_TEST(TileTrials, MeasureTheChosenTileAgain) {
  const auto rate = open_update(TypeParam::open({}), this->precision, {});
  EXPECT_GT(rate(brief), 0);
  EXPECT_GT(rate(brief), 0);
}

TYPED_TEST(TileTrials, SkipIncorrectTiles) {
  const test::ChangedShader changed("compute/update.comp", "int fetch_k = 0;",
                                    "int fetch_k = 0; if (BAND == 8) left_at = 0;");
  const Tuning tuning = this->tuned(changed.folder());
  ASSERT_EQ(tuning.trials.size(), 2u);
  EXPECT_FALSE(tuning.trials[0].right);
  EXPECT_TRUE(tuning.trials[1].right);
  EXPECT_EQ(tuning.best().tile, tuning.trials[1].tile);
}

TEST(TileCacheFiles, StoresNothingWithoutAFolder) {
  const TileCache cache("/proc/glinpack");
  EXPECT_FALSE(cache.store({}, Precision::single, {}));
  EXPECT_FALSE(cache.load({}, Precision::single));
}

TEST(TuningOrder, IsAsLargeAsMemoryAllowsUpTo8192) {
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
