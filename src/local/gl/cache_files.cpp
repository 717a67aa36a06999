#include "local/gl/cache_files.hpp"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>

namespace glinpack::gl {

std::string user_cache() {
  const char* cache = std::getenv("XDG_CACHE_HOME");
  if (cache && *cache) return std::string(cache) + "/glinpack";
  const char* home = std::getenv("HOME");
  if (home && *home) return std::string(home) + "/.cache/glinpack";
  return {};
}

std::uint64_t hash(std::string_view bytes) {
  std::uint64_t value = 0xcbf29ce484222325;
  for (const char byte : bytes) {
    value ^= static_cast<unsigned char>(byte);
    value *= 0x100000001b3;
  }
  return value;
}

std::string cache_path(const std::string& directory, std::string_view key, std::string_view suffix) {
  std::ostringstream name;
  name << directory << '/' << std::hex << hash(key) << '.' << suffix;
  return name.str();
}

bool write_cache_file(const std::string& path, std::string_view content) {
  std::error_code error;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), error);
  const std::string temporary = path + "." + std::to_string(getpid());
  {
    std::ofstream file(temporary, std::ios::binary);
    file.write(content.data(), static_cast<std::streamsize>(content.size()));
    if (!file.flush()) {
      std::filesystem::remove(temporary, error);
      return false;
    }
  }
  std::filesystem::rename(temporary, path, error);
  if (!error) return true;
  std::filesystem::remove(temporary, error);
  return false;
}

}  // namespace glinpack::gl
