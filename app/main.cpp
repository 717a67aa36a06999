// glinpack: dispatches to its subcommands. The algorithm is in src/global/lu/factorize.cpp; docs/algorithm.md (section 11)
// says where everything else is.
#include <iostream>
#include <string>
#include <vector>

#include "app/command_line.hpp"
#include "app/input/input_error.hpp"
#include "app/input/nearest_name.hpp"
#include "app/input/values.hpp"
#include "app/modes/modes.hpp"
#include "app/mpi_command.hpp"
#include "app/reexecution.hpp"
#include "app/subcommands.hpp"
#include "mpi/session.hpp"
#include "version.hpp"

using namespace glinpack;
using namespace glinpack::app;

namespace {

constexpr int exit_unusable_input = 2;
constexpr int exit_error = 3;

// Under a launcher every process comes here: one of them prints.
int print(const std::string& text, std::ostream& out = std::cout, int exit_code = 0) {
  if (launcher_rank() == 0 && !(out << text << std::flush)) return exit_error;
  return exit_code;
}

int run_mode(const Mode& mode, int argc, char** argv, const std::vector<std::string>& arguments) {
  execute_again_with_better_kernels(argv);
  if (mode.over_ranks) {
    return run_under_mpi(argc, argv, [&](const MpiSession& session, const auto&, const ReportContext&) {
      return mode.run({{argv, argv + argc}, arguments, reexecution_notes(), &session});
    });
  }
  if (launcher_rank() != 0) return 0;
  return mode.run({{argv, argv + argc}, arguments, reexecution_notes()});
}

[[noreturn]] void refuse(const std::string& command) {
  std::vector<std::string> commands;
  for (const Subcommand& subcommand : subcommands()) commands.emplace_back(subcommand.name);
  for (const Mode& mode : standalone_modes()) commands.emplace_back(mode.name);
  const std::string names = enumerate(commands);
  commands.insert(commands.end(), {"--help", "--version"});
  throw InputError("unknown subcommand " + in_quotes(command) + did_you_mean(command, commands) + "; there are " +
                   names + ": see glinpack --help");
}

int run_command(int argc, char** argv) {
  if (argc < 2) return print(program_help(), std::cerr, exit_unusable_input);
  const std::string command = argv[1];
  const std::vector<std::string> arguments(argv + 2, argv + argc);
  if (asks_for_help({command}) || command == "help") return print(program_help());
  if (command == "--version") return print(std::string("glinpack ") + version + " (" + git_commit + ")\n");
  for (const Subcommand& subcommand : subcommands()) {
    if (command != subcommand.name) continue;
    return asks_for_help(arguments) ? print(subcommand.help()) : subcommand.run({argc, argv, arguments});
  }
  for (const Mode& mode : standalone_modes()) {
    if (command != mode.name) continue;
    return asks_for_help(arguments) ? print(mode.help()) : run_mode(mode, argc, argv, arguments);
  }
  refuse(command);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run_command(argc, argv);
  } catch (const InputError& error) {
    return print("glinpack: " + std::string(error.what()) + "\n", std::cerr, exit_unusable_input);
  } catch (const std::exception& error) {
    return print("glinpack: " + std::string(error.what()) + "\n", std::cerr, exit_error);
  }
}
