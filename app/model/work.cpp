#include "app/model/work.hpp"

namespace glinpack::app::model {

namespace {

double as_double(Index value) { return static_cast<double>(value); }

// What a column of a panel costs a device of several process rows, in columns of a panel that it has alone: candidates
// come to the host, and the device waits for winners (results/h200-x2: two GPUs, 2x1).
constexpr double columns_with_others = 4;

}  // namespace

std::string_view name_of(Work work) {
  constexpr std::array<std::string_view, all_work.size()> names{
      "panel of the host", "panel of the device", "normalize", "swap", "reduce", "transfer", "substitution",
      "network",           "memory of a node"};
  return names[static_cast<std::size_t>(work)];
}

double Problem::element_bytes() const {
  return precision == Precision::double_ ? sizeof(double) : sizeof(float);  // mixed: its factors are single
}

bool Problem::panel_on_device() const {
  // of software OpenGL only where it is asked for
  const bool wanted =
      parameters.panel == PanelPlace::automatic ? arrangement.in_background : parameters.panel == PanelPlace::device;
  return arrangement.on_device && wanted && panels_may_be_on_device(parameters.pivoting);
}

bool Problem::swaps_across() const { return grid.rows > 1 && pivots_across_processes(parameters.pivoting); }

bool Problem::all_compute_u12() const {
  return glinpack::all_compute_u12(parameters.row_swap, parameters.pivoting, grid);
}

double bytes_of_l(const Problem& problem, const PassPlan& plan) {
  const Index l11 = problem.all_compute_u12() && !plan.in_pivot_row ? plan.width : 0;
  return as_double(plan.panel_rows + l11) * as_double(plan.width) * problem.element_bytes();
}

ByWork<Amounts> work_in_pass(const Problem& problem, const PassPlan& plan) {
  ByWork<Amounts> work;
  const double bytes = problem.element_bytes();
  const double width = as_double(plan.width);
  const double rows = as_double(plan.panel_rows);
  const double below = as_double(plan.trailing_rows);
  const double columns = as_double(plan.trailing_columns);
  const bool on_device = problem.arrangement.on_device;

  if (plan.in_pivot_column && plan.panel_rows > 0) {
    const bool device_panel = problem.panel_on_device();
    const bool twice = problem.grid.rows > 1 && problem.parameters.pivoting == Pivoting::tournament;
    const double columns_of_panel = device_panel && twice ? columns_with_others * width : width;
    work[device_panel ? Work::panel_device : Work::panel_host] =
        (twice ? 2.0 : 1.0) * Amounts{rows * width * width, rows * width * bytes, columns_of_panel};
    if (on_device && !device_panel) work[Work::transfer] += {0, 2 * rows * width * bytes, 2};  // down and up again
    if (device_panel && problem.grid.columns > 1) work[Work::transfer] += {0, rows * width * bytes, 1};
  } else if (on_device && plan.panel_rows > 0) {
    work[Work::transfer] += {0, bytes_of_l(problem, plan), 1};
  }
  if (columns > 0 && (plan.in_pivot_row || problem.all_compute_u12())) {
    work[Work::normalize] = {width * width * columns, 2 * width * columns * bytes, 1};
  }
  // rows are read and written, those that come and those that go
  if (columns > 0 && (plan.in_pivot_row || problem.swaps_across())) {
    work[Work::swap] = {0, 4 * width * columns * bytes, 1};
  }
  if (columns > 0 && problem.grid.rows > 1 && on_device) {
    work[Work::transfer] += {0, 2 * width * columns * bytes, 2};
  }
  if (columns > 0 && below > 0) {
    work[Work::reduce] = {2 * width * below * columns, 2 * below * columns * bytes, 1};
  }
  if (plan.in_pivot_column) {
    // of U above the diagonal block, which this process column holds, and the block itself
    const double above = as_double(plan.panel_row.value) + (plan.in_pivot_row ? width : 0);
    work[Work::substitution] = {2 * above * width, above * width * bytes, 1};
  }
  return work;
}

}  // namespace glinpack::app::model
