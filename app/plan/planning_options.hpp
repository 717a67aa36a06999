// The options of `glinpack plan`.
#pragma once

#include <optional>
#include <string>

#include "app/plu/plu_options.hpp"
#include "backend/registry.hpp"

namespace glinpack::app {

struct PlanningOptions {
  // the cluster
  int nodes = 1;
  int processes_per_node = 1;     // GPUs per node, with gl-compute
  std::optional<double> memory;   // bytes per GPU; with openblas, per process
  std::optional<double> network;  // bytes a second per link of a node
  std::optional<double> latency;  // seconds per message between nodes
  double memory_fraction = 0.8;

  // the run: unset values are chosen
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

/// to_json() writes bytes, bytes a second and seconds as numbers.
OptionTable planning_table(PlanningOptions& options);

/// Precedence: command line, file, default. `arguments` follow `glinpack plan`. Throws InputError, also if options
/// exclude each other.
PlanningOptions parse_planning_options(const Texts& arguments);

}  // namespace glinpack::app
