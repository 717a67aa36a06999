// Parsing of help texts, and the man pages and completions generated from them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

#include "app/input/nearest_name.hpp"
#include "app/manual/completion.hpp"
#include "app/manual/help_page.hpp"
#include "app/manual/man_page.hpp"
#include "app/manual/manual_command.hpp"
#include "tests/app/expect.hpp"

namespace glinpack::app {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr const char* example =
    "Does one thing,\n"
    "then another.\n"
    "Usage: glinpack example [OPTIONS]\n"
    "\n"
    "Options:\n"
    "  -h,--help                       Print this help message and exit\n"
    "\n\n"
    "Problem:\n"
    "  --n N,... ...                   Orders of the matrix,\n"
    "                                  in rows [2000]\n"
    "  --precision single|double|mixed Precision; mixed: both\n"
    "  --variant a|b|all,... ...\n"
    "                                  The ways [a]\n"
    "  --up Excludes: --down\n"
    "                                  Upwards\n"
    "\n"
    "Environment:\n"
    "  SOME_VARIABLE   Its meaning\n"
    "\n"
    "Examples:\n"
    "  glinpack example --n 1\n"
    "\n"
    "Times are in seconds.\n"
    "Exit code: 0 all passed, or were not checked, 1 one failed.\n";

TEST(HelpPage, EveryPartIsFound) {
  const HelpPage page = parse_help(example);
  EXPECT_EQ(page.description, "Does one thing, then another.");
  EXPECT_EQ(page.usage, "glinpack example [OPTIONS]");
  ASSERT_EQ(page.sections.size(), 4);
  EXPECT_EQ(page.sections[1].heading, "Problem");
  EXPECT_THAT(page.sections[3].lines, ElementsAre("glinpack example --n 1"));
  EXPECT_THAT(page.paragraphs, ElementsAre("Times are in seconds."));
  EXPECT_EQ(page.exit_codes, "0 all passed, or were not checked, 1 one failed.");
}

TEST(HelpPage, OptionsHaveNamesTypesTextsAndDefaults) {
  const HelpPage page = parse_help(example);
  EXPECT_THAT(page.sections[0].entries.at(0).names, ElementsAre("-h", "--help"));
  const std::vector<HelpEntry>& options = page.sections[1].entries;
  ASSERT_EQ(options.size(), 4);
  EXPECT_EQ(options[0].type, "N,...");
  EXPECT_EQ(options[0].text, "Orders of the matrix, in rows");
  EXPECT_EQ(options[0].default_text, "2000");
  EXPECT_EQ(options[1].text, "Precision; mixed: both");
  EXPECT_EQ(options[2].text, "The ways");
  EXPECT_THAT(options[3].type, IsEmpty());
  EXPECT_THAT(options[3].excludes, ElementsAre("--down"));
  EXPECT_EQ(page.sections[2].entries.at(0).text, "Its meaning");
}

TEST(HelpPage, ChoicesAreTheValuesOfAType) {
  const auto choices = [](const char* type) {
    return choices_of({.names = {"--x"}, .type = type, .excludes = {}, .text = "", .default_text = ""});
  };
  EXPECT_THAT(choices("single|double"), ElementsAre("single", "double"));
  EXPECT_THAT(choices("M1|M2|all,..."), ElementsAre("M1", "M2", "all"));
  EXPECT_THAT(choices("COUNT|auto"), ElementsAre("auto"));
  EXPECT_THAT(choices("N,..."), IsEmpty());
  EXPECT_THAT(choices(""), IsEmpty());
  const std::vector<std::string> names{"a", "b"};
  EXPECT_EQ(one_of(names), "a|b");
  EXPECT_EQ(some_of(names, {"all", "none"}), "a|b|all|none,...");
}

TEST(HelpPage, TextWithoutUsageIsRejected) { EXPECT_THROW(parse_help("Options:\n  --n  N\n"), std::runtime_error); }

TEST(ManPage, HasTheContentsOfTheHelp) {
  const std::string page = man_page({"glinpack-example", "Do it", example}, {"glinpack"});
  for (const char* part :
       {".TH GLINPACK\\-EXAMPLE 1", "glinpack\\-example \\- Do it\n", ".SS Problem\n",
        ".TP\n\\fB\\-\\-n\\fR \\fIN,...\\fR\nOrders of the matrix, in rows. Default: 2000.\n",
        "single|\\:double|\\:mixed", "Upwards. Not together with \\fB\\-\\-down\\fR.\n",
        ".SH ENVIRONMENT\n.TP\n\\fBSOME_VARIABLE\\fR\nIts meaning\n", ".nf\nglinpack example \\-\\-n 1\n.fi\n",
        ".TP\n\\fB0\\fR\nall passed, or were not checked\n", ".TP\n\\fB1\\fR\none failed\n", "\\fBglinpack\\fR(1)\n"}) {
    EXPECT_THAT(page, HasSubstr(part));
  }
}

TEST(ManPage, TextIsEscaped) {
  const std::string page = man_page({"x", ".so it's \\n", "'a'\nUsage: x\n"}, {});
  EXPECT_THAT(page, HasSubstr("\\- \\&.so it\\(aqs \\en\n"));
  EXPECT_THAT(page, HasSubstr(".SH DESCRIPTION\n\\&\\(aqa\\(aq\n"));
}

// for every subcommand: the page has all of its help
TEST(Manual, EveryOptionOfEveryHelpIsInItsPageAndInTheCompletions) {
  const std::vector<Manual> manuals = all_manuals();
  ASSERT_GT(manuals.size(), 14);
  const std::string bash = completion_script("bash", manuals);
  for (const Manual& manual : manuals) {
    SCOPED_TRACE(manual.name);
    const HelpPage page = parse_help(manual.help);
    EXPECT_THAT(page.exit_codes, Not(IsEmpty()));
    EXPECT_THAT(page.description, Not(IsEmpty()));
    std::size_t options = 0;
    for (const HelpSection& section : page.sections) {
      for (const HelpEntry& entry : section.entries) {
        EXPECT_THAT(entry.text, Not(IsEmpty())) << entry.names.front();
        options += entry.names.front().starts_with("-") ? 1 : 0;
      }
    }
    std::size_t in_help = 0;
    for (std::size_t at = manual.help.find("\n  -"); at != std::string::npos; at = manual.help.find("\n  -", at + 1)) {
      ++in_help;
    }
    EXPECT_EQ(options, in_help);
    EXPECT_GT(man_page(manual, {"glinpack"}).size(), manual.help.size() / 2);
  }
  EXPECT_THAT(bash, HasSubstr("plu:--precision) values='single double mixed' ;;"));
  EXPECT_THAT(completion_script("zsh", manuals), HasSubstr("#compdef glinpack"));
  EXPECT_THAT(completion_script("fish", manuals), HasSubstr("-l precision -x -a 'single double mixed'"));
}

TEST(Manual, BadArgumentsAreNamed) {
  expect_input_error([] { parse_man_pages_options({}); }, {"--output-dir"});
  expect_input_error([] { parse_man_pages_options({"--output"}); }, {"'--output'", "glinpack man-pages --help"});
  expect_input_error([] { parse({"--shell", "bsh"}, completion_table); }, {"--shell", "'bsh'", "did you mean bash?"});
}

}  // namespace
}  // namespace glinpack::app
