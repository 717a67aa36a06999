#include "app/model/machine.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <optional>

#include "app/input/values.hpp"
#include "backend/registry.hpp"

namespace glinpack::app::model {

namespace {

constexpr std::size_t unknowns = 3;
using Vector = std::array<double, unknowns>;

// The normal equations of the weighted problem; columns are scaled to length 1.
struct NormalEquations {
  std::array<Vector, unknowns> matrix{};
  Vector right{};
  Vector length{};
  double square = 0;  // of the right-hand side
};

NormalEquations normal_equations(std::span<const Sample> samples) {
  NormalEquations equations;
  for (const Sample& sample : samples) {
    const Vector row{sample.amounts.flops, sample.amounts.bytes, sample.amounts.steps};
    const bool did_something = std::ranges::any_of(row, [](double amount) { return amount > 0; });
    if (!(sample.seconds > 0) || !did_something) continue;
    const double weight = 1 / sample.seconds;
    for (std::size_t i = 0; i < unknowns; ++i) {
      for (std::size_t j = 0; j < unknowns; ++j) equations.matrix[i][j] += weight * row[i] * row[j];
      equations.right[i] += row[i];  // weight * seconds
    }
    equations.square += sample.seconds;
  }
  for (std::size_t i = 0; i < unknowns; ++i) equations.length[i] = std::sqrt(equations.matrix[i][i]);
  for (std::size_t i = 0; i < unknowns; ++i) {
    if (equations.length[i] == 0) continue;
    equations.right[i] /= equations.length[i];
    for (std::size_t j = 0; j < unknowns; ++j) {
      if (equations.length[j] > 0) equations.matrix[i][j] /= equations.length[i] * equations.length[j];
    }
  }
  return equations;
}

// The coefficients of the chosen columns, by Gauss-Jordan elimination; those of the others are 0. Empty if the chosen
// columns are dependent or a coefficient would be negative.
std::optional<Vector> solution_with(NormalEquations equations, const std::array<bool, unknowns>& chosen) {
  constexpr double independent = 1e-3;  // of the squared length of a column, orthogonal to the earlier ones
  auto& [matrix, x, length, square] = equations;
  for (std::size_t k = 0; k < unknowns; ++k) {
    if (!chosen[k]) {
      x[k] = 0;
      continue;
    }
    if (length[k] == 0 || matrix[k][k] < independent) return std::nullopt;
    for (std::size_t i = 0; i < unknowns; ++i) {
      if (i == k || !chosen[i]) continue;
      const double factor = matrix[i][k] / matrix[k][k];
      for (std::size_t j = k; j < unknowns; ++j) matrix[i][j] -= factor * matrix[k][j];
      x[i] -= factor * x[k];
    }
  }
  for (std::size_t k = 0; k < unknowns; ++k) {
    if (chosen[k]) x[k] /= matrix[k][k];
    if (x[k] < 0) return std::nullopt;
  }
  return x;
}

double residual_of(const NormalEquations& equations, const Vector& x) {
  double residual = equations.square;
  for (std::size_t i = 0; i < unknowns; ++i) {
    residual -= 2 * equations.right[i] * x[i];
    for (std::size_t j = 0; j < unknowns; ++j) residual += x[i] * equations.matrix[i][j] * x[j];
  }
  return residual;
}

// The figures are for the backends that "auto" selects on devices.
bool is_measured(const std::string& backend) {
  const BackendRecord* record = find_backend(backend);
  return record != nullptr && record->automatic && record->memory == MemorySpace::device;
}

// Messages of a host's GPUs that copy to each other. Chosen for the runs of results/h200-x2 and h100-x4, which
// tests/system/planning.py compares, when GPUs copied what they send into a window first. It is far below NVLink's: it
// includes waits and what row swaps add to the update. Runs without those copies take 0.81 to 0.92 of the plan; a
// higher rate would leave those of four GPUs, which have not been measured without them.
Figure copies_between_gpus() {
  return {{.per_flop = 0, .per_byte = 1 / 35e9, .per_step = 0},
          std::string(default_device) + ", GPUs that copy to each other: results/h200-x2/logs.md two-gpus"};
}

// tests/system/planning.py repeats the fit.
MachineModel h200_single() {
  const std::string runs =
      std::string(default_device) + ": results/runs.md, h200, h200-x4 (single-*, partial-32768, gpus-[24]-*)";
  MachineModel machine;
  machine.figures[Work::panel_host] = {{.per_flop = 2.2228e-12, .per_byte = 0, .per_step = 0}, runs};
  machine.figures[Work::panel_device] = {{.per_flop = 1.3057e-13, .per_byte = 0, .per_step = 3.1951e-6}, runs};
  machine.figures[Work::normalize] = {{.per_flop = 4.8530e-14, .per_byte = 0, .per_step = 1.6908e-4}, runs};
  machine.figures[Work::swap] = {{.per_flop = 0, .per_byte = 2.7696e-12, .per_step = 0}, runs};
  machine.figures[Work::reduce] = {{.per_flop = 2.0929e-14, .per_byte = 0, .per_step = 1.9296e-5}, runs};
  machine.figures[Work::transfer] = {{.per_flop = 0, .per_byte = 2.7526e-11, .per_step = 0}, runs};
  machine.figures[Work::substitution] = {{.per_flop = 0, .per_byte = 0, .per_step = 1.5044e-4}, runs};
  machine.figures[Work::memory] = {{.per_flop = 0, .per_byte = 6.7064e-11, .per_step = 0}, runs};
  return machine;
}

// The host's panels were not measured in this precision: they are single's, scaled by the host's gemm. Costs per byte
// are unchanged.
MachineModel h200_double() {
  const std::string runs = std::string(default_device) + ": results/runs.md, h200 (double-32768, double-32768-nb768)";
  constexpr double gemm_single = 1230, gemm_double = 612.8;  // of the host
  MachineModel machine = h200_single();
  Figure& host = machine.figures[Work::panel_host];
  host.cost.per_flop *= gemm_single / gemm_double;
  host.source += ", single precision; scaled by gemm in results/h200/logs.md ceilings";
  for (const Work work : {Work::transfer, Work::memory}) machine.figures[work].source += ", single precision";
  machine.figures[Work::panel_device] = {{.per_flop = 7.7306e-14, .per_byte = 4.6545e-11, .per_step = 0}, runs};
  machine.figures[Work::normalize] = {{.per_flop = 4.1520e-14, .per_byte = 3.0391e-12, .per_step = 0}, runs};
  machine.figures[Work::swap] = {{.per_flop = 0, .per_byte = 2.1789e-12, .per_step = 0}, runs};
  machine.figures[Work::reduce] = {{.per_flop = 4.2623e-14, .per_byte = 3.1574e-13, .per_step = 0}, runs};
  machine.figures[Work::substitution] = {{.per_flop = 1.2258e-11, .per_byte = 0, .per_step = 0}, runs};
  return machine;
}

}  // namespace

bool Problem::column_shares_memory(int column) const {
  if (!shares_node_memory(parameters)) return false;
  for (int row = 1; row < grid.rows; ++row) {
    if (node_of({row, column}) != node_of({0, column})) return false;
  }
  return true;
}

ModelledDevice Problem::device() const {
  // Two H200, 2x1 (results/h200-x2): in a distributed panel the device time per column is that of four columns of a
  // whole one, because the host takes part in every tournament.
  constexpr double columns_with_others = 4;
  const bool distributed = panel_method(parameters, grid, column_shares_memory(0)) == PanelMethod::distributed;
  return {.has_memory = arrangement.on_device,
          .is_asynchronous = arrangement.in_background,
          .panel_columns = distributed ? columns_with_others : 1};
}

int Problem::node_of(GridPosition at) const {
  if (node_grid) {
    return at.row / node_grid->rows * (grid.columns / node_grid->columns) + at.column / node_grid->columns;
  }
  const int rank = order == RankOrder::row_major ? at.row * grid.columns + at.column : at.column * grid.rows + at.row;
  return rank / arrangement.processes_per_node;
}

double Cost::seconds(const Amounts& amounts) const {
  return per_flop * amounts.flops + per_byte * amounts.bytes + per_step * amounts.steps;
}

Cost fit_cost(std::span<const Sample> samples) {
  const NormalEquations equations = normal_equations(samples);
  // few unknowns first: more unknowns must reduce the residual
  constexpr std::array<std::array<bool, unknowns>, 7> subsets{{{true, false, false},
                                                               {false, true, false},
                                                               {false, false, true},
                                                               {true, true, false},
                                                               {true, false, true},
                                                               {false, true, true},
                                                               {true, true, true}}};
  constexpr double worthwhile = 1e-9;  // relative reduction of the residual
  double best = equations.square;
  Vector x{};
  for (const auto& subset : subsets) {
    const std::optional<Vector> tried = solution_with(equations, subset);
    if (!tried) continue;
    const double residual = residual_of(equations, *tried);
    if (residual >= best - worthwhile * equations.square) continue;
    best = residual;
    x = *tried;
  }
  for (std::size_t i = 0; i < unknowns; ++i) x[i] = x[i] > 0 ? x[i] / equations.length[i] : 0;
  return {.per_flop = x[0], .per_byte = x[1], .per_step = x[2]};
}

MachineModel default_machine(const std::string& backend, Precision precision) {
  if (!is_measured(backend)) return {};
  MachineModel machine = precision == Precision::double_ ? h200_double() : h200_single();
  if (backend_record(backend).has_option("peer")) machine.figures[Work::memory] = copies_between_gpus();
  return machine;
}

std::vector<Index> default_block_sizes(const std::string& backend, Precision precision) {
  if (!is_measured(backend)) return {backend_record(backend).block_size(precision, largest_n, {})};
  return precision == Precision::double_ ? std::vector<Index>{512, 768} : std::vector<Index>{512};
}

}  // namespace glinpack::app::model
