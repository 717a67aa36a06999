#include "local/sensors/kernel_files.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <memory>

namespace glinpack::sensors {

std::optional<std::string> line_of(const std::string& path) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "re"), &std::fclose);
  if (!file) return std::nullopt;
  char text[256];
  errno = 0;
  if (std::fgets(text, sizeof text, file.get()) == nullptr) return std::nullopt;
  std::string line(text);
  while (!line.empty() && (line.back() == '\n' || line.back() == ' ')) line.pop_back();
  return line;
}

std::optional<std::uint64_t> number_of(const std::string& path) {
  const std::optional<std::string> line = line_of(path);
  if (!line) return std::nullopt;
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(line->data(), line->data() + line->size(), number);
  errno = EINVAL;  // where it is no number
  const bool ends = end == line->data() + line->size() || *end == ' ';
  if (error != std::errc{} || !ends) return std::nullopt;
  return number;
}

std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code error;
  std::filesystem::directory_iterator entry(folder, error);
  while (!error && entry != std::filesystem::directory_iterator()) {
    names.push_back(entry->path().filename().string());
    entry.increment(error);
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace glinpack::sensors
