#include "base/user_cache.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace glinpack {
namespace {

namespace fs = std::filesystem;

TEST(UserCache, IsEmptyIfTheHomeFolderDoesNotExist) {
  const char *home = std::getenv("HOME"), *cache = std::getenv("XDG_CACHE_HOME");
  const std::string old_home = home != nullptr ? home : "", old_cache = cache != nullptr ? cache : "";
  unsetenv("XDG_CACHE_HOME");
  setenv("HOME", "/tmp/glinpack-test-no-such-home", 1);
  EXPECT_EQ(user_cache(), "");
  setenv("HOME", "/tmp", 1);
  EXPECT_EQ(user_cache(), "/tmp/.cache/glinpack");
  home != nullptr ? setenv("HOME", old_home.c_str(), 1) : unsetenv("HOME");
  if (cache != nullptr) setenv("XDG_CACHE_HOME", old_cache.c_str(), 1);
}

TEST(UserCache, DoesNotWaitForTheWriterOfAFifo) {
  const std::string path = (fs::temp_directory_path() / ("glinpack_fifo_test_" + std::to_string(getpid()))).string();
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  EXPECT_FALSE(open_regular_file(path).is_open());
  fs::remove(path);
}

TEST(NumberCache, KeepsANumberPerKey) {
  const auto folder = fs::temp_directory_path() / ("glinpack_numbers_test_" + std::to_string(getpid()));
  const NumberCache cache("peak", folder.string());
  EXPECT_FALSE(cache.load("a device", 1, 64));
  cache.store("a device", 32);
  EXPECT_EQ(cache.load("a device", 1, 64), 32);
  EXPECT_FALSE(cache.load("another device", 1, 64));
  EXPECT_FALSE(NumberCache("groups", folder.string()).load("a device", 1, 64));
  EXPECT_FALSE(cache.load("a device", 1, 16)) << "more than there can be";
  cache.store("a device", 1.0 / 3, "for readers");
  EXPECT_EQ(cache.load("a device", 0, 1), 1.0 / 3);
  for (const char* damaged : {"", "x", "0", "-3"}) {
    std::ofstream(cache.path_of("a device")) << damaged;
    EXPECT_FALSE(cache.load("a device", 1, 64)) << damaged;
  }
  fs::remove_all(folder);
}

}  // namespace
}  // namespace glinpack
