#include "gl/raster/painter.hpp"

#include <algorithm>

namespace glinpack::gl {
namespace {

constexpr Index corners = 6;            // two triangles
constexpr Index floats_per_vertex = 8;  // position and three coordinates
constexpr Index floats_per_quad = corners * floats_per_vertex;
constexpr Index quads_per_segment = 512;

// A coordinate that does not change along a direction points to the middle of its texel; one that does is at a texel's
// edge at the rectangle's edge, and so in the middle of texels in the middle of fragments.
float at_corner(Index first, int along_width, int along_height, Index right, Index down) {
  const double moving = static_cast<double>(along_width * right + along_height * down);
  const double middle = along_width == 0 && along_height == 0 ? 0.5 : 0.0;
  return static_cast<float>(static_cast<double>(first) + moving + middle);
}

float* write_vertex(float* to, const Quad& quad, Index right, Index down) {
  *to++ = static_cast<float>(quad.x + right);
  *to++ = static_cast<float>(quad.y + down);
  for (const Coordinates& c : quad.coordinates) {
    *to++ = at_corner(c.x, c.x_along_width, c.x_along_height, right, down);
    *to++ = at_corner(c.y, c.y_along_width, c.y_along_height, right, down);
  }
  return to;
}

}  // namespace

Painter::Painter(const std::shared_ptr<Context>& context, Fences& fences)
    : fences_(fences),
      vertex_array_(context),
      vertices_(MappedBuffer<float>::create(context, segments * quads_per_segment * floats_per_quad)) {
  const GLuint array = vertex_array_.id();
  glVertexArrayVertexBuffer(array, 0, vertices_->id(), 0, static_cast<GLsizei>(floats_per_vertex * sizeof(float)));
  for (GLuint attribute = 0; attribute < 4; ++attribute) {
    glEnableVertexArrayAttrib(array, attribute);
    glVertexArrayAttribFormat(array, attribute, 2, GL_FLOAT, GL_FALSE,
                              attribute * 2 * static_cast<GLuint>(sizeof(float)));
    glVertexArrayAttribBinding(array, attribute, 0);
  }
}

void Painter::bind(std::initializer_list<GLuint> textures) const {
  GLuint unit = 0;
  for (const GLuint texture : textures) glBindTextureUnit(unit++, texture);
}

void Painter::draw(const Program& program, const Target& target, std::span<const Quad> quads) {
  if (quads.empty()) return;
  program.use();
  program.set(0, 2.0F / static_cast<float>(target.width), 2.0F / static_cast<float>(target.height));
  glBindFramebuffer(GL_DRAW_FRAMEBUFFER, target.framebuffer);
  glViewport(0, 0, static_cast<GLsizei>(target.width), static_cast<GLsizei>(target.height));
  glBindVertexArray(vertex_array_.id());
  while (!quads.empty()) {
    if (used_ == quads_per_segment) {
      // the next segment was drawn long ago: this rarely waits
      segment_drawn_[static_cast<std::size_t>(segment_)] = fences_.take();
      segment_ = (segment_ + 1) % segments;
      fences_.wait(segment_drawn_[static_cast<std::size_t>(segment_)]);
      used_ = 0;
      fences_.note_commands();  // later commands need a fence of their own
    }
    const auto count = std::min(quads.size(), static_cast<std::size_t>(quads_per_segment - used_));
    draw_some(quads.first(count));
    quads = quads.subspan(count);
  }
}

void Painter::draw_some(std::span<const Quad> quads) {
  const Index first = segment_ * quads_per_segment + used_;
  float* to = vertices_->data() + first * floats_per_quad;
  for (const Quad& quad : quads) {
    for (const auto& [right, down] : {std::pair{Index{0}, Index{0}},
                                      {quad.width, Index{0}},
                                      {Index{0}, quad.height},
                                      {quad.width, Index{0}},
                                      {quad.width, quad.height},
                                      {Index{0}, quad.height}}) {
      to = write_vertex(to, quad, right, down);
    }
  }
  used_ += static_cast<Index>(quads.size());
  glDrawArrays(GL_TRIANGLES, static_cast<GLint>(first * corners),
               static_cast<GLsizei>(static_cast<Index>(quads.size()) * corners));
}

}  // namespace glinpack::gl
