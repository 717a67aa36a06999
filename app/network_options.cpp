#include "app/network_options.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "app/input/nearest_name.hpp"
#include "app/input/values.hpp"
#include "app/option_set.hpp"
#include "app/option_text.hpp"

namespace glinpack::app {

namespace {

void set_broadcasts(NetworkOptions& o, const std::vector<std::string>& names) {
  o.broadcast.clear();
  for (const std::string& name : names) {
    if (name == "all") {
      o.broadcast.insert(o.broadcast.end(), all_broadcasts.begin(), all_broadcasts.end());
      continue;
    }
    try {
      o.broadcast.push_back(parse_broadcast(name));
    } catch (const InputError& error) {
      throw InputError(std::string(error.what()) + "; all stands for each of them");
    }
  }
}

RankPair parse_pair(const std::string& text) {
  const std::size_t dash = text.find('-');
  if (dash == std::string::npos || dash == 0) {
    throw InputError(in_quotes(text) + " is not a pair of ranks; A-B is expected, for example 0-3; or auto, or never");
  }
  RankPair pair;
  try {
    pair.first = static_cast<int>(parse_whole(text.substr(0, dash), 0, largest_processes));
    pair.second = static_cast<int>(parse_whole(text.substr(dash + 1), 0, largest_processes));
  } catch (const InputError& error) {
    throw InputError(in_quotes(text) + " is not a pair of ranks A-B: " + error.what());
  }
  if (pair.first == pair.second) throw InputError(in_quotes(text) + " is one rank; two different ones are expected");
  return pair;
}

void set_ping_pong(NetworkOptions& o, const std::vector<std::string>& values) {
  o.ping_pong_pairs.clear();
  if (values.size() == 1 && (values.front() == "auto" || values.front() == "never")) {
    o.ping_pong = parse_when(values.front());
    return;
  }
  o.ping_pong = When::always;
  for (const std::string& value : values) o.ping_pong_pairs.push_back(parse_pair(value));
}

// With mixed precision what is sent while it factorises is single.
Precision parse_precision_sent(const std::string& text) {
  if (text != "mixed") return parse_single_or_double(text);
  throw InputError("'mixed' factorises in single precision, and sends what single does; use single");
}

void define_links(CLI::App& app, NetworkOptions& o) {
  add_list(
      app, "--ping-pong", "A-B,...", "auto",
      "Pairs of ranks to send messages of all sizes to and fro between, one at a time; auto: rank 0 with one of its "
      "host and with one of another; or never",
      [&o](const std::vector<std::string>& v) { set_ping_pong(o, v); });
  add(app, "--screen", one_of(when_choices()), "auto",
      "Try all pairs of ranks and name the slow links; auto: from 3 to " + std::to_string(most_screened_automatically) +
          " processes",
      [&o](const std::string& t) { o.screen = parse_when(t); });
  add(app, "--screen-seconds", "SECONDS", "10", "Time after which the screening ends, even if pairs are left",
      [&o](const std::string& t) { o.screen_seconds = parse_seconds(t); });
  add_flag(app, "--screen-together",
           "Screen disjoint pairs at the same time: quicker, but they share cables and switches",
           [&o] { o.screen_together = true; });
}

constexpr const char* network_examples =
    "Examples:\n"
    "  mpirun -np 4 glinpack network --n 2048 --nb 256 --grid 2x2\n"
    "  mpirun -np 16 glinpack network --n 20000 --nb 128,256 --grid 4x4,2x8 --broadcast all --json network.json\n"
    "  mpirun -np 64 glinpack network --n 1000 --ping-pong 0-1,0-63 --screen always --screen-seconds 60\n"
    "\n"
    "With partial and tournament pivoting as many rows change places as with a random matrix: for every column a "
    "pivot\n"
    "is drawn from the remaining rows, the same ones in every run.\n"
    "\n"
    "Times are in seconds, ms (10^-3 s) or us (10^-6 s), amounts in MB (10^6 bytes), sizes of messages in KiB (2^10) "
    "and\n"
    "MiB (2^20 bytes), rates in GB/s (10^9 bytes a second). Bytes and messages are counted where they are received.\n"
    "Exit code: 0 measured, 2 unusable input, 3 an error while running, 4 ended by a signal (SIGTERM, SIGUSR1, SIGINT) "
    "with\n"
    "a report of what was finished, 5 ended by --watchdog.";

}  // namespace

void define_network_options(CLI::App& app, NetworkOptions& options) {
  describe(
      app, "glinpack network",
      "The network alone: sends the messages of a factorisation, on its communicators and with its broadcasts, and\n"
      "computes nothing; then tries single links.",
      network_examples);
  begin_group(app, "Messages");
  define_grid_options(app, options, false);
  add(app, "--precision", "single|double", "double", "Precision of the elements that are sent",
      [&options](const std::string& t) { options.precision = parse_precision_sent(t); });
  define_algorithm_options(app, options);
  add_list(app, "--broadcast", some_of(names_of(all_broadcasts), {"all"}), "ring",
           "How panels are broadcast along process rows; HPL's digits 0 ... 5 stand for the first six; all: each of them",
           [&options](const std::vector<std::string>& v) { set_broadcasts(options, v); });
  begin_group(app, "Links");
  define_links(app, options);
  begin_group(app, "Output");
  define_result_options(app, options);
  begin_group(app, "Configuration");
  define_config_option(app, options.config);
}

NetworkOptions parse_network_options(const std::vector<std::string>& arguments) {
  Parsed<NetworkOptions> parsed;
  parse_into(parsed, arguments, define_network_options);
  return parsed.options;
}

std::string network_help() {
  NetworkOptions options;
  return help_of([&](CLI::App& app) { define_network_options(app, options); });
}

nlohmann::json to_json(const NetworkOptions& o) {
  nlohmann::json broadcasts;
  for (const BroadcastKind kind : o.broadcast) broadcasts.push_back(name_of(kind));
  nlohmann::json pairs;
  for (const RankPair& pair : o.ping_pong_pairs) {
    pairs.push_back(std::to_string(pair.first) + "-" + std::to_string(pair.second));
  }
  nlohmann::json json = common_to_json(o);
  json.update({{"broadcast", broadcasts},
               {"ping-pong", o.ping_pong_pairs.empty() ? nlohmann::json(text_of(o.ping_pong)) : pairs},
               {"screen", text_of(o.screen)},
               {"screen-seconds", o.screen_seconds},
               {"screen-together", o.screen_together}});
  return json;
}

NetworkOptions network_options_from_json(const nlohmann::json& configuration) {
  NetworkOptions options;
  apply_configuration(configuration, [&](CLI::App& app) { define_network_options(app, options); });
  return options;
}

}  // namespace glinpack::app
