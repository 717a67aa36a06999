// Helpers of the app tests: expected errors and JSON, temporary files.
#pragma once

#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "app/input/input_error.hpp"

namespace glinpack::app {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

/// Expects `call` to throw an InputError of one line that contains every one of the parts.
inline void expect_input_error(const std::function<void()>& call, const std::vector<std::string>& parts) {
  try {
    call();
  } catch (const InputError& error) {
    const std::string message = error.what();
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
    for (const std::string& part : parts) {
      EXPECT_NE(message.find(part), std::string::npos) << "'" << part << "' is not in: " << message;
    }
    return;
  }
  ADD_FAILURE() << "no InputError" << (parts.empty() ? "" : ": " + parts.front());
}

/// Expects `all` to have these members, in JSON; it may have others.
inline void expect_members(const nlohmann::json& all, const char* members) {
  const nlohmann::json expected = nlohmann::json::parse(members);
  for (const auto& [key, value] : expected.items()) EXPECT_EQ(all.at(key), value) << key;
}

using Arguments = std::vector<std::string>;

/// The arguments of a command line without quotes.
inline Arguments arguments_of(const std::string& line) {
  std::istringstream words(line);
  return {std::istream_iterator<std::string>(words), {}};
}

/// A separate folder for every test, removed afterwards.
class FolderTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (std::filesystem::temp_directory_path() / "glinpack-test-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override {
    std::error_code error;
    std::filesystem::remove_all(folder_, error);
  }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  std::string write(const std::string& name, const std::string& contents) const {
    std::ofstream(path(name), std::ios::binary) << contents;
    return path(name);
  }

 private:
  std::filesystem::path folder_;
};

}  // namespace glinpack::app
