#include "solvers/matmul/matmul.hpp"

#include <spdlog/fmt/fmt.h>

#include <cmath>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <type_traits>
#include <vector>

#include "device/shader_source.hpp"
#include "solvers/device/texture_matrix.hpp"

namespace glinpack::solvers {
namespace {

double texture_bytes(Index rows, Index columns, Packing packing) {
  const TextureExtents texels = texture_extents(rows, columns, packing);
  return 4.0 * static_cast<double>(channels(packing)) * static_cast<double>(texels.width) *
         static_cast<double>(texels.height);
}

// For A, B, C and other matrices of the variant on the device.
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

}  // namespace

double texels_fetched(const ProductExtents& e, const MatmulSettings& settings) {
  if (!draws(settings.variant)) return 0;
  const Packing packing = settings.packing;
  const TextureExtents result = texture_extents(e.rows, e.columns, packing);
  const Index steps = divide_up(e.depth, step_depth(packing));
  const Index of_a_step = packing == Packing::p1x1 || packing == Packing::p2x2 ? 2 : 5;
  const Index passes = has_passes(settings.variant) ? divide_up(steps, settings.pass_length) : 0;
  return static_cast<double>(result.width * result.height) * static_cast<double>(steps * of_a_step + passes);
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
  return memory_obstacle(device, "the matrices take", device_bytes(extents, settings, precision));
}

template <class Real>
Steps make_product(Device& device, const Product<Real>& product, const MatmulSettings& settings) {
  const auto& [a, b, c] = product;
  if (a.columns != b.rows || a.rows != c.rows || b.columns != c.columns) {
    throw std::invalid_argument(fmt::format("a product of {} x {} and {} x {} is not {} x {}", a.rows, a.columns,
                                            b.rows, b.columns, c.rows, c.columns));
  }
  if (!draws(settings.variant)) return compute_product<Real>(device, product, settings.tile);
  if constexpr (std::is_same_v<Real, float>) return draw_product(device, product, settings);
  throw std::invalid_argument(std::string(name_of(settings.variant)) + " computes in single precision only");
}

template Steps make_product(Device&, const Product<float>&, const MatmulSettings&);
template Steps make_product(Device&, const Product<double>&, const MatmulSettings&);

namespace {

/// A line of a file: rows, depth, columns, variant, packing, pass length.
struct Choice {
  ProductExtents extents;
  MatmulSettings settings;
};

template <class Kind, std::size_t count>
std::optional<Kind> kind_named(std::string_view name, const std::array<Kind, count>& kinds) {
  const auto found = std::find_if(kinds.begin(), kinds.end(), [&](Kind kind) { return name_of(kind) == name; });
  return found == kinds.end() ? std::nullopt : std::optional(*found);
}

std::optional<Choice> parse(const std::string& line) {
  std::istringstream words(line);
  Choice choice;
  std::string variant, packing;
  ProductExtents& e = choice.extents;
  if (!(words >> e.rows >> e.depth >> e.columns >> variant >> packing >> choice.settings.pass_length))
    return std::nullopt;
  const std::optional<MatmulVariant> named_variant = kind_named(variant, all_matmul_variants);
  const std::optional<Packing> named_packing = kind_named(packing, all_packings);
  const bool sensible = e.rows > 0 && e.depth > 0 && e.columns > 0 && choice.settings.pass_length > 0;
  if (!named_variant || !named_packing || !sensible) return std::nullopt;
  choice.settings.variant = *named_variant;
  choice.settings.packing = *named_packing;
  return choice;
}

std::string line_of(const Choice& choice) {
  const auto& [e, settings] = choice;
  return fmt::format("{} {} {} {} {} {}\n", e.rows, e.depth, e.columns, name_of(settings.variant),
                     name_of(settings.packing), settings.pass_length);
}

/// Ignores invalid lines of the file.
std::vector<Choice> choices_in(std::ifstream file) {
  std::vector<Choice> choices;
  for (std::string line; std::getline(file, line);) {
    if (const std::optional<Choice> choice = parse(line)) choices.push_back(*choice);
  }
  return choices;
}

std::string key_of(const DeviceDescription& device, Precision precision) {
  const ShaderSource sources;
  return "matmul\n" + device.driver_key() + "\n" + std::string(name_of(precision)) + "\n" +
         sources.expand("solvers/matmul.frag", "") + sources.expand("compute/update.comp", "");
}

double logarithm(const ProductExtents& e) {
  return std::log(static_cast<double>(e.rows)) + std::log(static_cast<double>(e.depth)) +
         std::log(static_cast<double>(e.columns));
}

}  // namespace

std::string MatmulChoices::path_of(const DeviceDescription& device, Precision precision) const {
  return files_.path_of(key_of(device, precision));
}

std::optional<MatmulSettings> MatmulChoices::load(const DeviceDescription& device, Precision precision,
                                                  const ProductExtents& extents) const {
  std::optional<MatmulSettings> nearest;
  double min = 0;
  for (const Choice& choice : choices_in(files_.open(key_of(device, precision)))) {
    const double distance = std::abs(logarithm(choice.extents) - logarithm(extents));
    if (nearest && distance >= min) continue;
    nearest = choice.settings;
    min = distance;
  }
  return nearest;
}

bool MatmulChoices::store(const DeviceDescription& device, Precision precision, const ProductExtents& extents,
                          const MatmulSettings& settings) const {
  const std::string key = key_of(device, precision);
  std::string content = line_of({extents, settings});
  for (const Choice& choice : choices_in(files_.open(key))) {
    if (choice.extents != extents) content += line_of(choice);
  }
  // the last line is for human readers
  return files_.write(key, content + "# " + device.renderer + ", " + device.version + "\n");
}

}  // namespace glinpack::solvers
