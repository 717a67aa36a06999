#include "app/commands.hpp"

#include <array>
#include <concepts>
#include <iostream>

#include "app/compare/compare_command.hpp"
#include "app/devices/ceilings_command.hpp"
#include "app/devices/devices_command.hpp"
#include "app/doctor/doctor_command.hpp"
#include "app/manual/completion.hpp"
#include "app/manual/pages.hpp"
#include "app/network/network_command.hpp"
#include "app/papers/background.hpp"
#include "app/papers/banded.hpp"
#include "app/papers/elimination.hpp"
#include "app/papers/lu_methods.hpp"
#include "app/papers/matmul.hpp"
#include "app/papers/paranoia.hpp"
#include "app/papers/poisson.hpp"
#include "app/papers/tridiagonal.hpp"
#include "app/plan/planning_command.hpp"
#include "app/plu/plu_command.hpp"
#include "app/plu/plu_options.hpp"
#include "app/program/mpi_command.hpp"
#include "app/program/reexecution.hpp"
#include "app/program/watchdog_option.hpp"
#include "app/report/report_command.hpp"
#include "app/slurm/slurm_command.hpp"
#include "app/tune/tune_command.hpp"
#include "mpi/session.hpp"
#include "version.hpp"

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
      return run_command(options, command_line(invocation), std::cout);
    }
  };
  if constexpr (std::same_as<decltype(run_it()), int>) {
    return run_it();
  } else {
    run_it();
    return 0;
  }
}

// A solver in one process, the launcher's first.
template <int (*run)(const ModeInvocation&)>
int on_first_rank(const Invocation& invocation) {
  execute_again_with_better_kernels(invocation.argv);
  if (launcher_rank() != 0) return 0;
  return run({command_line(invocation), invocation.arguments, reexecution_notes()});
}

// A solver on all ranks.
template <auto table, int (*run)(const ModeInvocation&)>
int on_all_ranks(const Invocation& invocation) {
  execute_again_with_better_kernels(invocation.argv);
  return run_under_mpi(invocation.argc, invocation.argv, watchdog_limit<table>,
                       [&](const MpiSession& session, const auto&, const auto&) {
                         return run({command_line(invocation), invocation.arguments, reexecution_notes(), &session});
                       });
}

const char* heading_of(Command::Group group) {
  switch (group) {
    case Command::Group::benchmark:
      return "Benchmark";
    case Command::Group::tools:
      return "Tools";
    case Command::Group::solvers:
      return "Solvers of the papers";
  }
  return "";
}

}  // namespace

std::span<const Command> commands() {
  using Group = Command::Group;
  static constexpr std::array all{
      Command{"plu", "Factorise and solve on a grid of processes, as HPL does", Group::benchmark, table_of<plu_table>,
              run_plu},
      Command{"network", "Time the messages of a factorisation; find slow links", Group::benchmark,
              table_of<network_table>, run_network},
      Command{"devices", "List the EGL devices of this machine", Group::tools, table_of<devices_table>,
              tool<parse_table<devices_table>, run_devices_command>},
      Command{"doctor", "Check ranks, nodes, devices, drivers and network", Group::tools,
              table_of<doctor::doctor_table>, run_doctor},
      Command{"ceilings", "Measure the peak rates of a device and of the host", Group::tools, table_of<ceilings_table>,
              run_ceilings},
      Command{"tune", "Choose the fastest tile of gl-compute's trailing update", Group::tools, table_of<tune_table>,
              tool<parse_table<tune_table>, run_tune_command>},
      Command{"plan", "Predict N, NB, grid, time and GFLOPS of a run on a cluster", Group::tools,
              table_of<planning_table>, tool<parse_planning_options, run_planning_command>},
      Command{"slurm", "Write a Slurm batch script that runs plu", Group::tools, table_of<slurm_table>,
              tool<parse_slurm_options, run_slurm_command>},
      Command{"report", "Write an HTML page with tables and charts of results", Group::tools, table_of<report_table>,
              tool<parse_report_options, run_report_command>},
      Command{"compare", "Compare the runs of two result files", Group::tools, table_of<compare_table>,
              tool<parse_compare_options, run_compare_command>},
      Command{"man-pages", "Write the man pages", Group::tools, table_of<man_pages_table>,
              tool<parse_man_pages_options, run_man_pages_command>},
      Command{"completion", "Print the script with which a shell completes options", Group::tools,
              table_of<completion_table>, tool<parse_table<completion_table>, run_completion_command>},
      Command{"matmul", "Matrix products on fragment and compute shaders", Group::solvers, table_of<matmul_table>,
              on_first_rank<run_matmul>},
      Command{"banded", "Banded matrix times vector, with diagonals as textures", Group::solvers,
              table_of<banded_table>, on_first_rank<run_banded>},
      Command{"gauss-jordan", "Solve or invert by Gauss-Jordan elimination, 2x2 packed", Group::solvers,
              table_of<gauss_jordan_table>, on_first_rank<run_gauss_jordan>},
      Command{"plu-packed", "P A = L U in one texture, two rows a step", Group::solvers, table_of<plu_packed_table>,
              on_first_rank<run_plu_packed>},
      Command{"lu-methods", "A = L U by four ways of drawing, with operation counts", Group::solvers,
              table_of<lu_methods_table>, on_first_rank<run_lu_methods>},
      Command{"tridiagonal", "Many tridiagonal systems at once", Group::solvers, table_of<tridiagonal_table>,
              on_first_rank<run_tridiagonal>},
      Command{"poisson", "The Poisson equation by conjugate gradients; runs with MPI", Group::solvers,
              table_of<poisson_table>, on_all_ranks<poisson_table, run_poisson>},
      Command{"background", "Systems shared by processor and device", Group::solvers, table_of<background_table>,
              on_first_rank<run_background>},
      Command{"paranoia", "Rounding errors of a device's arithmetic, and of its LU", Group::solvers,
              table_of<paranoia_table>, on_first_rank<run_paranoia>},
  };
  return all;
}

OptionTable program_table() {
  const FieldValue version_flag = flag([] {}, [] { return false; });
  std::vector<WordList> lists;
  for (const Command& command : commands()) {
    if (lists.empty() || lists.back().heading != heading_of(command.group)) {
      lists.push_back({heading_of(command.group), {}});
    }
    lists.back().words.emplace_back(command.name, command.summary);
  }
  lists.push_back(
      {"Environment",
       {{"EGL_VISIBLE_DEVICES", "EGL devices to use, in this order: 0,2"},
        {"GLINPACK_LOG", "Level of messages without --log-level: trace, debug, info, warn, error, off"},
        {"GLINPACK_OVERSUBSCRIBED",
         "If set, waiting processes yield the processor. Needed only in containers that hide that processes share "
         "cores"},
        {"OPENBLAS_CORETYPE",
         "Kernels of OpenBLAS. If unset, and OpenBLAS chose kernels for an older processor, glinpack sets it and "
         "executes itself again; the report says so"},
        {"OPENBLAS_NUM_THREADS, OMP_NUM_THREADS",
         "Host threads of each process without --threads; the first that is set"},
        {"LP_NUM_THREADS",
         "Threads of Mesa's software renderer in each process. 0: no extra threads, best if there are more processes "
         "than cores"},
        {"XDG_CACHE_HOME",
         "Cache folder; its subfolder glinpack holds linked shader programs and the choices of tune and matmul --tune "
         "[default: ~/.cache]"}}});
  lists.push_back({"Files",
                   {{"PREFIX/share/glinpack/configs", "Configurations for --config"},
                    {"PREFIX/share/glinpack/shaders", "The built-in shaders, to copy for --shader-dir"},
                    {"PREFIX/share/glinpack/slurm", "Batch scripts"},
                    {"PREFIX/share/doc/glinpack", "Documents and the schemas of all JSON files"}}});
  return {.command = "",
          .description =
              "LU benchmark (HPL) for clusters of GPUs with OpenGL, and of processors. One MPI process per "
              "GPU: mpirun -np P*Q glinpack plu [OPTIONS]",
          .footer = {.examples = "glinpack plu --help\n"
                                 "mpirun -np 4 glinpack plu --config configs/quickstart.toml\n"
                                 "mpirun -np 4 glinpack plu --hpl-dat HPL.dat --backend openblas\n"
                                 "mpirun -np 4 glinpack network --n 2048 --nb 256 --grid 2x2\n"
                                 "glinpack devices\n"
                                 "glinpack matmul --variant multi-pass --packing 2x2 --n 64,100,257\n"
                                 "mpirun -np 4 glinpack poisson --n 256",
                     .notes = {"`glinpack SUBCOMMAND --help` or `glinpack help SUBCOMMAND` prints the options of a "
                               "subcommand.",
                               "Without a launcher, glinpack is one process. Use the launcher of the MPI library that "
                               "glinpack was built with: mpirun.mpich if Open MPI is installed, too; srun --mpi=pmi2 "
                               "with Slurm."},
                     .exit_codes = {{0, "all runs and checks passed"},
                                    {1, "a run or check failed"},
                                    {2, "unusable input"},
                                    {3, "an error while running"},
                                    {4, "ended by a signal, after a report"},
                                    {5, "ended by --watchdog"}}},
          .groups = {{"", {{"version", version_flag, "Print version and commit"}}}},
          .word_lists = lists};
}

}  // namespace glinpack::app
