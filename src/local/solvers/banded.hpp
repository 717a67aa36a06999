// y = A x on a device, A a sparse matrix with few diagonals (Krueger and Westermann 2003, as retold by Brodtkorb 2006,
// section 2.2).
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "local/solvers/device.hpp"
#include "local/solvers/sparse_matrix.hpp"

namespace glinpack::solvers {

/// diagonals: every joined diagonal is a texture of its own, and so is x; a pass draws the products of one of them, and
/// blending adds them up. compute: a compute shader, a row to an invocation. Both in single precision.
enum class BandedVariant : std::uint8_t { diagonals, compute };

inline constexpr std::array all_banded_variants{BandedVariant::diagonals, BandedVariant::compute};

std::string_view name_of(BandedVariant variant);  // "diagonals", "compute"
std::optional<BandedVariant> banded_variant_from_name(std::string_view name);

/// Why the device cannot hold a matrix of order n with so many joined diagonals, naming limit and remedy; empty where
/// nothing is known against it.
std::string banded_obstacle(const gl::DeviceDescription& device, Index n, Index diagonals, BandedVariant variant);

/// A product with matrices of one order, as often as needed: load, compute, store.
class BandedProduct {
 public:
  virtual ~BandedProduct() = default;

  /// The matrix; as many diagonals as the product was made for. Stages pack and upload of the device's clock.
  virtual void load(const JoinedDiagonals& a) = 0;
  /// x, n elements. The same stages.
  virtual void load(std::span<const float> x) = 0;
  /// Stage compute.
  virtual void compute() = 0;
  /// y, n elements. Stages download and unpack.
  virtual void store(std::span<float> y) = 0;
};

/// Allocates and compiles. `device` must outlive the product. Throws std::runtime_error as banded_obstacle() says and
/// where the device fails.
std::unique_ptr<BandedProduct> make_banded_product(Device& device, Index n, Index diagonals, BandedVariant variant);

}  // namespace glinpack::solvers
