// The GL objects of a context, to detect leaks.
#pragma once

#include "gl/context.hpp"
#include "gl/handle.hpp"

namespace glinpack::test {

/// Counts buffers, textures, framebuffers, programs, shaders, queries and vertex arrays by asking the driver about
/// every name up to 4096. Drivers assign names from 1 upwards.
inline int count_gl_objects(const gl::Context& context) {
  constexpr GLuint names = 4096;
  context.make_current();
  glUseProgram(0);  // a program in use outlives its deletion
  int count = 0;
  for (GLuint name = 1; name <= names; ++name) {
    for (const auto is :
         {glIsBuffer, glIsTexture, glIsFramebuffer, glIsProgram, glIsShader, glIsQuery, glIsVertexArray}) {
      count += is(name) == GL_TRUE ? 1 : 0;
    }
  }
  return count;
}

}  // namespace glinpack::test
