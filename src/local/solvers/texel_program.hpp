// Passes over rectangles of texels, by fragments or by invocations of a compute shader, from the same source.
#pragma once

#include <initializer_list>
#include <span>
#include <string>

#include "local/solvers/texture_matrix.hpp"

namespace glinpack::solvers {

/// fragment: the papers' way; compute: GPUs that have few units for drawing.
enum class ShaderKind : std::uint8_t { fragment, compute };

/// A shader that includes shaders/solvers/texel.glsl: its samplers 0, 1, 2 ..., and uniforms from location 8 on.
class TexelProgram {
 public:
  /// `name` under shaders/ ("solvers/pivot.frag"). Throws std::runtime_error with the driver's log.
  TexelProgram(Device& device, const std::string& name, const std::string& preamble, ShaderKind kind);

  /// Computes rectangles of the target. What one call writes, later calls read from other textures than their target;
  /// from their target after settle().
  void run(const TextureMatrix& target, std::initializer_list<GLuint> textures, std::span<const gl::Quad> quads) const;
  void run(const TextureMatrix& target, std::initializer_list<GLuint> textures, const gl::Quad& quad) const {
    run(target, textures, {&quad, 1});
  }
  /// Before a texture is read that is also the target: from here on what was written is read. A pass may read texels of
  /// its target that it does not write, and each that it writes for itself alone.
  void settle() const;

  /// For uniforms.
  const gl::Program& program() const { return program_; }

 private:
  void dispatch(const TextureMatrix& target, std::initializer_list<GLuint> textures,
                std::span<const gl::Quad> quads) const;

  Device* device_;
  ShaderKind kind_;
  gl::Program program_;
};

}  // namespace glinpack::solvers
