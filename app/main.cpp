// glinpack: dispatches to its subcommands.
#include <iostream>
#include <string>
#include <vector>

#include "app/ceilings_command.hpp"
#include "app/ceilings_options.hpp"
#include "app/command_line.hpp"
#include "app/devices_command.hpp"
#include "app/input/input_error.hpp"
#include "app/input/nearest_name.hpp"
#include "app/input/values.hpp"
#include "app/modes/modes.hpp"
#include "app/mpi_command.hpp"
#include "app/network_command.hpp"
#include "app/network_options.hpp"
#include "app/options.hpp"
#include "app/plu_command.hpp"
#include "app/reexecution.hpp"
#include "app/tune_command.hpp"
#include "global/communication.hpp"
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

int plu(int argc, char** argv, const std::vector<std::string>& arguments) {
  if (asks_for_help(arguments)) return print(plu_help());
  execute_again_with_better_kernels(argv);
  return run_plu_command(argc, argv, reexecution_notes());
}

int network(int argc, char** argv, const std::vector<std::string>& arguments) {
  return asks_for_help(arguments) ? print(network_help()) : run_network_command(argc, argv);
}

int devices(const std::vector<std::string>& arguments) {
  if (asks_for_help(arguments)) return print(devices_help());
  const DevicesOptions options = parse_devices_options(arguments);
  return launcher_rank() == 0 ? run_devices_command(options.json, std::cout) : 0;
}

int ceilings(int argc, char** argv, const std::vector<std::string>& arguments) {
  if (asks_for_help(arguments)) return print(ceilings_help());
  const CeilingsOptions options = parse_ceilings_options(arguments);
  execute_again_with_better_kernels(argv);
  if (launcher_rank() != 0) return 0;
  run_ceilings_command(options, {argv, argv + argc}, reexecution_notes(), std::cout);
  return 0;
}

int tune(int argc, char** argv, const std::vector<std::string>& arguments) {
  if (asks_for_help(arguments)) return print(tune_help());
  const TuneOptions options = parse_tune_options(arguments);
  if (launcher_rank() == 0) run_tune_command(options, {argv, argv + argc}, std::cout);
  return 0;
}

int run_mode(const Mode& mode, int argc, char** argv, const std::vector<std::string>& arguments) {
  if (asks_for_help(arguments)) return print(mode.help());
  execute_again_with_better_kernels(argv);
  if (mode.over_ranks) {
    return run_under_mpi(argc, argv, [&](const MpiSession& session, const auto&, const ReportContext&) {
      return mode.run({{argv, argv + argc}, arguments, reexecution_notes(), &session});
    });
  }
  if (launcher_rank() != 0) return 0;
  return mode.run({{argv, argv + argc}, arguments, reexecution_notes()});
}

int run_command(int argc, char** argv) {
  if (argc < 2) return print(program_help(), std::cerr, exit_unusable_input);
  const std::string command = argv[1];
  const std::vector<std::string> arguments(argv + 2, argv + argc);
  if (command == "plu") return plu(argc, argv, arguments);
  if (command == "network") return network(argc, argv, arguments);
  if (command == "devices") return devices(arguments);
  if (command == "ceilings") return ceilings(argc, argv, arguments);
  if (command == "tune") return tune(argc, argv, arguments);
  if (asks_for_help({command}) || command == "help") return print(program_help());
  if (command == "--version") return print(std::string("glinpack ") + version + " (" + git_commit + ")\n");
  for (const Mode& mode : standalone_modes()) {
    if (command == mode.name) return run_mode(mode, argc, argv, arguments);
  }
  std::vector<std::string> commands{"plu", "network", "devices", "ceilings", "tune"};
  for (const Mode& mode : standalone_modes()) commands.emplace_back(mode.name);
  const std::string names = enumerate(commands);
  commands.insert(commands.end(), {"--help", "--version"});
  throw InputError("unknown subcommand " + in_quotes(command) + did_you_mean(command, commands) + "; there are " +
                   names + ": see glinpack --help");
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
