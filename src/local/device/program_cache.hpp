// Program binaries in the user's cache folder: the second start compiles nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/user_cache.hpp"

namespace glinpack {

struct ProgramBinary {
  std::uint32_t format = 0;  // as the driver numbers formats
  std::vector<char> bytes;
};

/// Binaries as files in one folder, named by a hash of their sources. Several processes may use the folder
/// concurrently: files are replaced atomically, by renaming. If the folder is not writable, nothing is stored and no
/// error is reported.
class ProgramCache {
 public:
  /// $XDG_CACHE_HOME/glinpack, or ~/.cache/glinpack; without either, nothing is cached.
  ProgramCache();
  explicit ProgramCache(std::string directory);

  /// None if there is no file, or it is truncated, damaged or made from other sources.
  std::optional<ProgramBinary> load(std::string_view key) const;
  void store(std::string_view key, const ProgramBinary& binary) const;
  /// The file for a key.
  std::string path_of(std::string_view key) const;

 private:
  std::string directory_;
};

}  // namespace glinpack
