#include "app/subcommands.hpp"

#include <array>
#include <iostream>

#include "app/ceilings_command.hpp"
#include "app/compare_command.hpp"
#include "app/devices_command.hpp"
#include "app/doctor/doctor_command.hpp"
#include "app/doctor/doctor_options.hpp"
#include "app/manual/manual_command.hpp"
#include "app/network_command.hpp"
#include "app/network_options.hpp"
#include "app/options.hpp"
#include "app/planning/planning_command.hpp"
#include "app/plu_command.hpp"
#include "app/reexecution.hpp"
#include "app/report_command.hpp"
#include "app/slurm/slurm_command.hpp"
#include "app/tune_command.hpp"
#include "app/variant_command.hpp"
#include "mpi/session.hpp"

namespace glinpack::app {

namespace {

std::vector<std::string> command_line(const Invocation& invocation) {
  return {invocation.argv, invocation.argv + invocation.argc};
}

int run_plu(const Invocation& invocation) {
  execute_again_with_better_kernels(invocation.argv);
  return run_plu_command(invocation.argc, invocation.argv, reexecution_notes());
}

int run_network(const Invocation& invocation) { return run_network_command(invocation.argc, invocation.argv); }

int run_devices(const Invocation& invocation) {
  const DevicesOptions options = parse(invocation.arguments, devices_table).options;
  return launcher_rank() == 0 ? run_devices_command(options, std::cout) : 0;
}

int run_doctor(const Invocation& invocation) {
  execute_again_with_better_kernels(invocation.argv);
  return doctor::run_doctor_command(invocation.argc, invocation.argv);
}

int run_ceilings(const Invocation& invocation) {
  const CeilingsOptions options = parse_ceilings_options(invocation.arguments);
  execute_again_with_better_kernels(invocation.argv);
  if (launcher_rank() == 0) {
    run_ceilings_command(options, command_line(invocation), reexecution_notes(), std::cout);
  }
  return 0;
}

int run_tune(const Invocation& invocation) {
  const TuneOptions options = parse(invocation.arguments, tune_table).options;
  if (launcher_rank() == 0) run_tune_command(options, command_line(invocation), std::cout);
  return 0;
}

int run_man_pages(const Invocation& invocation) {
  const ManPagesOptions options = parse_man_pages_options(invocation.arguments);
  if (launcher_rank() == 0) run_man_pages_command(options);
  return 0;
}

int run_completion(const Invocation& invocation) {
  const CompletionOptions options = parse(invocation.arguments, completion_table).options;
  if (launcher_rank() == 0) run_completion_command(options, std::cout);
  return 0;
}

int run_slurm(const Invocation& invocation) {
  const SlurmOptions options = parse_slurm_options(invocation.arguments);
  if (launcher_rank() == 0) run_slurm_command(options, command_line(invocation), std::cout);
  return 0;
}

int run_plan(const Invocation& invocation) {
  const PlanningOptions options = parse_planning_options(invocation.arguments);
  if (launcher_rank() == 0) run_planning_command(options, command_line(invocation), std::cout);
  return 0;
}

int run_report(const Invocation& invocation) {
  const ReportOptions options = parse_report_options(invocation.arguments);
  if (launcher_rank() == 0) run_report_command(options, std::cout);
  return 0;
}

int run_compare(const Invocation& invocation) {
  const CompareOptions options = parse_compare_options(invocation.arguments);
  return launcher_rank() == 0 ? run_compare_command(options, command_line(invocation), std::cout) : 0;
}

int run_variant(const Invocation& invocation) {
  const VariantOptions options = parse_variant_options(invocation.arguments);
  if (launcher_rank() == 0) run_variant_command(options, std::cout);
  return 0;
}

}  // namespace

std::span<const Subcommand> subcommands() {
  static constexpr std::array commands{
      Subcommand{"plu", "Factorise, solve and check dense systems on a grid of processes; report GFLOPS and the time",
                 help_of<plu_table>, run_plu},
      Subcommand{"network", "Send the messages of a factorisation alone, time them, and look for slow links",
                 help_of<network_table>, run_network},
      Subcommand{"devices", "List the EGL devices of this machine", help_of<devices_table>, run_devices},
      Subcommand{"doctor", "Look at ranks, nodes, devices, drivers and network for what is wrong, and name remedies",
                 help_of<doctor::doctor_table>, run_doctor},
      Subcommand{"ceilings", "Measure what a device and the host can do at most: copies, multiply-adds, gemm",
                 help_of<ceilings_table>, run_ceilings},
      Subcommand{"tune", "Choose the tile in which a device reduces fastest, for later runs of plu",
                 help_of<tune_table>, run_tune},
      Subcommand{"report", "Write one HTML page about results: tables, charts, timelines, comparisons",
                 help_of<report_table>, run_report},
      Subcommand{"compare", "Compare the runs of two result files: which is faster, and is that more than chance?",
                 help_of<compare_table>, run_compare},
      Subcommand{"variant", "Explain HPL's code of a variant, such as WR11C2R4", help_of<variant_table>, run_variant},
      Subcommand{"plan", "Plan a run on a cluster that need not exist: N, NB, grid, expected time and GFLOPS",
                 help_of<planning_table>, run_plan},
      Subcommand{"slurm", "Write a batch script for Slurm that runs plu, a process per GPU", help_of<slurm_table>,
                 run_slurm},
      Subcommand{"man-pages", "Write the man pages, made of these helps", help_of<man_pages_table>, run_man_pages},
      Subcommand{"completion", "Print the script with which a shell completes this command line",
                 help_of<completion_table>, run_completion},
  };
  return commands;
}

}  // namespace glinpack::app
