// Program binaries in the user's cache folder: the second start compiles nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/user_cache.hpp"

namespace glinpack {

struct ProgramBinary {
  std::uint32_t format = 0;  // as the driver numbers formats
  std::vector<char> bytes;
};

/// Binaries as files, named by a hash of their sources.
class ProgramCache : public CacheFolder {
 public:
  explicit ProgramCache(std::string directory = user_cache()) : CacheFolder("program", std::move(directory)) {}

  /// None if there is no file, or it is truncated, damaged or made from other sources.
  std::optional<ProgramBinary> load(std::string_view key) const;
  void store(std::string_view key, const ProgramBinary& binary) const;
};

/// A line of the log; `start`: steady_seconds().
void log_program(const std::string& name, bool from_cache, double start);

}  // namespace glinpack
