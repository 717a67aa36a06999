// Everything that `glinpack network` can be told, by its command line or by a TOML file with the same names as keys.
#pragma once

#include <string>
#include <vector>

#include "app/options.hpp"

namespace glinpack::app {

/// Two ranks of MPI_COMM_WORLD.
struct RankPair {
  int first = 0;
  int second = 0;
  friend bool operator==(const RankPair&, const RankPair&) = default;
};

struct NetworkOptions : CommonOptions {
  std::vector<BroadcastKind> broadcast{BroadcastKind::ring};

  When ping_pong = When::automatic;       // always: the pairs below
  std::vector<RankPair> ping_pong_pairs;  // where they are given
  When screen = When::automatic;
  double screen_seconds = 10;
  bool screen_together = false;
};

/// Adds network's options to an empty `app`. `options` must outlive it.
void define_network_options(CLI::App& app, NetworkOptions& options);

/// Command line over file over default. `arguments`: what follows `glinpack network`. Throws InputError.
NetworkOptions parse_network_options(const std::vector<std::string>& arguments);

/// What `glinpack network --help` prints.
std::string network_help();

/// Every option but config, by its name; unset ones null. network_options_from_json(to_json(x)) gives x back.
nlohmann::json to_json(const NetworkOptions& options);
NetworkOptions network_options_from_json(const nlohmann::json& configuration);

/// The largest number of processes whose pairs --screen auto tries.
inline constexpr int most_screened_automatically = 64;

}  // namespace glinpack::app
