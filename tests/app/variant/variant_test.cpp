#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "app/options/option_text.hpp"
#include "app/variant/variant_code.hpp"
#include "app/variant/variant_command.hpp"
#include "tests/app/expect.hpp"

namespace glinpack::app {
namespace {

using ::testing::HasSubstr;

TEST(VariantCode, every_letter_and_number_is_read) {
  const VariantCode expected{
      .row_major = true, .depth = 1, .broadcast = 1, .rfact = 'C', .ndiv = 2, .pfact = 'R', .nbmin = 4};
  EXPECT_EQ(parse_variant_code("WR11C2R4"), expected);
  const VariantCode other{
      .row_major = false, .depth = 0, .broadcast = 5, .rfact = 'L', .ndiv = 16, .pfact = 'L', .nbmin = 128};
  EXPECT_EQ(parse_variant_code("WC05L16L128"), other);
}

TEST(VariantCode, the_last_of_several_digits_is_the_broadcast) {
  EXPECT_EQ(parse_variant_code("WR123C2R4").depth, 12);
  EXPECT_EQ(parse_variant_code("WR123C2R4").broadcast, 3);
}

TEST(VariantCode, code_and_text_round_trip) {
  for (const char* text : {"WR11C2R4", "WC05L16L128", "WR00R2R16", "WC16C3L1", "WR103C2R2147483647"}) {
    EXPECT_EQ(text_of(parse_variant_code(text)), text);
  }
}

TEST(VariantCode, invalid_codes_are_rejected_with_their_position) {
  const auto rejects = [](const std::string& code, const std::vector<std::string>& parts) {
    SCOPED_TRACE(code);
    expect_input_error([&] { parse_variant_code(code); }, parts);
  };
  rejects("", {"place 1 stands the code's end", "'W'"});
  rejects("XR11C2R4", {"'XR11C2R4'", "place 1 stands 'X'", "'W'"});
  rejects("wr11c2r4", {"place 1 stands 'w'"});
  rejects("WQ11C2R4", {"place 2 stands 'Q'", "PMAP"});
  rejects("WRC2R4", {"place 3 stands 'C'", "DEPTH"});
  rejects("WR1C2R4", {"place 4 stands 'C'", "BCAST"});
  rejects("WR18C2R4", {"place 4 stands '8'", "BCAST, a digit from 0 to 7"});
  rejects("WR11X2R4", {"place 5 stands 'X'", "RFACT"});
  rejects("WR11CR4", {"place 6 stands 'R'", "NDIV"});
  rejects("WR11C1R4", {"place 6 stands '1'", "NDIV", "from 2"});
  rejects("WR11C2", {"place 7 stands the code's end", "PFACT"});
  rejects("WR11C2R", {"place 8 stands the code's end", "NBMIN"});
  rejects("WR11C2R0", {"place 8 stands '0'", "NBMIN", "from 1"});
  rejects("WR11C2R4x", {"place 9 stands 'x'", "the code's end"});
  rejects("WR11C2R99999999999999999999", {"place 8", "NBMIN"});
  rejects(std::string("WR11C2R4\0", 9), {"place 9"});
}

TEST(VariantCode, parts_concatenate_to_the_code_and_options_are_those_of_plu) {
  for (const char* text : {"WR11C2R4", "WC05L16L128", "WR06R2R16"}) {
    const VariantCode code = parse_variant_code(text);
    std::string joined;
    for (const VariantPart& part : explain(code)) {
      joined += part.text;
      EXPECT_FALSE(part.meaning.empty());
      if (part.name == "BCAST") {
        const std::string option = "--broadcast ";
        ASSERT_EQ(part.option.substr(0, option.size()), option);
        EXPECT_EQ(hpl_digit(parse_broadcast(part.option.substr(option.size()))), code.broadcast);
      }
    }
    EXPECT_EQ(joined, text);
  }
}

TEST(VariantCode, the_named_options_are_accepted_by_plu) {
  const VariantCode code = parse_variant_code("WC13C2R4");
  std::vector<std::string> arguments;
  for (const VariantPart& part : explain(code)) {
    if (part.option.empty()) continue;
    const std::size_t blank = part.option.find(' ');
    arguments.push_back(part.option.substr(0, blank));
    if (blank != std::string::npos) arguments.push_back(part.option.substr(blank + 1));
  }
  const PluOptions options = parse_plu_options(arguments).options;
  EXPECT_EQ(options.order, RankOrder::column_major);
  EXPECT_EQ(options.lookahead, 1);
  EXPECT_EQ(options.broadcast, BroadcastKind::two_rings_modified);
}

TEST(VariantCommand, prints_nothing_if_one_of_the_codes_is_invalid) {
  std::ostringstream out;
  expect_input_error([&] { run_variant_command({{"WR11C2R4", "WR"}}, out); }, {"'WR'"});
  EXPECT_EQ(out.str(), "");
  run_variant_command({{"WR11C2R4"}}, out);
  EXPECT_THAT(out.str(), HasSubstr("glinpack plu --row-major --lookahead 1 --broadcast ring-modified"));
}

TEST(VariantCommand, a_code_is_required) {
  expect_input_error([] { parse_variant_options({}); }, {"no code is given", "WR11C2R4"});
  expect_input_error([] { parse_variant_options({"--code", "WR11C2R4"}); }, {"'--code'"});
}

}  // namespace
}  // namespace glinpack::app
