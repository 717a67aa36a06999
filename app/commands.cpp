#include "app/commands.hpp"

#include <fcntl.h>
#include <signal.h>
#include <spdlog/fmt/fmt.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <concepts>
#include <csignal>
#include <iostream>

#include "app/devices/devices_command.hpp"
#include "app/devices/peaks_command.hpp"
#include "app/doctor/doctor_command.hpp"
#include "app/input/input_error.hpp"
#include "app/input/values.hpp"
#include "app/manual/completion.hpp"
#include "app/manual/pages.hpp"
#include "app/network/network_command.hpp"
#include "app/options/plu_options.hpp"
#include "app/plan/planning_command.hpp"
#include "app/plu/plu_command.hpp"
#include "app/program/log.hpp"
#include "app/program/outputs.hpp"
#include "app/program/program_context.hpp"
#include "app/report/compare_command.hpp"
#include "app/report/report_command.hpp"
#include "app/slurm/slurm_command.hpp"
#include "app/tune/tune_command.hpp"
#include "mpi/session.hpp"
#include "version.hpp"

namespace glinpack::app {

namespace {

int run_plu(const Invocation& invocation) { return run_plu_command(invocation, doctor::notes_before_run); }

int run_peaks(const Invocation& invocation) {
  const PeaksOptions options = parse_peaks_options(invocation.arguments);
  execute_again_with_better_kernels(invocation.argv);
  if (launcher_rank() == 0) {
    run_peaks_command(options, invocation.command_line(), reexecution_notes(), std::cout);
  }
  return 0;
}

template <auto table>
auto parse_table(const Texts& arguments) {
  return parse(arguments, table).options;
}

// A tool in one process, the launcher's first; every process checks the options.
template <auto parse_options, auto run_command>
int tool(const Invocation& invocation) {
  const auto options = parse_options(invocation.arguments);
  if (launcher_rank() != 0) return 0;
  const auto run_it = [&] {
    if constexpr (std::invocable<decltype(run_command), decltype(options), std::ostream&>) {
      return run_command(options, std::cout);
    } else {
      return run_command(options, invocation.command_line(), std::cout);
    }
  };
  if constexpr (std::same_as<decltype(run_it()), int>) {
    return run_it();
  } else {
    run_it();
    return 0;
  }
}

constexpr const char* benchmark = "Benchmark";
constexpr const char* tools = "Tools";

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

int run(const Command& command, const Invocation& invocation) {
  const auto& arguments = invocation.arguments;
  const bool help = std::ranges::any_of(arguments, [](const auto& one) { return one == "-h" || one == "--help"; });
  return help ? print(help_of(command.table())) : command.run(invocation);
}

[[noreturn]] void refuse(const std::string& argument, const Program& program) {
  std::vector<std::string> names{"help", "--help", "--version"};
  for (const Command& command : program.commands) names.emplace_back(command.name);
  const auto& elsewhere = program.elsewhere;
  if (std::ranges::find(elsewhere, argument) != elsewhere.end()) {
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
  parser.set_version_flag("--version", fmt::format("{} {} ({})", program.name, version, git_commit));
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

const Program& glinpack_program() {
  static constexpr std::array commands{
      Command{"plu", "Factorise and solve on a grid of processes, as HPL does", benchmark, table_of<plu_table>,
              run_plu},
      Command{"network", "Time the messages of a factorisation; find slow links", benchmark, table_of<network_table>,
              run_network_command},
      Command{"devices", "List the devices of this machine", tools, table_of<devices_table>,
              tool<parse_table<devices_table>, run_devices_command>},
      Command{"doctor", "Check ranks, nodes, devices, drivers and network", tools, table_of<doctor::doctor_table>,
              doctor::run_doctor_command},
      Command{"peaks", "Measure the peak rates of a device and of the host", tools, table_of<peaks_table>, run_peaks},
      Command{"tune", "Choose the fastest tile of the trailing update", tools, table_of<tune_table>,
              tool<parse_table<tune_table>, run_tune_command>},
      Command{"plan", "Predict N, NB, grid, time and GFLOPS of a run on a cluster", tools, table_of<planning_table>,
              tool<parse_planning_options, run_planning_command>},
      Command{"slurm", "Write a Slurm batch script that runs plu", tools, table_of<slurm_table>,
              tool<parse_slurm_options, run_slurm_command>},
      Command{"report", "Write an HTML page with tables and charts of results", tools, table_of<report_table>,
              tool<parse_report_options, run_report_command>},
      Command{"compare", "Compare the runs of two result files", tools, table_of<compare_table>,
              tool<parse_compare_options, run_compare_command>},
      man_pages_command<glinpack_program>(tools),
      completion_command<glinpack_program>(tools),
  };
  static constexpr std::array papers{"matmul",      "banded",  "gauss-jordan", "plu-packed", "lu-methods",
                                     "tridiagonal", "poisson", "background",   "paranoia"};
  static constexpr Program program{
      .name = "glinpack",
      .summary = "an HPL-class LU benchmark for clusters of GPUs that speak OpenGL or Vulkan",
      .description =
          "LU benchmark (HPL) for clusters of GPUs with OpenGL or Vulkan, and of processors. One MPI process per GPU: "
          "mpirun -np P*Q glinpack plu [OPTIONS]",
      .examples =
          "mpirun -np 4 glinpack plu --hpl-dat HPL.dat\n"
          "mpirun -np 4 glinpack plu --n auto --nb auto --grid auto --json a.json\n"
          "glinpack devices\n"
          "mpirun -np 4 glinpack doctor\n"
          "glinpack plan --nodes 16 --gpus-per-node 4 --memory 80G --network 100Gb/s\n"
          "glinpack compare a.json b.json",
      .options_page = "docs/options.md",
      .commands = commands,
      .elsewhere = papers,
      .other_program = "glinpack-papers"};
  return program;
}

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
