#include "local/solvers/fetch_rate.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <vector>

#include "local/solvers/texture_matrix.hpp"

namespace glinpack::solvers {
namespace {

constexpr Index side = 16;
constexpr Index fetches = 64;
constexpr Index components = 4;
constexpr Index texel_bytes = 16;

float value_at(Index x, Index y, Index component) { return static_cast<float>((x * 7 + y * 5 + component * 3) % 31); }

/// What fetch_rate.frag draws at (x, y).
float least_at(Index x, Index y, Index component) {
  float least = value_at(x, y, component);
  for (Index fetch = 1; fetch < fetches; ++fetch) {
    least = std::min(least, value_at((x + fetch) % side, (y + fetch) % side, component));
  }
  return least;
}

}  // namespace

Measured texel_fetch_rate(Device& device, const MeasuringOptions& options) {
  const Index target_side = device.description().software ? 128 : 2048;
  TextureMatrix source(device, side, side * components, Packing::p1x4);
  TextureMatrix target(device, target_side, target_side * components, Packing::p1x4);
  std::vector<float> values;
  for (Index y = 0; y < side; ++y) {
    for (Index x = 0; x < side; ++x) {
      for (Index component = 0; component < components; ++component) values.push_back(value_at(x, y, component));
    }
  }
  source.upload({values.data(), side, side * components, side * components});
  const gl::Program program = device.fragment_program(
      "solvers/fetch_rate.frag", fmt::format("#define SIDE {}\n#define FETCHES {}\n", side, fetches));
  const gl::Quad all = target.quad();
  const auto bytes = static_cast<double>(target_side * target_side * fetches * texel_bytes);
  const Measured rate = measured_rate(options, bytes, [&](std::int64_t rounds) {
    for (std::int64_t round = 0; round < rounds; ++round) {
      device.draw(program, target.target(), {source.texture()}, {&all, 1});
    }
    device.finish();
  });
  std::vector<float> drawn(static_cast<std::size_t>(target_side * target_side * components));
  target.download({drawn.data(), target_side, target_side * components, target_side * components});
  for (Index y = 0; y < side; ++y) {
    for (Index x = 0; x < side; ++x) {
      for (Index component = 0; component < components; ++component) {
        const auto at = static_cast<std::size_t>((y * target_side + x) * components + component);
        if (drawn[at] != least_at(x, y, component)) {
          throw std::runtime_error(
              fmt::format("{} fetched texels wrongly: texel ({}, {}) of what was drawn is not what "
                          "it must be",
                          device.description().renderer, x, y));
        }
      }
    }
  }
  return rate;
}

}  // namespace glinpack::solvers
