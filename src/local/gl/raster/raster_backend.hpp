// The backend `gl-raster`: the white paper's. Local matrices in float textures, arithmetic by drawing.
#pragma once

#include <array>
#include <memory>

#include "backend/backend.hpp"
#include "backend/backend_record.hpp"
#include "device/shader_source.hpp"
#include "gl/gl_compute.hpp"

namespace glinpack {

namespace gl {
/// Texels of a row of a matrix: four elements each, and one more.
constexpr Index texels_of_row(Index columns) { return 1 + (columns + 3) / 4; }
/// Two textures: one is read while the other is drawn.
constexpr std::int64_t raster_matrix_bytes(Index rows, Index columns, std::int64_t element_bytes) {
  return 2 * rows * texels_of_row(columns) * 4 * element_bytes;
}
}  // namespace gl

/// Single precision only; matrices no larger than a texture. On the EGL device options.device. Throws
/// std::runtime_error with cause and remedy.
std::unique_ptr<Backend<float>> make_raster_backend(const BackendOptions& options, Timeline& timeline);

namespace gl {
inline constexpr std::array raster_options{shader_folder_option};
}  // namespace gl

inline constexpr BackendRecord gl_raster_record{
    .name = "gl-raster",
    .make_single = make_raster_backend,
    .memory = MemorySpace::device,
    .devices = &gl::device_catalog,
    .options = gl::raster_options,
    // The white paper's algorithm goes row by row, and narrow blocks balance its load: the fastest of a 2x2 grid
    // (results/paper/logs.md gl-raster-table1), if not of 1x2 (results/small-box/logs.md block-sizes).
    .block_size = [](Precision, Index, const BackendValues&) -> Index { return 32; },
    .copies_on_device = 2,
    .matrix_bytes = gl::raster_matrix_bytes,
    .row_by_row = true,
};

}  // namespace glinpack
