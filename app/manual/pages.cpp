#include "app/manual/pages.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <iterator>
#include <nlohmann/json.hpp>
#include <ostream>
#include <regex>
#include <sstream>

#include "app/program/outputs.hpp"
#include "version.hpp"

namespace glinpack::app {

namespace {

using nlohmann::json;
using Form = FieldValue::Form;

constexpr std::size_t line_width = 80;
constexpr std::size_t text_column = 30;  // of --help, if names are short

Texts words_of(const std::string& text) {
  std::istringstream stream(text);
  return {std::istream_iterator<std::string>(stream), {}};
}

// Lines of at most `width` columns. The first one begins, and the others are indented, at `column`.
std::string filled(const Texts& words, std::size_t column, std::size_t width = line_width,
                   const std::string& line_end = "\n") {
  std::string lines;
  std::size_t at = column;
  for (const std::string& word : words) {
    const bool fits = at + 1 + word.size() <= width;
    if (!lines.empty()) lines += fits ? " " : line_end + std::string(column, ' ');
    at = lines.empty() || !fits ? column : at + 1;
    lines += word;
    at += word.size();
  }
  return lines;
}
std::string filled(const std::string& text, std::size_t column, std::size_t width = line_width) {
  return filled(words_of(text), column, width);
}

Texts lines_of(const std::string& text) {
  Texts lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

// Lines of commands. Longer ones than `width` are continued, before an option.
Texts examples_of(const OptionTable& table, std::size_t width) {
  Texts examples;
  for (const std::string& line : lines_of(table.footer.examples)) {
    Texts parts;
    for (const std::string& word : words_of(line)) {
      if (parts.empty() || word.starts_with('-')) {
        parts.push_back(word);
      } else {
        parts.back() += " " + word;
      }
    }
    std::string command = filled(parts, 0, width);
    if (command.find('\n') != std::string::npos) command = filled(parts, 4, width - 2, " \\\n");
    for (const std::string& part : lines_of(command)) examples.push_back(part);
  }
  return examples;
}

std::string usage_of(const OptionTable& table) {
  if (table.command.empty()) return table.program + " SUBCOMMAND [OPTIONS]";
  std::string usage = table.program + " " + table.command + " [OPTIONS]";
  for (const FieldGroup& group : table.groups) {
    for (const Field& field : group.fields) {
      if (field.value.form == Form::positional) usage += " " + field.name + "...";
    }
  }
  return usage;
}

std::string default_of(const Field& field) {
  if (!field.default_text.empty() || field.value.form == Form::flag || field.value.form == Form::positional) {
    return field.default_text;
  }
  const json value = field.value.json();
  const auto text_of = [](const json& one) { return one.is_string() ? one.get<std::string>() : one.dump(); };
  if (value.is_null()) return "";
  if (!value.is_array()) return text_of(value);
  Texts list;
  std::ranges::transform(value, std::back_inserter(list), text_of);
  return fmt::format("{}", fmt::join(list, ","));
}

// A word with its text beside it, or below it if the word is long. A list of choices may break after each of them.
std::string help_entry(const std::string& word, const std::string& text, std::size_t column = text_column) {
  std::string line = "  ";
  std::string lines;
  for (std::size_t at = 0; at < word.size();) {
    const std::size_t end = std::min(word.find('|', at), word.size() - 1) + 1;
    if (line.size() + end - at > line_width) {
      lines += line + '\n';
      line = std::string(6, ' ');
    }
    line += word.substr(at, end - at);
    at = end;
  }
  if (line.size() + 2 > column) {
    lines += line + '\n';
    line = "";
  }
  line.resize(column, ' ');
  return lines + line + filled(text, column) + "\n";
}

std::string help_entry(const Field& field) {
  std::string text = field.help;
  if (!field.excludes.empty()) text += "; not with --" + field.excludes;
  if (const std::string value = default_of(field); !value.empty()) text += " [default: " + value + "]";
  return help_entry(
      fmt::format("{}", fmt::join(names_of(field), ",")) + (field.value.type.empty() ? "" : " ") + field.value.type,
      text);
}

// Escapes text for roff, so that dashes and quotes can be copied and nothing is read as a macro.
std::string roff(const std::string& text) {
  static const std::map<char, std::string> escapes{{'\\', "\\e"},  {'-', "\\-"},   {'\'', "\\(aq"},
                                                   {'`', "\\(ga"}, {'^', "\\(ha"}, {'~', "\\(ti"}};
  std::string result = text.starts_with('.') || text.starts_with('\'') ? "\\&" : "";
  for (const char c : text) escapes.contains(c) ? result += escapes.at(c) : result += c;
  return result;
}

std::string bold(const std::string& text) { return "\\fB" + roff(text) + "\\fR"; }

std::string roff_entry(const std::string& tag, const std::string& text) {
  return ".TP\n" + tag + "\n" + roff(text) + "\n";
}

std::string roff_entry(const Field& field) {
  std::string tag;
  for (const std::string& name : names_of(field)) tag += (tag.empty() ? "" : ", ") + bold(name);
  if (!field.value.type.empty()) {  // may break after each choice
    tag += " \\fI" + std::regex_replace(roff(field.value.type), std::regex("\\|"), "|\\:") + "\\fR";
  }
  std::string text = field.help + ".";
  if (const std::string value = default_of(field); !value.empty()) text += " Default: " + value + ".";
  if (!field.excludes.empty()) text += " Not with --" + field.excludes + ".";
  return roff_entry(tag, text);
}

std::string in_capitals(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::toupper(c); });
  return text;
}

// Text in a cell of a Markdown table. Names of documents become links.
std::string cell(const std::string& text) {
  static const std::regex document(R"(docs/([\w-]+\.(md|schema\.json)))");
  const std::string escaped = std::regex_replace(text, std::regex("[|<]"), "\\$&");
  return std::regex_replace(escaped, document, "[$1]($1)");
}

std::string in_code(const std::string& text) { return text.empty() ? "" : "`" + cell(text) + "`"; }

std::string row(const Texts& cells) {
  std::string line = "|";
  for (const std::string& text : cells) line += text.empty() ? " |" : " " + text + " |";
  return line + "\n";
}

std::string markdown_entry(const Field& field) {
  const std::string excludes = field.excludes.empty() ? "" : "; not with `--" + field.excludes + "`";
  return row({fmt::format("`{}`", fmt::join(names_of(field), "`, `")), in_code(field.value.type),
              cell(default_of(field)), cell(field.help) + excludes});
}

// `printed`: the commands whose sections have a group, by its rows. A group is printed once.
std::string markdown_section(const CommandPage& page, std::map<std::string, std::string>& printed) {
  const OptionTable& table = page.table;
  std::string text = "\n## " + (table.command.empty() ? table.program : table.command) + "\n\n";
  text += filled(cell(table.description), 0, 120) + "\n\n" + row({"option", "value", "default", "meaning"}) +
          row({"---", "---", "---", "---"});
  for (const FieldGroup& group : table.groups) {
    std::string rows;
    for (const Field& field : group.fields) rows += markdown_entry(field);
    const auto [first, is_first] = printed.emplace(rows, table.command);
    const std::string reference = is_first ? "" : "as of [" + first->second + "](#" + first->second + ")";
    if (!group.name.empty()) text += row({"**" + group.name + "**", "", "", reference});
    if (is_first || group.name.empty()) text += rows;
  }
  for (const WordList& list : table.word_lists) {
    text += "\n" + row({list.heading, ""}) + row({"---", "---"});
    for (const auto& [word, meaning] : list.words) text += row({in_code(word), cell(meaning)});
  }
  for (const std::string& paragraph : table.footer.notes) {
    text += "\n" + filled(cell(paragraph), 0, 120) + "\n";
  }
  std::string codes;
  for (const auto& [code, meaning] : table.footer.exit_codes) {
    codes += (codes.empty() ? "Exit status: " : "; ") + std::to_string(code) + " " + meaning;
  }
  return text + "\n" + filled(codes + ".", 0, 120) + "\n";
}

}  // namespace

OptionTable program_table(const Program& program) {
  static bool unused = false;
  std::vector<WordList> lists;
  for (const Command& command : program.commands) {
    if (lists.empty() || lists.back().heading != command.heading) lists.push_back({command.heading, {}});
    lists.back().words.emplace_back(command.name, command.summary);
  }
  lists.push_back(
      {"Environment",
       {{"EGL_VISIBLE_DEVICES", "Devices to use, by the indices that EGL gives them, in this order: 0,2"},
        {"GLINPACK_LOG", "Level of messages without --log-level: trace, debug, info, warn, error, off"},
        {"GLINPACK_OVERSUBSCRIBED",
         "If set, waiting processes yield the processor. Needed only in containers that hide that processes share "
         "cores"},
        {"OPENBLAS_CORETYPE",
         "Kernels of OpenBLAS. If unset, and OpenBLAS chose kernels for an older processor, glinpack sets it and "
         "executes itself again; the report says so"},
        {"OPENBLAS_NUM_THREADS, OMP_NUM_THREADS",
         "Host threads of each process without --threads; the first that is set"},
        {"LP_NUM_THREADS",
         "Threads of Mesa's software renderer in each process. 0: no extra threads, best if there are more processes "
         "than cores"},
        {"XDG_CACHE_HOME",
         "Cache folder; its subfolder glinpack holds linked shader programs and the choices of tune and of "
         "glinpack-papers with --tune and --group [default: ~/.cache]"}},
       false});
  lists.push_back({"Files",
                   {{"PREFIX/share/glinpack/configs", "Configurations for --config"},
                    {"PREFIX/share/glinpack/shaders", "The built-in shaders, to copy for --shader-dir"},
                    {"PREFIX/share/glinpack/slurm", "Batch scripts"},
                    {"PREFIX/share/doc/glinpack", "Documents and the schemas of all JSON files"}},
                   false});
  return {.program = program.name,
          .command = "",
          .description = program.description,
          .footer = {.examples = program.examples,
                     .notes = {fmt::format("`{0} SUBCOMMAND --help` prints the options of a subcommand, `man {0}` "
                                           "environment variables and files.",
                                           program.name),
                               "Without a launcher, glinpack is one process. Use the launcher of the MPI library that "
                               "glinpack was built with: mpirun.mpich if Open MPI is installed, too; srun --mpi=pmi2 "
                               "with Slurm."},
                     .exit_codes = {{0, "all runs and checks passed"},
                                    {1, "a run or check failed"},
                                    {2, "unusable input"},
                                    {3, "an error while running"},
                                    {4, "ended by a signal, after a report"},
                                    {5, "ended by --watchdog"}}},
          .groups = {{"", {{"version", flag(unused), "Print version and commit"}}}},
          .word_lists = lists};
}

std::vector<CommandPage> all_pages(const Program& program) {
  std::vector<CommandPage> pages{{program.summary, program_table(program)}};
  for (const Command& command : program.commands) pages.push_back({command.summary, command.table()});
  return pages;
}

std::string name_of(const CommandPage& page) {
  const OptionTable& table = page.table;
  return table.command.empty() ? table.program : table.program + "-" + table.command;
}

std::string help_of(const OptionTable& table) {
  std::string help = filled(table.description, 0) + "\n\nUsage: " + usage_of(table) + "\n";
  for (const FieldGroup& group : groups_with_help(table)) {
    help += "\n" + group.name + ":\n";
    for (const Field& field : group.fields) help += help_entry(field);
  }
  for (const WordList& list : table.word_lists) {
    if (!list.in_help) continue;
    std::size_t column = 0;
    for (const auto& [word, text] : list.words) column = std::max(column, word.size() + 4);
    help += "\n" + list.heading + ":\n";
    for (const auto& [word, text] : list.words) help += help_entry(word, text, column);
  }
  help += "\nExamples:\n";
  for (const std::string& line : examples_of(table, line_width - 2)) help += "  " + line + "\n";
  for (const std::string& paragraph : table.footer.notes) help += "\n" + filled(paragraph, 0) + "\n";
  help += "\nExit code:\n";
  for (const auto& [code, meaning] : table.footer.exit_codes) {
    help += "  " + std::to_string(code) + " " + filled(meaning, 4) + "\n";
  }
  return help;
}

std::string man_page(const CommandPage& page, const Texts& others) {
  const OptionTable& table = page.table;
  const std::string name = name_of(page);
  std::string text = ".\\\" Written by " + table.program + " man-pages.\n.TH " + roff(in_capitals(name)) +
                     " 1 \"\" \"glinpack " + version + "\" \"User Commands\"\n";
  text += ".SH NAME\n" + roff(name) + " \\- " + roff(page.summary) + "\n";
  text += ".SH SYNOPSIS\n" + roff(usage_of(table)) + "\n";
  text += ".SH DESCRIPTION\n" + roff(filled(table.description, 0, std::string::npos)) + "\n.SH OPTIONS\n";
  for (const FieldGroup& group : groups_with_help(table)) {
    text += ".SS " + roff(group.name) + "\n";
    for (const Field& field : group.fields) text += roff_entry(field);
  }
  for (const WordList& list : table.word_lists) {
    text += ".SH " + roff(in_capitals(list.heading)) + "\n";
    for (const auto& [word, meaning] : list.words) text += roff_entry(bold(word), meaning);
  }
  text += ".SH EXAMPLES\n.nf\n";
  for (const std::string& line : examples_of(table, line_width - 8)) text += roff(line) + "\n";
  text += ".fi\n";
  if (!table.footer.notes.empty()) text += ".SH NOTES\n";
  for (const std::string& paragraph : table.footer.notes) text += ".PP\n" + roff(paragraph) + "\n";
  text += ".SH EXIT STATUS\n";
  for (const auto& [code, meaning] : table.footer.exit_codes) {
    text += roff_entry(bold(std::to_string(code)), meaning);
  }
  text += ".SH SEE ALSO\n";
  for (const std::string& other : others) text += bold(other) + "(1)" + (other == others.back() ? "\n" : ",\n");
  return text;
}

std::string options_document(std::span<const CommandPage> pages) {
  std::string text = fmt::format(
      "<!-- Written by `{0} man-pages --markdown`; change the option tables in app/ instead. -->\n"
      "# Options of {0}\n\n"
      "The options of every subcommand, as `{0} SUBCOMMAND --help` prints them. A list is written\n"
      "with commas or spaces. With `--config`, every option is also a key of a TOML file "
      "([input.md](input.md#toml)).\n",
      pages.front().table.program);
  std::map<std::string, std::string> printed;
  for (const CommandPage& page : pages) text += markdown_section(page, printed);
  return text;
}

OptionTable man_pages_table(ManPagesOptions& o, const Program& program) {
  const std::vector<Field> output{
      {"output-dir", text(o.output_dir, "DIR"), "Folder for the pages; created if missing"},
      {"force", flag(o.force), "Overwrite existing pages"},
      {"markdown", flag(o.markdown),
       fmt::format("Print {}, the options of all subcommands, instead", program.options_page)},
  };
  return {.program = program.name,
          .command = "man-pages",
          .description = "Writes the man pages: one for the program and one for each subcommand.",
          .footer = {.examples = fmt::format("{0} man-pages --output-dir man\n"
                                             "{0} man-pages --output-dir ~/.local/share/man/man1 --force\n"
                                             "{0} man-pages --markdown > {1}",
                                             program.name, program.options_page),
                     .exit_codes = {{0, "written"}, {2, "unusable input"}, {3, "an error while writing"}}},
          .groups = {{"Output", output}}};
}

void check(const ManPagesOptions& options) {
  if (options.output_dir.empty() != options.markdown) {
    throw InputError(options.markdown ? "--markdown prints to standard output; leave out --output-dir"
                                      : "--output-dir DIR is missing: the folder for the pages");
  }
}

void run_man_pages_command(const ManPagesOptions& options, const Program& program, std::ostream& out) {
  const std::vector<CommandPage> pages = all_pages(program);
  if (options.markdown) {
    print(out, options_document(pages));
    return;
  }
  const std::filesystem::path folder = options.output_dir;
  const auto path_of = [&folder](const CommandPage& page) { return (folder / (name_of(page) + ".1")).string(); };
  std::vector<std::string> files;
  Texts subcommands;
  for (const CommandPage& page : pages) {
    files.push_back(path_of(page));
    if (!page.table.command.empty()) subcommands.push_back(name_of(page));
  }
  check_output_folder(options.output_dir, files, options.force);
  OutputPaths paths;
  paths.folder = options.output_dir;
  make_output_folder(paths);
  for (const CommandPage& page : pages) {
    const std::string text = man_page(page, page.table.command.empty() ? subcommands : Texts{program.name});
    write_file(path_of(page), options.force, [&text](std::ostream& file) { file << text; });
  }
}

}  // namespace glinpack::app
