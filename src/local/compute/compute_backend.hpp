// The backend of compute devices: local matrices in storage buffers, arithmetic in compute shaders, panels on the host
// or the device.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>

#include "backend/backend.hpp"
#include "backend/backend_record.hpp"
#include "compute/partial_panel.hpp"
#include "device/compute_device.hpp"
#include "kernels/region.hpp"
#include "kernels/tuning.hpp"
#include "products/packed_products.hpp"

namespace glinpack {

namespace compute {
class Kernels;

/// Transfers of at least this size overlap kernels. An H200 takes about a millisecond to start on a second queue while
/// the first has work, which is the time of such a transfer.
inline constexpr std::int64_t min_queued_bytes = std::int64_t{32} << 20;
}  // namespace compute

/// Limits of the implementation; tests set smaller ones.
struct ComputeLimits {
  std::int64_t window_bytes = 0;                       // the part of a buffer that a shader sees; 0: the device's limit
  Index stripe_width = compute::default_stripe_width;  // of matrices (region.hpp)
  std::int64_t buffer_bytes = compute::largest_buffer_bytes;  // of a matrix, in each of its buffers
  Index rows_per_group = 256;  // candidate rows of a TSLU reduction-tree node; a power of two, at least 64
  // least size of transfers that overlap kernels; 0: min_queued_bytes, on GPUs alone. With another value a software
  // device is used as a GPU is
  std::int64_t queued_bytes = 0;
  Index inverse_elements = 0;  // of U12 from which half products take the whole inverse of L11; 0: default
  compute::PartialPanelLimits partial_panel = {};
};

/// For other programs on the matrices of the backend. What make_compute_backend() returns has this interface.
class ComputePrograms {
 public:
  virtual ~ComputePrograms() = default;
  virtual ComputeDevice& device_of_programs() const = 0;
  virtual const ShaderSource& sources_of_programs() const = 0;
  /// Their preamble, and how they see regions.
  virtual const compute::Kernels& kernels_of_programs() const = 0;
  /// Issues commands between the operations before and after. Operands are ComputeMatrix objects.
  virtual void run(const std::function<void()>& commands) = 0;
};

/// `name`: that of its record. Throws std::runtime_error with cause and remedy.
template <class Real>
std::unique_ptr<Backend<Real>> make_compute_backend(std::shared_ptr<ComputeDevice> device, std::string_view name,
                                                    const BackendOptions& options, Timeline& timeline,
                                                    const ComputeLimits& limits = {});

namespace compute {

inline constexpr BackendOption tile_option{
    .name = "tile",
    .type = "NAME",
    .help = "gl-compute, vk-compute: tile of the trailing update, one that `glinpack tune` lists",
    .default_text = "the tuned one, else the first",
    .check = check_tile};

inline constexpr BackendOption products_option{
    .name = "products",
    .type = "plain|half|split|int8[:MODULI]|auto",
    .help =
        "gl-compute, vk-compute: how the trailing update multiplies. Tensor cores multiply half, split and int8. half, "
        "for --matrix mxp: numbers rounded to 16 bits, sums in single. split, for --precision mixed: numbers as sums "
        "of two halves, three products. int8, for --precision double: residues of 8 bits, by 14 to 18 moduli; 15, the "
        "default, keep 53 bits. auto, mixed's default: split for mixed (half with --matrix mxp) if an update is "
        "measured to be faster; int8 for double if the device's own double precision is below a quarter of single "
        "(docs/performance.md)",
    .default_text = "plain",
    .check = check_products};

inline constexpr std::array options{shader_folder_option, tile_option, products_option};

// software devices: results/small-box/logs.md block-sizes; GPUs: results/h200, for split automatic-products there; int8
// and half: int8-products and half-products of results/h100/logs.md. Wider blocks pay if the update takes longer than
// the panel (docs/performance.md). Only split was measured between 16384 and 32768.
inline Index block_size(Precision factors, Index n, const BackendValues& values) {
  constexpr Index wide_from = 32768;
  const std::string products = option_value(values, "products");
  if (products.starts_with("int8")) return n >= wide_from ? 1024 : 512;
  if (products == "half" && n >= 2 * wide_from) return 768;
  return n >= (factors == Precision::double_ ? 2 * wide_from : wide_from) ? 512 : 256;
}

}  // namespace compute
}  // namespace glinpack
