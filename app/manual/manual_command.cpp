#include "app/manual/manual_command.hpp"

#include <filesystem>
#include <ostream>

#include "app/manual/completion.hpp"
#include "app/manual/pages.hpp"
#include "app/options/option_text.hpp"
#include "app/program/outputs.hpp"

namespace glinpack::app {

OptionTable man_pages_table(ManPagesOptions& o) {
  const std::vector<Field> output{
      {"output-dir", text(o.output_dir, "DIR"), "Folder for the pages; created if missing"},
      {"force", flag(o.force), "Overwrite existing pages"},
      {"markdown", flag(o.markdown), "Print docs/options.md, the options of all subcommands, instead"},
  };
  return {.command = "man-pages",
          .description = "Writes the man pages: one for glinpack and one for each subcommand.",
          .footer = {.examples = "glinpack man-pages --output-dir man\n"
                                 "glinpack man-pages --output-dir ~/.local/share/man/man1 --force\n"
                                 "glinpack man-pages --markdown > docs/options.md",
                     .exit_codes = {{0, "written"}, {2, "unusable input"}, {3, "an error while writing"}}},
          .groups = {{"Output", output}}};
}

OptionTable completion_table(CompletionOptions& o) {
  return {.command = "completion",
          .description = "Prints a shell script that completes subcommands, options and their values.",
          .footer = {.examples = "source <(glinpack completion)\n"
                                 "glinpack completion --shell zsh > ~/.zfunc/_glinpack\n"
                                 "glinpack completion --shell fish > ~/.config/fish/completions/glinpack.fish",
                     .exit_codes = {{0, "printed"}, {2, "unusable input"}, {3, "an error while printing"}}},
          .groups = {{"", {{"shell", name_value(o.shell, shells()), "The shell that reads the script"}}}}};
}

ManPagesOptions parse_man_pages_options(const Texts& arguments) {
  const ManPagesOptions options = parse(arguments, man_pages_table).options;
  if (options.output_dir.empty() != options.markdown) {
    throw InputError(options.markdown ? "--markdown prints to standard output; leave out --output-dir"
                                      : "--output-dir DIR is missing: the folder for the pages");
  }
  return options;
}

void run_man_pages_command(const ManPagesOptions& options, std::ostream& out) {
  const std::vector<CommandPage> pages = all_pages();
  if (options.markdown) {
    out << options_document(pages);
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
    const std::string text = man_page(page, page.table.command.empty() ? subcommands : Texts{"glinpack"});
    write_file(path_of(page), options.force, [&text](std::ostream& file) { file << text; });
  }
}

void run_completion_command(const CompletionOptions& options, std::ostream& out) {
  out << completion_script(options.shell, all_pages());
}

}  // namespace glinpack::app
