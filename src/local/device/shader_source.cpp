#include "device/shader_source.hpp"

#include <filesystem>
#include <sstream>
#include <stdexcept>
#include <utility>

#include "base/user_cache.hpp"

namespace glinpack {
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
    throw ShaderFolderError("shader directory '" + directory_ + "' is not a directory");
  }
}

ShaderSource::ShaderSource(std::string directory, std::string_view kind) : ShaderSource(std::move(directory)) {
  if (directory_.empty()) return;
  std::string names;
  for (const EmbeddedShader& shader : embedded_shaders()) {
    if (!shader.name.starts_with(kind)) continue;
    if (file_of(shader.name).is_open()) return;
    names += (names.empty() ? "" : ", ") + std::string(shader.name);
  }
  throw ShaderFolderError("shader directory '" + directory_ +
                          "' has none of the files that it could override: " + names);
}

std::ifstream ShaderSource::file_of(std::string_view name) const {
  if (directory_.empty()) return {};
  return open_regular_file((std::filesystem::path(directory_) / name).string());
}

std::string_view ShaderSource::embedded(std::string_view name) {
  for (const EmbeddedShader& shader : embedded_shaders()) {
    if (shader.name == name) return shader.text;
  }
  throw std::runtime_error("no shader '" + std::string(name) + "'");
}

ShaderSource::Expansion ShaderSource::expansion_of(const std::string& name, const std::string& preamble) const {
  int files = 0;
  bool version_seen = false;
  Expansion expanded;
  const auto text_of = [&](const std::string& file_name) {
    if (std::ifstream file = file_of(file_name); file.is_open()) {
      expanded.overridden = true;
      return std::string(std::istreambuf_iterator<char>(file), {});
    }
    try {
      return std::string(embedded(file_name));
    } catch (const std::runtime_error& error) {
      throw_shader_error(error.what(), expanded.overridden);
    }
  };
  const auto append = [&](const auto& self, const std::string& file_name, int depth) -> void {
    if (depth > deepest_include) throw_shader_error("shader '" + name + "' includes itself", expanded.overridden);
    const int file = files++;
    if (depth > 0) expanded.text += line_directive(1, file);
    std::istringstream text(text_of(file_name));
    int number = 0;
    for (std::string line; std::getline(text, line);) {
      ++number;
      if (const std::string included = included_name(line); !included.empty()) {
        self(self, included, depth + 1);
        expanded.text += line_directive(number + 1, file);
        continue;
      }
      expanded.text += line + "\n";
      if (!version_seen && line.starts_with("#version")) {
        version_seen = true;
        expanded.text += preamble + line_directive(number + 1, file);
      }
    }
  };
  append(append, name, 0);
  if (!version_seen) throw_shader_error("shader '" + name + "' has no #version", expanded.overridden);
  return expanded;
}

void throw_shader_error(const std::string& message, bool overridden) {
  if (overridden) throw ShaderFolderError(message);
  throw std::runtime_error(message);
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

}  // namespace glinpack
