#include "solvers/device/device_rates.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <stdexcept>
#include <vector>

#include "solvers/device/texture_matrix.hpp"

namespace glinpack::solvers {

Measured texel_fetch_rate(Device& device, const MeasuringOptions& options) {
  constexpr Index side = 16, fetches = 64, components = 4, texel_bytes = 16;
  const Index target_side = device.description().software ? 128 : 2048;
  const auto value = [](Index x, Index y, Index component) {
    return static_cast<float>((x * 7 + y * 5 + component * 3) % 31);
  };
  const auto for_components = [&](const auto& body) {
    for (Index y = 0; y < side; ++y) {
      for (Index x = 0; x < side; ++x) {
        for (Index component = 0; component < components; ++component) body(x, y, component);
      }
    }
  };
  TextureMatrix source(device, side, side * components, Packing::p1x4);
  TextureMatrix target(device, target_side, target_side * components, Packing::p1x4);
  source.upload_texels([&](float* texels) {
    for_components([&](Index x, Index y, Index component) { *texels++ = value(x, y, component); });
  });
  const gl::Program program =
      device.fragment_program("solvers/fetch_rate.frag", definition("SIDE", side) + definition("FETCHES", fetches));
  const gl::Quad all = target.quad();
  const auto bytes = static_cast<double>(target_side * target_side * fetches * texel_bytes);
  const Measured rate = measured_rate(options, bytes, [&](std::int64_t rounds) {
    for (std::int64_t round = 0; round < rounds; ++round) {
      device.draw(program, target.target(), {source.texture()}, {&all, 1});
    }
    device.finish();
  });
  target.download_texels([&](const float* drawn) {
    for_components([&](Index x, Index y, Index component) {
      float least = value(x, y, component);
      for (Index fetch = 1; fetch < fetches; ++fetch) {
        least = std::min(least, value((x + fetch) % side, (y + fetch) % side, component));
      }
      if (drawn[(y * target_side + x) * components + component] == least) return;
      throw std::runtime_error(
          fmt::format("{} fetched texels wrongly: texel ({}, {}) of what was drawn is not what it must be",
                      device.description().renderer, x, y));
    });
  });
  return rate;
}

DrawingRates drawing_rates(Device& device, const MeasuringOptions& options) {
  constexpr Index components = 4, texel_bytes = 16, source_side = 16, vertices_of_quad = 4;
  const Index side = device.description().software ? 256 : 2048, quads = 1 << 14;
  TextureMatrix source(device, source_side, source_side * components, Packing::p1x4);
  TextureMatrix target(device, side, side * components, Packing::p1x4),
      other(device, side, side * components, Packing::p1x4);
  const gl::Program program =
      device.fragment_program("solvers/fetch_rate.frag", definition("SIDE", source_side) + definition("FETCHES", 1));
  const auto texels = static_cast<double>(side * side);
  const auto rate = [&](double amount, const auto& once) {
    return measured_rate(options, amount,
                         [&](std::int64_t rounds) {
                           for (std::int64_t round = 0; round < rounds; ++round) once();
                           device.finish();
                         })
        .most;
  };
  const auto draw = [&](std::span<const gl::Quad> quads_of) {
    device.draw(program, target.target(), {source.texture()}, quads_of);
  };
  const gl::Quad all = target.quad();
  std::vector<gl::Quad> small;
  for (Index quad = 0; quad < quads; ++quad) small.push_back({quad % side, quad / side, 1, 1, {}});
  DrawingRates rates;
  rates.fill = rate(texels, [&] { draw({&all, 1}); });
  rates.vertices = rate(static_cast<double>(quads * vertices_of_quad), [&] { draw(small); });
  rates.copy = rate(2 * texels * texel_bytes, [&] { target.copy_texels(0, 0, other); });
  const auto of_stage = [&](Stage stage, const auto& once) {
    double best = 0;
    for (int repetition = 0; repetition <= options.repeat; ++repetition) {
      device.clock().clear();
      once();
      best = std::max(best, texels * texel_bytes / device.clock().times().of(stage));
    }
    return best;
  };
  rates.to_device = of_stage(Stage::upload, [&] { target.upload_texels([](float*) {}); });
  rates.to_host = of_stage(Stage::download, [&] { target.download_texels([](const float*) {}); });
  device.clock().clear();
  device.release_staging();
  return rates;
}

}  // namespace glinpack::solvers
