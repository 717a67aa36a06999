#include "app/manual/manual_command.hpp"

#include <algorithm>
#include <filesystem>
#include <ostream>

#include "app/input/input_error.hpp"
#include "app/input/nearest_name.hpp"
#include "app/input/values.hpp"
#include "app/manual/completion.hpp"
#include "app/manual/man_page.hpp"
#include "app/option_set.hpp"
#include "app/outputs.hpp"

namespace glinpack::app {

namespace {

constexpr const char* man_pages_examples =
    "Examples:\n"
    "  glinpack man-pages --output-dir man\n"
    "  glinpack man-pages --output-dir ~/.local/share/man/man1 --force\n"
    "\n"
    "Exit code: 0 written, 2 unusable input, 3 an error while writing.";

constexpr const char* completion_examples =
    "Examples:\n"
    "  source <(glinpack completion)\n"
    "  glinpack completion --shell zsh > ~/.zfunc/_glinpack\n"
    "  glinpack completion --shell fish > ~/.config/fish/completions/glinpack.fish\n"
    "\n"
    "Exit code: 0 printed, 2 unusable input, 3 an error while printing.";

void define_man_pages_options(CLI::App& app, ManPagesOptions& o) {
  describe(app, "glinpack man-pages",
           "Writes the man pages, the program's and one for each subcommand, made of what --help says.",
           man_pages_examples);
  begin_group(app, "Output");
  add_text(app, "--output-dir", "DIR", "Folder for the pages, made if missing", o.output_dir);
  add_flag(app, "--force", "Overwrite pages that exist", [&o] { o.force = true; });
}

void define_completion_options(CLI::App& app, CompletionOptions& o) {
  describe(app, "glinpack completion",
           "Prints the script with which a shell completes subcommands, options and their values.",
           completion_examples);
  begin_group(app, "Output");
  add(app, "--shell", one_of(shells()), o.shell, "The shell that reads the script", [&o](const std::string& t) {
    if (std::find(shells().begin(), shells().end(), t) == shells().end()) {
      throw InputError(in_quotes(t) + " is not one of " + enumerate(shells()) + did_you_mean(t, shells()));
    }
    o.shell = t;
  });
}

}  // namespace

ManPagesOptions parse_man_pages_options(const std::vector<std::string>& arguments) {
  ManPagesOptions options;
  parse_arguments(arguments, [&](CLI::App& app) { define_man_pages_options(app, options); });
  if (options.output_dir.empty()) throw InputError("--output-dir DIR is missing: the folder that the pages go to");
  return options;
}

CompletionOptions parse_completion_options(const std::vector<std::string>& arguments) {
  CompletionOptions options;
  parse_arguments(arguments, [&](CLI::App& app) { define_completion_options(app, options); });
  return options;
}

std::string man_pages_help() {
  ManPagesOptions options;
  return help_of([&](CLI::App& app) { define_man_pages_options(app, options); });
}

std::string completion_help() {
  CompletionOptions options;
  return help_of([&](CLI::App& app) { define_completion_options(app, options); });
}

void run_man_pages_command(const ManPagesOptions& options) {
  const std::filesystem::path folder = options.output_dir;
  const std::vector<Manual> manuals = all_manuals();
  const auto path_of = [&folder](const Manual& manual) { return (folder / (manual.name + ".1")).string(); };
  std::vector<std::string> files;
  for (const Manual& manual : manuals) files.push_back(path_of(manual));
  check_output_folder(options.output_dir, files, options.force);
  OutputPaths paths;
  paths.folder = options.output_dir;
  make_output_folder(paths);
  std::vector<std::string> subcommand_pages;
  for (const Manual& manual : manuals) subcommand_pages.push_back(manual.name);
  subcommand_pages.erase(subcommand_pages.begin());  // the program's own
  for (const Manual& manual : manuals) {
    const bool is_program = &manual == &manuals.front();
    const std::string page = man_page(manual, is_program ? subcommand_pages : std::vector<std::string>{"glinpack"});
    write_file(path_of(manual), options.force, [&page](std::ostream& out) { out << page; });
  }
}

void run_completion_command(const CompletionOptions& options, std::ostream& out) {
  out << completion_script(options.shell, all_manuals());
}

}  // namespace glinpack::app
