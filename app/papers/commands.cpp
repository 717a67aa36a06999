#include "app/commands.hpp"

#include <array>

#include "app/manual/completion.hpp"
#include "app/manual/pages.hpp"
#include "app/papers/background.hpp"
#include "app/papers/banded.hpp"
#include "app/papers/elimination.hpp"
#include "app/papers/lu_methods.hpp"
#include "app/papers/matmul.hpp"
#include "app/papers/paranoia.hpp"
#include "app/papers/poisson.hpp"
#include "app/papers/tridiagonal.hpp"
#include "app/program/launcher.hpp"
#include "app/program/mpi_command.hpp"
#include "app/program/reexecution.hpp"
#include "app/program/watchdog_option.hpp"
#include "mpi/session.hpp"

namespace glinpack::app {

namespace {

// A solver in one process, the launcher's first.
template <int (*run)(const ModeInvocation&)>
int on_first_rank(const Invocation& invocation) {
  execute_again_with_better_kernels(invocation.argv);
  if (launcher_rank() != 0) return 0;
  return run({invocation.command_line(), invocation.arguments, reexecution_notes()});
}

// A solver on all ranks.
template <auto table, int (*run)(const ModeInvocation&)>
int on_all_ranks(const Invocation& invocation) {
  execute_again_with_better_kernels(invocation.argv);
  return run_under_mpi(invocation.argc, invocation.argv, watchdog_limit<table>,
                       [&](const MpiSession& session, const auto&, const auto&) {
                         return run({invocation.command_line(), invocation.arguments, reexecution_notes(), &session});
                       });
}

constexpr const char* solvers_heading = "Solvers of the papers";
constexpr const char* tools_heading = "Tools";

}  // namespace

const Program& papers_program() {
  static constexpr std::array commands{
      Command{"matmul", "Matrix products on fragment and compute shaders", solvers_heading, table_of<matmul_table>,
              on_first_rank<run_matmul>},
      Command{"banded", "Banded matrix times vector, with diagonals as textures", solvers_heading,
              table_of<banded_table>, on_first_rank<run_banded>},
      Command{"gauss-jordan", "Solve or invert by Gauss-Jordan elimination, 2x2 packed", solvers_heading,
              table_of<gauss_jordan_table>, on_first_rank<run_gauss_jordan>},
      Command{"plu-packed", "P A = L U in one texture, two rows a step", solvers_heading, table_of<plu_packed_table>,
              on_first_rank<run_plu_packed>},
      Command{"lu-methods", "A = L U by four ways of drawing, with operation counts", solvers_heading,
              table_of<lu_methods_table>, on_first_rank<run_lu_methods>},
      Command{"tridiagonal", "Many tridiagonal systems at once", solvers_heading, table_of<tridiagonal_table>,
              on_first_rank<run_tridiagonal>},
      Command{"poisson", "The Poisson equation by conjugate gradients; runs with MPI", solvers_heading,
              table_of<poisson_table>, on_all_ranks<poisson_table, run_poisson>},
      Command{"background", "Systems shared by processor and device", solvers_heading, table_of<background_table>,
              on_first_rank<run_background>},
      Command{"paranoia", "Rounding errors of a device's arithmetic, and of its LU", solvers_heading,
              table_of<paranoia_table>, on_first_rank<run_paranoia>},
      man_pages_command<papers_program>(tools_heading),
      completion_command<papers_program>(tools_heading),
  };
  static constexpr Program program{
      .name = papers_name,
      .summary = "the solvers of five papers about linear algebra on GPUs, in OpenGL",
      .description =
          "Repeats the experiments of five papers about linear algebra on GPUs with OpenGL, each in one "
          "process, poisson also in several. docs/papers describes them.",
      .examples =
          "glinpack-papers matmul --variant multi-pass --packing 2x2 --n 64,100,257\n"
          "glinpack-papers gauss-jordan --n 100,256 --rhs 3\n"
          "mpirun -np 4 glinpack-papers poisson --n 256",
      .options_page = "docs/papers-options.md",
      .commands = commands};
  return program;
}

}  // namespace glinpack::app
