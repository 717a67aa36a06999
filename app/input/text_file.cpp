#include "app/input/text_file.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "app/input/input_error.hpp"

namespace glinpack::app {

std::string read_file(const std::string& path, std::int64_t largest_bytes) {
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  if (status.type() == std::filesystem::file_type::not_found) {
    throw InputError(path + ": no such file; check the path (it is relative to the current directory)");
  }
  if (std::filesystem::is_directory(status)) throw InputError(path + ": is a directory; a file is expected");
  // reading a pipe could block all ranks, and a pipe cannot be read twice
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) {
    throw InputError(path + ": is not a regular file; save what it gives in one");
  }
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  std::string contents;
  char buffer[65536];
  while (file.read(buffer, sizeof buffer) || file.gcount() > 0) {
    contents.append(buffer, static_cast<std::size_t>(file.gcount()));
    if (static_cast<std::int64_t>(contents.size()) > largest_bytes) {
      throw InputError(path + ": is larger than " + std::to_string(largest_bytes) + " bytes; that is not such a file");
    }
  }
  if (!file.eof()) {
    throw InputError(path + ": cannot be read: " + std::strerror(errno != 0 ? errno : EIO));
  }
  return contents;
}

bool TextFiles::exists(const std::string& path) const {
  std::error_code error;
  return received_ ? contents_.contains(path) : std::filesystem::exists(path, error);
}

const std::string& TextFiles::read(const std::string& path, std::int64_t largest_bytes) {
  const auto known = contents_.find(path);
  return known != contents_.end() ? known->second
                                  : contents_.emplace(path, read_file(path, largest_bytes)).first->second;
}

std::vector<std::string> lines_of(const std::string& path, std::string contents) {
  if (contents.starts_with("\xEF\xBB\xBF")) contents.erase(0, 3);
  std::vector<std::string> lines;
  for (std::size_t start = 0; start < contents.size();) {
    const std::size_t end = std::min(contents.find('\n', start), contents.size());
    std::string line = contents.substr(start, end - start);
    if (!line.empty() && line.back() == '\r') line.pop_back();
    for (const char c : line) {
      const auto byte = static_cast<unsigned char>(c);
      if ((byte < 0x20 && c != '\t' && c != '\r' && c != '\f') || byte == 0x7f) {
        throw InputError(path + ":" + std::to_string(lines.size() + 1) + ": byte " + std::to_string(byte) +
                         " is not text; a text file is expected");
      }
    }
    lines.push_back(std::move(line));
    start = end + 1;
  }
  return lines;
}

}  // namespace glinpack::app
