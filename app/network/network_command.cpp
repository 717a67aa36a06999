#include "app/network/network_command.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <tuple>

#include "app/input/values.hpp"
#include "app/options/option_text.hpp"
#include "app/program/agreement.hpp"
#include "app/program/machine.hpp"
#include "app/program/mpi_command.hpp"
#include "app/program/outputs.hpp"
#include "app/program/planned_runs.hpp"
#include "app/record/network_record.hpp"
#include "mpi/communication.hpp"
#include "mpi/session.hpp"
#include "network/links.hpp"
#include "run/run.hpp"
#include "transport/wire.hpp"
#include "watch/stop_request.hpp"

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
           std::to_string(max_screened_automatically) + " processes"},
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

/// The same on every rank, except for what only rank 0 uses.
struct NetworkInput {
  const MpiSession& session;
  NetworkOptions options = {};
  std::vector<RunRecord> planned = {};
  // rank 0 only
  OutputPaths outputs = {};
  ReportContext context = {};
};

// What rank 0 shows and writes.
class NetworkReporter {
 public:
  NetworkReporter(NetworkInput& input, std::vector<std::string> hosts, bool oversubscribed)
      : input_(input), stream_(input.outputs), progress_(progress_on_stderr()) {
    results_.hosts = std::move(hosts);
    results_.oversubscribed = oversubscribed;
    stream_.write(network_head(input.context, results_, input.options.pivoting));
  }

  ProgressObserver observer_of(const RunRecord& run) {
    return [this, &run](double flops_done) {
      if (flops_done == 0) {
        progress_.begin(label_of(run) + ", " + std::string(name_of(run.parameters.broadcast)), 0);
      } else {
        // the share of the operations is 1 - (share of columns left)^3; that of the elements that are sent, with ^2
        progress_.update(1 - std::pow(std::max(0.0, 1 - flops_done), 2.0 / 3.0));
      }
    };
  }

  /// True if a signal has asked for an end, and there are more runs.
  bool end(RunRecord& run) {
    progress_.end();
    if (run.result.passes_done) {
      ended_ = &run;
      return true;
    }
    show_run(run);
    return stop_signal() != 0 && results_.runs.size() < input_.planned.size();
  }

  /// `links_left`: not all links that were to be tried have been.
  void end_early(bool links_left) {
    results_.incomplete = Incomplete{.signal = name_of_signal(stop_signal()),
                                     .planned = input_.planned.size(),
                                     .finished = results_.runs.size(),
                                     .ended = ended_,
                                     .links_left = links_left};
    stream_.write(incomplete_text(*results_.incomplete));
  }

  void show_run(RunRecord& run) {
    std::vector<NetworkRun>& runs = results_.runs;
    const auto case_of = [](const RunRecord& r) { return std::tuple(r.parameters.n, r.parameters.nb, r.grid); };
    const bool new_case = runs.empty() || case_of(runs.back().record) != case_of(run);
    if (new_case) finish_case();
    NetworkRun done{.record = {}, .totals = network_totals(run)};
    run.result.ranks.clear();
    done.record = run;
    stream_.write((new_case ? network_case_head(run) : "") + network_run_line(done));
    runs.push_back(std::move(done));
    if (new_case || runs.back().record.result.seconds < runs[quickest_].record.result.seconds) {
      quickest_ = runs.size() - 1;
    }
  }

  /// Details of the quickest run of an N, NB and grid.
  void finish_case() {
    if (!results_.runs.empty()) stream_.write(network_case_details(results_.runs[quickest_]));
  }

  void ping_pong(const RankPair& pair, std::vector<PingPongTime> times) {
    const auto end = [this](int rank) { return LinkEnd{rank, results_.hosts[static_cast<std::size_t>(rank)]}; };
    PingPongRecord record{.first = end(pair.first), .second = end(pair.second), .times = std::move(times)};
    stream_.write(ping_pong_text(record));
    results_.ping_pongs.push_back(std::move(record));
  }

  void screening(Screening screening, const ScreeningOptions& options) {
    results_.screening_options = options;
    stream_.write(screening_text(screening, results_));
    results_.screening = std::move(screening);
  }

  void write_files() {
    FileWriter files(input_.outputs.may_replace);
    files.write(input_.outputs.json,
                [&](std::ostream& out) { out << dumped(network_json(input_.context, results_), 2) << "\n"; });
    files.write(input_.outputs.csv, [&](std::ostream& out) { out << network_csv(results_.runs); });
    files.finish(stream_);
  }

 private:
  NetworkInput& input_;
  ReportStream stream_;
  Progress progress_;
  NetworkResults results_;
  std::size_t quickest_ = 0;          // run of the present case
  const RunRecord* ended_ = nullptr;  // the run that a signal has ended
};

void check_pairs(const NetworkOptions& options, int world_size) {
  for (const RankPair& pair : options.ping_pong_pairs) {
    if (pair.first < world_size && pair.second < world_size) continue;
    throw InputError("--ping-pong " + std::to_string(pair.first) + "-" + std::to_string(pair.second) +
                     ": there is no such rank; there are ranks 0 to " + std::to_string(world_size - 1));
  }
}

// The pairs of --ping-pong, or rank 0 with the first other rank of its host and the first one of another host.
std::vector<RankPair> ping_pong_pairs(const NetworkOptions& options, const std::vector<std::string>& hosts) {
  if (options.ping_pong == When::never) return {};
  if (!options.ping_pong_pairs.empty()) return options.ping_pong_pairs;
  std::vector<RankPair> pairs;
  for (const bool same_host : {true, false}) {
    for (std::size_t rank = 1; rank < hosts.size(); ++rank) {
      if ((hosts[rank] == hosts[0]) != same_host) continue;
      pairs.push_back({0, static_cast<int>(rank)});
      break;
    }
  }
  return pairs;
}

// Collective over MPI_COMM_WORLD; the result is on rank 0.
std::vector<PingPongTime> time_pair(const RankPair& pair, int rank) {
  constexpr PingPongLimits limits{.round_trips = 200, .seconds = 0.1};
  std::vector<PingPongTime> times;
  // from pure latency to pure bandwidth on any network
  for (Index bytes = 8; bytes <= Index{4} << 20; bytes *= 2) {
    world().barrier();
    const PingPongTime time = ping_pong(MPI_COMM_WORLD, pair.first, pair.second, bytes, limits);
    if (rank == pair.first) times.push_back(time);
  }
  for (const auto& measured : gather_values(world(), times, 0)) {
    if (!measured.empty()) times = measured;
  }
  return times;
}

bool screens(const NetworkOptions& options, int world_size) {
  if (options.screen == When::automatic) return world_size > 2 && world_size <= max_screened_automatically;
  return options.screen == When::always && world_size > 1;
}

// Collective. False if a signal ended it. `reporter`: on rank 0 alone.
bool try_links(const NetworkInput& input, const std::vector<RankPair>& pairs, NetworkReporter* reporter) {
  for (const RankPair& pair : pairs) {
    if (share_stop_signal(MPI_COMM_WORLD) != 0) return false;
    std::vector<PingPongTime> times = time_pair(pair, input.session.rank());
    run_on_root_and_broadcast([&] { reporter->ping_pong(pair, std::move(times)); });
  }
  if (!screens(input.options, input.session.size())) return true;
  if (share_stop_signal(MPI_COMM_WORLD) != 0) return false;
  const ScreeningOptions options{.seconds = input.options.screen_seconds,
                                 .concurrent_pairs = input.options.screen_together};
  Screening screening = screen_links(MPI_COMM_WORLD, options);
  share_stop_signal(MPI_COMM_WORLD);
  const bool complete = !screening.interrupted;
  run_on_root_and_broadcast([&] { reporter->screening(std::move(screening), options); });
  return complete;
}

// Collective. False if a signal ended it before the last run. `reporter`: on rank 0 alone.
bool try_runs(NetworkInput& input, NetworkReporter* reporter) {
  const int threads = take_threads(input.session, std::nullopt);
  GridCache grids;
  for (RunRecord& run : input.planned) {
    const ProcessGrid& grid = grids.grid_for(run);
    run_on_all_ranks([&] {
      if (!grid.active()) return;
      const ProgressObserver progress = reporter != nullptr ? reporter->observer_of(run) : ProgressObserver{};
      run.result = run_messages(run.parameters, grid, run.precision, threads, progress);
    });
    share_stop_signal(MPI_COMM_WORLD);
    if (run_on_root_and_broadcast([&] { return reporter->end(run); })) return false;
  }
  return true;
}

int measure(NetworkInput& input) {
  const std::vector<std::string> hosts = world().gather(0, host_name());
  const bool oversubscribed = !all_agree(world(), !ranks_outnumber_cores());
  const std::vector<RankMemory> memory = gather_memory({});
  std::optional<NetworkReporter> reporter;
  run_on_root_and_broadcast([&] {
    check_memory(input.planned, memory, false);
    make_output_folder(input.outputs);
    reporter.emplace(input, hosts, oversubscribed);
  });

  const StopSignals signals(input.session.rank() == 0);
  const auto pairs = run_on_root_and_broadcast([&] { return ping_pong_pairs(input.options, hosts); });
  NetworkReporter* const shown_by = reporter ? &*reporter : nullptr;
  const bool all_runs = try_runs(input, shown_by);
  run_on_root_and_broadcast([&] { reporter->finish_case(); });
  const bool all_links =
      all_runs ? try_links(input, pairs, shown_by) : pairs.empty() && !screens(input.options, input.session.size());
  run_on_root_and_broadcast([&] {
    if (!all_runs || !all_links) reporter->end_early(!all_links);
    reporter->write_files();
  });
  return all_runs && all_links ? 0 : exit_interrupted;
}

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

int run_network_command(const Invocation& invocation) {
  return run_under_mpi(invocation, watchdog_limit<network_table>,
                       [](const MpiSession& session, const Texts& arguments, ReportContext context) {
                         NetworkInput input{.session = session,
                                            .options = parse_alike(arguments, options_of<network_table>),
                                            .context = std::move(context)};
                         input.planned = plan_network_runs(input.options, input.options.broadcast, session.size());
                         check_grids(input.planned, session.size(), "");
                         check_node_grid(input.options.node_grid);
                         check_pairs(input.options, session.size());
                         run_on_root_and_broadcast([&] {
                           input.outputs = output_paths(input.options);
                           check_outputs(input.outputs, input.options.force);
                           input.context.configuration = to_json(input.options, network_table);
                         });
                         return measure(input);
                       });
}

}  // namespace glinpack::app
