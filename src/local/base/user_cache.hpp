// Files in the user's cache folder. They are named by a hash of their key and replaced atomically, so that several
// processes may use the folder concurrently.
#pragma once

#include <cstdint>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>

namespace glinpack {

/// $XDG_CACHE_HOME/glinpack, or ~/.cache/glinpack if the home folder exists; else empty: nothing can be cached.
std::string user_cache();

/// FNV-1a, 64 bits (Fowler, Noll, Vo).
std::uint64_t hash(std::string_view bytes);

/// Not open if it is no regular file: a FIFO would wait for a writer.
std::ifstream open_regular_file(const std::string& path);

/// Files of one kind, one for each key. If the folder is empty or not writable, nothing is stored.
class CacheFolder {
 public:
  /// `suffix`: of the files.
  explicit CacheFolder(std::string suffix, std::string directory = user_cache());

  /// "directory/0123456789abcdef.suffix", with the hash of the key; empty without a directory.
  std::string path_of(std::string_view key) const;
  /// Not open if there is no file.
  std::ifstream open(std::string_view key) const;
  /// Writes a file, and creates the folder if necessary. On failure, returns false and changes nothing.
  bool write(std::string_view key, std::string_view content) const;

 private:
  std::string suffix_;
  std::string directory_;
};

/// A number for each key, such as a measured rate.
class NumberCache : public CacheFolder {
 public:
  using CacheFolder::CacheFolder;

  /// None if there is no file, or it does not begin with a number from `min` to `max`.
  std::optional<double> load(std::string_view key, double min, double max) const;
  /// `comment`: the second line, for human readers.
  void store(std::string_view key, double number, std::string_view comment = {}) const;
};

}  // namespace glinpack
