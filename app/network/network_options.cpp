#include "app/network/network_options.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "app/input/values.hpp"
#include "app/options/option_text.hpp"

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
      throw InputError(std::string(error.what()) + "; all: each of them");
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
    o.ping_pong = values.front() == "auto" ? When::automatic : When::never;
    return;
  }
  o.ping_pong = When::always;
  for (const std::string& value : values) o.ping_pong_pairs.push_back(parse_pair(value));
}

nlohmann::json ping_pong_json(const NetworkOptions& o) {
  if (o.ping_pong_pairs.empty()) return name_of(o.ping_pong);
  nlohmann::json pairs;
  for (const RankPair& pair : o.ping_pong_pairs) {
    pairs.push_back(std::to_string(pair.first) + "-" + std::to_string(pair.second));
  }
  return pairs;
}

std::vector<Field> link_fields(NetworkOptions& o) {
  const FieldValue ping_pong{.form = FieldValue::Form::list,
                             .type = "A-B|auto|never,...",
                             .read = [&o](const Texts& v) { set_ping_pong(o, v); },
                             .json = [&o] { return ping_pong_json(o); }};
  return {
      {"ping-pong", ping_pong,
       "Pairs of ranks that exchange messages of all sizes, one pair at a time. auto: rank 0 with a rank of its host "
       "and with one of another host; never: none"},
      {"screen", choice(o.screen, all_whens),
       "Time all pairs of ranks and name the slow links; auto: with 3 to " +
           std::to_string(most_screened_automatically) + " processes"},
      {"screen-seconds", real(o.screen_seconds, "SECONDS", parse_seconds),
       "End the screening after this time, even if pairs are left", "10"},
      {"screen-together", flag(o.screen_together),
       "Screen disjoint pairs at the same time: faster, but pairs share cables and switches"},
  };
}

const Footer network_footer{
    .examples =
        "mpirun -np 4 glinpack network --n 2048 --nb 256 --grid 2x2\n"
        "mpirun -np 16 glinpack network --n 20000 --nb 128,256 --grid 4x4,2x8 --broadcast all\n"
        "mpirun -np 64 glinpack network --n 1000 --ping-pong 0-1,0-63 --screen always",
    .notes =
        {"With partial and tournament pivoting, the pivot of every column is drawn at random from the remaining "
         "rows, the same ones in every run: as many rows are exchanged as with a random matrix.",
         "Times are in seconds, ms (10^-3 s) or us (10^-6 s), amounts in MB (10^6 bytes), sizes of messages in KiB "
         "(2^10 bytes) and MiB (2^20 bytes), rates in GB/s (10^9 bytes a second). Bytes and messages are counted by "
         "their receivers."},
    .exit_codes = {{0, "measured"},
                   {2, "unusable input"},
                   {3, "an error while running"},
                   {4, "ended by a signal (SIGTERM, SIGUSR1, SIGINT), after a report of what was measured"},
                   {5, "ended by --watchdog"}}};

}  // namespace

OptionTable network_table(NetworkOptions& o) {
  const Field precision{"precision",
                        single_or_double(o.precision,
                                         "'mixed' factorises in single precision and sends the same messages; "
                                         "use single"),
                        "Precision of the elements that are sent"};
  const Field broadcast{
      "broadcast",
      words(
          some_of(names_of(all_broadcasts), {"all"}), [&o](const Texts& v) { set_broadcasts(o, v); },
          [&o] { return names_of(o.broadcast); }),
      "How panels are broadcast along process rows. HPL's digits 0 to 5: the first six; all: each of them"};
  return {
      .command = "network",
      .description =
          "Times the network alone: sends the messages of a factorisation without its arithmetic, then times single "
          "links.",
      .footer = network_footer,
      .groups = {{"Messages",
                  joined(grid_fields(o, false), std::vector{precision}, algorithm_fields(o), std::vector{broadcast})},
                 {"Links", link_fields(o)},
                 {"Output", result_fields(o)},
                 {"Configuration", {config_field(o.config)}}}};
}

}  // namespace glinpack::app
