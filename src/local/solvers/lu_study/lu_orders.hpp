// The loop orders of LU that the paper of 2005 weighs in section 3.1, without pivoting, on a device and on the host,
// and what each draws and reads. L has a unit diagonal that is not stored.
//   right-looking  step i: column i of L, then all that is below and right of it, as M1 does
//   left-looking   step i: column i alone, from all columns to its left; its part of U element by element, since each
//                  needs the one above: n^2 / 2 passes
//   crout          step i: row i of U, then column i of L, from all that is above and left of them
// Orders read their sums within a pass: right-looking has one term, the others i. Its steps read the most elements of A
// but write sums that later steps read again.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "solvers/lu_study/lu_methods.hpp"

namespace glinpack::solvers {

enum class LuOrder : std::uint8_t { right_looking, left_looking, crout };

inline constexpr auto all_lu_orders = values_up_to<LuOrder::crout>;
constexpr std::string_view name_of(LuOrder order) {
  return text_by_value(order, "right-looking", "left-looking", "crout");
}

/// A pass: of each element (row, column) of the rectangle, in elements, the sum over k from `begin` to `end` is
/// subtracted; it is then divided by the pivot of its column if `divides`.
struct LuOrderPass {
  LuRectangle drawn = {};
  Index begin = 0;
  Index end = 0;
  bool divides = false;

  /// Elements that a fragment reads: its own, two a term, and the pivot.
  Index reads_of_fragment() const { return 1 + 2 * (end - begin) + (divides ? 1 : 0); }
  /// Elements that the pass reads, with repetitions.
  Index reads() const { return drawn.texels() * reads_of_fragment(); }
  /// The different ones among them: the pass's reference area.
  Index area() const {
    return drawn.texels() + (drawn.width + drawn.height) * (end - begin) + (divides ? drawn.width : 0);
  }
};

/// The passes of all steps, in order; those without elements are left out.
void for_passes(LuOrder order, Index n, const std::function<void(const LuOrderPass&)>& use);

struct LuOrderCounts {
  Index passes = 0;
  Index drawn = 0;             // elements
  Index reads = 0;             // elements, with repetitions
  Index largest_area = 0;      // of a pass
  Index largest_fragment = 0;  // elements that a fragment reads
};
LuOrderCounts counts_of(LuOrder order, Index n);

/// The factors of A go to system.factors. `device` and `system` must outlive the steps. The step store throws
/// SingularMatrixError. Throws as LuDrawing.
Steps make_lu_order(Device& device, const DenseSystem<float>& system, LuOrder order);
/// The same passes by one thread of the host.
Steps make_lu_order_on_host(const DenseSystem<float>& system, LuOrder order);

}  // namespace glinpack::solvers
