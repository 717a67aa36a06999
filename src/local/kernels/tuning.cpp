#include "kernels/tuning.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <random>
#include <stdexcept>
#include <utility>

#include "base/timeline.hpp"
#include "device/command_stream.hpp"
#include "kernels/compute_memory.hpp"
#include "kernels/kernels.hpp"

namespace glinpack::compute {
namespace {

// The first is about the fastest on an H200 (results/h200/logs.md tune). Tiles that were never close to it are not
// listed.
constexpr std::array<UpdateTile, 7> single_tiles{{{16, 8, 8, false},
                                                  {16, 8, 16, false},
                                                  {16, 8, 8, true},
                                                  {8, 16, 8, false},
                                                  {16, 16, 8, false},
                                                  {8, 8, 8, false},
                                                  {16, 8, 8, false, 2, 8, true}}};
constexpr std::array<UpdateTile, 8> double_tiles{{{16, 16, 8, false},
                                                  {16, 8, 16, false},
                                                  {16, 8, 8, false},
                                                  {16, 8, 8, true},
                                                  {8, 8, 8, false},
                                                  {16, 8, 8, false, 2, 8, true},
                                                  {16, 8, 8, false, 3, 8, true},
                                                  {8, 8, 8, false, 4, 4}}};

}  // namespace

std::span<const UpdateTile> update_tiles(Precision precision) {
  if (precision == Precision::double_) return double_tiles;
  return single_tiles;
}

std::string name_of(const UpdateTile& tile, Precision precision) {
  const Index vector_width = precision == Precision::double_ ? 2 : 4;
  std::string name = std::to_string(tile.rows()) + "x" + std::to_string(tile.vectors() * vector_width);
  if (tile.vectors_each != UpdateTile{}.vectors_each) name += "-8x" + std::to_string(tile.vectors_each * vector_width);
  if (tile.band != UpdateTile{}.band) name += "-band" + std::to_string(tile.band);
  if (tile.stage_depth != UpdateTile{}.stage_depth) name += "-deep" + std::to_string(tile.stage_depth);
  if (tile.prefetch) name += "-prefetch";
  if (tile.loads_before_stores) name += "-together";
  return name;
}

UpdateTile update_tile(std::string_view name, Precision precision) {
  std::string names;
  for (const UpdateTile& tile : update_tiles(precision)) {
    if (name_of(tile, precision) == name) return tile;
    names += (names.empty() ? "" : ", ") + name_of(tile, precision);
  }
  throw std::runtime_error("there is no tile '" + std::string(name) + "' in " +
                           std::string(name_of(precision == Precision::double_ ? precision : Precision::single)) +
                           " precision; there are " + names);
}

namespace {

constexpr const char* kernel = "compute/update.comp";

/// The cache key of a tile.
std::string key_of(const DeviceDescription& device, Precision precision) {
  const Precision factors = precision == Precision::double_ ? precision : Precision::single;
  return "tile\n" + device.driver_key() + "\n" + std::string(name_of(factors)) + "\n" +
         ShaderSource().expand(kernel, "");
}

template <class Real>
std::vector<Real> uniform_values(Index count, unsigned seed) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<Real> uniform(Real(-0.5), Real(0.5));
  std::vector<Real> values(static_cast<std::size_t>(count));
  std::generate(values.begin(), values.end(), [&] { return uniform(generator); });
  return values;
}

// Sizes that no tile divides.
constexpr Index check_rows = 300, check_columns = 340;

/// Updates of random matrices, as large as in a factorisation.
template <class Real>
class Trials {
 public:
  Trials(const std::shared_ptr<ComputeDevice>& device, const ShaderSource& sources, const UpdateTile& tile)
      : device_(device),
        fences_(device),
        order_(tuning_order(device->description(), precision_of<Real>)),
        depth_(device->description().software ? 32 : 512),
        l_(zeros(depth_, order_)),
        u_(zeros(depth_, order_)),
        c_(zeros(order_, order_)),
        kernels_(device, sources, precision_of<Real>, device->description().storage_block, default_stripe_width, tile) {
    const std::vector<Real> values = uniform_values<Real>(depth_ * order_, 3);
    fill(l_.region(), values);
    fill(u_.region(), values);
  }

  Tuning run(std::span<const UpdateTile> tiles, const MeasuringOptions& options, const ShaderSource& sources) {
    Tuning tuning{device_->description(), precision_of<Real>, order_, depth_, {}};
    for (const UpdateTile& tile : tiles) {
      kernels_.set_tile(sources, tile);
      const bool is_right = right();
      tuning.trials.push_back({name_of(tile, tuning.precision), rate(options), is_right});
    }
    return tuning;
  }
  /// Flops a second, with the tile set last.
  Measured rate(const MeasuringOptions& options) {
    device_->make_current();
    return measured_rate(options, product_flops(order_, order_, depth_), [&](std::int64_t rounds) {
      for (std::int64_t round = 0; round < rounds; ++round) kernels_.update(l_.region(), u_.region(), c_.region());
      fences_.finish();
    });
  }

 private:
  using Matrix = ComputeMatrix<Real>;

  Matrix zeros(Index rows, Index columns) { return Matrix(*device_, rows, columns, default_stripe_width); }
  void fill(const Region& region, const std::vector<Real>& values) {
    const auto buffer = MappedBuffer<Real>::create(device_, region.rows * region.columns);
    std::copy(values.begin(), values.end(), buffer->data());
    kernels_.copy(region_of(HostBlock<Real>{buffer.get(), 0, region.rows, region.columns, region.columns}), region);
    fences_.finish();
  }
  /// Whether a small product of ragged extents is correct.
  bool right() {
    // whole stages and a remainder; on software, compiling the kernel for the remainder takes long, and tests cover it
    const Index check_depth = device_->description().software ? 32 : 40;
    const std::vector<Real> l_values = uniform_values<Real>(check_depth * check_rows, 1);
    const std::vector<Real> u_values = uniform_values<Real>(check_depth * check_columns, 2);
    const Matrix l = zeros(check_depth, check_rows), u = zeros(check_depth, check_columns),
                 c = zeros(check_rows, check_columns);
    fill(l.region(), l_values);
    fill(u.region(), u_values);
    kernels_.update(l.region(), u.region(), c.region());
    const auto buffer = MappedBuffer<Real>::create(device_, check_rows * check_columns);
    kernels_.copy(c.region(), region_of(HostBlock<Real>{buffer.get(), 0, check_rows, check_columns, check_columns}));
    fences_.finish();
    for (Index i = 0; i < check_rows; ++i) {
      for (Index j = 0; j < check_columns; ++j) {
        double sum = 0;
        for (Index k = 0; k < check_depth; ++k) {
          sum += double{l_values[static_cast<std::size_t>(k * check_rows + i)]} *
                 double{u_values[static_cast<std::size_t>(k * check_columns + j)]};
        }
        const double difference = std::abs(double{buffer->data()[i * check_columns + j]} + sum);
        if (!(difference <= tolerance<Real>(check_depth))) return false;
      }
    }
    return true;
  }

  std::shared_ptr<ComputeDevice> device_;
  Fences fences_;
  Index order_, depth_;
  Matrix l_, u_, c_;
  Kernels kernels_;
};

}  // namespace

std::string TileCache::path_of(const DeviceDescription& device, Precision precision) const {
  return files_.path_of(key_of(device, precision));
}

std::optional<UpdateTile> TileCache::load(const DeviceDescription& device, Precision precision) const {
  std::ifstream file = files_.open(key_of(device, precision));
  std::string name;
  if (!std::getline(file, name)) return std::nullopt;
  for (const UpdateTile& tile : update_tiles(precision)) {
    if (name_of(tile, precision) == name) return tile;
  }
  return std::nullopt;
}

bool TileCache::store(const DeviceDescription& device, Precision precision, const UpdateTile& tile) const {
  // later lines are for human readers
  return files_.write(key_of(device, precision),
                      name_of(tile, precision) + "\n" + device.renderer + "\n" + device.version + "\n");
}

UpdateTile chosen_tile(std::string_view name, const DeviceDescription& device, Precision precision,
                       const TileCache& cache) {
  if (!name.empty()) return update_tile(name, precision);
  return cache.load(device, precision).value_or(update_tiles(precision).front());
}

Tuning tune_update(const std::shared_ptr<ComputeDevice>& device, Precision precision, const MeasuringOptions& options,
                   const ShaderSource& sources, std::span<const UpdateTile> tiles) {
  if (tiles.empty()) tiles = update_tiles(precision);
  if (precision == Precision::double_) {
    return Trials<double>(device, sources, tiles.front()).run(tiles, options, sources);
  }
  return Trials<float>(device, sources, tiles.front()).run(tiles, options, sources);
}

std::function<double(const MeasuringOptions&)> open_update(const std::shared_ptr<ComputeDevice>& device,
                                                           Precision precision, std::string_view tile,
                                                           const ShaderSource& sources) {
  const auto open = [&](auto element) -> std::function<double(const MeasuringOptions&)> {
    using Real = decltype(element);
    const UpdateTile chosen = chosen_tile(tile, device->description(), precision_of<Real>);
    const auto trials = std::make_shared<Trials<Real>>(device, sources, chosen);
    return [trials](const MeasuringOptions& options) { return trials->rate(options).median; };
  };
  return precision == Precision::double_ ? open(double()) : open(float());
}

Index tuning_order(const DeviceDescription& device, Precision precision) {
  constexpr Index min = 256, max = 8192, step = 256;
  if (device.software) return min;
  if (device.free_memory <= 0) return max / 2;
  const double elements = static_cast<double>(device.free_memory) / 8 / static_cast<double>(factor_bytes(precision));
  return std::clamp(static_cast<Index>(std::sqrt(elements)) / step * step, min, max);
}

void check_tile(const std::string& name, Precision precision) { update_tile(name, precision); }

TileCatalog::Choice choose_tile(const DeviceDescription& device, Precision precision) {
  return {name_of(chosen_tile({}, device, precision), precision), TileCache().load(device, precision).has_value()};
}

std::string keep_tile(const Tuning& tuning) {
  const TileCache cache;
  const UpdateTile best = update_tile(tuning.best().tile, tuning.precision);
  const bool is_kept = cache.store(tuning.device, tuning.precision, best);
  return is_kept ? cache.path_of(tuning.device, tuning.precision) : std::string();
}

}  // namespace glinpack::compute
