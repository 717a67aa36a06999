#include "app/commands.hpp"

#include <array>
#include <concepts>
#include <iostream>

#include "app/devices/devices_command.hpp"
#include "app/devices/peaks_command.hpp"
#include "app/doctor/doctor_command.hpp"
#include "app/manual/completion.hpp"
#include "app/manual/pages.hpp"
#include "app/network/network_command.hpp"
#include "app/options/plu_options.hpp"
#include "app/plan/planning_command.hpp"
#include "app/plu/plu_command.hpp"
#include "app/program/reexecution.hpp"
#include "app/report/compare_command.hpp"
#include "app/report/report_command.hpp"
#include "app/slurm/slurm_command.hpp"
#include "app/tune/tune_command.hpp"
#include "mpi/session.hpp"

namespace glinpack::app {

namespace {

std::vector<std::string> quick_checks(const MpiSession& session, const PluOptions& options, const Machine& machine) {
  return doctor::notes_before_run(
      session, {.backend = options.backend, .device = options.device, .threads = machine.options.threads},
      machine.devices);
}

int run_plu(const Invocation& invocation) {
  execute_again_with_better_kernels(invocation.argv);
  return run_plu_command(invocation.argc, invocation.argv, reexecution_notes(), quick_checks);
}

int run_network(const Invocation& invocation) { return run_network_command(invocation.argc, invocation.argv); }

int run_doctor(const Invocation& invocation) {
  execute_again_with_better_kernels(invocation.argv);
  return doctor::run_doctor_command(invocation.argc, invocation.argv);
}

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

}  // namespace

const Program& glinpack_program() {
  static constexpr std::array commands{
      Command{"plu", "Factorise and solve on a grid of processes, as HPL does", benchmark, table_of<plu_table>,
              run_plu},
      Command{"network", "Time the messages of a factorisation; find slow links", benchmark, table_of<network_table>,
              run_network},
      Command{"devices", "List the devices of this machine", tools, table_of<devices_table>,
              tool<parse_table<devices_table>, run_devices_command>},
      Command{"doctor", "Check ranks, nodes, devices, drivers and network", tools, table_of<doctor::doctor_table>,
              run_doctor},
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
      .summary = "an HPL-class LU benchmark for clusters of GPUs that speak OpenGL",
      .description =
          "LU benchmark (HPL) for clusters of GPUs with OpenGL, and of processors. One MPI process per "
          "GPU: mpirun -np P*Q glinpack plu [OPTIONS]",
      .examples =
          "glinpack plu --help\n"
          "mpirun -np 4 glinpack plu --config configs/quickstart.toml\n"
          "mpirun -np 4 glinpack plu --hpl-dat HPL.dat --backend openblas\n"
          "mpirun -np 4 glinpack network --n 2048 --nb 256 --grid 2x2\n"
          "glinpack devices",
      .options_page = "docs/options.md",
      .commands = commands,
      .elsewhere = papers,
      .other_program = "glinpack-papers"};
  return program;
}

}  // namespace glinpack::app
