// The file format of checkpoints: what is written is read, and a file that is not whole is refused.
#include "checkpoint/checkpoint_file.hpp"

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <limits>

namespace glinpack {
namespace {

using testing::HasSubstr;

class CheckpointFile : public testing::Test {
 protected:
  CheckpointFile() {
    std::string name = testing::TempDir() + "checkpoint-XXXXXX";
    folder_ = mkdtemp(name.data());
    path_ = folder_ + "/file";
  }
  ~CheckpointFile() override { std::filesystem::remove_all(folder_); }

  static CheckpointHeader header() {
    return {.options = {{"n", "10"}, {"pivoting", "partial"}},
            .run = "5f",
            .pass = 2,
            .seconds = 0.125,
            .at = {1, 0},
            .rows = 5,
            .columns = 3,
            .piece_rows = 2,
            .element = 8,
            .pivots = 4,
            .state_bytes = 4};
  }
  static std::vector<double> elements() {
    std::vector<double> elements(15);
    for (std::size_t i = 0; i < elements.size(); ++i) elements[i] = 1.0 / static_cast<double>(i + 1);
    return elements;
  }
  static std::vector<std::byte> state_of_checks() { return {std::byte{1}, std::byte{2}, std::byte{3}, std::byte{4}}; }
  const std::vector<GlobalIndex> pivots_{GlobalIndex(7), GlobalIndex(1), GlobalIndex(9), GlobalIndex(3)};

  void write(const CheckpointHeader& header) const {
    CheckpointWriter writer(path_, header, pivots_);
    const std::vector<double> all = elements();
    for (const auto& [first, count] : {std::pair{0, 6}, {6, 6}, {12, 3}}) {
      writer.add(
          std::as_bytes(std::span(all).subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(count))));
    }
    writer.add(state_of_checks());
    writer.finish();
  }
  std::string refusal() const {
    try {
      verify_checkpoint_file(path_);
    } catch (const CheckpointError& error) {
      return error.what();
    }
    return "";
  }

  std::string folder_, path_;
};

TEST_F(CheckpointFile, IsReadAsItWasWritten) {
  write(header());
  CheckpointReader reader(path_);
  EXPECT_EQ(reader.header().options, header().options);
  EXPECT_EQ(reader.header().run, "5f");
  EXPECT_EQ(reader.header().pass, 2);
  EXPECT_EQ(reader.header().seconds, 0.125);
  EXPECT_EQ(reader.header().at, (GridPosition{1, 0}));
  EXPECT_EQ(reader.read_pivots(), pivots_);
  std::vector<double> read(15);
  const std::span<double> all(read);
  for (const auto piece : {all.first(6), all.subspan(6, 6), all.last(3)}) reader.read(std::as_writable_bytes(piece));
  EXPECT_EQ(read, elements());
  std::vector<std::byte> state(4);
  reader.read(state);
  EXPECT_EQ(state, state_of_checks());
  EXPECT_EQ(verify_checkpoint_file(path_), pivots_);
}

TEST_F(CheckpointFile, IsReadAsItWasWrittenBlockByBlock) {
  CheckpointHeader large = header();  // a file of about 5 MiB, in pieces that end within blocks
  large.rows = 5;
  large.columns = 131'075;
  large.state_bytes = 0;
  std::vector<double> written(static_cast<std::size_t>(large.rows * large.columns));
  for (std::size_t i = 0; i < written.size(); ++i) written[i] = static_cast<double>(i);
  const auto piece = [&large](auto& elements, Index first, Index rows) {
    return std::span(elements).subspan(static_cast<std::size_t>(first * large.columns),
                                       static_cast<std::size_t>(rows * large.columns));
  };
  CheckpointWriter writer(path_, large, pivots_);
  for (const auto& [first, rows] : {std::pair{0, 2}, {2, 2}, {4, 1}}) {
    writer.add(std::as_bytes(piece(written, first, rows)));
  }
  writer.finish();
  CheckpointReader reader(path_);
  EXPECT_EQ(reader.read_pivots(), pivots_);
  std::vector<double> read(written.size());
  for (const auto& [first, rows] : {std::pair{0, 2}, {2, 2}, {4, 1}}) {
    reader.read(std::as_writable_bytes(piece(read, first, rows)));
  }
  EXPECT_EQ(read, written);
}

TEST_F(CheckpointFile, OfARankWithoutElementsHasNoPieces) {
  for (const auto& [rows, columns] : {std::pair<Index, Index>{0, 3}, {5, 0}}) {
    CheckpointHeader empty = header();
    empty.rows = rows;
    empty.columns = columns;
    empty.pivots = 0;
    empty.state_bytes = 0;
    CheckpointWriter(path_, empty, {}).finish();
    EXPECT_EQ(refusal(), "");
  }
}

TEST_F(CheckpointFile, IsRefusedAfterAnyByteIsAltered) {
  write(header());
  const auto size = static_cast<std::streamoff>(std::filesystem::file_size(path_));
  std::fstream file(path_, std::ios::in | std::ios::out | std::ios::binary);
  for (std::streamoff i = 0; i < size; ++i) {
    char byte = 0;
    file.seekg(i).get(byte);
    file.seekp(i).put(static_cast<char>(byte ^ (1 << (i % 8)))).flush();
    EXPECT_THAT(refusal(), HasSubstr(path_)) << "byte " << i;
    file.seekp(i).put(byte).flush();
  }
  EXPECT_EQ(refusal(), "");
}

TEST_F(CheckpointFile, IsRefusedIfItIsCutOrLongerAtAnyByte) {
  write(header());
  const std::uintmax_t size = std::filesystem::file_size(path_);
  std::filesystem::resize_file(path_, size + 1);
  EXPECT_THAT(refusal(), HasSubstr("surplus"));
  for (std::uintmax_t length = size; length-- > 0;) {
    std::filesystem::resize_file(path_, length);
    EXPECT_THAT(refusal(), HasSubstr("cut")) << length << " bytes";
  }
}

TEST_F(CheckpointFile, IsRefusedIfItsHeaderAnnouncesMoreThanItHas) {
  // valid checksums: nothing is allocated for what is not in the file
  for (const Index huge : {Index{6}, Index{1} << 39, std::numeric_limits<Index>::max(), Index{-1}}) {
    for (Index CheckpointHeader::*extent : {&CheckpointHeader::rows, &CheckpointHeader::columns,
                                            &CheckpointHeader::pivots, &CheckpointHeader::state_bytes}) {
      CheckpointHeader wrong = header();
      wrong.*extent = huge;
      write(wrong);
      EXPECT_THAT(refusal(), HasSubstr("is cut")) << huge;
    }
  }
  for (const Index element : {0, 2, 16}) {
    CheckpointHeader wrong = header();
    wrong.element = element;
    write(wrong);
    EXPECT_THAT(refusal(), HasSubstr("is cut"));
  }
  CheckpointHeader wrong = header();
  wrong.piece_rows = 0;
  write(wrong);
  EXPECT_THAT(refusal(), HasSubstr("is cut"));
}

TEST_F(CheckpointFile, IsRefusedIfItIsNoFileOrNotThere) {
  EXPECT_THAT(refusal(), HasSubstr("No such file"));
  std::filesystem::create_directory(path_);
  EXPECT_THAT(refusal(), HasSubstr("is no regular file"));
  std::filesystem::remove(path_);
  ASSERT_EQ(mkfifo(path_.c_str(), 0600), 0);
  EXPECT_THAT(refusal(), HasSubstr("is no regular file"));  // and does not wait for a writer
}

TEST_F(CheckpointFile, NamesTheReasonIfItCannotBeWritten) {
  EXPECT_THROW(CheckpointWriter(folder_ + "/missing/file", header(), pivots_), CheckpointError);
  if (access("/dev/full", W_OK) != 0) GTEST_SKIP() << "no /dev/full";
  EXPECT_THAT([&] { CheckpointWriter("/dev/full", header(), pivots_).finish(); },
              testing::ThrowsMessage<CheckpointError>("/dev/full: No space left on device"));
}

TEST(CheckpointCopy, KeepsPiecesThatChangeLater) {
  std::vector<std::byte> matrix((std::size_t{2} << 20) + 5, std::byte{1});
  CheckpointCopy copy(matrix.size(), 2);
  for (int generation = 0; generation < 2; ++generation) {
    std::ranges::fill(matrix, std::byte{1});
    copy.clear();
    copy.add(std::span(matrix).first(5));
    copy.add(std::span(matrix).subspan(5));
    copy.add(std::span(matrix).first(7));  // more than there is room for
    const std::vector<std::byte> expected = matrix;
    std::ranges::fill(matrix, std::byte{2});
    ASSERT_EQ(copy.pieces().size(), 3U);
    EXPECT_TRUE(std::ranges::equal(copy.pieces()[0], std::span(expected).first(5)));
    EXPECT_TRUE(std::ranges::equal(copy.pieces()[1], std::span(expected).subspan(5)));
    EXPECT_TRUE(std::ranges::equal(copy.pieces()[2], std::span(expected).first(7)));
  }
}

}  // namespace
}  // namespace glinpack
