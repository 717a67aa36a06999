#include "local/gl/shader_source.hpp"

#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <utility>

namespace glinpack::gl {
namespace {

constexpr int deepest_include = 8;

/// "file.glsl" of `#include "file.glsl"`; empty for any other line.
std::string included_name(const std::string& line) {
  std::istringstream words(line);
  std::string directive, name;
  if (!(words >> directive >> name) || directive != "#include" || name.size() < 3) return {};
  return name.substr(1, name.size() - 2);
}

std::string line_directive(int line, int file) {
  return "#line " + std::to_string(line) + " " + std::to_string(file) + "\n";
}

}  // namespace

ShaderSource::ShaderSource(std::string directory) : directory_(std::move(directory)) {
  if (!directory_.empty() && !std::filesystem::is_directory(directory_)) {
    throw std::runtime_error("shader directory '" + directory_ + "' is not a directory");
  }
}

std::string ShaderSource::text_of(const std::string& name) const {
  if (!directory_.empty()) {
    if (std::ifstream file(std::filesystem::path(directory_) / name, std::ios::binary); file) {
      return {std::istreambuf_iterator<char>(file), {}};
    }
  }
  for (const EmbeddedShader& shader : embedded_shaders()) {
    if (shader.name == name) return std::string(shader.text);
  }
  throw std::runtime_error("no shader '" + name + "'");
}

std::string ShaderSource::expand(const std::string& name, const std::string& preamble) const {
  int files = 0;
  bool version_seen = false;
  std::string expanded;
  const auto append = [&](const auto& self, const std::string& file_name, int depth) -> void {
    if (depth > deepest_include) throw std::runtime_error("shader '" + name + "' includes itself");
    const int file = files++;
    if (depth > 0) expanded += line_directive(1, file);
    std::istringstream text(text_of(file_name));
    int number = 0;
    for (std::string line; std::getline(text, line);) {
      ++number;
      if (const std::string included = included_name(line); !included.empty()) {
        self(self, included, depth + 1);
        expanded += line_directive(number + 1, file);
        continue;
      }
      expanded += line + "\n";
      if (!version_seen && line.starts_with("#version")) {
        version_seen = true;
        expanded += preamble + line_directive(number + 1, file);
      }
    }
  };
  append(append, name, 0);
  if (!version_seen) throw std::runtime_error("shader '" + name + "' has no #version");
  return expanded;
}

std::string with_line_numbers(std::string_view source) {
  std::istringstream lines{std::string(source)};
  std::ostringstream numbered;
  int number = 1, file = 0;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string directive;
    int next = 0, next_file = 0;
    if (words >> directive && directive == "#line" && words >> next >> next_file) {
      number = next;
      file = next_file;
      continue;
    }
    numbered << file << ':' << number++ << " | " << line << '\n';
  }
  return numbered.str();
}

}  // namespace glinpack::gl
