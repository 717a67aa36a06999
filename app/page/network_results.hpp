// Reads results of `glinpack network` (docs/network.schema.json), as far as pages and comparisons need them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/record/json.hpp"
#include "app/page/plu_results.hpp"

namespace glinpack::app {

struct SavedNetworkRun {
  Parameters parameters;
  std::int64_t repeat = 0;
  double seconds = 0;
  double share = 0;  // of the ranks' time that is spent in messages
  double bytes = 0, messages = 0;
  std::optional<double> gigabytes_per_second;
};

struct PingPongSize {
  std::int64_t bytes = 1;
  double least_seconds = 0, mean_seconds = 0;
  double gigabytes_per_second = 0;
};

struct PingPongPair {
  std::string name;  // "0-1, host a - host b"
  std::vector<PingPongSize> sizes;
};

struct LinkRow {
  std::string name;
  double latency_seconds = 0, gigabytes_per_second = 0;
};

struct NetworkOutcome {
  bool waits_nap = false;
  std::vector<SavedNetworkRun> runs;
  std::vector<PingPongPair> pairs;
  bool screened = false;
  std::size_t links = 0;       // number of screened links
  std::vector<LinkRow> usual;  // medians, within hosts and between them
  std::vector<LinkRow> slow;
};

/// Throws InputError that names the location.
NetworkOutcome read_network_results(const JsonNode& root);

}  // namespace glinpack::app
