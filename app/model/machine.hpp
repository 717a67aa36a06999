// A run to be predicted, and a machine as the model sees it: the cost of each kind of work, and the source of each
// cost.
#pragma once

#include <string>

#include "app/model/cost.hpp"
#include "lu/recording.hpp"
#include "mpi/process_grid.hpp"

namespace glinpack::app::model {

/// The hardware of each process.
struct Arrangement {
  bool on_device = false;      // matrices are where OpenGL computes, software OpenGL too: panels cross to the host
  bool in_background = false;  // it computes beside the host: a GPU
  int processes_per_node = 1;
};

/// A run to be predicted, or one that was measured.
struct Problem {
  RunParameters parameters;
  GridShape grid;
  RankOrder order = RankOrder::row_major;
  Precision precision = Precision::double_;  // mixed: its factors are single
  Arrangement arrangement;

  Distribution distribution() const { return distribution_of(parameters, grid); }
  Index element_bytes() const { return static_cast<Index>(factor_bytes(precision)); }
  /// The same for all processes.
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
