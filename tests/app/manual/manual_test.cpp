// --help, man pages, docs/options.md and shell completion, from the option tables.

#include <fstream>
#include <sstream>

#include "app/commands.hpp"
#include "app/manual/completion.hpp"
#include "app/manual/pages.hpp"
#include "app/options/plu_options.hpp"
#include "tests/app/expect.hpp"

namespace glinpack::app {
namespace {

struct ExampleOptions {
  std::vector<Index> n{2000};
  Precision precision = Precision::double_;
  Texts variants{"a"};
  bool up = false;
  std::string output;
  Texts files;
};

OptionTable example_table(ExampleOptions& o) {
  const auto variants = words(
      some_of(Texts{"a", "b"}, {"all"}), [&o](const Texts& t) { o.variants = t; }, [&o] { return o.variants; });
  return {.command = "example",
          .description = "Does one thing, then another.",
          .footer = {.examples = "glinpack example --n 1",
                     .notes = {"Times are in seconds.", ".so it's \\n"},
                     .exit_codes = {{0, "all passed"}, {1, "one failed"}}},
          .groups = {{"", {{"FILE", positional(o.files, 2), "Files to read"}}},
                     {"Problem",
                      {{"n", wholes(o.n, 1, 9, "N,..."), "Orders of the matrix, in rows"},
                       {"precision", choice(o.precision, all_precisions), "Precision <of all>; see docs/mixed.md"},
                       {"variant", variants, "The ways"},
                       {"up", flag(o.up), "Upwards", "", "n"},
                       {"output,-o", text(o.output, "FILE"), "The result"}}}},
          .word_lists = {{"Environment", {{"SOME_VARIABLE", "Its meaning"}}}}};
}

CommandPage example() { return {"Do it", default_table(example_table)}; }

Texts lines_of(const std::string& text) {
  Texts lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

TEST(Help, HasEveryPartOfTheTable) {
  EXPECT_EQ(help_of(example_table),
            R"(Does one thing, then another.

Usage: glinpack example [OPTIONS] FILE...

Arguments:
  FILE                        Files to read

Problem:
  --n N,...                   Orders of the matrix, in rows [default: 2000]
  --precision single|fp32|double|fp64|mixed
                              Precision <of all>; see docs/mixed.md [default:
                              double]
  --variant a|b|all,...       The ways [default: a]
  --up                        Upwards; not with --n
  -o,--output FILE            The result

Help:
  -h,--help                   Print this help and exit

Environment:
  SOME_VARIABLE  Its meaning

Examples:
  glinpack example --n 1

Times are in seconds.

.so it's \n

Exit code:
  0 all passed
  1 one failed
)");
}

TEST(Help, LongListsOfChoicesAndExamplesAreBroken) {
  OptionTable table = default_table(example_table);
  table.footer.examples = "  glinpack example --precision single --variant a,b --n 1 --output " + std::string(30, 'x');
  table.groups[1].fields[0].value.type = std::string(60, 'a') + "|" + std::string(60, 'b');
  EXPECT_THAT(help_of(table), HasSubstr("  --n " + std::string(60, 'a') + "|\n      " + std::string(60, 'b') + "\n"));
  EXPECT_THAT(help_of(table),
              HasSubstr("  glinpack example --precision single --variant a,b --n 1 \\\n      --output xxx"));
}

TEST(Help, CommonOptionsComeFirst) {
  const OptionTable table = with_common_options(default_table(example_table), {"up", "n"});
  ASSERT_EQ(table.groups.size(), 3);
  EXPECT_THAT(table.groups[0].fields,
              ElementsAre(::testing::Field(&Field::name, "up"), ::testing::Field(&Field::name, "n")));
  EXPECT_EQ(table.groups[2].fields.size(), 3);
  EXPECT_THAT(help_of(plu_table), HasSubstr("[OPTIONS]\n\nCommon options:\n  --n N|auto,... "));
}

class Programs : public testing::TestWithParam<const Program*> {};
INSTANTIATE_TEST_SUITE_P(, Programs, testing::Values(&glinpack_program(), &papers_program()));

TEST_P(Programs, EveryLineOfHelpHas80ColumnsAndEveryOptionAText) {
  const Program& program = *GetParam();
  const std::vector<CommandPage> pages = all_pages(program);
  ASSERT_EQ(pages.size(), program.commands.size() + 1);
  for (const CommandPage& page : pages) {
    SCOPED_TRACE(name_of(page));
    for (const std::string& line : lines_of(help_of(page.table))) EXPECT_LE(line.size(), 80) << line;
    for (const FieldGroup& group : page.table.groups) {
      for (const Field& field : group.fields) EXPECT_THAT(field.help, Not(IsEmpty())) << field.name;
    }
    EXPECT_THAT(page.table.description, Not(IsEmpty()));
    EXPECT_THAT(page.table.footer.examples, Not(IsEmpty()));
    EXPECT_THAT(page.table.footer.exit_codes, Not(IsEmpty()));
  }
  for (const Command& command : program.commands) {
    EXPECT_EQ(command.table().program, program.name);
    EXPECT_EQ(command.table().command, command.name);
    EXPECT_THAT(help_of(program_table(program)), HasSubstr(std::string("\n  ") + command.name + " "));
  }
}

TEST(ManPage, HasEveryPartOfTheTable) {
  const std::string page = man_page(example(), {"glinpack"});
  for (const char* part :
       {".TH GLINPACK\\-EXAMPLE 1", "glinpack\\-example \\- Do it\n", ".SS Problem\n",
        ".TP\n\\fB\\-\\-n\\fR \\fIN,...\\fR\nOrders of the matrix, in rows. Default: 2000.\n",
        "single|\\:fp32|\\:double|\\:fp64|\\:mixed", "\\fB\\-o\\fR, \\fB\\-\\-output\\fR",
        "Upwards. Not with \\-\\-n.\n", ".SH ENVIRONMENT\n.TP\n\\fBSOME_VARIABLE\\fR\nIts meaning\n",
        ".SH EXAMPLES\n.nf\nglinpack example \\-\\-n 1\n.fi\n", ".SH NOTES\n.PP\nTimes are in seconds.\n",
        ".PP\n\\&.so it\\(aqs \\en\n", ".SH EXIT STATUS\n.TP\n\\fB0\\fR\nall passed\n.TP\n\\fB1\\fR\none failed\n",
        "\\fBglinpack\\fR(1)\n"}) {
    EXPECT_THAT(page, HasSubstr(part));
  }
}

TEST(OptionsDocument, HasATableForEveryCommand) {
  const std::string document = options_document(std::vector{example()});
  for (const char* part :
       {"\n## example\n", "| **Problem** | | | |\n", "| `-o`, `--output` | `FILE` | | The result |\n",
        "| `--precision` | `single\\|fp32\\|double\\|fp64\\|mixed` | double | Precision \\<of all>; see "
        "[mixed.md](mixed.md) |\n",
        "| `--up` | | | Upwards; not with `--n` |\n", "\nExit status: 0 all passed; 1 one failed.\n"}) {
    EXPECT_THAT(document, HasSubstr(part));
  }
}

TEST_P(Programs, TheOptionsPageIsTheOneInDocs) {
  const Program& program = *GetParam();
  std::ifstream file(std::string(GLINPACK_TEST_DATA "/../../") + program.options_page);
  std::ostringstream text;
  text << file.rdbuf();
  EXPECT_TRUE(text.str() == options_document(all_pages(program)))
      << "the page is not current: " << program.name << " man-pages --markdown > " << program.options_page;
}

TEST(Elsewhere, GlinpackKnowsWhichSubcommandsThePapersHave) {
  Texts solvers;
  for (const Command& command : papers_program().commands) solvers.emplace_back(command.name);
  const auto& elsewhere = glinpack_program().elsewhere;
  solvers.resize(solvers.size() - 2);  // man-pages and completion, which both programs have
  EXPECT_EQ(solvers, Texts(elsewhere.begin(), elsewhere.end()));
}

TEST(Manual, BadArgumentsAreNamed) {
  const auto parse_man_pages = [](const Texts& arguments) {
    check(parse(arguments, man_pages_table<papers_program>).options);
  };
  expect_input_error([&] { parse_man_pages({}); }, {"--output-dir"});
  expect_input_error([&] { parse_man_pages({"--markdown", "--output-dir", "d"}); }, {"--markdown"});
  expect_input_error([&] { parse_man_pages({"--output"}); }, {"'--output'", "glinpack-papers man-pages --help"});
  const Texts shell{"--shell", "zsh"};
  expect_input_error([&] { parse(shell, completion_table<glinpack_program>); },
                     {"'--shell'", "glinpack completion --help"});
}

}  // namespace
}  // namespace glinpack::app
