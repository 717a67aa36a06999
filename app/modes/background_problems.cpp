#include "app/modes/background_problems.hpp"

#include <array>

#include "app/modes/background_kinds.hpp"

namespace glinpack::app {

std::span<const BackgroundOperation> background_operations() {
  static const std::array operations{plu_operation(), gauss_jordan_operation(), product_operation(),
                                     tridiagonal_operation()};
  return operations;
}

}  // namespace glinpack::app
