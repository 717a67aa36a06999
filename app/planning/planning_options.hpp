// The options of `glinpack plan`.
#pragma once

#include <optional>
#include <string>

#include "app/options.hpp"
#include "backend/registry.hpp"

namespace glinpack::app {

struct PlanningOptions {
  // the cluster
  int nodes = 1;
  int processes_per_node = 1;     // GPUs of a node, with gl-compute
  std::optional<double> memory;   // bytes of a GPU; with openblas, for a process
  std::optional<double> network;  // bytes a second of a node's link
  std::optional<double> latency;  // seconds of a message between nodes
  double memory_fraction = 0.8;

  // the run: what is not given is chosen
  std::optional<Index> n;
  std::optional<Index> nb;
  std::optional<GridShape> grid;
  RankOrder order = RankOrder::row_major;
  std::string backend{automatic_backend(MemorySpace::device).name};
  Precision precision = Precision::double_;
  Pivoting pivoting = Pivoting::partial;
  BroadcastKind broadcast = BroadcastKind::ring;
  RowSwap row_swap{.kind = RowSwapKind::binary_exchange};
  int lookahead = 1;
  NodeTransport node_transport = NodeTransport::shared;
  bool messages_only = false;

  // figures
  Texts from;            // of plu --json
  std::string links;     // of network --json
  std::string ceilings;  // of ceilings --json

  std::string json;
  bool force = false;
  std::string config;

  int processes() const { return nodes * processes_per_node; }
};

/// to_json(): bytes, bytes a second and seconds as numbers.
OptionTable planning_table(PlanningOptions& options);

/// Command line over file over default. `arguments`: those after `glinpack plan`. Throws InputError, also if options
/// exclude each other.
PlanningOptions parse_planning_options(const Texts& arguments);

}  // namespace glinpack::app
