// The model's input: a run to be predicted, and a machine with the cost of each kind of work and its source. Pure.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "backend/operations.hpp"
#include "lu/recording.hpp"
#include "matrix/grid.hpp"

namespace glinpack::app::model {

/// The hardware of each process.
struct Arrangement {
  bool on_device = false;      // a device, also a software one, holds the matrices: panels are copied to the host
  bool in_background = false;  // a GPU, which computes concurrently with the host
  int processes_per_node = 1;
};

/// A run to be predicted or already measured.
struct Problem {
  RunParameters parameters;
  GridShape grid;
  RankOrder order = RankOrder::row_major;
  std::optional<GridShape> node_grid = {};
  Precision precision = Precision::double_;  // mixed: the factors are single
  Arrangement arrangement;

  Distribution distribution() const { return distribution_of(parameters, grid); }
  Index element_bytes() const { return static_cast<Index>(factor_bytes(precision)); }
  /// The device model, the same for all processes.
  ModelledDevice device() const;
  /// The node of a process.
  int node_of(GridPosition at) const;
  /// Whether a process column is on one node and exchanges rows through its memory.
  bool column_shares_memory(int column) const;
};

/// Seconds = per_flop flops + per_byte bytes + per_step steps. All three >= 0.
struct Cost {
  double per_flop = 0;
  double per_byte = 0;
  double per_step = 0;

  double seconds(const Amounts& amounts) const;
  bool known() const { return per_flop > 0 || per_byte > 0 || per_step > 0; }
  friend bool operator==(const Cost&, const Cost&) = default;
};

struct Figure {
  Cost cost;
  std::string source;  // "results/h200/single-32768.json and 2 more", "--network"
};

struct MachineModel {
  ByWork<Figure> figures;
  double seconds(Work work, const Amounts& amounts) const { return figures[work].cost.seconds(amounts); }
};

/// A measurement: the amounts of work and the time.
struct Sample {
  Amounts amounts;
  double seconds = 0;
};

/// Fits the cost to the samples: weighted least squares with coefficients >= 0. It tries every subset of the three
/// unknowns (a small case of Lawson, Hanson, Solving Least Squares Problems, 1974, ch. 23). The weight is 1 / seconds,
/// so that long samples do not dominate. If amounts are proportional in all samples, flops get the whole cost, else
/// bytes. Ignores samples without time or work. Without samples the cost is unknown (all zero).
Cost fit_cost(std::span<const Sample> samples);

/// The figures that `glinpack plan --from` fits to the files named as their sources. gl-compute: an H200 and 16 cores
/// of its host. Other backends and the network have no figures.
MachineModel default_machine(const std::string& backend, Precision precision);

/// The source texts of the figures begin with this name.
inline constexpr const char* default_device = "an H200";

/// The block sizes that the figures were measured with.
std::vector<Index> default_block_sizes(const std::string& backend, Precision precision);

}  // namespace glinpack::app::model
