#include "local/solvers/matmul.hpp"

#include <spdlog/fmt/fmt.h>

#include <stdexcept>
#include <type_traits>

#include "local/solvers/matmul_compute.hpp"
#include "local/solvers/matmul_drawing.hpp"
#include "local/solvers/texture_matrix.hpp"

namespace glinpack::solvers {
namespace {

constexpr std::array<std::string_view, all_matmul_variants.size()> names{
    "single-pass", "multi-pass", "multi-pass-two-buffers", "larsen-mcallister", "compute"};

double bytes_of(Index rows, Index columns, Packing packing) {
  const TextureExtents texels = texture_extents(rows, columns, packing);
  return 4.0 * static_cast<double>(channels(packing)) * static_cast<double>(texels.width) *
         static_cast<double>(texels.height);
}

// Of A, B, C and what else the variant keeps on the device.
double device_bytes(const ProductExtents& e, const MatmulSettings& settings, Precision precision) {
  if (!draws(settings.variant)) {
    const auto product = [](Index m, Index n) { return static_cast<double>(m) * static_cast<double>(n); };
    return static_cast<double>(factor_bytes(precision)) *
           (product(e.rows, e.depth) + product(e.depth, e.columns) + product(e.rows, e.columns));
  }
  const double copies = settings.variant == MatmulVariant::multi_pass_two_buffers ? 2 : 1;
  return bytes_of(e.rows, e.depth, settings.packing) + bytes_of(e.depth, e.columns, settings.packing) +
         copies * bytes_of(e.rows, e.columns, settings.packing);
}

/// What a variant may rely on: views of the product's extents.
template <class Real>
class CheckedProduct final : public MatrixProduct<Real> {
 public:
  CheckedProduct(std::unique_ptr<MatrixProduct<Real>> product, const ProductExtents& extents)
      : product_(std::move(product)), extents_(extents) {}

  void load(RowMajorView<const Real> a, RowMajorView<const Real> b) override {
    check("A", a.rows, a.columns, extents_.rows, extents_.depth);
    check("B", b.rows, b.columns, extents_.depth, extents_.columns);
    product_->load(a, b);
  }
  void compute() override { product_->compute(); }
  void store(RowMajorView<Real> c) override {
    check("C", c.rows, c.columns, extents_.rows, extents_.columns);
    product_->store(c);
  }

 private:
  static void check(std::string_view name, Index rows, Index columns, Index expected_rows, Index expected_columns) {
    if (rows == expected_rows && columns == expected_columns) return;
    throw std::invalid_argument(
        fmt::format("{} is {} x {} instead of {} x {}", name, rows, columns, expected_rows, expected_columns));
  }

  std::unique_ptr<MatrixProduct<Real>> product_;
  ProductExtents extents_;
};

template <class Real>
std::unique_ptr<MatrixProduct<Real>> make_unchecked(Device& device, const ProductExtents& extents,
                                                    const MatmulSettings& settings) {
  if (!draws(settings.variant)) return make_computed_product<Real>(device, extents, settings.tile);
  if constexpr (std::is_same_v<Real, float>) {
    return make_drawn_product(device, extents, settings);
  } else {
    throw std::invalid_argument(std::string(name_of(settings.variant)) + " computes in single precision only");
  }
}

}  // namespace

std::string_view name_of(MatmulVariant variant) { return names[static_cast<std::size_t>(variant)]; }

std::optional<MatmulVariant> matmul_variant_from_name(std::string_view name) {
  for (const MatmulVariant variant : all_matmul_variants) {
    if (name_of(variant) == name) return variant;
  }
  return std::nullopt;
}

std::string matmul_obstacle(const gl::DeviceDescription& device, const ProductExtents& extents,
                            const MatmulSettings& settings, Precision precision) {
  if (draws(settings.variant)) {
    const Packing packing = settings.packing;
    const Index depth = round_up(extents.depth, step_depth(packing));
    for (const auto& [rows, columns] :
         {std::pair{extents.rows, depth}, {depth, extents.columns}, {extents.rows, extents.columns}}) {
      const std::string obstacle = texture_obstacle(device, rows, columns, packing);
      if (!obstacle.empty()) return obstacle;
    }
  }
  const double needed = device_bytes(extents, settings, precision);
  if (device.free_memory <= 0 || needed <= static_cast<double>(device.free_memory)) return {};
  return fmt::format("the matrices take {:.1f} GiB on the device, but {} has {:.1f} GiB free: use a smaller N",
                     needed / (1024.0 * 1024 * 1024), device.renderer, gl::gibibytes(device.free_memory));
}

template <class Real>
std::unique_ptr<MatrixProduct<Real>> make_matrix_product(Device& device, const ProductExtents& extents,
                                                         const MatmulSettings& settings) {
  return std::make_unique<CheckedProduct<Real>>(make_unchecked<Real>(device, extents, settings), extents);
}

template std::unique_ptr<MatrixProduct<float>> make_matrix_product(Device&, const ProductExtents&,
                                                                   const MatmulSettings&);
template std::unique_ptr<MatrixProduct<double>> make_matrix_product(Device&, const ProductExtents&,
                                                                    const MatmulSettings&);

}  // namespace glinpack::solvers
