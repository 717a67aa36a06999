#include "app/manual/manual_command.hpp"

#include <filesystem>
#include <ostream>

#include "app/manual/completion.hpp"
#include "app/manual/man_page.hpp"
#include "app/option_text.hpp"
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

}  // namespace

OptionTable man_pages_table(ManPagesOptions& o) {
  const std::vector<Field> output{
      {"output-dir", text(o.output_dir, "DIR"), "Folder for the pages, made if missing"},
      {"force", flag(o.force), "Overwrite pages that exist"},
  };
  return {.command = "man-pages",
          .description = "Writes the man pages, the program's and one for each subcommand, made of what --help says.",
          .footer = man_pages_examples,
          .groups = {{"Output", output}}};
}

OptionTable completion_table(CompletionOptions& o) {
  return {.command = "completion",
          .description = "Prints the script with which a shell completes subcommands, options and their values.",
          .footer = completion_examples,
          .groups = {{"Output", {{"shell", name_value(o.shell, shells()), "The shell that reads the script"}}}}};
}

ManPagesOptions parse_man_pages_options(const Texts& arguments) {
  const ManPagesOptions options = parse(arguments, man_pages_table).options;
  if (options.output_dir.empty()) throw InputError("--output-dir DIR is missing: the folder that the pages go to");
  return options;
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
