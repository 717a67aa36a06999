// Linked programs kept on disk, so that the second start compiles nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace glinpack::gl {

struct ProgramBinary {
  std::uint32_t format = 0;  // GLenum that glGetProgramBinary gave
  std::vector<char> bytes;
};

/// Binaries as files in one folder, named by a hash of what they were made from. Several processes may use the folder
/// at a time: files appear whole, by renaming. Where the folder cannot be written nothing is kept, and nothing said.
class ProgramCache {
 public:
  /// $XDG_CACHE_HOME/glinpack, or ~/.cache/glinpack; without either, nothing is kept.
  ProgramCache();
  explicit ProgramCache(std::string directory);

  /// None where there is none, or the file is truncated, damaged or made from something else.
  std::optional<ProgramBinary> load(std::string_view key) const;
  void store(std::string_view key, const ProgramBinary& binary) const;
  /// The file for a key.
  std::string path_of(std::string_view key) const;

 private:
  std::string directory_;
};

}  // namespace glinpack::gl
