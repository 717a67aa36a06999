#include "base/new_file.hpp"

#include <gmock/gmock.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <ostream>
#include <stdexcept>
#include <string>

namespace glinpack {
namespace {

namespace fs = std::filesystem;

class NewFile : public ::testing::Test {
 protected:
  NewFile() : folder_(::testing::TempDir() + "new_file_" + std::to_string(getpid())) {
    fs::create_directory(folder_);
    std::ofstream(path("victim")) << "precious";
    fs::create_symlink(path("victim"), path("link"));
  }
  ~NewFile() override { fs::remove_all(folder_); }

  std::string path(const std::string& name) const { return folder_ + "/" + name; }
  std::string content(const std::string& name) const {
    std::ifstream file(path(name));
    return {std::istreambuf_iterator<char>(file), {}};
  }
  std::string written() const {
    return write_beside(path("link"), [](std::ostream& file) { file << "new"; });
  }

  std::string folder_;
};

TEST_F(NewFile, IsNotCreatedThroughALink) {
  EXPECT_EQ(create_file(path("link")), -1);
  EXPECT_EQ(create_file(path("link"), O_TRUNC), -1);
  fs::remove(path("victim"));
  EXPECT_EQ(create_file(path("link"), O_TRUNC), -1);
  EXPECT_FALSE(fs::exists(path("victim")));
}

TEST_F(NewFile, HasATemporaryNameThatCannotBePredicted) {
  const std::string first = written(), second = written();
  EXPECT_NE(first, second);
  EXPECT_THAT(first, ::testing::StartsWith(path("link.part")));
}

TEST_F(NewFile, ReplacesALinkAndNotWhatItNames) {
  EXPECT_TRUE(put_in_place(written(), path("link"), true));
  EXPECT_EQ(content("link"), "new");
  EXPECT_EQ(content("victim"), "precious");
}

TEST_F(NewFile, RemainsUnderItsTemporaryNameIfItMayReplaceNothing) {
  const std::string temporary = written();
  EXPECT_FALSE(put_in_place(temporary, path("link"), false));
  EXPECT_EQ(errno, EEXIST);
  EXPECT_TRUE(fs::exists(temporary) && fs::is_symlink(path("link")));
  EXPECT_EQ(content("victim"), "precious");
}

TEST_F(NewFile, LeavesNothingIfItsContentCannotBeWritten) {
  const auto fail = [](std::ostream&) { throw std::runtime_error("no content"); };
  EXPECT_THROW(write_beside(path("a"), fail), std::runtime_error);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), {}), 2);  // victim and link
}

TEST_F(NewFile, NamesTheCauseIfItCannotBeCreated) {
  EXPECT_THAT(
      [&] { write_beside(path("victim/a"), [](std::ostream&) {}); },
      ::testing::ThrowsMessage<std::runtime_error>(::testing::EndsWith("a cannot be written: Not a directory")));
}

TEST_F(NewFile, HasNoBufferIfItExists) {
  const FileBuffer buffer(create_file(path("victim")));
  EXPECT_EQ(errno, EEXIST);
  EXPECT_FALSE(buffer.is_open());
}

}  // namespace
}  // namespace glinpack
