#include "app/manual/completion.hpp"

#include <stdexcept>

#include "app/manual/help_page.hpp"

namespace glinpack::app {

namespace {

// A subcommand with its options, independent of the shell. The program itself has an empty name.
struct CompletedCommand {
  std::string name;
  std::string summary;
  std::vector<HelpEntry> options;
};

// The kind of value that follows an option.
enum class ValueKind { none, choices, file, folder, other };

ValueKind kind_of(const HelpEntry& option) {
  if (option.type.empty()) return ValueKind::none;
  if (!choices_of(option).empty()) return ValueKind::choices;
  if (option.type.starts_with("FILE")) return ValueKind::file;
  if (option.type.starts_with("DIR")) return ValueKind::folder;
  return ValueKind::other;
}

std::string with_spaces(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

// In single quotes, valid in all three shells.
std::string shell_quoted(const std::string& text) {
  std::string result;
  for (const char c : text) c == '\'' ? result += "'\\''" : result += c;
  return "'" + result + "'";
}

std::vector<CompletedCommand> completed_commands(std::span<const Manual> manuals) {
  const std::string prefix = "glinpack-";
  std::vector<CompletedCommand> commands;
  for (const Manual& manual : manuals) {
    CompletedCommand command;
    if (manual.name.starts_with(prefix)) command.name = manual.name.substr(prefix.size());
    command.summary = manual.summary;
    for (const HelpSection& section : parse_help(manual.help).sections) {
      for (const HelpEntry& entry : section.entries) {
        if (entry.names.front().starts_with('-')) command.options.push_back(entry);
      }
    }
    commands.push_back(command);
  }
  return commands;
}

std::string names_of_subcommands(std::span<const CompletedCommand> commands) {
  std::vector<std::string> names;
  for (const CompletedCommand& command : commands) {
    if (!command.name.empty()) names.push_back(command.name);
  }
  return with_spaces(names);
}

constexpr const char* made_of = "# Written by glinpack completion from what --help says.\n";

// "plu:--backend) values='openblas auto' ;;" for options that take values; file kinds by name
std::string bash_values(const CompletedCommand& command) {
  std::string text;
  for (const HelpEntry& option : command.options) {
    std::string action;
    switch (kind_of(option)) {
      case ValueKind::none:
        continue;
      case ValueKind::choices:
        action = "values=" + shell_quoted(with_spaces(choices_of(option))) + (is_list(option) ? " list=yes" : "");
        break;
      case ValueKind::file:
        action = "values=file";
        break;
      case ValueKind::folder:
        action = "values=folder";
        break;
      case ValueKind::other:
        action = "values=other";
        break;
    }
    for (const std::string& name : option.names) text += "    " + command.name + ":" + name + ") " + action + " ;;\n";
  }
  return text;
}

std::string bash_script(std::span<const CompletedCommand> commands) {
  std::string options;
  std::string values;
  for (const CompletedCommand& command : commands) {
    std::vector<std::string> names;
    for (const HelpEntry& option : command.options) names.insert(names.end(), option.names.begin(), option.names.end());
    options += "    " + shell_quoted(command.name) + ") options=" + shell_quoted(with_spaces(names)) + " ;;\n";
    values += bash_values(command);
  }
  return std::string(made_of) + R"BASH(
# bash takes "--grid=2x2" apart at "=": the option, "=", the value.
_glinpack() {
  local current=${COMP_WORDS[COMP_CWORD]} option=${COMP_WORDS[COMP_CWORD-1]} subcommand= options= values= list= i
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
         names_of_subcommands(commands) + R"BASH(' -- "$current")
      else
        mapfile -t COMPREPLY < <(compgen -W "$options" -- "$current")
      fi ;;
  esac
}
complete -F _glinpack glinpack
)BASH";
}

// For zsh's _arguments: '--backend[Text]:NAME:(openblas auto)'
std::string zsh_option(const HelpEntry& option, const std::string& name) {
  std::string text;
  for (const char c : option.text) text += c == '[' ? "(" : c == ']' ? ")" : c == ':' ? ";" : std::string(1, c);
  std::string spec = name + (option.type.empty() ? "[" : "=[") + text + "]";
  switch (kind_of(option)) {
    case ValueKind::none:
      break;
    case ValueKind::choices:
      spec += is_list(option) ? ":values:_values -s , value " + with_spaces(choices_of(option))
                              : ":value:(" + with_spaces(choices_of(option)) + ")";
      break;
    case ValueKind::file:
      spec += ":file:_files";
      break;
    case ValueKind::folder:
      spec += ":folder:_files -/";
      break;
    case ValueKind::other:
      spec += ":value: ";
      break;
  }
  return shell_quoted(spec);
}

std::string zsh_script(std::span<const CompletedCommand> commands) {
  std::string cases;
  std::string summaries;
  std::string own;
  for (const CompletedCommand& command : commands) {
    std::string specs;
    for (const HelpEntry& option : command.options) {
      for (const std::string& name : option.names) specs += " \\\n        " + zsh_option(option, name);
    }
    if (command.name.empty()) {
      own = specs;
      continue;
    }
    summaries += "    " + shell_quoted(command.name + ":" + command.summary) + "\n";
    cases += "      " + command.name + ")\n        _arguments" + specs + " ;;\n";
  }
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

std::string fish_script(std::span<const CompletedCommand> commands) {
  std::string text = std::string(made_of) + "complete -c glinpack -f\n";
  for (const CompletedCommand& command : commands) {
    const std::string condition =
        command.name.empty() ? "__fish_use_subcommand" : "__fish_seen_subcommand_from " + command.name;
    if (!command.name.empty()) {
      text +=
          "complete -c glinpack -n __fish_use_subcommand -a " + command.name + " -d " + shell_quoted(command.summary) + "\n";
    }
    for (const HelpEntry& option : command.options) {
      std::string line = "complete -c glinpack -n " + shell_quoted(condition);
      for (const std::string& name : option.names) {
        line += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
      }
      switch (kind_of(option)) {
        case ValueKind::none:
          break;
        case ValueKind::choices:
          line += " -x -a " + shell_quoted(with_spaces(choices_of(option)));
          break;
        case ValueKind::file:
          line += " -r -F";
          break;
        case ValueKind::folder:
          line += " -x -a '(__fish_complete_directories)'";
          break;
        case ValueKind::other:
          line += " -x";
          break;
      }
      text += line + " -d " + shell_quoted(option.text) + "\n";
    }
  }
  return text;
}

}  // namespace

const std::vector<std::string>& shells() {
  static const std::vector<std::string> names{"bash", "zsh", "fish"};
  return names;
}

std::string completion_script(const std::string& shell, std::span<const Manual> manuals) {
  const std::vector<CompletedCommand> commands = completed_commands(manuals);
  if (shell == "bash") return bash_script(commands);
  if (shell == "zsh") return zsh_script(commands);
  if (shell == "fish") return fish_script(commands);
  throw std::runtime_error("no completion is known for the shell " + shell);
}

}  // namespace glinpack::app
