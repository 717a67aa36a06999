#include "app/modes/modes.hpp"

#include <array>

#include "app/modes/background_command.hpp"
#include "app/modes/banded_command.hpp"
#include "app/modes/gauss_jordan_command.hpp"
#include "app/modes/lu_methods_command.hpp"
#include "app/modes/matmul_command.hpp"
#include "app/modes/paranoia_command.hpp"
#include "app/modes/plu_packed_command.hpp"
#include "app/modes/poisson_command.hpp"
#include "app/modes/tridiagonal_command.hpp"

namespace glinpack::app {

std::span<const Mode> standalone_modes() {
  static constexpr std::array modes{
      Mode{"matmul", "Multiply matrices on fragment and compute shaders, beside OpenBLAS", help_of<matmul_table>,
           run_matmul},
      Mode{"banded", "Multiply a matrix of few diagonals by a vector, its diagonals being textures",
           help_of<banded_table>, run_banded},
      Mode{"gauss-jordan", "Solve or invert by Gauss-Jordan elimination, two rows and columns a step, beside LAPACK",
           help_of<gauss_jordan_table>, run_gauss_jordan},
      Mode{"plu-packed", "Factorise P A = L U into one texture, two rows a step, and solve, beside LAPACK",
           help_of<plu_packed_table>, run_plu_packed},
      Mode{"lu-methods", "Factorise A = L U by four ways of drawing, with copies and without, and count what each does",
           help_of<lu_methods_table>, run_lu_methods},
      Mode{"tridiagonal", "Solve many tridiagonal systems side by side, beside LAPACK", help_of<tridiagonal_table>,
           run_tridiagonal},
      Mode{"poisson", "Solve the Poisson equation by conjugate gradients, by each kind of memory of a device",
           help_of<poisson_table>, run_poisson, true},
      Mode{"background", "Split systems between the processor and a device that works in the background",
           help_of<background_table>, run_background},
      Mode{"paranoia", "Measure the errors of arithmetic, and of LU, on a device and on the processor",
           help_of<paranoia_table>, run_paranoia},
  };
  return modes;
}

}  // namespace glinpack::app
