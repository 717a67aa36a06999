// The backend `gl-compute`: local matrices in storage buffers, arithmetic in compute shaders, panels on the host or the
// device.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "backend/backend.hpp"
#include "backend/backend_record.hpp"
#include "gl/backend_options.hpp"
#include "gl/catalog.hpp"
#include "gl/compute/partial_panel_limits.hpp"
#include "gl/compute/region.hpp"

namespace glinpack {

namespace gl {
class Context;
class Kernels;
class ShaderSource;

/// Throws std::runtime_error with the valid names if it is not the name of a tile.
void check_tile(const std::string& name, Precision precision);

/// Transfers of at least this size overlap kernels. An H200 takes about a millisecond to start on a second queue while
/// the first has work, which is the time of such a transfer.
inline constexpr std::int64_t least_queued_bytes = std::int64_t{32} << 20;
}  // namespace gl

/// Limits of the implementation; tests set smaller ones.
struct ComputeLimits {
  std::int64_t window_bytes = 0;                  // the part of a buffer that a shader sees; 0: the device's limit
  Index stripe_width = gl::default_stripe_width;  // of matrices (region.hpp)
  std::int64_t buffer_bytes = gl::largest_buffer_bytes;  // of a matrix, in each of its buffers
  Index rows_per_group = 256;  // candidate rows of a TSLU reduction-tree node; a power of two, at least 64
  // least size of transfers that overlap kernels; 0: least_queued_bytes, on GPUs alone. With another value software
  // OpenGL is used as a GPU is
  std::int64_t queued_bytes = 0;
  gl::PartialPanelLimits partial_panel = {};
};

/// For other programs on the matrices of a gl-compute backend. What make_compute_backend() returns has this interface.
class ComputePrograms {
 public:
  virtual ~ComputePrograms() = default;
  virtual const std::shared_ptr<gl::Context>& context_of_programs() const = 0;
  virtual const gl::ShaderSource& sources_of_programs() const = 0;
  /// Their preamble, and how they see regions.
  virtual const gl::Kernels& kernels_of_programs() const = 0;
  /// Issues commands between the operations before and after. Operands are ComputeMatrix objects.
  virtual void run(const std::function<void()>& commands) = 0;
};

/// On the EGL device options.device. Throws std::runtime_error with cause and remedy.
template <class Real>
std::unique_ptr<Backend<Real>> make_compute_backend(const BackendOptions& options, Timeline& timeline,
                                                    const ComputeLimits& limits = {});

namespace gl {
extern const TileCatalog tile_catalog;  // tuning.cpp

inline constexpr std::array<std::string_view, 3> allocators{"auto", "opengl", "vulkan"};
inline constexpr std::array compute_options{
    shader_folder_option,
    BackendOption{.name = "tile",
                  .type = "NAME",
                  .help = "gl-compute: tile of the trailing update, one that `glinpack tune` lists",
                  .default_text = "the tuned one, else the first",
                  .check = check_tile},
    // without a value: opengl
    BackendOption{.name = "device-memory",
                  .type = {},
                  .help = "gl-compute: what allocates matrices. vulkan: faster memory, and more of it, on NVIDIA GPUs; "
                          "auto: vulkan on GPUs if it works, else opengl",
                  .choices = allocators}};
}  // namespace gl

inline constexpr BackendRecord gl_compute_record{
    .name = "gl-compute",
    .make_single = [](const BackendOptions& options,
                      Timeline& timeline) { return make_compute_backend<float>(options, timeline); },
    .make_double = [](const BackendOptions& options,
                      Timeline& timeline) { return make_compute_backend<double>(options, timeline); },
    .memory = MemorySpace::device,
    .devices = &gl::device_catalog,
    .tiles = &gl::tile_catalog,
    .options = gl::compute_options,
    .automatic = true,
    // software OpenGL: results/small-box/block-sizes.txt; GPUs: results/h200. Wider blocks pay if the update takes
    // longer than the panel (docs/performance.md). Not measured between 16384 and 32768.
    .block_size = [](Precision factors, Index n) -> Index {
      constexpr Index wide_from = 32768;
      return factors != Precision::double_ && n >= wide_from ? 512 : 256;
    },
    // results/h200-x4: 1x4 took half of 2x2's time, whose panels need an agreement of two processes per column
    .one_process_row = true,
    .matrix_bytes = gl::matrix_bytes,
    .panels_on_device = true,
};

}  // namespace glinpack
