// The backend `vk-compute`: compute shaders of Vulkan.
#pragma once

#include <array>
#include <memory>
#include <string>

#include "backend/backend_record.hpp"
#include "backend/device_catalog.hpp"
#include "compute/compute_backend.hpp"

namespace glinpack {

namespace vulkan {

/// The Vulkan devices for the program (backend/device_catalog.hpp).
extern const DeviceCatalog device_catalog;

/// The Vulkan device options.uuid, else options.device. Throws std::runtime_error with cause and remedy.
std::shared_ptr<ComputeDevice> open_compute_device(const BackendOptions& options);

void check_peer(const std::string& value, Precision precision);
inline constexpr BackendOption peer_option{
    .name = "peer",
    .type = "auto|none",
    .help =
        "vk-compute: GPUs of a host copy panels and rows to each other, if NVIDIA's driver lets them. none: all "
        "messages pass through the host's memory",
    .default_text = "auto",
    .check = check_peer};

inline constexpr std::array compute_options{shader_folder_option, compute::tile_option, compute::products_option,
                                            peer_option};

}  // namespace vulkan

template <class Real>
std::unique_ptr<Backend<Real>> make_vk_compute_backend(const BackendOptions& options, Timeline& timeline,
                                                       const ComputeLimits& limits = {}) {
  return make_compute_backend<Real>(vulkan::open_compute_device(options), "vk-compute", options, timeline, limits);
}

inline constexpr BackendRecord vk_compute_record{
    .name = "vk-compute",
    .make_single = [](const BackendOptions& options,
                      Timeline& timeline) { return make_vk_compute_backend<float>(options, timeline); },
    .make_double = [](const BackendOptions& options,
                      Timeline& timeline) { return make_vk_compute_backend<double>(options, timeline); },
    .memory = MemorySpace::device,
    .devices = &vulkan::device_catalog,
    .tiles = &compute::tile_catalog<vulkan::open_compute_device>,
    .options = vulkan::compute_options,
    .automatic = true,
    .block_size = compute::block_size,
    .one_process_row = true,
    .matrix_bytes = compute::matrix_bytes,
    .update_bytes = compute::update_bytes,
    .panels_on_device = true,
};

}  // namespace glinpack
