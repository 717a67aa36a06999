// Whole text files, with the ways in which they fail told apart.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace glinpack::app {

/// The contents of a file. Throws InputError: does not exist, is a directory, cannot be read, larger than
/// `largest_bytes`.
std::string read_file(const std::string& path, std::int64_t largest_bytes);

/// Text files of a command: read from disk on rank 0, and known to the other ranks from there.
class TextFiles {
 public:
  TextFiles() = default;
  explicit TextFiles(std::map<std::string, std::string> contents) : contents_(std::move(contents)) {}

  /// As read_file(), once for each path.
  const std::string& read(const std::string& path, std::int64_t largest_bytes);
  /// Of the files read, by path.
  const std::map<std::string, std::string>& contents() const { return contents_; }

 private:
  std::map<std::string, std::string> contents_;
};

/// The lines of a text file, without their ends: LF, CRLF, a missing one at the end of the file, and a byte order mark
/// are accepted. Throws InputError with the line of the first byte that no text file has. `path`: for the message.
std::vector<std::string> lines_of(const std::string& path, std::string contents);

}  // namespace glinpack::app
