#include "app/modes/modes.hpp"

#include <array>

#include "app/modes/banded_command.hpp"
#include "app/modes/matmul_command.hpp"

namespace glinpack::app {

std::span<const Mode> standalone_modes() {
  static constexpr std::array modes{
      Mode{"matmul", "Multiply matrices on fragment and compute shaders, beside OpenBLAS", matmul_help, run_matmul},
      Mode{"banded", "Multiply a matrix of few diagonals by a vector, its diagonals being textures", banded_help,
           run_banded},
  };
  return modes;
}

}  // namespace glinpack::app
