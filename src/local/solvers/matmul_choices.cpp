#include "local/solvers/matmul_choices.hpp"

#include <cmath>
#include <fstream>
#include <sstream>
#include <utility>
#include <vector>

#include "local/gl/cache_files.hpp"
#include "local/gl/shader_source.hpp"

namespace glinpack::solvers {
namespace {

/// A line of a file: rows, depth, columns, variant, packing, pass length.
struct Choice {
  ProductExtents extents;
  MatmulSettings settings;
};

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

/// What does not make sense in the file is passed over.
std::vector<Choice> choices_in(const std::string& path) {
  std::vector<Choice> choices;
  std::ifstream file(path);
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

MatmulChoices::MatmulChoices() : directory_(gl::user_cache()) {}
MatmulChoices::MatmulChoices(std::string directory) : directory_(std::move(directory)) {}

std::string MatmulChoices::path_of(const gl::DeviceDescription& device, Precision precision) const {
  const gl::ShaderSource sources;
  const std::string key = "matmul\n" + device.vendor + "\n" + device.renderer + "\n" + device.version + "\n" +
                          std::string(name_of(precision)) + "\n" + sources.expand("solvers/matmul.frag", "") +
                          sources.expand("compute/reduce.comp", "");
  return gl::cache_path(directory_, key, "matmul");
}

std::optional<MatmulSettings> MatmulChoices::load(const gl::DeviceDescription& device, Precision precision,
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

bool MatmulChoices::store(const gl::DeviceDescription& device, Precision precision, const ProductExtents& extents,
                          const MatmulSettings& settings) const {
  if (directory_.empty()) return false;
  const std::string path = path_of(device, precision);
  std::string content = line_of({extents, settings});
  for (const Choice& choice : choices_in(path)) {
    if (!same(choice.extents, extents)) content += line_of(choice);
  }
  // the last line is for people
  return gl::write_cache_file(path, content + "# " + device.renderer + ", " + device.version + "\n");
}

}  // namespace glinpack::solvers
