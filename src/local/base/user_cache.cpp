#include "base/user_cache.hpp"

#include <spdlog/fmt/fmt.h>
#include <spdlog/spdlog.h>

#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "base/new_file.hpp"

namespace glinpack {

std::string user_cache() {
  const char* cache = std::getenv("XDG_CACHE_HOME");
  if (cache && *cache) return std::string(cache) + "/glinpack";
  const char* home = std::getenv("HOME");
  std::error_code error;  // packages are built with HOME=/nonexistent, which must not appear
  if (home && std::filesystem::is_directory(home, error)) return std::string(home) + "/.cache/glinpack";
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

std::ifstream open_regular_file(const std::string& path) {
  std::error_code error;
  return std::filesystem::is_regular_file(path, error) ? std::ifstream(path, std::ios::binary) : std::ifstream();
}

CacheFolder::CacheFolder(std::string suffix, std::string directory)
    : suffix_(std::move(suffix)), directory_(std::move(directory)) {}

std::string CacheFolder::path_of(std::string_view key) const {
  return directory_.empty() ? "" : fmt::format("{}/{:x}.{}", directory_, hash(key), suffix_);
}

std::ifstream CacheFolder::open(std::string_view key) const { return open_regular_file(path_of(key)); }

bool CacheFolder::write(std::string_view key, std::string_view content) const {
  if (directory_.empty()) return false;
  const std::string path = path_of(key);
  std::error_code error;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), error);
  try {
    const std::string temporary = write_beside(path, [content](std::ostream& file) { file << content; });
    if (put_in_place(temporary, path, true)) return true;
    std::filesystem::remove(temporary, error);
  } catch (const std::runtime_error&) {
  }
  spdlog::debug("{} cannot be written", path);
  return false;
}

std::optional<double> NumberCache::load(std::string_view key, double min, double max) const {
  std::ifstream file = open(key);
  double number = 0;
  if (!(file >> number) || number < min || number > max) return std::nullopt;
  return number;
}

void NumberCache::store(std::string_view key, double number, std::string_view comment) const {
  write(key, fmt::format("{}\n{}{}", number, comment, comment.empty() ? "" : "\n"));
}

}  // namespace glinpack
