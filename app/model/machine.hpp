// The model's input: a run to be predicted, and a machine with the cost of each kind of work and its source.
#pragma once

#include <string>

#include "app/model/cost.hpp"
#include "lu/recording.hpp"
#include "mpi/process_grid.hpp"

namespace glinpack::app::model {

/// The hardware of each process.
struct Arrangement {
  bool on_device = false;      // OpenGL, including software, holds the matrices: panels are copied to the host
  bool in_background = false;  // a GPU, which computes concurrently with the host
  int processes_per_node = 1;
};

/// A run to be predicted or already measured.
struct Problem {
  RunParameters parameters;
  GridShape grid;
  RankOrder order = RankOrder::row_major;
  Precision precision = Precision::double_;  // mixed: the factors are single
  Arrangement arrangement;

  Distribution distribution() const { return distribution_of(parameters, grid); }
  Index element_bytes() const { return static_cast<Index>(factor_bytes(precision)); }
  /// The device model, the same for all processes.
  ModelledDevice device() const;
  /// The node of a process.
  int node_of(GridPosition at) const;
};

struct Figure {
  Cost cost;
  std::string source;  // "results/h200/single-32768.json and 2 more", "--network"
};

struct MachineModel {
  ByWork<Figure> figures;

  double seconds(Work work, const Amounts& amounts) const { return figures[work].cost.seconds(amounts); }
};

}  // namespace glinpack::app::model
