#include "local/gl/program_cache.hpp"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>
#include <utility>

namespace glinpack::gl {
namespace {

constexpr std::uint64_t magic = 0x31424b4341504c47;  // "GLPACKB1"

struct FileHead {
  std::uint64_t magic = 0;
  std::uint64_t key = 0;
  std::uint64_t format = 0;
  std::uint64_t size = 0;
  std::uint64_t checksum = 0;
};

/// FNV-1a, 64 bits (Fowler, Noll, Vo).
std::uint64_t hash(std::string_view bytes) {
  std::uint64_t value = 0xcbf29ce484222325;
  for (const char byte : bytes) {
    value ^= static_cast<unsigned char>(byte);
    value *= 0x100000001b3;
  }
  return value;
}

std::string user_cache() {
  const char* cache = std::getenv("XDG_CACHE_HOME");
  if (cache && *cache) return std::string(cache) + "/glinpack";
  const char* home = std::getenv("HOME");
  if (home && *home) return std::string(home) + "/.cache/glinpack";
  return {};
}

}  // namespace

ProgramCache::ProgramCache() : directory_(user_cache()) {}
ProgramCache::ProgramCache(std::string directory) : directory_(std::move(directory)) {}

std::string ProgramCache::path_of(std::string_view key) const {
  std::ostringstream name;
  name << directory_ << '/' << std::hex << hash(key) << ".program";
  return name.str();
}

std::optional<ProgramBinary> ProgramCache::load(std::string_view key) const {
  if (directory_.empty()) return std::nullopt;
  std::ifstream file(path_of(key), std::ios::binary);
  FileHead head;
  if (!file.read(reinterpret_cast<char*>(&head), sizeof head)) return std::nullopt;
  if (head.magic != magic || head.key != hash(key)) return std::nullopt;
  ProgramBinary binary{static_cast<std::uint32_t>(head.format), {std::istreambuf_iterator<char>(file), {}}};
  if (binary.bytes.size() != head.size) return std::nullopt;
  if (hash({binary.bytes.data(), binary.bytes.size()}) != head.checksum) return std::nullopt;
  return binary;
}

void ProgramCache::store(std::string_view key, const ProgramBinary& binary) const {
  if (directory_.empty()) return;
  std::error_code error;
  std::filesystem::create_directories(directory_, error);
  const std::string path = path_of(key);
  const std::string temporary = path + "." + std::to_string(getpid());
  const FileHead head{magic, hash(key), binary.format, binary.bytes.size(),
                      hash({binary.bytes.data(), binary.bytes.size()})};
  {
    std::ofstream file(temporary, std::ios::binary);
    file.write(reinterpret_cast<const char*>(&head), sizeof head);
    file.write(binary.bytes.data(), static_cast<std::streamsize>(binary.bytes.size()));
    if (!file.flush()) {
      std::filesystem::remove(temporary, error);
      return;
    }
  }
  std::filesystem::rename(temporary, path, error);
  if (error) std::filesystem::remove(temporary, error);
}

}  // namespace glinpack::gl
