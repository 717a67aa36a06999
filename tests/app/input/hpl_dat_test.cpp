#include "app/input/hpl_dat.hpp"

#include <gmock/gmock.h>

#include "app/input/text_file.hpp"
#include "tests/app/expect.hpp"

namespace glinpack::app {
namespace {

using ::testing::ElementsAre;

const std::string netlib = std::string(GLINPACK_TEST_DATA) + "/HPL.dat";

HplDat read_hpl_dat(const std::string& path) {
  TextFiles files;
  return app::read_hpl_dat(path, files);
}

class HplDatFile : public FolderTest {
 protected:
  // netlib's file with one line (1-based) replaced
  std::string with_line(int line, const std::string& text) const {
    std::vector<std::string> lines = lines_of(netlib, read_file(netlib, 1 << 20));
    lines.at(static_cast<std::size_t>(line - 1)) = text;
    return write_lines(lines, "\n");
  }
  std::string write_lines(const std::vector<std::string>& lines, const std::string& end) const {
    std::string contents;
    for (const std::string& line : lines) contents += line + end;
    return write("HPL.dat", contents);
  }
  void expect_rejected(int line, const std::string& text, std::vector<std::string> parts) const {
    const std::string file = with_line(line, text);
    parts.push_back("HPL.dat:" + std::to_string(line) + ": ");
    expect_input_error([&] { read_hpl_dat(file); }, parts);
  }
};

TEST(HplDat, NetlibsFileIsAccepted) {
  const HplDat read = read_hpl_dat(netlib);
  EXPECT_EQ(read.output_file, "HPL.out");
  EXPECT_TRUE(read.to_stdout());
  EXPECT_THAT(read.n, ElementsAre(29, 30, 34, 35));
  EXPECT_THAT(read.nb, ElementsAre(1, 2, 3, 4));
  EXPECT_EQ(read.order, RankOrder::row_major);
  EXPECT_THAT(read.grids, ElementsAre(GridShape{2, 2}, GridShape{1, 4}, GridShape{4, 1}));
  EXPECT_EQ(read.threshold, 16.0);
  EXPECT_THAT(read.pfact, ElementsAre('L', 'C', 'R'));
  EXPECT_THAT(read.nbmin, ElementsAre(2, 4));
  EXPECT_THAT(read.ndiv, ElementsAre(2));
  EXPECT_THAT(read.rfact, ElementsAre('L', 'C', 'R'));
  EXPECT_THAT(read.broadcast, ElementsAre(BroadcastKind::ring));
  EXPECT_THAT(read.depth, ElementsAre(0));
  EXPECT_EQ(read.row_swap, (RowSwap{RowSwapKind::mix, 64, 1}));
  EXPECT_EQ(read.l1_form, 0);
  EXPECT_EQ(read.u_form, 0);
  EXPECT_EQ(read.equilibration, 1);
  EXPECT_EQ(read.alignment, 8);
  EXPECT_EQ(run_count(read), 864);
}

TEST_F(HplDatFile, SwapIsOneOfHplsThreeRowSwaps) {
  EXPECT_EQ(read_hpl_dat(with_line(26, "0  SWAP (0=bin-exch,1=long,2=mix)")).row_swap.kind,
            RowSwapKind::binary_exchange);
  EXPECT_EQ(read_hpl_dat(with_line(26, "1")).row_swap.kind, RowSwapKind::spread_roll);
  EXPECT_EQ(read_hpl_dat(with_line(26, "2")).row_swap.kind, RowSwapKind::mix);
  EXPECT_EQ(read_hpl_dat(with_line(27, "0  swapping threshold")).row_swap.threshold, 0);
  EXPECT_EQ(read_hpl_dat(with_line(27, "128")).row_swap.threshold, 128);
}

TEST(HplDat, UnusedValuesAreReported) {
  const std::string note = unused_parameters_note("HPL.dat");
  EXPECT_THAT(note, ::testing::HasSubstr("alignment"));
  EXPECT_THAT(note, ::testing::Not(::testing::HasSubstr("SWAP")));
}

TEST(HplDat, InnermostCombinationsRunInHplsOrder) {
  HplDat file = read_hpl_dat(netlib);
  const std::vector<HplCombination> all = combinations(file);
  ASSERT_EQ(all.size(), 18U);
  const auto code = [](const HplCombination& c) {
    return std::string{c.variant.rfact, c.variant.pfact} + std::to_string(c.variant.nbmin);
  };
  EXPECT_EQ(code(all[0]), "LL2");
  EXPECT_EQ(code(all[1]), "LL4");
  EXPECT_EQ(code(all[2]), "LC2");
  EXPECT_EQ(code(all[6]), "CL2");
  EXPECT_EQ(code(all[17]), "RR4");

  file.ndiv = {2, 3};
  file.broadcast = {BroadcastKind::ring, BroadcastKind::long_};
  file.depth = {0, 1};
  const std::vector<HplCombination> more = combinations(file);
  EXPECT_EQ(more[1].variant.ndiv, 3);
  EXPECT_EQ(more[1].variant.nbmin, 2);
  EXPECT_EQ(more[36].broadcast, BroadcastKind::long_);
  EXPECT_EQ(more[36].lookahead, 0);
  EXPECT_EQ(more[72].lookahead, 1);
  EXPECT_EQ(more.size(), 144U);
}

TEST_F(HplDatFile, LinesMayEndInCarriageReturnAndLineFeed) {
  const HplDat read = read_hpl_dat(write_lines(lines_of(netlib, read_file(netlib, 1 << 20)), "\r\n"));
  EXPECT_EQ(run_count(read), 864);
  EXPECT_EQ(read.output_file, "HPL.out");
}

TEST_F(HplDatFile, LinesAfterTheThirtyFirstAreIgnored) {
  std::vector<std::string> lines = lines_of(netlib, read_file(netlib, 1 << 20));
  lines.push_back("##### This line (no. 32) is ignored #####");
  lines.push_back("-1 nonsense");
  EXPECT_EQ(run_count(read_hpl_dat(write_lines(lines, "\n"))), 864);
}

TEST_F(HplDatFile, CommentsAreOptional) {
  EXPECT_THAT(read_hpl_dat(with_line(6, "29 30 34 35")).n, ElementsAre(29, 30, 34, 35));
}

TEST_F(HplDatFile, EveryTruncationIsReportedWithTheMissingLine) {
  const std::vector<std::string> lines = lines_of(netlib, read_file(netlib, 1 << 20));
  for (std::size_t kept = 1; kept < 31; ++kept) {
    const std::string file = write_lines({lines.begin(), lines.begin() + static_cast<std::ptrdiff_t>(kept)}, "\n");
    expect_input_error([&] { read_hpl_dat(file); }, {"HPL.dat:" + std::to_string(kept + 1) + ": ", "the file ends"});
  }
}

TEST_F(HplDatFile, InvalidNumbersAreRejectedWithTheirLine) {
  expect_rejected(4, "six", {"'six'", "device"});
  expect_rejected(6, "29 30 0 35", {"'0'", "value 3"});
  expect_rejected(6, "29 -30 34 35", {"'-30'", "value 2"});
  expect_rejected(6, "29 30 3.5 35", {"'3.5'"});
  expect_rejected(6, "29 30 34 99999999999999999999", {"out of range"});
  expect_rejected(8, "0 2 3 4", {"block size", "'0'"});
  expect_rejected(9, "2", {"PMAP", "from 0 to 1"});
  expect_rejected(11, "2 1 0", {"'0'"});
  expect_rejected(12, "2 4 x", {"'x'"});
  expect_rejected(13, "sixteen", {"threshold", "'sixteen'"});
  expect_rejected(15, "0 1 3", {"PFACT", "from 0 to 2"});
  expect_rejected(17, "0 4", {"NBMIN"});
  expect_rejected(19, "1", {"NDIV"});
  expect_rejected(21, "0 -1 2", {"RFACT"});
  expect_rejected(23, "6", {"BCAST", "from 0 to 5"});
  expect_rejected(25, "-1", {"DEPTH"});
  expect_rejected(26, "3", {"SWAP"});
  expect_rejected(27, "a", {"swapping threshold"});
  expect_rejected(28, "2", {"L1"});
  expect_rejected(29, "2", {"U"});
  expect_rejected(30, "2", {"equilibration"});
  expect_rejected(31, "0", {"alignment"});
}

TEST_F(HplDatFile, InvalidCountsAreRejectedWithTheirLine) {
  for (const int line : {5, 7, 10, 14, 16, 18, 20, 22, 24}) {
    expect_rejected(line, "0 of them", {"'0'", "from 1 to 20"});
    expect_rejected(line, "21", {"'21'", "from 1 to 20"});
    expect_rejected(line, "-1", {"'-1'"});
    expect_rejected(line, "four", {"'four'"});
    expect_rejected(line, "", {"blank"});
  }
}

TEST_F(HplDatFile, FewerValuesThanAnnouncedAreRejected) {
  expect_rejected(6, "29 30 34", {"3 values", "line 5 announces 4"});
  expect_rejected(6, "29 30 34      Ns", {"'Ns'", "value 4", "line 5 announces 4"});
  expect_rejected(12, "2 4", {"2 values", "line 10 announces 3"});
  expect_rejected(8, "", {"0 values"});
}

TEST_F(HplDatFile, BlankLinesAreRejectedWithTheExpectedContent) {
  expect_rejected(9, "   ", {"blank", "PMAP"});
  expect_rejected(13, "", {"blank", "threshold"});
  expect_rejected(31, "", {"blank", "alignment"});
}

TEST_F(HplDatFile, AnOutputFileIsRequiredOnlyIfTheDeviceIsAFile) {
  EXPECT_EQ(read_hpl_dat(with_line(3, "")).output_file, "");
  std::vector<std::string> lines = lines_of(netlib, read_file(netlib, 1 << 20));
  lines[2] = "";
  lines[3] = "8";
  const std::string file = write_lines(lines, "\n");
  expect_input_error([&] { read_hpl_dat(file); }, {"HPL.dat:4: ", "line 3"});
}

TEST_F(HplDatFile, DeviceSevenIsStderrAndLargerOnesAreTheFile) {
  EXPECT_TRUE(read_hpl_dat(with_line(4, "7 device out")).to_stderr());
  const HplDat to_file = read_hpl_dat(with_line(4, "8 device out"));
  EXPECT_FALSE(to_file.to_stderr());
  EXPECT_FALSE(to_file.to_stdout());
}

TEST_F(HplDatFile, BinaryFilesAreRejected) {
  expect_input_error([&] { read_hpl_dat(path("missing")); }, {"missing", "no such file"});
  expect_input_error([&] { read_hpl_dat(path("")); }, {"is a directory"});
  const std::string empty = write("empty", "");
  expect_input_error([&] { read_hpl_dat(empty); }, {"empty:1", "empty"});
  const std::string rubbish = write("rubbish", std::string("free text\n\x01\x02\x00\xff", 14));
  expect_input_error([&] { read_hpl_dat(rubbish); }, {"rubbish:2: ", "not text"});
}

}  // namespace
}  // namespace glinpack::app
