// The tiles of the update kernel: the part of C that a work group computes, and how. The fastest tile depends on the
// device; it is measured once and cached for later runs.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "backend/backend_record.hpp"
#include "base/matrix_view.hpp"
#include "base/measuring.hpp"
#include "base/precision.hpp"
#include "base/user_cache.hpp"
#include "device/compute_device.hpp"
#include "device/shader_source.hpp"

namespace glinpack::compute {

/// shaders/compute/update.comp: ACROSS x DOWN invocations, each of 8 rows x 1 to 4 vectors (of 4 floats or 2 doubles).
/// Every tile gives the same results: it changes which invocation computes an element, not how.
struct UpdateTile {
  Index across = 16;                 // 8, 16 or 32
  Index down = 8;                    // 4, 8 or 16
  Index band = 8;                    // rows of tiles in a band of consecutive work groups
  bool prefetch = false;             // of fragments from shared memory, by hand
  Index vectors_each = 2;            // vectors of a row that an invocation makes
  Index stage_depth = 8;             // rows of L^T and U per stage in shared memory, which is double-buffered; 4 or 8
  bool loads_before_stores = false;  // an invocation loads all its elements of C before it stores any

  Index rows() const { return 8 * down; }
  Index vectors() const { return vectors_each * across; }
  friend bool operator==(const UpdateTile&, const UpdateTile&) = default;
};

/// The available tiles; the first is the default.
std::span<const UpdateTile> update_tiles(Precision precision);

/// Rows x columns; the part of an invocation unless it is two vectors across; band and depth unless they are 8;
/// prefetch; "together" for loads_before_stores: "64x128", "128x64-band16", "64x96-8x6-together",
/// "64x64-8x8-deep4-prefetch".
std::string name_of(const UpdateTile& tile, Precision precision);

/// The tile of that name. Throws std::runtime_error with the valid names.
UpdateTile update_tile(std::string_view name, Precision precision);

/// The tile chosen for a device, a driver, a precision, and this version of the kernel.
class TileCache {
 public:
  TileCache() = default;
  explicit TileCache(std::string directory) : files_("tile", std::move(directory)) {}

  /// None if there is no file, or it names an unknown tile.
  std::optional<UpdateTile> load(const DeviceDescription& device, Precision precision) const;
  /// Whether the tile was stored.
  bool store(const DeviceDescription& device, Precision precision, const UpdateTile& tile) const;
  std::string path_of(const DeviceDescription& device, Precision precision) const;

 private:
  CacheFolder files_{"tile"};
};

/// The tile of that name. If the name is empty, the tile stored for the device, else the first of update_tiles().
/// Throws std::runtime_error for an unknown name.
UpdateTile chosen_tile(std::string_view name, const DeviceDescription& device, Precision precision,
                       const TileCache& cache = {});

/// Throws std::runtime_error with the valid names if it is not the name of a tile.
void check_tile(const std::string& name, Precision precision);

/// Measures every tile, options.seconds each, with the memory of tuning_order(). precision: single or double. `tiles`:
/// the tiles to measure; empty: all. Throws std::runtime_error.
Tuning tune_update(const std::shared_ptr<ComputeDevice>& device, Precision precision, const MeasuringOptions& options,
                   const ShaderSource& sources = ShaderSource(), std::span<const UpdateTile> tiles = {});

/// Order of the matrix to tune with: as large as in a factorisation, but at most an eighth of the free memory; small on
/// software devices.
Index tuning_order(const DeviceDescription& device, Precision precision);

TileCatalog::Choice choose_tile(const DeviceDescription& device, Precision precision);
std::string keep_tile(const Tuning& tuning);

/// As TileCatalog::open_update. `tile`: its name; empty: the tile chosen for the device.
std::function<double(const MeasuringOptions&)> open_update(const std::shared_ptr<ComputeDevice>& device,
                                                           Precision precision, std::string_view tile,
                                                           const ShaderSource& sources = ShaderSource());

/// The tiles on the devices that open(BackendOptions) gives.
template <auto open>
inline constexpr TileCatalog tile_catalog{
    .choose = choose_tile,
    .tune = [](const BackendOptions& options, Precision precision,
               const MeasuringOptions& measuring) { return tune_update(open(options), precision, measuring); },
    .open_update =
        [](const BackendOptions& options, Precision precision) {
          return open_update(open(options), precision, options.value("tile"),
                             ShaderSource(options.value("shader-dir")));
        },
    .keep = keep_tile,
};

}  // namespace glinpack::compute
