// The tiles that the reduce kernel can work in: what a work group makes of C, and how. Which is fastest is the device's
// to say: tuning.hpp.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "local/matrix_view.hpp"
#include "local/precision.hpp"

namespace glinpack::gl {

/// shaders/compute/reduce.comp: ACROSS x DOWN invocations, each of 8 rows x 2 to 4 vectors (of 4 floats or 2 doubles).
/// Results are the same with every tile: it is who computes an element that differs, not how.
struct ReduceTile {
  Index across = 16;       // 8, 16 or 32
  Index down = 8;          // 4, 8 or 16
  Index band = 8;          // rows of tiles that work groups walk together
  bool prefetch = false;   // of fragments from shared memory, by hand
  Index vectors_each = 2;  // vectors of a row that an invocation makes
  Index stage_depth = 8;   // rows of L^T and U that shared memory holds at a time, twice; 4 or 8
  bool together = false;   // all of C that an invocation changes is read before any of it is written

  Index rows() const { return 8 * down; }
  Index vectors() const { return vectors_each * across; }
  friend bool operator==(const ReduceTile&, const ReduceTile&) = default;
};

/// The ones to choose from; the first is what is taken where nothing says otherwise.
std::span<const ReduceTile> reduce_tiles(Precision precision);

/// Rows x columns; what an invocation makes where that is not two vectors across; band and depth where they are not 8;
/// prefetch; together: "64x128", "128x64-band16", "64x96-8x6-together", "64x64-8x8-deep4-prefetch".
std::string name_of(const ReduceTile& tile, Precision precision);

/// The tile of that name. Throws std::runtime_error, naming those there are.
ReduceTile reduce_tile(std::string_view name, Precision precision);

}  // namespace glinpack::gl
