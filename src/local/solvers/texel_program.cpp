#include "local/solvers/texel_program.hpp"

namespace glinpack::solvers {
namespace {

// as shaders/solvers/texel.glsl has them
constexpr Index group_width = 32, group_height = 4;
constexpr GLint rectangle_location = 1, first_coordinate_location = 2;

gl::Program make_program(Device& device, const std::string& name, const std::string& preamble, ShaderKind kind) {
  return kind == ShaderKind::compute ? device.compute_program(name, preamble + "#define COMPUTE 1\n")
                                     : device.fragment_program(name, preamble + "#define COMPUTE 0\n");
}

GLint to_int(Index value) { return static_cast<GLint>(value); }

}  // namespace

TexelProgram::TexelProgram(Device& device, const std::string& name, const std::string& preamble, ShaderKind kind)
    : device_(&device), kind_(kind), program_(make_program(device, name, preamble, kind)) {}

void TexelProgram::run(const TextureMatrix& target, std::initializer_list<GLuint> textures,
                       std::span<const gl::Quad> quads) const {
  if (kind_ == ShaderKind::fragment) {
    device_->draw(program_, target.target(), textures, quads);
  } else {
    dispatch(target, textures, quads);
  }
}

void TexelProgram::settle() const {
  if (kind_ == ShaderKind::fragment) device_->texture_barrier();
}

void TexelProgram::dispatch(const TextureMatrix& target, std::initializer_list<GLuint> textures,
                            std::span<const gl::Quad> quads) const {
  device_->context()->make_current();
  GLuint unit = 0;
  for (const GLuint texture : textures) glBindTextureUnit(unit++, texture);
  glBindImageTexture(0, target.texture(), 0, GL_FALSE, 0, GL_WRITE_ONLY,
                     target.packing() == Packing::p1x1 ? GL_R32F : GL_RGBA32F);
  for (const gl::Quad& quad : quads) {
    program_.set(rectangle_location, to_int(quad.x), to_int(quad.y), to_int(quad.width), to_int(quad.height));
    GLint location = first_coordinate_location;
    for (const gl::Coordinates& c : quad.coordinates) {
      program_.set(location++, to_int(c.x), to_int(c.y));
      program_.set(location++, c.x_along_width, c.y_along_width, c.x_along_height, c.y_along_height);
    }
    device_->dispatch(program_, round_up(quad.width, group_width) / group_width,
                      round_up(quad.height, group_height) / group_height);
  }
  // later calls read by samplers, copy, or draw
  glMemoryBarrier(GL_TEXTURE_FETCH_BARRIER_BIT | GL_SHADER_IMAGE_ACCESS_BARRIER_BIT | GL_TEXTURE_UPDATE_BARRIER_BIT |
                  GL_FRAMEBUFFER_BARRIER_BIT | GL_PIXEL_BUFFER_BARRIER_BIT);
}

}  // namespace glinpack::solvers
