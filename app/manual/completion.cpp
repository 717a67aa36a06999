#include "app/manual/completion.hpp"

#include <spdlog/fmt/fmt.h>

#include <regex>
#include <sstream>

#include "app/options/option_text.hpp"

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

bool takes_list(const Field& option) { return option.value.type.ends_with(",..."); }
bool takes_file(const Field& option) { return option.value.type.starts_with("FILE"); }
bool takes_folder(const Field& option) { return option.value.type.starts_with("DIR"); }

std::string with_spaces(const Texts& words) { return fmt::format("{}", fmt::join(words, " ")); }

// In single quotes.
std::string shell_quoted(const std::string& text) {
  std::string result;
  for (const char c : text) c == '\'' ? result += "'\\''" : result += c;
  return "'" + result + "'";
}

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

}  // namespace

std::string completion_script(std::span<const CommandPage> pages) {
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
  const std::string program = pages.front().table.program;
  const std::string function = "_" + std::regex_replace(program, std::regex("-"), "_");
  return "# Written by " + program + R"BASH( completion.

# bash takes "--grid=2x2" apart at "=": the option, "=", the value.
)BASH" + function +
         R"BASH(() {
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
)BASH" + "complete -F " +
         function + " " + program + R"BASH(

# After a launcher: from the word glinpack, or glinpack-papers, on. A launcher that has a completion of its own keeps it.
_glinpack_launched() {
  local i program
  for ((i = 1; i < COMP_CWORD; ++i)); do
    program=${COMP_WORDS[i]##*/}
    [[ $program == glinpack || $program == glinpack-papers ]] || continue
    declare -F "_${program//-/_}" &>/dev/null || return
    COMP_WORDS=("${COMP_WORDS[@]:i}")
    ((COMP_CWORD -= i))
    "_${program//-/_}"
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

OptionTable completion_table(CompletionOptions&, const Program& program) {
  return {.program = program.name,
          .command = "completion",
          .description =
              "Prints a script for bash that completes subcommands, options and their values, also after mpirun, "
              "mpiexec and srun.",
          .footer = {.examples = fmt::format("source <({} completion)", program.name),
                     .exit_codes = {{0, "printed"}, {2, "unusable input"}, {3, "an error while printing"}}},
          .groups = {}};
}

}  // namespace glinpack::app
