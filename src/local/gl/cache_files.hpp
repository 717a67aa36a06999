// Files in the user's cache folder: named by a hash of what they belong to, and put in place whole, so that several
// processes may use the folder at a time.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace glinpack::gl {

/// $XDG_CACHE_HOME/glinpack, or ~/.cache/glinpack; empty without either: nothing can be kept.
std::string user_cache();

/// FNV-1a, 64 bits (Fowler, Noll, Vo).
std::uint64_t hash(std::string_view bytes);

/// "directory/0123456789abcdef.suffix", by the key's hash.
std::string cache_path(const std::string& directory, std::string_view key, std::string_view suffix);

/// Writes a file, and makes its folder where there is none. False where that cannot be done; then nothing has changed.
bool write_cache_file(const std::string& path, std::string_view content);

}  // namespace glinpack::gl
