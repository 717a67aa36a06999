#include "app/input/hpl_dat.hpp"

#include "app/input/text_file.hpp"
#include "tests/app/expect.hpp"

namespace glinpack::app {
namespace {

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
  EXPECT_EQ(run_count(read), 864);
}

TEST_F(HplDatFile, WhatIsWrittenIsRead) {
  HplDat written;
  written.n = {1000, 29};
  written.nb = {64};
  written.order = RankOrder::column_major;
  written.grids = {{2, 3}, {1, 6}, {6, 1}};
  written.threshold = 8.5;
  written.pfact = {'L', 'R'};
  written.nbmin = {4, 1};
  written.ndiv = {3};
  written.rfact = {'C'};
  written.broadcast = {BroadcastKind::long_modified, BroadcastKind::ring};
  written.depth = {0, 2};
  written.row_swap = {RowSwapKind::spread_roll, 128};
  const HplDat read = read_hpl_dat(write("HPL.dat", text_of(written)));
  EXPECT_EQ(read.n, written.n);
  EXPECT_EQ(read.nb, written.nb);
  EXPECT_EQ(read.order, written.order);
  EXPECT_EQ(read.grids, written.grids);
  EXPECT_EQ(read.threshold, written.threshold);
  EXPECT_TRUE(read.to_stdout());
  EXPECT_EQ(read.pfact, written.pfact);
  EXPECT_EQ(read.nbmin, written.nbmin);
  EXPECT_EQ(read.ndiv, written.ndiv);
  EXPECT_EQ(read.rfact, written.rfact);
  EXPECT_EQ(read.broadcast, written.broadcast);
  EXPECT_EQ(read.depth, written.depth);
  EXPECT_EQ(read.row_swap, written.row_swap);
  EXPECT_THAT(read.notes, IsEmpty());
}

TEST(HplDat, WhatHplDoesNotHaveIsNotWritten) {
  HplDat hpl_dat;
  hpl_dat.broadcast = {BroadcastKind::ring_pipelined};
  expect_input_error([&] { text_of(hpl_dat); }, {"--broadcast ring-pipelined"});
  hpl_dat.broadcast = {BroadcastKind::ibcast};
  hpl_dat.row_swap.kind = RowSwapKind::direct;
  expect_input_error([&] { text_of(hpl_dat); }, {"--row-swap direct"});
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
  EXPECT_THAT(note, HasSubstr("alignment"));
  EXPECT_THAT(note, Not(HasSubstr("SWAP")));
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

TEST_F(HplDatFile, CommentsAreOptional) {
  EXPECT_THAT(read_hpl_dat(with_line(6, "29 30 34 35")).n, ElementsAre(29, 30, 34, 35));
}

TEST_F(HplDatFile, BytesAfterTheThirtyFirstLineAreIgnored) {
  const std::string contents = read_file(netlib, 1 << 20);
  EXPECT_EQ(run_count(read_hpl_dat(write("HPL.dat", contents + "-1 nonsense\n" + std::string("\x00\x01\xff", 3)))),
            864);
}

TEST_F(HplDatFile, ATruncationBeforeTheLastListIsRejectedWithTheMissingLine) {
  const std::vector<std::string> lines = lines_of(netlib, read_file(netlib, 1 << 20));
  for (std::size_t kept = 1; kept < 25; ++kept) {
    const std::string file = write_lines({lines.begin(), lines.begin() + static_cast<std::ptrdiff_t>(kept)}, "\n");
    const std::string missing = std::to_string(kept + 1);
    expect_input_error([&] { read_hpl_dat(file); },
                       {"HPL.dat:" + missing + ": ", "the file ends here; line " + missing + " of 31 is missing"});
  }
}

TEST_F(HplDatFile, AfterTheEndOfTheFileTheLastLineIsReadAgain) {
  std::vector<std::string> lines = lines_of(netlib, read_file(netlib, 1 << 20));
  lines.resize(27);
  lines.back() = "100  Seed";
  const HplDat read = read_hpl_dat(write_lines(lines, "\n"));
  EXPECT_EQ(read.row_swap.threshold, 100);
  EXPECT_THAT(read.notes, ElementsAre(AllOf(HasSubstr("HPL.dat:28: "), HasSubstr("lines 28 to 31"))));
}

TEST_F(HplDatFile, NumbersThatHplRefusesAreRejectedWithTheirLine) {
  expect_rejected(6, "29 30 0 35", {"'0'", "value 3"});
  expect_rejected(6, "29 -30 34 35", {"'-30'", "value 2"});
  expect_rejected(6, "29 30 x 35", {"'x'"});
  expect_rejected(6, "29 30 34 99999999999999999999", {"out of range"});
  expect_rejected(8, "0 2 3 4", {"block size", "'0'"});
  expect_rejected(11, "2 1 0", {"'0'"});
  expect_rejected(12, "2 4 x", {"'x'"});
  expect_rejected(13, "nan", {"threshold", "'nan'"});
  expect_rejected(17, "0 4", {"NBMIN"});
  expect_rejected(19, "1", {"NDIV"});
  expect_rejected(25, "-1", {"DEPTH"});
}

TEST_F(HplDatFile, OddNumbersAreReadAsByHplWithANote) {
  const auto read = [&](int line, const std::string& text, const std::string& word, const std::string& value) {
    const HplDat result = read_hpl_dat(with_line(line, text));
    const std::string where = "HPL.dat:" + std::to_string(line) + ": ";
    EXPECT_THAT(result.notes, ElementsAre(AllOf(HasSubstr(where), HasSubstr(word + " is read as " + value)))) << text;
    return result;
  };
  EXPECT_THAT(read(6, "29 30, 34.9 35", "'34.9'", "34").n, ElementsAre(29, 30, 34, 35));
  EXPECT_EQ(read(9, "2", "'2'", "0").order, RankOrder::row_major);
  EXPECT_EQ(read(13, "sixteen", "'sixteen'", "0").threshold, 0);
  EXPECT_EQ(read(13, "16.5, limit", "'16.5,'", "16.5").threshold, 16.5);
  EXPECT_THAT(read(15, "0 1 3", "'3'", "2").pfact, ElementsAre('L', 'C', 'R'));
  EXPECT_THAT(read(15, "0 1 PFACTs", "'PFACTs'", "0").pfact, ElementsAre('L', 'C', 'L'));
  EXPECT_THAT(read(21, "0 -1 2", "'-1'", "2").rfact, ElementsAre('L', 'R', 'R'));
  EXPECT_THAT(read(23, "7", "'7'", "1").broadcast, ElementsAre(BroadcastKind::ring_modified));
  EXPECT_THAT(read(23, "6", "BCAST 6", "ibcast").broadcast, ElementsAre(BroadcastKind::ibcast));
  EXPECT_EQ(read(26, "3", "'3'", "1").row_swap.kind, RowSwapKind::spread_roll);
  EXPECT_EQ(read(27, "-1", "'-1'", "0").row_swap.threshold, 0);
  EXPECT_EQ(read(27, "16.0", "'16.0'", "16").row_swap.threshold, 16);
  read(28, "2", "'2'", "0");
  read(29, "-1", "'-1'", "0");
  read(30, "2", "'2'", "1");
  read(31, "0", "'0'", "4");
  read(31, "words", "'words'", "4");
  EXPECT_THAT(read_hpl_dat(netlib).notes, ElementsAre());
}

TEST_F(HplDatFile, AThresholdOfZeroOrLessIsAccepted) {
  for (const char* threshold : {"0.0", "-16.0"}) {
    const HplDat read = read_hpl_dat(with_line(13, threshold));
    EXPECT_EQ(read.threshold, std::stod(threshold));
    EXPECT_THAT(read.notes, ElementsAre());
  }
}

TEST_F(HplDatFile, InvalidCountsAreRejectedWithTheirLine) {
  for (const int line : {5, 7, 10, 14, 16, 18, 20, 22, 24}) {
    expect_rejected(line, "0 of them", {"'0'", "from 1 to 1000"});
    expect_rejected(line, "1001", {"'1001'", "from 1 to 1000"});
    expect_rejected(line, "-1", {"'-1'"});
    expect_rejected(line, "four", {"'four'"});
    expect_rejected(line, "", {"blank"});
  }
}

TEST_F(HplDatFile, MoreThanTwentyValuesAreReadWithANote) {
  std::vector<std::string> lines = lines_of(netlib, read_file(netlib, 1 << 20));
  lines[4] = "21 Ns";
  lines[5] = "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21";
  const HplDat read = read_hpl_dat(write_lines(lines, "\n"));
  EXPECT_EQ(read.n.size(), 21U);
  EXPECT_EQ(read.n.back(), 21);
  EXPECT_THAT(read.notes, ElementsAre(AllOf(HasSubstr("HPL.dat:5: "), HasSubstr("up to 20"))));
}

TEST_F(HplDatFile, FewerValuesThanAnnouncedAreRejected) {
  expect_rejected(6, "29 30 34", {"3 values", "line 5 announces 4"});
  expect_rejected(6, "29 30 34      Ns", {"'Ns'", "value 4", "line 5 announces 4"});
  expect_rejected(12, "2 4", {"2 values", "line 10 announces 3"});
  expect_rejected(12, "2", {"1 value ", "line 10 announces 3"});
  expect_rejected(8, "", {"0 values"});
}

TEST_F(HplDatFile, ABlankLineLeavesTheValueBefore) {
  const HplDat order = read_hpl_dat(with_line(9, "   "));
  EXPECT_EQ(order.order, RankOrder::row_major);  // NB 4 before it
  EXPECT_THAT(order.notes, ElementsAre(AllOf(HasSubstr("HPL.dat:9: "), HasSubstr("blank"), HasSubstr("'4'"))));
  EXPECT_EQ(read_hpl_dat(with_line(13, "")).threshold, 1);  // Q
}

TEST_F(HplDatFile, LinesThatAnOptionOverridesAreNotJudged) {
  struct Case {
    const char* option;
    std::vector<int> lines;
  };
  for (const auto& [option, numbers] :
       {Case{"n", {5, 6}}, Case{"nb", {7, 8}}, Case{"grid", {10, 11, 12}}, Case{"threshold", {13}},
        Case{"broadcast", {22, 23}}, Case{"lookahead", {24, 25}}, Case{"row-swap", {26}}}) {
    std::vector<std::string> lines = lines_of(netlib, read_file(netlib, 1 << 20));
    for (const int number : numbers) lines.at(static_cast<std::size_t>(number - 1)) = "nan";
    TextFiles files;
    const HplDat read =
        app::read_hpl_dat(write_lines(lines, "\n"), files,
                          {.overridden = [&option = option](const std::string& name) { return name == option; }});
    EXPECT_THAT(read.notes, ElementsAre()) << option;
    EXPECT_THAT(read.nbmin, ElementsAre(2, 4)) << option;
  }
}

TEST_F(HplDatFile, TheFourteenLinesOfHplMxpAreReadIfTheMatrixIsMxp) {
  std::vector<std::string> lines{"a",      "b",      "out", "6",   "1 # of N",      "256 Ns",       "1 # of NBs",
                                 "64 NBs", "1 PMAP", "1 P", "2 Q", "8.0 threshold", "1 broadcasts", "3 BCASTs"};
  const std::string file = write_lines(lines, "\n");
  TextFiles files;
  const HplDat read = app::read_hpl_dat(file, files, {.mxp = true});
  EXPECT_THAT(read.n, ElementsAre(256));
  EXPECT_THAT(read.nb, ElementsAre(64));
  EXPECT_EQ(read.order, RankOrder::column_major);
  EXPECT_THAT(read.grids, ElementsAre(GridShape{1, 2}));
  EXPECT_EQ(read.threshold, 8);
  EXPECT_THAT(read.broadcast, ElementsAre(BroadcastKind::two_rings_modified));
  ASSERT_EQ(combinations(read).size(), 1U);
  EXPECT_FALSE(combinations(read).front().variant.given);
  expect_input_error([&] { read_hpl_dat(file); }, {"HPL.dat:", "14 lines", "--matrix mxp"});
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
  for (const char* word : {"file", "stdout"}) {  // as xhpl, which reads 0
    const HplDat read = read_hpl_dat(with_line(4, word));
    EXPECT_FALSE(read.to_stdout() || read.to_stderr()) << word;
    EXPECT_EQ(read.notes.size(), 1U) << word;
  }
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
