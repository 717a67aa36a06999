#include "app/manual/completion.hpp"

#include <spdlog/fmt/fmt.h>

#include <regex>

namespace glinpack::app {

namespace {

// @program@ and @function@ are replaced.
constexpr const char* script =
    R"BASH(# Written by @program@ completion: options and values are those of @program@ SUBCOMMAND --help.

# bash takes "--grid=2x2" apart at "=": the option, "=", the value.
@function@() {
  local current=${COMP_WORDS[COMP_CWORD]} option=${COMP_WORDS[COMP_CWORD-1]} subcommand= help names= type word words= head= i
  for ((i = 1; i < COMP_CWORD; ++i)); do
    [[ ${COMP_WORDS[i]} == -* ]] || { subcommand=${COMP_WORDS[i]}; break; }
  done
  if [[ $current == = ]]; then
    current=
  elif [[ $option == = ]]; then
    option=${COMP_WORDS[COMP_CWORD-2]}
  fi
  [[ $subcommand == help ]] && names=yes subcommand=
  # a list of choices may continue in the next lines
  help=$("${COMP_WORDS[0]}" ${subcommand:+"$subcommand"} --help 2>/dev/null | sed -E ':a;/\|$/{N;s/\n +//;ba}')
  if [[ $option == -* ]]; then
    type=$(sed -nE "s/^  (-.,)?$option(,--[a-z-]+)? ([^ ]+).*/\3/p" <<<"$help")
  fi
  case $type in
    FILE*) compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -f -- "$current"); return ;;
    DIR*) compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -d -- "$current"); return ;;
    *\|*)
      if [[ $type == *,... ]]; then
        while [[ $current == *,* ]]; do
          head+=${current%%,*},
          current=${current#*,}
        done
      fi
      for word in ${type//[|,]/ }; do  # without placeholders, such as PxQ
        [[ $word == ... || ! ${word//[A-Zx-]/} ]] || words+=" $word"
      done
      mapfile -t COMPREPLY < <(compgen -P "$head" -W "$words" -- "$current"); return ;;
    ?*) COMPREPLY=(); return ;;
  esac
  if [[ ! $subcommand && $current != -* ]]; then
    words=$(sed -nE 's/^  ([a-z][a-z-]+)  +[A-Z].*/\1/p' <<<"$help")
    [[ $names ]] || words+=" help"
  elif [[ $current != -* ]] && grep -q '^  FILE ' <<<"$help"; then
    compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -f -- "$current"); return
  else
    words=$(sed -nE 's/^  (-.),(--[a-z-]+).*/\1 \2/p;s/^  (--[a-z-]+).*/\1/p' <<<"$help")
  fi
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
}
complete -F @function@ @program@

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

}  // namespace

std::string completion_script(const std::string& program) {
  const std::string function = "_" + std::regex_replace(program, std::regex("-"), "_");
  return std::regex_replace(std::regex_replace(script, std::regex("@function@"), function), std::regex("@program@"),
                            program);
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
