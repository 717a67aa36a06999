#include "base/new_file.hpp"

#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <ostream>
#include <random>
#include <stdexcept>

namespace glinpack {

int create_file(const std::string& path, int flags) {
  return open(path.c_str(), O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC | flags, 0666);
}

int create_beside(const std::string& path, std::string& temporary) {
  std::random_device random;
  std::array<char, 17> digits{};
  std::snprintf(digits.data(), digits.size(), "%08x%08x", random(), random());
  temporary = path + ".part" + digits.data();
  return create_file(temporary);
}

std::string write_beside(const std::string& path, const std::function<void(std::ostream&)>& write) {
  std::string temporary;
  const auto fail = [&path] { throw std::runtime_error(path + " cannot be written: " + std::strerror(errno)); };
  FileBuffer buffer(create_beside(path, temporary));
  if (!buffer.is_open()) fail();
  std::ostream file(&buffer);
  try {
    write(file);
    if (!file.flush() || buffer.close() == nullptr) fail();
  } catch (...) {
    unlink(temporary.c_str());
    throw;
  }
  return temporary;
}

bool put_in_place(const std::string& temporary, const std::string& path, bool may_replace) {
  if (may_replace) return std::rename(temporary.c_str(), path.c_str()) == 0;
  if (link(temporary.c_str(), path.c_str()) == 0) {
    unlink(temporary.c_str());
    return true;
  }
  // some file systems have no hard links
  const int error = errno;
  if (error != EEXIST && !std::filesystem::exists(path)) return std::rename(temporary.c_str(), path.c_str()) == 0;
  errno = error;
  return false;
}

}  // namespace glinpack
