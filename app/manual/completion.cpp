#include "app/manual/completion.hpp"

#include <spdlog/fmt/fmt.h>

#include <array>
#include <ostream>
#include <sstream>

#include "app/options/option_text.hpp"
#include "app/program/outputs.hpp"

namespace glinpack::app {

namespace {

// The options of a command, --help included; no positional values.
std::vector<Field> options_of(const CommandPage& page) {
  std::vector<Field> options;
  for (const FieldGroup& group : groups_with_help(page.table)) {
    for (const Field& field : group.fields) {
      if (field.value.form != FieldValue::Form::positional) options.push_back(field);
    }
  }
  return options;
}

// The words in an option's type: both of "single|double", the last of "COUNT|auto", none of "A-B,...".
Texts choices_of(const Field& option) {
  const std::string type = option.value.type.substr(0, option.value.type.find(",..."));
  if (type.find('|') == std::string::npos) return {};
  Texts choices;
  std::istringstream words(type);
  for (std::string word; std::getline(words, word, '|');) {
    const bool placeholder = word.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZx-") == std::string::npos;  // PxQ, A-B
    if (!placeholder) choices.push_back(word);
  }
  return choices;
}

// Whether the command's values without a name are files.
bool takes_files(const CommandPage& page) {
  for (const FieldGroup& group : page.table.groups) {
    for (const Field& field : group.fields) {
      if (field.value.form == FieldValue::Form::positional && field.name == "FILE") return true;
    }
  }
  return false;
}

constexpr const char* summary_of_help = "Print the options of a subcommand";

bool takes_list(const Field& option) { return option.value.type.ends_with(",..."); }
bool takes_file(const Field& option) { return option.value.type.starts_with("FILE"); }
bool takes_folder(const Field& option) { return option.value.type.starts_with("DIR"); }

std::string with_spaces(const Texts& words) { return fmt::format("{}", fmt::join(words, " ")); }

// In single quotes, valid in all three shells.
std::string shell_quoted(const std::string& text) {
  std::string result;
  for (const char c : text) c == '\'' ? result += "'\\''" : result += c;
  return "'" + result + "'";
}

constexpr const char* made_of = "# Written by glinpack completion.\n";

// "plu:--backend) values='openblas auto' ;;" for options that take values
std::string bash_values(const CommandPage& page) {
  std::string text;
  for (const Field& option : options_of(page)) {
    if (option.value.type.empty()) continue;
    std::string values = takes_file(option) ? "file" : takes_folder(option) ? "folder" : "other";
    if (const Texts choices = choices_of(option); !choices.empty()) {
      values = shell_quoted(with_spaces(choices)) + (takes_list(option) ? " list=yes" : "");
    }
    for (const std::string& name : names_of(option)) {
      text += "    " + page.table.command + ":" + name + ") values=" + values + " ;;\n";
    }
  }
  return text;
}

std::string bash_script(std::span<const CommandPage> pages) {
  std::string options;
  std::string values;
  Texts subcommands;
  for (const CommandPage& page : pages) {
    Texts names;
    for (const Field& option : options_of(page)) {
      for (const std::string& name : names_of(option)) names.push_back(name);
    }
    options += "    " + shell_quoted(page.table.command) + ") options=" + shell_quoted(with_spaces(names)) +
               (takes_files(page) ? " files=yes" : "") + " ;;\n";
    values += bash_values(page);
    if (!page.table.command.empty()) subcommands.push_back(page.table.command);
  }
  options += "    help) options=" + shell_quoted(with_spaces(subcommands)) + " ;;\n";
  subcommands.emplace_back("help");
  return std::string(made_of) + R"BASH(
# bash takes "--grid=2x2" apart at "=": the option, "=", the value.
_glinpack() {
  local current=${COMP_WORDS[COMP_CWORD]} option=${COMP_WORDS[COMP_CWORD-1]} subcommand= options= values= files= list= i
  for ((i = 1; i < COMP_CWORD; ++i)); do
    case ${COMP_WORDS[i]} in
      -*) ;;
      *) subcommand=${COMP_WORDS[i]}; break ;;
    esac
  done
  if [[ $current == = ]]; then
    current=
  elif [[ $option == = ]]; then
    option=${COMP_WORDS[COMP_CWORD-2]}
  fi
  case $subcommand in
)BASH" + options +
         R"BASH(  esac
  case $subcommand:$option in
)BASH" + values +
         R"BASH(  esac
  local head=
  if [[ $list ]]; then
    while [[ $current == *,* ]]; do
      head+=${current%%,*},
      current=${current#*,}
    done
  fi
  case $values in
    file) compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -f -- "$current") ;;
    folder) compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -d -- "$current") ;;
    other) COMPREPLY=() ;;
    ?*) mapfile -t COMPREPLY < <(compgen -P "$head" -W "$values" -- "$current") ;;
    *)
      if [[ ! $subcommand && $current != -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W ')BASH" +
         with_spaces(subcommands) + R"BASH(' -- "$current")
      elif [[ $files && $current != -* ]]; then
        compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -f -- "$current")
      else
        mapfile -t COMPREPLY < <(compgen -W "$options" -- "$current")
      fi ;;
  esac
}
complete -F _glinpack glinpack

# After a launcher: from the word glinpack on. A launcher that has a completion of its own keeps it.
_glinpack_launched() {
  local i
  for ((i = 1; i < COMP_CWORD; ++i)); do
    [[ ${COMP_WORDS[i]##*/} == glinpack ]] || continue
    COMP_WORDS=("${COMP_WORDS[@]:i}")
    ((COMP_CWORD -= i))
    _glinpack
    return
  done
}
for _glinpack_launcher in {mpirun,mpiexec}{,.mpich,.openmpi} mpiexec.hydra srun; do
  complete -p "$_glinpack_launcher" &>/dev/null ||
    complete -o bashdefault -o default -F _glinpack_launched "$_glinpack_launcher"
done
unset _glinpack_launcher
)BASH";
}

// For zsh's _arguments: '--backend[Text]:NAME:(openblas auto)'
std::string zsh_option(const Field& option, const std::string& name) {
  std::string text;
  for (const char c : option.help) text += c == '[' ? '(' : c == ']' ? ')' : c == ':' ? ';' : c;
  if (option.value.type.empty()) return shell_quoted(name + "[" + text + "]");
  std::string values = takes_file(option) ? ":file:_files" : takes_folder(option) ? ":folder:_files -/" : ":value: ";
  if (const Texts choices = choices_of(option); !choices.empty()) {
    values = takes_list(option) ? ":values:_values -s , value " + with_spaces(choices)
                                : ":value:(" + with_spaces(choices) + ")";
  }
  return shell_quoted(name + "=[" + text + "]" + values);
}

std::string zsh_script(std::span<const CommandPage> pages) {
  std::string cases;
  std::string summaries;
  std::string own;
  for (const CommandPage& page : pages) {
    const std::string& command = page.table.command;
    std::string specs;
    for (const Field& option : options_of(page)) {
      for (const std::string& name : names_of(option)) specs += " \\\n        " + zsh_option(option, name);
    }
    if (command.empty()) {
      own = specs;
      continue;
    }
    if (takes_files(page)) specs += " \\\n        '*:file:_files'";
    summaries += "    " + shell_quoted(command + ":" + page.summary) + "\n";
    cases += "      " + command + ")\n        _arguments" + specs + " ;;\n";
  }
  summaries += "    " + shell_quoted(std::string("help:") + summary_of_help) + "\n";
  cases += "      help)\n        _describe subcommand subcommands ;;\n";
  return "#compdef glinpack\n" + std::string(made_of) + "_glinpack() {\n  local -a subcommands=(\n" + summaries +
         R"ZSH(  )
  if ((CURRENT == 2)); then
    _describe subcommand subcommands
    _arguments)ZSH" +
         own + R"ZSH(
  else
    local subcommand=$words[2]
    shift words
    ((CURRENT -= 1))
    case $subcommand in
)ZSH" + cases +
         R"ZSH(    esac
  fi
}
if [[ $funcstack[1] == _glinpack ]]; then
  _glinpack "$@"  # zsh has loaded this file to call it
else
  compdef _glinpack glinpack
fi
)ZSH";
}

std::string fish_script(std::span<const CommandPage> pages) {
  std::string text = std::string(made_of) + "complete -c glinpack -f\n";
  Texts subcommands;
  for (const CommandPage& page : pages) {
    const std::string& command = page.table.command;
    const std::string condition = command.empty() ? "__fish_use_subcommand" : "__fish_seen_subcommand_from " + command;
    if (!command.empty()) {
      text +=
          "complete -c glinpack -n __fish_use_subcommand -a " + command + " -d " + shell_quoted(page.summary) + "\n";
      subcommands.push_back(command);
    }
    if (takes_files(page)) text += "complete -c glinpack -n " + shell_quoted(condition) + " -F\n";
    for (const Field& option : options_of(page)) {
      text += "complete -c glinpack -n " + shell_quoted(condition);
      for (const std::string& name : names_of(option)) {
        text += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
      }
      if (const Texts choices = choices_of(option); !choices.empty()) {
        text += " -x -a " + shell_quoted(with_spaces(choices));
      } else if (takes_file(option)) {
        text += " -r -F";
      } else if (takes_folder(option)) {
        text += " -x -a '(__fish_complete_directories)'";
      } else if (!option.value.type.empty()) {
        text += " -x";
      }
      text += " -d " + shell_quoted(option.help) + "\n";
    }
  }
  text += "complete -c glinpack -n __fish_use_subcommand -a help -d " + shell_quoted(summary_of_help) + "\n";
  return text + "complete -c glinpack -n '__fish_seen_subcommand_from help' -a " +
         shell_quoted(with_spaces(subcommands)) + "\n";
}

}  // namespace

const Texts& shells() {
  static const Texts names{"bash", "zsh", "fish"};
  return names;
}

std::string completion_script(const std::string& shell, std::span<const CommandPage> pages) {
  static constexpr std::array scripts{bash_script, zsh_script, fish_script};
  return scripts[choose(shell, shells())](pages);
}

OptionTable completion_table(CompletionOptions& o) {
  return {.command = "completion",
          .description =
              "Prints a shell script that completes subcommands, options and their values; in bash also after mpirun, "
              "mpiexec and "
              "srun.",
          .footer = {.examples = "source <(glinpack completion)\n"
                                 "glinpack completion --shell zsh > ~/.zfunc/_glinpack\n"
                                 "glinpack completion --shell fish > ~/.config/fish/completions/glinpack.fish",
                     .exit_codes = {{0, "printed"}, {2, "unusable input"}, {3, "an error while printing"}}},
          .groups = {{"", {{"shell", name_value(o.shell, shells()), "The shell that reads the script"}}}}};
}

void run_completion_command(const CompletionOptions& options, std::ostream& out) {
  print(out, completion_script(options.shell, all_pages()));
}

}  // namespace glinpack::app
