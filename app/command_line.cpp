#include "app/command_line.hpp"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <iostream>

#include "app/input/input_error.hpp"
#include "app/input/nearest_name.hpp"
#include "app/input/values.hpp"
#include "app/manual/pages.hpp"
#include "app/program/log.hpp"
#include "app/program/outputs.hpp"
#include "mpi/session.hpp"
#include "version.hpp"

namespace glinpack::app {

namespace {

// MPICH's UCX takes SIGHUP when it is loaded, and answers it by debug lines on stdout. What the shell or nohup asked
// for is known only before libraries are initialised.
struct sigaction hangup_at_start {};

// If stdout is closed, the next file or pipe that a library opens has its number. /dev/null, opened for reading only,
// takes it instead: writing the report still fails.
void occupy_closed_descriptors() {
  for (const int standard : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(standard, F_GETFD) < 0) open("/dev/null", O_RDONLY);
  }
}

void prepare_process(int, char**, char**) {
  sigaction(SIGHUP, nullptr, &hangup_at_start);
  occupy_closed_descriptors();
}
[[gnu::section(".preinit_array"), gnu::used]] void (*before_libraries)(int, char**, char**) = prepare_process;

constexpr int exit_unusable_input = 2;
constexpr int exit_error = 3;

// One of the processes that a launcher has started prints.
int print(const std::string& text, std::ostream& out = std::cout, int exit_code = 0) {
  if (launcher_rank() != 0 || is_printed(out, text)) return exit_code;
  std::cerr << "glinpack: the text cannot be written to standard output\n";
  return exit_error;
}

int print_error(const std::exception& error, int exit_code) {
  return print("glinpack: " + without_controls(error.what()) + "\n", std::cerr, exit_code);
}

bool asks_for_help(const std::string& argument) { return argument == "-h" || argument == "--help"; }

int run(const Command& command, const Invocation& invocation) {
  const auto& arguments = invocation.arguments;
  const bool help = std::any_of(arguments.begin(), arguments.end(), asks_for_help);
  return help ? print(help_of(command.table())) : command.run(invocation);
}

[[noreturn]] void refuse(const std::string& argument, const Program& program) {
  std::vector<std::string> names{"help", "--help", "--version"};
  for (const Command& command : program.commands) names.emplace_back(command.name);
  const auto& elsewhere = program.elsewhere;
  if (std::find(elsewhere.begin(), elsewhere.end(), argument) != elsewhere.end()) {
    const std::string other = program.other_program;
    throw InputError("the subcommand " + argument + " is in " + other + "; see " + other + " " + argument + " --help");
  }
  const bool is_hpl = argument == "xhpl" || argument == "hpl";
  throw InputError("unknown subcommand " + in_quotes(argument) + did_you_mean(is_hpl ? "plu" : argument, names) +
                   (argument.starts_with('-') ? "; options come after a subcommand" : "") + "; " + program.name +
                   " --help lists all");
}

int run_subcommand(const Program& program, int argc, char** argv) {
  start_log();
  std::vector<std::string> arguments(argv + 1, argv + argc);
  if (arguments.size() > 1 && arguments.front() == "help") arguments = {arguments[1], "--help"};
  const std::string help = help_of(program_table(program));
  if (arguments.empty()) return print(help, std::cerr, exit_unusable_input);
  if (arguments.front() == "help") return print(help);

  CLI::App parser;
  parser.set_version_flag("--version", std::string(program.name) + " " + version + " (" + git_commit + ")");
  int exit_code = 0;
  for (const Command& command : program.commands) {
    parser.add_subcommand(command.name)->callback([&] {
      exit_code = run(command, {argc, argv, {arguments.begin() + 1, arguments.end()}});
    });
  }
  try {
    parser.parse(std::vector<std::string>{arguments.front()});
  } catch (const CLI::CallForHelp&) {
    return print(help);
  } catch (const CLI::CallForVersion& text) {
    return print(std::string(text.what()) + "\n");
  } catch (const CLI::ParseError&) {
    refuse(arguments.front(), program);
  }
  return exit_code;
}

}  // namespace

int run_program(const Program& program, int argc, char** argv) {
  sigaction(SIGHUP, &hangup_at_start, nullptr);
  std::signal(SIGPIPE, SIG_IGN);  // a report without a reader must not cost the result files
  std::signal(SIGXFSZ, SIG_IGN);  // nor a file that may not grow (ulimit -f) the run
  try {
    return run_subcommand(program, argc, argv);
  } catch (const InputError& error) {
    return print_error(error, exit_unusable_input);
  } catch (const LauncherError& error) {
    return print_error(error, exit_unusable_input);
  } catch (const std::exception& error) {
    return print_error(error, exit_error);
  }
}

}  // namespace glinpack::app
