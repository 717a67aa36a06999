// Whole text files, with the ways in which they fail told apart.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace glinpack::app {

/// The contents of a file. Throws InputError: does not exist, is a directory, cannot be read, larger than
/// `largest_bytes`.
std::string read_file(const std::string& path, std::int64_t largest_bytes);

/// The lines of a text file, without their ends: LF, CRLF, a missing one at the end of the file, and a byte order mark
/// are accepted. Throws InputError as read_file does, and with the line of the first byte that no text file has.
std::vector<std::string> read_lines(const std::string& path, std::int64_t largest_bytes);

}  // namespace glinpack::app
