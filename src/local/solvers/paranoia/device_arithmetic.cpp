#include "solvers/paranoia/device_arithmetic.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <stdexcept>
#include <type_traits>

namespace glinpack::solvers {
namespace {

using arithmetic::OperandSet;
using arithmetic::Operation;

constexpr Index side = 512;             // of textures
constexpr Index at_once = side * side;  // operands on the device at a time
constexpr Index group = 128;            // shaders/solvers/arithmetic.comp's
static_assert(at_once % group == 0);

}  // namespace

template <class Real>
DeviceArithmetic<Real>::DeviceArithmetic(Device& device, ShaderKind kind) : device_(device) {
  if (kind == ShaderKind::fragment && !std::is_same_v<Real, float>) {
    throw std::invalid_argument("fragment shaders draw in single precision only");
  }
  for (int number = 0; number < 4; ++number) {
    if (kind == ShaderKind::compute) {
      arrays_.emplace_back(device, at_once);
    } else {
      textures_.emplace_back(device, side, side, Packing::p1x1);
    }
  }
}

template <class Real>
void DeviceArithmetic<Real>::compute(Operation operation, const OperandSet<Real>& set, std::span<Real> results) {
  run(text_by_value(operation, "a + b", "a - b", "a * b", "a / b", "fma(a, b, c)", "1.0 / b"), set, results);
}

template <class Real>
void DeviceArithmetic<Real>::run(std::string_view expression, const OperandSet<Real>& set, std::span<Real> results) {
  if (static_cast<Index>(results.size()) != set.size()) {
    throw std::invalid_argument("there are not as many results as operands");
  }
  const std::string preamble =
      define("DOUBLE", !std::is_same_v<Real, float>) + fmt::format("#define EXPRESSION ({})\n", expression);
  const gl::Program program = textures_.empty() ? device_.compute_program("solvers/arithmetic.comp", preamble)
                                                : device_.fragment_program("solvers/arithmetic.frag", preamble);
  // pieces of the set, one after the other
  for (Index first = 0; first < set.size(); first += at_once) {
    const auto offset = static_cast<std::size_t>(first);
    const auto count = static_cast<std::size_t>(std::min(at_once, set.size() - first));
    const auto piece = [&](const std::vector<Real>& all) { return std::span(all).subspan(offset, count); };
    const std::array<std::span<const Real>, 3> operands{piece(set.a), piece(set.b), piece(set.c)};
    if constexpr (std::is_same_v<Real, float>) {
      if (arrays_.empty()) {
        draw_piece(program, operands, results.subspan(offset, count));
        continue;
      }
    }
    compute_piece(program, operands, results.subspan(offset, count));
  }
}

template <class Real>
void DeviceArithmetic<Real>::compute_piece(const gl::Program& program,
                                           const std::array<std::span<const Real>, 3>& operands,
                                           std::span<Real> results) {
  for (std::size_t k = 0; k < operands.size(); ++k) arrays_[k].upload(operands[k]);
  device_.measure(Stage::compute, [&] {
    for (std::size_t k = 0; k < arrays_.size(); ++k) arrays_[k].bind(static_cast<GLuint>(k));
    device_.dispatch(program, divide_up(std::ssize(results), group));
  });
  arrays_.back().download(results);
}

template <class Real>
void DeviceArithmetic<Real>::draw_piece(const gl::Program& program,
                                        const std::array<std::span<const float>, 3>& operands,
                                        std::span<float> results) {
  for (std::size_t k = 0; k < operands.size(); ++k) {
    textures_[k].upload_texels([&](float* texels) {
      std::copy(operands[k].begin(), operands[k].end(), texels);
      std::fill(texels + operands[k].size(), texels + at_once, 1.0F);
    });
  }
  const TextureMatrix& target = textures_.back();
  device_.measure(Stage::compute, [&] {
    const gl::Quad all = target.quad();
    device_.draw(program, target.target(), {textures_[0].texture(), textures_[1].texture(), textures_[2].texture()},
                 {&all, 1});
  });
  target.download_texels([&](const float* texels) { std::copy_n(texels, results.size(), results.begin()); });
}

template class DeviceArithmetic<float>;
template class DeviceArithmetic<double>;

}  // namespace glinpack::solvers
