#include "app/command_line.hpp"

#include <algorithm>

#include "app/modes/modes.hpp"
#include "app/subcommands.hpp"

namespace glinpack::app {

namespace {

// a line for each of a list of subcommands
std::string lines_of(const auto& commands) {
  constexpr std::size_t name_width = 14;
  std::string lines;
  for (const auto& command : commands) {
    std::string name = command.name;
    name.resize(std::max(name_width, name.size() + 1), ' ');
    lines += "  " + name + command.summary + "\n";
  }
  return lines;
}

}  // namespace

bool asks_for_help(const std::vector<std::string>& arguments) {
  return std::any_of(arguments.begin(), arguments.end(),
                     [](const std::string& argument) { return argument == "-h" || argument == "--help"; });
}

std::string program_help() {
  return "glinpack: an HPL-class LU benchmark for clusters of GPUs that speak OpenGL. One process for each GPU: "
         "together\n"
         "they factorise a dense matrix on a grid of processes, solve, check as HPL does, and report GFLOPS and where "
         "the\n"
         "time went, network against compute.\n"
         "Usage: [mpirun -np P*Q] glinpack SUBCOMMAND [OPTIONS]\n"
         "\n"
         "Subcommands:\n" +
         lines_of(subcommands()) +
         "\n"
         "Solvers that run alone, in one process, each with its variants beside the processor's:\n" +
         lines_of(standalone_modes()) +
         "\n"
         "Options:\n"
         "  -h,--help   Print this help message and exit; after a subcommand: that one's\n"
         "  --version   Print version and commit\n"
         "\n"
         "Examples:\n"
         "  mpirun -np 4 glinpack plu --config configs/quickstart.toml\n"
         "  mpirun -np 4 glinpack plu --hpl-dat HPL.dat --backend openblas\n"
         "  mpirun -np 4 glinpack network --n 2048 --nb 256 --grid 2x2\n"
         "  glinpack devices\n"
         "  glinpack ceilings\n"
         "  glinpack matmul --variant multi-pass --packing 2x2 --n 64,100,257\n"
         "  mpirun -np 4 glinpack poisson --n 256\n"
         "\n"
         "Environment:\n"
         "  EGL_VISIBLE_DEVICES      Selects and orders EGL devices: 0,2\n"
         "  GLINPACK_OVERSUBSCRIBED  Where it is set, processes that wait for a message leave the processor to others, "
         "as\n"
         "                           they do by themselves where a node has fewer cores than processes; for nodes "
         "that\n"
         "                           share a processor without seeing it: containers, namespaces\n"
         "  OPENBLAS_CORETYPE        Kernels that OpenBLAS uses; where it is not set and OpenBLAS chose kernels below "
         "what\n"
         "                           the processor has, glinpack sets it and executes itself again, once, and the "
         "report\n"
         "                           says so\n"
         "  LP_NUM_THREADS           Threads of Mesa's software renderer in each process; 0: none but the process's "
         "own,\n"
         "                           as is best where processes outnumber cores\n"
         "  XDG_CACHE_HOME           Linked shader programs, and what tune and matmul --tune have chosen, are kept in "
         "its\n"
         "                           folder glinpack [~/.cache]\n"
         "\n"
         "Files:\n"
         "  PREFIX/share/glinpack/configs  Configurations for --config; PREFIX is /usr where a package installed "
         "glinpack\n"
         "  PREFIX/share/glinpack/shaders  The shaders that the program has built in; a changed copy is for "
         "--shader-dir\n"
         "  PREFIX/share/glinpack/slurm    Batch scripts\n"
         "  PREFIX/share/doc/glinpack      The documents, and the schemas of all JSON\n"
         "\n"
         "Started without a launcher, it is one process. The launcher must be the one of the MPI that glinpack was "
         "built\n"
         "with: mpirun.mpich where Open MPI is installed beside MPICH. Under Slurm, srun --mpi=pmi2 starts it, too.\n"
         "\n"
         "Exit code: 0 all runs and checks passed, or all was measured, 1 a run or a check failed, 2 unusable input,\n"
         "3 an error while running, 4 ended by a signal with a report of what was finished, 5 by the watchdog.\n";
}

}  // namespace glinpack::app
