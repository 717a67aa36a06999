// Which tile of the reduce kernel is fastest on a device: tried out, and kept for the runs that follow.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "local/gl/compute/reduce_tile.hpp"
#include "local/gl/devices.hpp"
#include "local/measuring.hpp"

namespace glinpack::gl {

/// The tile chosen for a device, a driver and a precision, and for this version of the kernel: a file each in one
/// folder. Where that cannot be written nothing is kept.
class TileCache {
 public:
  /// In user_cache() (cache_files.hpp).
  TileCache();
  explicit TileCache(std::string directory);

  /// None where there is none, or it names no tile that there is.
  std::optional<ReduceTile> load(const DeviceDescription& device, Precision precision) const;
  /// Whether it was kept.
  bool store(const DeviceDescription& device, Precision precision, const ReduceTile& tile) const;
  std::string path_of(const DeviceDescription& device, Precision precision) const;

 private:
  std::string directory_;
};

/// The tile of that name, or, where it is empty, the one kept for the device, or else the first of reduce_tiles().
/// Throws std::runtime_error for a name that there is not.
ReduceTile chosen_tile(std::string_view name, const DeviceDescription& device, Precision precision,
                       const TileCache& cache = {});

struct TileTrial {
  ReduceTile tile;
  Measured rate;       // flops a second
  bool right = false;  // a small product, compared with the host's
};

struct Tuning {
  DeviceDescription device;
  Precision precision = Precision::single;
  Index order = 0;  // of the square matrix that was reduced
  Index depth = 0;
  std::vector<TileTrial> trials;  // in the order of the tiles tried

  /// The fastest of those that are right, by the median. Throws std::runtime_error where none is.
  const TileTrial& best() const;
};

/// Tries every tile on EGL device `device`: options.seconds for each, and memory as tuning_order() says. precision:
/// single or double. `shader_directory`: GLSL files that take the place of the embedded ones. `tiles`: to
/// try; none: all that there are. Throws std::runtime_error.
Tuning tune_reduce(int device, Precision precision, const MeasuringOptions& options,
                   const std::string& shader_directory = {}, std::span<const ReduceTile> tiles = {});

/// Order of the matrix to tune with: as large as in a factorisation, but at most an eighth of the memory that is free;
/// small where software computes.
Index tuning_order(const DeviceDescription& device, Precision precision);

}  // namespace glinpack::gl
