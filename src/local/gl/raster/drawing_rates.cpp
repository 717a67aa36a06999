#include "gl/raster/drawing_rates.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <stdexcept>
#include <vector>

#include "gl/raster/painter.hpp"

namespace glinpack::gl {
namespace {

constexpr Index source_side = 16, components = 4, texel_bytes = 16, fetches = 64;

float source_value(Index x, Index y, Index component) {
  return static_cast<float>((x * 7 + y * 5 + component * 3) % 31);
}

template <class Body>
void for_source_components(const Body& body) {
  for (Index y = 0; y < source_side; ++y) {
    for (Index x = 0; x < source_side; ++x) {
      for (Index component = 0; component < components; ++component) body(x, y, component);
    }
  }
}

/// Draws fragments that fetch texels of a texture in cache.
class DrawingProbe {
 public:
  DrawingProbe(const std::shared_ptr<Context>& context, const ShaderSource& sources, const MeasuringOptions& options)
      : side(context->description().software ? 128 : 2048),
        context_(context),
        sources_(sources),
        options_(options),
        fences_(context),
        painter_(context, fences_),
        source_(make_texture(context, GL_RGBA32F, source_side, source_side)),
        drawn_(make_texture(context, GL_RGBA32F, side, side)),
        framebuffer_(make_framebuffer(context, {drawn_.id()})) {
    std::vector<float> texels;
    for_source_components([&](Index x, Index y, Index c) { texels.push_back(source_value(x, y, c)); });
    glTextureSubImage2D(source_.id(), 0, 0, 0, source_side, source_side, GL_RGBA, GL_FLOAT, texels.data());
  }

  Quad all() const { return {0, 0, side, side, {}}; }

  /// `amount`: what the rectangles draw together.
  Measured rate(Index amount, std::span<const Quad> quads, Index of_fragment) {
    context_->make_current();
    const Program program =
        Program::drawing(context_, sources_, ProgramCache(), "raster/quad.vert", "raster/fetch_rate.frag",
                         fmt::format("#define SIDE {}\n#define FETCHES {}\n", source_side, of_fragment));
    painter_.bind({source_.id()});
    const Measured rate = measured_rate(options_, static_cast<double>(amount), [&](std::int64_t rounds) {
      for (std::int64_t round = 0; round < rounds; ++round)
        painter_.draw(program, {framebuffer_.id(), side, side}, quads);
      fences_.finish();
    });
    check(of_fragment);
    return rate;
  }

  const Index side;  // of the target

 private:
  void check(Index of_fragment) const {
    std::vector<float> drawn(source_side * source_side * components);
    glGetTextureSubImage(drawn_.id(), 0, 0, 0, 0, source_side, source_side, 1, GL_RGBA, GL_FLOAT,
                         static_cast<GLsizei>(drawn.size() * sizeof(float)), drawn.data());
    auto next = drawn.begin();
    for_source_components([&](Index x, Index y, Index component) {
      float min = source_value(x, y, component);
      for (Index fetch = 1; fetch < of_fragment; ++fetch) {
        min = std::min(min, source_value((x + fetch) % source_side, (y + fetch) % source_side, component));
      }
      if (*next++ == min) return;
      throw std::runtime_error(fmt::format("{} fetched texels wrongly: texel ({}, {}) of the target has a wrong value",
                                           context_->description().renderer, x, y));
    });
  }

  std::shared_ptr<Context> context_;
  const ShaderSource& sources_;
  MeasuringOptions options_;
  Fences fences_;
  Painter painter_;
  TextureHandle source_, drawn_;
  FramebufferHandle framebuffer_;
};

Measured fetch_rate(DrawingProbe& probe) {
  const Quad all = probe.all();
  return probe.rate(probe.side * probe.side * fetches * texel_bytes, {&all, 1}, fetches);
}

}  // namespace

Measured texel_fetch_rate(const std::shared_ptr<Context>& context, const ShaderSource& sources,
                          const MeasuringOptions& options) {
  DrawingProbe probe(context, sources, options);
  return fetch_rate(probe);
}

void measure_drawing(const std::shared_ptr<Context>& context, const ShaderSource& sources,
                     const MeasuringOptions& options, DeviceCeilings& ceilings) {
  constexpr Index small_quads = 1 << 14, vertices_of_quad = 4;
  DrawingProbe probe(context, sources, options);
  ceilings.fetches = fetch_rate(probe);
  const Quad all = probe.all();
  ceilings.fill = probe.rate(probe.side * probe.side, {&all, 1}, 1);
  std::vector<Quad> small;
  for (Index quad = 0; quad < small_quads; ++quad) small.push_back({quad % probe.side, quad / probe.side, 1, 1, {}});
  ceilings.vertices = probe.rate(small_quads * vertices_of_quad, small, 1);
}

}  // namespace glinpack::gl
