// A folder with one modified shader, for --shader-dir.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>

#include "device/shader_source.hpp"

namespace glinpack::test {

class ChangedShader {
 public:
  /// Replaces the first `from` of the embedded shader by `to`.
  ChangedShader(const std::string& name, const std::string& from, const std::string& to) {
    std::string pattern = (std::filesystem::temp_directory_path() / "glinpack-test-XXXXXX").string();
    if (!mkdtemp(pattern.data())) throw std::runtime_error("no temporary folder");
    folder_ = pattern;
    std::filesystem::create_directories((folder_ / name).parent_path());
    for (const EmbeddedShader& shader : embedded_shaders()) {
      if (shader.name != name) continue;
      std::string text(shader.text);
      const std::size_t at = text.find(from);
      if (at == std::string::npos) throw std::logic_error(name + " has no " + from);
      std::ofstream(folder_ / name) << text.replace(at, from.size(), to);
    }
  }
  ChangedShader(const ChangedShader&) = delete;
  ChangedShader& operator=(const ChangedShader&) = delete;
  ~ChangedShader() { std::filesystem::remove_all(folder_); }
  std::string folder() const { return folder_.string(); }

 private:
  std::filesystem::path folder_;
};

}  // namespace glinpack::test
