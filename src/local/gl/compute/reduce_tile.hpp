// The tiles that the reduce kernel can work in: what a work group makes of C, and how. Which is fastest is the device's
// to say: tuning.hpp.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "local/matrix_view.hpp"
#include "local/precision.hpp"

namespace glinpack::gl {

/// shaders/compute/reduce.comp: ACROSS x DOWN invocations, each of 8 rows x 2 vectors (of 4 floats or 2 doubles).
/// Results are the same with every tile: it is who computes an element that differs, not how.
struct ReduceTile {
  Index across = 16;      // 8, 16 or 32
  Index down = 8;         // 8 or 16
  Index band = 8;         // rows of tiles that work groups walk together
  bool prefetch = false;  // of fragments from shared memory, by hand

  Index rows() const { return 8 * down; }
  Index vectors() const { return 2 * across; }
  friend bool operator==(const ReduceTile&, const ReduceTile&) = default;
};

/// The ones to choose from; the first is what is taken where nothing says otherwise.
std::span<const ReduceTile> reduce_tiles(Precision precision);

/// Rows x columns, band where it is not 8, prefetch: "64x128", "128x64-band16", "64x64-prefetch".
std::string name_of(const ReduceTile& tile, Precision precision);

/// The tile of that name. Throws std::runtime_error, naming those there are.
ReduceTile reduce_tile(std::string_view name, Precision precision);

}  // namespace glinpack::gl
