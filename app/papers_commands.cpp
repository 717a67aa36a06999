#include <array>

#include "app/commands.hpp"
#include "app/manual/completion.hpp"
#include "app/manual/pages.hpp"
#include "app/papers/paranoia.hpp"
#include "app/papers/poisson.hpp"
#include "app/papers/studies.hpp"
#include "app/program/log.hpp"
#include "app/program/mpi_command.hpp"
#include "app/program/program_context.hpp"
#include "mpi/session.hpp"

namespace glinpack::app {

namespace {

// A study in one process, the launcher's first.
template <auto parse, auto table, auto study>
int on_first_rank(const Invocation& invocation) {
  execute_again_with_better_kernels(invocation.argv);
  if (launcher_rank() != 0) return 0;
  return run_study(study, parse(invocation.arguments), table, invocation);
}

int run_poisson_on_all_ranks(const Invocation& invocation) {
  execute_again_with_better_kernels(invocation.argv);
  return run_under_mpi(invocation, watchdog_limit<poisson_table>,
                       [&](const MpiSession& session, const auto&...) { return run_poisson(invocation, session); });
}

constexpr const char* solvers_heading = "Solvers of the papers";
constexpr const char* tools_heading = "Tools";

}  // namespace

const Program& papers_program() {
  static constexpr std::array commands{
      Command{"matmul", "Matrix products on fragment and compute shaders", solvers_heading, table_of<matmul_table>,
              on_first_rank<parse_matmul_options, matmul_table, matmul_study>},
      Command{"banded", "Banded matrix times vector, with diagonals as textures", solvers_heading,
              table_of<banded_table>, on_first_rank<parse_banded_options, banded_table, banded_study>},
      Command{"gauss-jordan", "Solve or invert by Gauss-Jordan elimination, 2x2 packed", solvers_heading,
              table_of<gauss_jordan_table>,
              on_first_rank<parse_gauss_jordan_options, gauss_jordan_table, gauss_jordan_study>},
      Command{"plu-packed", "P A = L U in one texture, two rows a step", solvers_heading, table_of<plu_packed_table>,
              on_first_rank<parse_plu_packed_options, plu_packed_table, plu_packed_study>},
      Command{"lu-methods", "A = L U by four ways of drawing, with operation counts", solvers_heading,
              table_of<lu_methods_table>, on_first_rank<parse_lu_methods_options, lu_methods_table, lu_methods_study>},
      Command{"tridiagonal", "Many tridiagonal systems at once", solvers_heading, table_of<tridiagonal_table>,
              on_first_rank<parse_tridiagonal_options, tridiagonal_table, tridiagonal_study>},
      Command{"poisson", "The Poisson equation by conjugate gradients; runs with MPI", solvers_heading,
              table_of<poisson_table>, run_poisson_on_all_ranks},
      Command{"background", "Systems shared by processor and device", solvers_heading, table_of<background_table>,
              on_first_rank<parse_background_options, background_table, background_study>},
      Command{"paranoia", "Rounding errors of a device's arithmetic, and of its LU", solvers_heading,
              table_of<paranoia_table>, on_first_rank<parse_paranoia_options, paranoia_table, paranoia_study>},
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
