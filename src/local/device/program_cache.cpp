#include "device/program_cache.hpp"

#include <spdlog/spdlog.h>

#include <fstream>
#include <iterator>

#include "base/measuring.hpp"

namespace glinpack {

namespace {

constexpr std::uint64_t magic = 0x31424b4341504c47;  // "GLPACKB1"

struct FileHead {
  std::uint64_t magic = 0;
  std::uint64_t key = 0;
  std::uint64_t format = 0;
  std::uint64_t size = 0;
  std::uint64_t checksum = 0;
};

}  // namespace

std::optional<ProgramBinary> ProgramCache::load(std::string_view key) const {
  std::ifstream file = open(key);
  FileHead head;
  if (!file.read(reinterpret_cast<char*>(&head), sizeof head)) return std::nullopt;
  if (head.magic != magic || head.key != hash(key)) return std::nullopt;
  ProgramBinary binary{static_cast<std::uint32_t>(head.format), {std::istreambuf_iterator<char>(file), {}}};
  if (binary.bytes.size() != head.size) return std::nullopt;
  if (hash({binary.bytes.data(), binary.bytes.size()}) != head.checksum) return std::nullopt;
  return binary;
}

void ProgramCache::store(std::string_view key, const ProgramBinary& binary) const {
  const FileHead head{magic, hash(key), binary.format, binary.bytes.size(),
                      hash({binary.bytes.data(), binary.bytes.size()})};
  std::string content(reinterpret_cast<const char*>(&head), sizeof head);
  content.append(binary.bytes.data(), binary.bytes.size());
  write(key, content);
}

void log_program(const std::string& name, bool from_cache, double start) {
  spdlog::debug("program {}: {} in {:.1f} ms", name, from_cache ? "from the cache" : "compiled",
                1e3 * (steady_seconds() - start));
}

}  // namespace glinpack
