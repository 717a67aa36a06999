// The backend `gl-compute`: compute shaders of OpenGL.
#pragma once

#include <array>
#include <memory>
#include <string_view>

#include "backend/backend_record.hpp"
#include "backend/device_catalog.hpp"
#include "compute/compute_backend.hpp"
#include "device/shader_source.hpp"

namespace glinpack {

namespace gl {

/// The EGL devices for the program (backend/device_catalog.hpp).
extern const DeviceCatalog device_catalog;

/// The EGL device options.device, with what its option device-memory names to allocate matrices. Throws
/// std::runtime_error with cause and remedy.
std::shared_ptr<ComputeDevice> open_compute_device(const BackendOptions& options);
/// An EGL device without options.
std::shared_ptr<ComputeDevice> open_device(int index);

inline constexpr std::array<std::string_view, 3> allocators{"auto", "opengl", "vulkan"};
inline constexpr std::array compute_options{
    shader_folder_option, compute::tile_option, compute::products_option, compute::moduli_option,
    // without a value: opengl
    BackendOption{.name = "device-memory",
                  .type = {},
                  .help = "gl-compute: what allocates matrices. vulkan: faster memory, and more of it, on NVIDIA GPUs; "
                          "auto: vulkan on GPUs if it works, else opengl",
                  .choices = allocators}};

}  // namespace gl

template <class Real>
std::unique_ptr<Backend<Real>> make_gl_compute_backend(const BackendOptions& options, Timeline& timeline,
                                                       const ComputeLimits& limits = {}) {
  return make_compute_backend<Real>(gl::open_compute_device(options), "gl-compute", options, timeline, limits);
}

inline constexpr BackendRecord gl_compute_record{
    .name = "gl-compute",
    .make_single = [](const BackendOptions& options,
                      Timeline& timeline) { return make_gl_compute_backend<float>(options, timeline); },
    .make_double = [](const BackendOptions& options,
                      Timeline& timeline) { return make_gl_compute_backend<double>(options, timeline); },
    .memory = MemorySpace::device,
    .devices = &gl::device_catalog,
    .tiles = &compute::tile_catalog<gl::open_device>,
    .options = gl::compute_options,
    .automatic = true,
    .block_size = compute::block_size,
    // results/h200-x4: 1x4 took half of 2x2's time, whose panels need an agreement of two processes per column
    .one_process_row = true,
    .matrix_bytes = compute::matrix_bytes,
    .panels_on_device = true,
};

}  // namespace glinpack
