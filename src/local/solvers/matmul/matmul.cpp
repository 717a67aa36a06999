#include "solvers/matmul/matmul.hpp"

#include <spdlog/fmt/fmt.h>

#include <cmath>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/user_cache.hpp"
#include "device/shader_source.hpp"
#include "solvers/device/texture_matrix.hpp"

namespace glinpack::solvers {
namespace {

double texture_bytes(Index rows, Index columns, Packing packing) {
  const TextureExtents texels = texture_extents(rows, columns, packing);
  return 4.0 * static_cast<double>(channels(packing)) * static_cast<double>(texels.width) *
         static_cast<double>(texels.height);
}

// Of A, B, C and other matrices of the variant on the device.
double device_bytes(const ProductExtents& e, const MatmulSettings& settings, Precision precision) {
  if (!draws(settings.variant)) {
    const auto product = [](Index m, Index n) { return static_cast<double>(m) * static_cast<double>(n); };
    return static_cast<double>(factor_bytes(precision)) *
           (product(e.rows, e.depth) + product(e.depth, e.columns) + product(e.rows, e.columns));
  }
  const double copies = settings.variant == MatmulVariant::multi_pass_two_buffers ? 2 : 1;
  return texture_bytes(e.rows, e.depth, settings.packing) + texture_bytes(e.depth, e.columns, settings.packing) +
         copies * texture_bytes(e.rows, e.columns, settings.packing);
}

/// Checks the extents of views for a variant.
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

std::string_view name_of(MatmulVariant variant) {
  constexpr std::array<std::string_view, all_matmul_variants.size()> names{
      "single-pass", "multi-pass", "multi-pass-two-buffers", "larsen-mcallister", "compute"};
  return names[static_cast<std::size_t>(variant)];
}

std::string matmul_obstacle(const DeviceDescription& device, const ProductExtents& extents,
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
                     needed / (1024.0 * 1024 * 1024), device.renderer, gibibytes(device.free_memory));
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

namespace {

/// A line of a file: rows, depth, columns, variant, packing, pass length.
struct Choice {
  ProductExtents extents;
  MatmulSettings settings;
};

std::optional<MatmulVariant> matmul_variant_from_name(std::string_view name) {
  for (const MatmulVariant variant : all_matmul_variants) {
    if (name_of(variant) == name) return variant;
  }
  return std::nullopt;
}

std::optional<Choice> parse(const std::string& line) {
  std::istringstream words(line);
  Choice choice;
  std::string variant, packing;
  ProductExtents& e = choice.extents;
  if (!(words >> e.rows >> e.depth >> e.columns >> variant >> packing >> choice.settings.pass_length))
    return std::nullopt;
  const std::optional<MatmulVariant> named_variant = matmul_variant_from_name(variant);
  const std::optional<Packing> named_packing = packing_from_name(packing);
  const bool sensible = e.rows > 0 && e.depth > 0 && e.columns > 0 && choice.settings.pass_length > 0;
  if (!named_variant || !named_packing || !sensible) return std::nullopt;
  choice.settings.variant = *named_variant;
  choice.settings.packing = *named_packing;
  return choice;
}

std::string line_of(const Choice& choice) {
  std::ostringstream line;
  line << choice.extents.rows << ' ' << choice.extents.depth << ' ' << choice.extents.columns << ' '
       << name_of(choice.settings.variant) << ' ' << name_of(choice.settings.packing) << ' '
       << choice.settings.pass_length << '\n';
  return line.str();
}

/// Ignores invalid lines of the file.
std::vector<Choice> choices_in(const std::string& path) {
  std::vector<Choice> choices;
  std::ifstream file = open_regular_file(path);
  for (std::string line; std::getline(file, line);) {
    if (const std::optional<Choice> choice = parse(line)) choices.push_back(*choice);
  }
  return choices;
}

double logarithm(const ProductExtents& e) {
  return std::log(static_cast<double>(e.rows)) + std::log(static_cast<double>(e.depth)) +
         std::log(static_cast<double>(e.columns));
}

bool same(const ProductExtents& a, const ProductExtents& b) {
  return a.rows == b.rows && a.depth == b.depth && a.columns == b.columns;
}

}  // namespace

MatmulChoices::MatmulChoices() : directory_(user_cache()) {}
MatmulChoices::MatmulChoices(std::string directory) : directory_(std::move(directory)) {}

std::string MatmulChoices::path_of(const DeviceDescription& device, Precision precision) const {
  const ShaderSource sources;
  const std::string key = "matmul\n" + device.vendor + "\n" + device.renderer + "\n" + device.version + "\n" +
                          std::string(name_of(precision)) + "\n" + sources.expand("solvers/matmul.frag", "") +
                          sources.expand("compute/reduce.comp", "");
  return cache_path(directory_, key, "matmul");
}

std::optional<MatmulSettings> MatmulChoices::load(const DeviceDescription& device, Precision precision,
                                                  const ProductExtents& extents) const {
  if (directory_.empty()) return std::nullopt;
  std::optional<MatmulSettings> nearest;
  double least = 0;
  for (const Choice& choice : choices_in(path_of(device, precision))) {
    const double distance = std::abs(logarithm(choice.extents) - logarithm(extents));
    if (nearest && distance >= least) continue;
    nearest = choice.settings;
    least = distance;
  }
  return nearest;
}

bool MatmulChoices::store(const DeviceDescription& device, Precision precision, const ProductExtents& extents,
                          const MatmulSettings& settings) const {
  if (directory_.empty()) return false;
  const std::string path = path_of(device, precision);
  std::string content = line_of({extents, settings});
  for (const Choice& choice : choices_in(path)) {
    if (!same(choice.extents, extents)) content += line_of(choice);
  }
  // the last line is for human readers
  return write_cache_file(path, content + "# " + device.renderer + ", " + device.version + "\n");
}

}  // namespace glinpack::solvers
