// Linked programs: compute shaders, and pairs of vertex and fragment shader.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "device/program_cache.hpp"
#include "device/shader_source.hpp"
#include "gl/handle.hpp"

namespace glinpack::gl {

class Program {
 public:
  Program() = default;

  /// The program of one compute shader file in the variant of `preamble`; from the cache if it holds one that the
  /// driver accepts. Throws std::runtime_error with the shader's name, the driver's log and the numbered source;
  /// ShaderFolderError if part of it comes from a folder.
  static Program compute(const std::shared_ptr<Context>& context, const ShaderSource& sources,
                         const ProgramCache& cache, const std::string& name, const std::string& preamble);

  /// The same of a vertex and a fragment shader; the preamble is the fragment shader's.
  static Program drawing(const std::shared_ptr<Context>& context, const ShaderSource& sources,
                         const ProgramCache& cache, const std::string& vertex, const std::string& fragment,
                         const std::string& preamble);

  void use() const { glUseProgram(handle_.id()); }
  /// Sets uniforms by their locations.
  void set(GLint location, GLint value) const { glProgramUniform1i(handle_.id(), location, value); }
  void set(GLint location, GLdouble value) const { glProgramUniform1d(handle_.id(), location, value); }
  void set(GLint location, GLint first, GLint second) const {
    glProgramUniform2i(handle_.id(), location, first, second);
  }
  void set(GLint location, GLint first, GLint second, GLint third, GLint fourth) const {
    glProgramUniform4i(handle_.id(), location, first, second, third, fourth);
  }
  void set(GLint location, GLfloat first, GLfloat second) const {
    glProgramUniform2f(handle_.id(), location, first, second);
  }
  bool from_cache() const { return from_cache_; }

 private:
  /// One of the shaders that a program is linked from.
  struct Stage {
    GLenum kind;
    std::string name;
    std::string text;
    bool overridden = false;  // by a folder's files
  };
  static Program make(const std::shared_ptr<Context>& context, const ProgramCache& cache,
                      const std::vector<Stage>& stages);
  bool link_binary(const ProgramBinary& binary);
  void compile(const std::vector<Stage>& stages);
  ProgramBinary binary() const;

  ProgramHandle handle_;
  bool from_cache_ = false;
};

}  // namespace glinpack::gl
