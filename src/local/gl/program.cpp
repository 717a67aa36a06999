#include "gl/program.hpp"

#include <algorithm>

#include "base/measuring.hpp"

namespace glinpack::gl {
namespace {

/// The log of a shader or a program, by the functions of its kind.
template <class GetNumber, class GetLog>
std::string log_of(GLuint object, GetNumber get_number, GetLog get_log) {
  GLint length = 0;
  get_number(object, GL_INFO_LOG_LENGTH, &length);
  std::string log(static_cast<std::size_t>(length > 0 ? length : 1), '\0');
  get_log(object, length, nullptr, log.data());
  return log.c_str();
}

bool linked(GLuint program) {
  GLint status = GL_FALSE;
  glGetProgramiv(program, GL_LINK_STATUS, &status);
  return status == GL_TRUE;
}

}  // namespace

Program Program::compute(const std::shared_ptr<Context>& context, const ShaderSource& sources,
                         const ProgramCache& cache, const std::string& name, const std::string& preamble) {
  return make(context, cache, {{GL_COMPUTE_SHADER, name, sources.expand(name, preamble), sources.overrides(name)}});
}

Program Program::drawing(const std::shared_ptr<Context>& context, const ShaderSource& sources,
                         const ProgramCache& cache, const std::string& vertex, const std::string& fragment,
                         const std::string& preamble) {
  return make(context, cache,
              {{GL_VERTEX_SHADER, vertex, sources.expand(vertex, {}), sources.overrides(vertex)},
               {GL_FRAGMENT_SHADER, fragment, sources.expand(fragment, preamble), sources.overrides(fragment)}});
}

Program Program::make(const std::shared_ptr<Context>& context, const ProgramCache& cache,
                      const std::vector<Stage>& stages) {
  std::string key = context->description().driver_key();
  for (const Stage& stage : stages) key += "\n" + stage.text;
  const double start = steady_seconds();
  Program program;
  program.handle_ = ProgramHandle(context);
  if (const std::optional<ProgramBinary> binary = cache.load(key); binary && program.link_binary(*binary)) {
    program.from_cache_ = true;
    log_program(stages.back().name, true, start);
    return program;
  }
  program.compile(stages);
  log_program(stages.back().name, false, start);
  if (const ProgramBinary binary = program.binary(); !binary.bytes.empty()) cache.store(key, binary);
  return program;
}

bool Program::link_binary(const ProgramBinary& binary) {
  // A format that this driver does not list is an error to glProgramBinary, and KHR_debug would report it.
  GLint count = 0;
  glGetIntegerv(GL_NUM_PROGRAM_BINARY_FORMATS, &count);
  std::vector<GLint> formats(static_cast<std::size_t>(count));
  if (count > 0) glGetIntegerv(GL_PROGRAM_BINARY_FORMATS, formats.data());
  if (std::ranges::find(formats, static_cast<GLint>(binary.format)) == formats.end()) return false;
  glProgramBinary(handle_.id(), binary.format, binary.bytes.data(), static_cast<GLsizei>(binary.bytes.size()));
  return linked(handle_.id());
}

void Program::compile(const std::vector<Stage>& stages) {
  const auto fail = [](const Stage& stage, const char* step, const std::string& log, bool overridden) {
    throw_shader_error(
        "shader '" + stage.name + "' does not " + step + ":\n" + log + "\n" + with_line_numbers(stage.text),
        overridden);
  };
  std::vector<ShaderHandle> shaders;
  for (const Stage& stage : stages) {
    const ShaderHandle& shader = shaders.emplace_back(handle_.context(), stage.kind);
    const char* source = stage.text.c_str();
    glShaderSource(shader.id(), 1, &source, nullptr);
    glCompileShader(shader.id());
    GLint compiled = GL_FALSE;
    glGetShaderiv(shader.id(), GL_COMPILE_STATUS, &compiled);
    if (compiled != GL_TRUE)
      fail(stage, "compile", log_of(shader.id(), glGetShaderiv, glGetShaderInfoLog), stage.overridden);
    glAttachShader(handle_.id(), shader.id());
  }
  glProgramParameteri(handle_.id(), GL_PROGRAM_BINARY_RETRIEVABLE_HINT, GL_TRUE);
  glLinkProgram(handle_.id());
  for (const ShaderHandle& shader : shaders) glDetachShader(handle_.id(), shader.id());
  if (linked(handle_.id())) return;
  const bool overridden =
      std::any_of(stages.begin(), stages.end(), [](const Stage& stage) { return stage.overridden; });
  fail(stages.back(), "link", log_of(handle_.id(), glGetProgramiv, glGetProgramInfoLog), overridden);
}

ProgramBinary Program::binary() const {
  GLint length = 0;
  glGetProgramiv(handle_.id(), GL_PROGRAM_BINARY_LENGTH, &length);
  if (length <= 0) return {};
  ProgramBinary binary;
  binary.bytes.resize(static_cast<std::size_t>(length));
  GLenum format = 0;
  GLsizei written = 0;
  glGetProgramBinary(handle_.id(), length, &written, &format, binary.bytes.data());
  binary.format = format;
  binary.bytes.resize(static_cast<std::size_t>(written));
  return binary;
}

}  // namespace glinpack::gl
