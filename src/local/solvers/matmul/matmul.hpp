// C = A B on a device: the variants of Brodtkorb 2008 (section 4.1) and 2006 (sections 2.1, 2.3, 2.4), and a compute
// shader. And which variant is fastest on a device, by size: measured, and cached for later runs (automatic tuning as
// by Jiang and Snir; Brodtkorb 2008, sections 2 and 6).
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/precision.hpp"
#include "base/user_cache.hpp"
#include "solvers/device/device.hpp"
#include "solvers/device/packing.hpp"

namespace glinpack::solvers {

/// single_pass: a fragment sums the whole inner product (Fatahalian, Sugerman and Hanrahan). multi_pass: `pass_length`
/// steps a pass, accumulated in one texture, which is read and drawn (Brodtkorb); multi_pass_two_buffers: in two that
/// alternate (Hall, Carr and Hart). many_quads: single_pass by small rectangles, `quad_side` texels a side.
/// larsen_mcallister: a virtual cube of processors, each with one product, summed plane by plane through blending;
/// larsen_mcallister_bytes: the same in textures of bytes, whose sums saturate at 1: A and B are mapped to 0 ... 1, and
/// products divided by the number of terms. All of these draw, in single precision. compute:
/// shaders/compute/update.comp, in tiles.
enum class MatmulVariant : std::uint8_t {
  single_pass,
  many_quads,
  multi_pass,
  multi_pass_two_buffers,
  larsen_mcallister,
  larsen_mcallister_bytes,
  compute
};

inline constexpr auto all_matmul_variants = values_up_to<MatmulVariant::compute>;
constexpr std::string_view name_of(MatmulVariant variant) {
  return text_by_value(variant, "single-pass", "many-quads", "multi-pass", "multi-pass-two-buffers",
                       "larsen-mcallister", "larsen-mcallister-bytes", "compute");
}

constexpr bool draws(MatmulVariant variant) { return variant != MatmulVariant::compute; }
constexpr bool has_planes(MatmulVariant variant) {
  return variant == MatmulVariant::larsen_mcallister || variant == MatmulVariant::larsen_mcallister_bytes;
}
constexpr bool has_passes(MatmulVariant variant) {
  return variant == MatmulVariant::multi_pass || variant == MatmulVariant::multi_pass_two_buffers;
}

/// A rows x depth, B depth x columns, C rows x columns; each at least 1.
struct ProductExtents {
  Index rows = 0;
  Index depth = 0;
  Index columns = 0;
  friend bool operator==(const ProductExtents&, const ProductExtents&) = default;
};

struct MatmulSettings {
  MatmulVariant variant = MatmulVariant::compute;
  Packing packing = Packing::p2x2;  // of variants that draw
  Index pass_length = 1;            // of variants with passes: steps of a pass, at least 1
  Index quad_side = 64;             // of many_quads
  std::string tile = {};  // of compute, as compute::update_tile() has them; empty: the one tuned, or the first
};

/// Terms of the sums that a step adds: the extent of a texel in the direction that is summed over.
constexpr Index step_depth(Packing packing) { return std::max(texel_rows(packing), texel_columns(packing)); }

/// Texels that fragments fetch for a product: of A and B two a step with packing 1x1 and 2x2, five with 4x1 and 1x4;
/// and of the sums one a pass. 0 for compute.
double texels_fetched(const ProductExtents& extents, const MatmulSettings& settings);

/// What roundings to bytes can change in an element of C, over the largest |a| |b|: those of A, B, and the sum after
/// each plane.
constexpr double byte_error_bound(const ProductExtents& extents, Packing packing) {
  const auto depth = static_cast<double>(extents.depth);
  return 4 * depth * (depth / static_cast<double>(step_depth(packing)) + 2) / 255;
}

/// Why the device cannot hold the product, with limit and remedy; empty if no reason is known.
std::string matmul_obstacle(const DeviceDescription& device, const ProductExtents& extents,
                            const MatmulSettings& settings, Precision precision);

/// C = A B, row-major.
template <class Real>
struct Product {
  RowMajorView<const Real> a, b;
  RowMajorView<Real> c;
};

/// Allocates and compiles. Throws std::invalid_argument for a variant that draws in double precision, and for views
/// that are not those of a product; std::runtime_error as matmul_obstacle() says and if the device fails.
template <class Real>
Steps make_product(Device& device, const Product<Real>& product, const MatmulSettings& settings);

// The variants, which make_product() selects from.
template <class Real>
Steps compute_product(Device& device, const Product<Real>& product, const std::string& tile);
Steps draw_product(Device& device, const Product<float>& product, const MatmulSettings& settings);

/// The choices for a device, a driver and a precision, and for this version of the shaders.
class MatmulChoices {
 public:
  MatmulChoices() = default;
  explicit MatmulChoices(std::string directory) : files_("matmul", std::move(directory)) {}

  /// The choice for the size with the nearest number of products, if any.
  std::optional<MatmulSettings> load(const DeviceDescription& device, Precision precision,
                                     const ProductExtents& extents) const;
  /// Replaces an earlier choice for the same size. Returns whether it was stored.
  bool store(const DeviceDescription& device, Precision precision, const ProductExtents& extents,
             const MatmulSettings& settings) const;
  std::string path_of(const DeviceDescription& device, Precision precision) const;

 private:
  CacheFolder files_{"matmul"};
};

}  // namespace glinpack::solvers
