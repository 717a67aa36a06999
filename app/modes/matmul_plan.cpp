#include "app/modes/matmul_plan.hpp"

#include <algorithm>

#include "app/topology.hpp"
#include "solvers/matmul/matmul.hpp"

namespace glinpack::app {

namespace {

using solvers::MatmulSettings;
using solvers::MatmulVariant;
using solvers::Packing;
using solvers::ProductExtents;

double count(Index rows, Index columns) { return static_cast<double>(rows) * static_cast<double>(columns); }

std::vector<MatmulVariant> variants_of(const MatmulOptions& options) {
  if (options.variant.empty()) return {solvers::all_matmul_variants.begin(), solvers::all_matmul_variants.end()};
  std::vector<MatmulVariant> variants;
  for (const std::string& name : options.variant) {
    if (const auto variant = solvers::matmul_variant_from_name(name)) variants.push_back(*variant);
  }
  return variants;
}

/// The given lengths. With --tune, powers of eight up to the first that needs a single pass.
std::vector<Index> pass_lengths(const MatmulOptions& options, const ProductExtents& e, Packing packing) {
  if (!options.tune || !options.pass_length.empty()) {
    return options.pass_length.empty() ? std::vector<Index>{1} : options.pass_length;
  }
  const Index steps = round_up(e.depth, step_depth(packing)) / step_depth(packing);
  std::vector<Index> lengths{1};
  while (lengths.back() < steps) lengths.push_back(std::min(8 * lengths.back(), steps));
  return lengths;
}

std::vector<Packing> packings_of(const MatmulOptions& options) {
  if (!options.packing.empty()) return options.packing;
  if (options.tune) return {solvers::all_packings.begin(), solvers::all_packings.end()};
  return {Packing::p2x2};
}

void check_finite_in(Precision precision, const std::string& path, const DenseMatrix& matrix) {
  if (precision == Precision::single) check_single_precision(path, matrix.elements, matrix.columns);
}

}  // namespace

MatmulInputs read_matmul_inputs(const MatmulOptions& options) {
  if (options.input.empty()) return {};
  const std::int64_t available = view_node().available_memory;
  const std::string& path_b = options.input_b.empty() ? options.input : options.input_b;
  MatmulInputs inputs{.a = read_matrix(options.input, available, MatrixShape::any),
                      .b = read_matrix(path_b, available, MatrixShape::any)};
  if (inputs.a.columns != inputs.b.rows) {
    throw InputError("--input " + options.input + ", --input-b " + path_b + ": A has " +
                     std::to_string(inputs.a.columns) + " columns, but B " + std::to_string(inputs.b.rows) +
                     " rows; they must be as many");
  }
  check_finite_in(options.precision, options.input, inputs.a);
  check_finite_in(options.precision, path_b, inputs.b);
  return inputs;
}

std::vector<ProductExtents> matmul_sizes(const MatmulOptions& options, const MatmulInputs& inputs) {
  if (!options.input.empty()) return {{inputs.a.rows, inputs.a.columns, inputs.b.columns}};
  if (!options.shape.empty()) return options.shape;
  std::vector<ProductExtents> sizes;
  for (const Index n : options.n) sizes.push_back({n, n, n});
  return sizes;
}

bool matmul_needs_device(const MatmulOptions& options) { return !variants_of(options).empty(); }

std::vector<MatmulSettings> matmul_settings(const MatmulOptions& options, const ProductExtents& e,
                                            const gl::DeviceDescription& device) {
  if (options.variant.empty() && !options.tune) {
    MatmulSettings settings = solvers::MatmulChoices().load(device, options.precision, e).value_or(MatmulSettings{});
    settings.tile = options.tile;
    return {settings};
  }
  std::vector<MatmulSettings> all;
  for (const MatmulVariant variant : variants_of(options)) {
    if (!draws(variant)) {
      all.push_back({.variant = variant, .tile = options.tile});
      continue;
    }
    for (const Packing packing : packings_of(options)) {
      if (!has_passes(variant)) {
        all.push_back({.variant = variant, .packing = packing});
        continue;
      }
      for (const Index length : pass_lengths(options, e, packing)) {
        all.push_back({.variant = variant, .packing = packing, .pass_length = length});
      }
    }
  }
  return all;
}

void check_matmul_size(const MatmulOptions& options, const ProductExtents& e, const ModeMachine& machine) {
  const std::string what = "a product of size " + size_text(e);
  const double elements = count(e.rows, e.depth) + count(e.depth, e.columns) + 2 * count(e.rows, e.columns);
  // staging buffers are in host memory; software OpenGL also has its matrices there
  const bool software = machine.device && machine.device->description().software;
  check_host_memory(what, static_cast<double>(factor_bytes(options.precision)) * elements * (software ? 2 : 1.5));
  if (!machine.device) return;
  for (const MatmulSettings& settings : matmul_settings(options, e, machine.device->description())) {
    const std::string obstacle = matmul_obstacle(machine.device->description(), e, settings, options.precision);
    if (obstacle.empty()) continue;
    throw InputError(what + ", variant " + std::string(name_of(settings.variant)) + ": " + obstacle);
  }
}

std::string size_text(const ProductExtents& e) {
  if (e.rows == e.depth && e.depth == e.columns) return std::to_string(e.rows);
  return text_of(e);
}

std::string settings_text(const MatmulSettings& settings) {
  if (!draws(settings.variant)) return {};
  std::string text(name_of(settings.packing));
  if (has_passes(settings.variant)) text += ", pass " + std::to_string(settings.pass_length);
  return text;
}

}  // namespace glinpack::app
