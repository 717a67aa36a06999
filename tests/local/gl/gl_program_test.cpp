#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "gl/program.hpp"

namespace glinpack::gl {
namespace {

using testing::HasSubstr;
using testing::Not;
namespace fs = std::filesystem;

class GlProgram : public testing::Test {
 protected:
  void SetUp() override { fs::create_directories(shaders()); }
  void TearDown() override { fs::remove_all(folder_); }

  fs::path shaders() const { return folder_ / "shaders"; }
  fs::path cache_folder() const { return folder_ / "cache"; }
  void write(const std::string& name, const std::string& text) const { std::ofstream(shaders() / name) << text; }
  Program build(const std::string& name, const std::string& preamble = "") {
    return Program::compute(context_, ShaderSource(shaders().string()), ProgramCache(cache_folder().string()), name,
                            preamble);
  }
  std::string failure_of(const std::string& name, const std::string& preamble = "") {
    try {
      build(name, preamble);
    } catch (const std::runtime_error& error) {
      return error.what();
    }
    return "no failure";
  }
  std::vector<fs::path> cached_files() const {
    std::vector<fs::path> files;
    for (const auto& entry : fs::directory_iterator(cache_folder())) files.push_back(entry.path());
    return files;
  }

  std::shared_ptr<Context> context_ = Context::create(0, true);

 private:
  fs::path folder_ = fs::temp_directory_path() / ("glinpack_gl_program_test_" + std::to_string(getpid()));
};

constexpr const char* good_shader =
    "#version 450 core\n"
    "layout(local_size_x = WIDTH) in;\n"
    "layout(std430, binding = 0) buffer Numbers { float numbers[]; };\n"
    "void main() { numbers[gl_GlobalInvocationID.x] += 1.0; }\n";

TEST_F(GlProgram, CompileErrorShowsNameLogAndNumberedSource) {
  write("broken.comp", "#version 450 core\nlayout(local_size_x = 1) in;\nvoid main() {\n  int x = nonsense;\n}\n");
  const std::string message = failure_of("broken.comp", "#define WIDTH 64\n");
  EXPECT_THAT(message, HasSubstr("shader 'broken.comp' does not compile"));
  EXPECT_THAT(message, HasSubstr("nonsense"));
  EXPECT_THAT(message, HasSubstr("#define WIDTH 64"));
  // the line number in the file, for any preamble
  EXPECT_THAT(message, HasSubstr("0:4 |   int x = nonsense;"));
}

TEST_F(GlProgram, LinkErrorShowsNameAndSource) {
  write("unlinked.comp",
        "#version 450 core\nlayout(local_size_x = 1) in;\nvoid missing();\nvoid main() { missing(); }\n");
  const std::string message = failure_of("unlinked.comp");
  EXPECT_THAT(message, HasSubstr("shader 'unlinked.comp' does not "));
  EXPECT_THAT(message, HasSubstr("0:4 | void main() { missing(); }"));
}

TEST_F(GlProgram, UnknownNameIsAnError) { EXPECT_THAT(failure_of("no.comp"), HasSubstr("no shader 'no.comp'")); }

TEST_F(GlProgram, IncludesKeepTheNumbersOfBothFiles) {
  write("outer.comp", "#version 450 core\n#include \"inner.glsl\"\nlast line\n");
  write("inner.glsl", "first inner\nsecond inner\n");
  const std::string text = ShaderSource(shaders().string()).expand("outer.comp", "#define A\n");
  const std::string numbered = with_line_numbers(text);
  EXPECT_THAT(numbered, HasSubstr("1:2 | second inner\n"));
  EXPECT_THAT(numbered, HasSubstr("0:3 | last line\n"));
}

TEST_F(GlProgram, InclusionOfItselfIsAnError) {
  write("circle.comp", "#version 450 core\n#include \"circle.comp\"\n");
  EXPECT_THAT(failure_of("circle.comp"), HasSubstr("includes itself"));
}

TEST_F(GlProgram, FileWithoutVersionIsAnError) {
  write("old.comp", "void main() {}\n");
  EXPECT_THAT(failure_of("old.comp"), HasSubstr("has no #version"));
}

TEST_F(GlProgram, FolderOverridesTheEmbeddedFileAndNoOther) {
  fs::create_directories(shaders() / "compute");
  write("compute/copy.comp", "#version 450 core\noverridden\n");
  const ShaderSource source(shaders().string());
  EXPECT_THAT(source.expand("compute/copy.comp", ""), HasSubstr("overridden"));
  EXPECT_EQ(source.expand("compute/update.comp", ""), ShaderSource().expand("compute/update.comp", ""));
  EXPECT_THAT(ShaderSource().expand("compute/copy.comp", ""), Not(HasSubstr("overridden")));
}

TEST_F(GlProgram, MissingFolderIsAnError) {
  EXPECT_THROW(ShaderSource((shaders() / "nowhere").string()), ShaderFolderError);
}

TEST_F(GlProgram, FolderWithoutAnyKnownFileIsAnErrorThatNamesThem) {
  fs::create_directories(shaders() / "compute" / "update.comp");  // a folder instead of a file
  write("compute/other.comp", good_shader);
  EXPECT_THAT([&] { ShaderSource(shaders().string(), "compute/"); },
              testing::ThrowsMessage<ShaderFolderError>(testing::AllOf(
                  HasSubstr(shaders().string()), HasSubstr("compute/copy.comp, "), Not(HasSubstr("raster/")))));
  EXPECT_NO_THROW(ShaderSource({}, "compute/"));
  write("compute/precision.glsl", "");
  EXPECT_NO_THROW(ShaderSource(shaders().string(), "compute/"));
}

TEST_F(GlProgram, ErrorsInFolderFilesDifferFromErrorsInEmbeddedFiles) {
  write("broken.comp", "#version 450 core\nnonsense\n");
  EXPECT_THROW(build("broken.comp", ""), ShaderFolderError);
  write("old.comp", "void main() {}\n");
  EXPECT_THROW(build("old.comp", ""), ShaderFolderError);
  const auto build_embedded = [this](const std::string& preamble) {
    Program::compute(context_, ShaderSource(), ProgramCache(cache_folder().string()), "compute/copy.comp", preamble);
  };
  try {
    build_embedded("nonsense\n");
    FAIL();
  } catch (const ShaderFolderError& error) {
    FAIL() << error.what();
  } catch (const std::runtime_error& error) {
    EXPECT_THAT(error.what(), HasSubstr("compute/copy.comp"));
  }
}

TEST_F(GlProgram, AnIncludedFileOfTheFolderOverrides) {
  EXPECT_FALSE(ShaderSource(shaders().string()).overrides("compute/copy.comp"));
  fs::create_directories(shaders() / "compute");
  write("compute/precision.glsl", "");
  EXPECT_TRUE(ShaderSource(shaders().string()).overrides("compute/copy.comp"));
}

TEST_F(GlProgram, SecondBuildComesFromTheCache) {
  write("good.comp", good_shader);
  EXPECT_FALSE(build("good.comp", "#define WIDTH 64\n").from_cache());
  if (!fs::exists(cache_folder())) GTEST_SKIP() << "this driver has no program binaries";
  EXPECT_TRUE(build("good.comp", "#define WIDTH 64\n").from_cache());
  EXPECT_FALSE(build("good.comp", "#define WIDTH 32\n").from_cache()) << "used the binary of another variant";
  EXPECT_EQ(cached_files().size(), 2u) << "left a temporary file";
}

TEST_F(GlProgram, DamagedBinariesAreRecompiled) {
  write("good.comp", good_shader);
  build("good.comp", "#define WIDTH 64\n");
  if (!fs::exists(cache_folder())) GTEST_SKIP() << "this driver has no program binaries";
  const fs::path file = cached_files().at(0);
  const auto size = fs::file_size(file);
  for (const char* damage : {"truncated", "changed", "empty"}) {
    if (damage == std::string("truncated")) fs::resize_file(file, size - 1);
    if (damage == std::string("changed")) std::fstream(file, std::ios::in | std::ios::out).seekp(100).write("????", 4);
    if (damage == std::string("empty")) fs::resize_file(file, 0);
    EXPECT_FALSE(build("good.comp", "#define WIDTH 64\n").from_cache()) << damage;
    EXPECT_TRUE(build("good.comp", "#define WIDTH 64\n").from_cache()) << "not cached again after: " << damage;
  }
}

TEST_F(GlProgram, BinariesThatTheDriverRejectsAreRecompiled) {
  write("good.comp", good_shader);
  build("good.comp", "#define WIDTH 64\n");
  if (!fs::exists(cache_folder())) GTEST_SKIP() << "this driver has no program binaries";
  const fs::path file = cached_files().at(0);
  const DeviceDescription& device = context_->description();
  const std::string key = device.vendor + "\n" + device.renderer + "\n" + device.version + "\n" +
                          ShaderSource(shaders().string()).expand("good.comp", "#define WIDTH 64\n");
  const ProgramCache cache(cache_folder().string());
  ASSERT_EQ(cache.path_of(key), file.string());
  cache.store(key, {0x1234, std::vector<char>(100, 'x')});  // a complete file in a format that no driver knows
  EXPECT_FALSE(build("good.comp", "#define WIDTH 64\n").from_cache());
  EXPECT_NO_THROW(context_->throw_debug_error());
  EXPECT_TRUE(build("good.comp", "#define WIDTH 64\n").from_cache());
}

TEST(GlProgramCache, IsSkippedIfItCannotBeWritten) {
  const ProgramCache cache("/proc/no such folder");
  EXPECT_NO_THROW(cache.store("key", {1, {'a'}}));
  EXPECT_FALSE(cache.load("key").has_value());
}

}  // namespace
}  // namespace glinpack::gl
