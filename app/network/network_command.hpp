// `glinpack network`: measures the messages of a factorisation, ping-pong, and all links.
#pragma once

#include <utility>
#include <vector>

#include "app/options/plu_options.hpp"
#include "app/program/command.hpp"

namespace glinpack::app {

/// Two ranks of MPI_COMM_WORLD.
using RankPair = std::pair<int, int>;

struct NetworkOptions : CommonOptions {
  std::vector<BroadcastKind> broadcast{BroadcastKind::ring};

  When ping_pong = When::automatic;       // always: the pairs below
  std::vector<RankPair> ping_pong_pairs;  // set if pairs are given
  When screen = When::automatic;
  double screen_seconds = 10;
  bool screen_together = false;
};

OptionTable network_table(NetworkOptions& options);

/// The largest number of processes for which --screen auto measures all pairs.
inline constexpr int max_screened_automatically = 64;

/// Returns the exit code, the same on every rank.
int run_network_command(const Invocation& invocation);

}  // namespace glinpack::app
