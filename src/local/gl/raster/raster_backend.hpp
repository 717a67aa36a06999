// The backend `gl-raster`: the white paper's. Local matrices in float textures, arithmetic by drawing.
#pragma once

#include <memory>

#include "backend/backend.hpp"
#include "backend/backend_record.hpp"

namespace glinpack {

/// Single precision only; matrices no larger than a texture. On the EGL device options.device. Throws
/// std::runtime_error with cause and remedy.
std::unique_ptr<Backend<float>> make_raster_backend(const BackendOptions& options, Timeline& timeline);

inline constexpr BackendRecord gl_raster_record{
    .name = "gl-raster",
    .make_single = make_raster_backend,
    .memory = MemorySpace::device,
    // The white paper's algorithm goes row by row, and narrow blocks balance its load: the fastest of a 2x2 grid
    // (results/paper/gl-raster/table1.txt), if not of 1x2 (results/small-box/block-sizes.txt).
    .block_size = [](Precision, Index) -> Index { return 32; },
    .copies_on_device = 2,  // one is read while the other is drawn
    .row_by_row = true,
};

}  // namespace glinpack
