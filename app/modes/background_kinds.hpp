// The kinds of problems that background_operations() lists.
#pragma once

#include "app/modes/background_problems.hpp"

namespace glinpack::app {

BackgroundOperation plu_operation();           // background_eliminations.cpp
BackgroundOperation gauss_jordan_operation();  // background_eliminations.cpp
BackgroundOperation product_operation();       // background_products.cpp
BackgroundOperation tridiagonal_operation();   // background_tridiagonals.cpp

}  // namespace glinpack::app
