// The backend `gl-compute`: compute shaders of OpenGL.
#pragma once

#include <memory>

#include "backend/backend_record.hpp"
#include "backend/device_catalog.hpp"
#include "compute/compute_backend.hpp"

namespace glinpack {

namespace gl {

/// The EGL devices for the program (backend/device_catalog.hpp).
extern const DeviceCatalog device_catalog;

/// What allocates matrices. automatic: Vulkan on GPUs if it works, else OpenGL (vulkan_memory.hpp).
enum class MatrixMemory { opengl, automatic, vulkan };

/// The EGL device options.device. Throws std::runtime_error with cause and remedy.
std::shared_ptr<ComputeDevice> open_compute_device(const BackendOptions& options, MatrixMemory memory);
inline std::shared_ptr<ComputeDevice> open_device(const BackendOptions& options) {
  return open_compute_device(options, MatrixMemory::opengl);
}

}  // namespace gl

template <class Real>
std::unique_ptr<Backend<Real>> make_gl_compute_backend(const BackendOptions& options, Timeline& timeline,
                                                       const ComputeLimits& limits = {},
                                                       gl::MatrixMemory memory = gl::MatrixMemory::opengl) {
  return make_compute_backend<Real>(gl::open_compute_device(options, memory), "gl-compute", options, timeline, limits);
}

inline constexpr BackendRecord gl_compute_record{
    .name = "gl-compute",
    .make_single =
        [](const BackendOptions& options, Timeline& timeline) {
          return make_gl_compute_backend<float>(options, timeline, {}, gl::MatrixMemory::automatic);
        },
    .make_double =
        [](const BackendOptions& options, Timeline& timeline) {
          return make_gl_compute_backend<double>(options, timeline, {}, gl::MatrixMemory::automatic);
        },
    .memory = MemorySpace::device,
    .devices = &gl::device_catalog,
    .tiles = &compute::tile_catalog<gl::open_device>,
    .options = compute::options,
    .automatic = true,
    .block_size = compute::block_size,
    // results/h200-x4: 1x4 took half of 2x2's time, whose panels need an agreement of two processes per column
    .one_process_row = true,
    .matrix_bytes = compute::matrix_bytes,
    .update_bytes = compute::update_bytes,
    .panels_on_device = true,
};

}  // namespace glinpack
