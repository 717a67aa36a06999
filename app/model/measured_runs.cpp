#include "app/model/measured_runs.hpp"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "app/input/input_error.hpp"
#include "app/input/text_file.hpp"
#include "app/input/values.hpp"
#include "app/model/default_machine.hpp"
#include "app/model/forecast.hpp"
#include "app/option_text.hpp"
#include "backend/measuring.hpp"
#include "backend/registry.hpp"

namespace glinpack::app::model {

namespace {

using nlohmann::json;

constexpr std::int64_t largest_file = std::int64_t{1} << 30;

// Reads a document of this program that has the named array or object.
json read_document(const std::string& path, const std::string& command, const char* member) {
  json document;
  try {
    document = json::parse(read_file(path, largest_file));
  } catch (const json::exception&) {
    throw InputError(path + ": not JSON; what `" + command + " --json` writes is expected");
  }
  const bool is_ours = document.is_object() && document.contains("context") && document["context"].is_object() &&
                       document["context"].value("program", json()) == "glinpack" &&
                       document.value("format", json()) == 1 && document.contains(member);
  if (!is_ours) throw InputError(path + ": not what `" + command + " --json` writes; nothing else can be used here");
  return document;
}

// Reports a member that is missing or has another type.
template <class Read>
auto read_from(const std::string& path, const std::string& command, Read read) {
  try {
    return read();
  } catch (const json::exception& error) {
    throw InputError(path + ": not as `" + command + " --json` writes it: " + error.what());
  } catch (const InputError& error) {
    throw InputError(path + ": " + error.what());
  }
}

template <class Choice>
Choice choice_of(const json& value, std::span<const Choice> choices) {
  const std::string name = value.get<std::string>();
  for (const Choice choice : choices) {
    if (name_of(choice) == name) return choice;
  }
  throw InputError("there is no " + name);
}

Problem problem_of(const json& run, const json& configuration) {
  Problem problem;
  RunParameters& parameters = problem.parameters;
  parameters.n = run.at("n").get<Index>();
  parameters.nb = run.at("nb").get<Index>();
  parameters.pivoting = choice_of<Pivoting>(run.at("pivoting"), all_pivotings);
  parameters.panel = choice_of<PanelPlace>(run.value("panel", json("auto")), all_panel_places);
  parameters.broadcast = choice_of<BroadcastKind>(run.at("broadcast"), all_broadcasts);
  parameters.lookahead = run.at("variant").at("depth").get<int>();
  parameters.parts = run.at("compute_only").get<bool>() ? RunParts::compute : RunParts::all;
  if (configuration.value("node-broadcast", json()) == "mpi") parameters.node_transport = NodeTransport::mpi;
  if (run.contains("row_swap")) {
    parameters.row_swap.kind = choice_of<RowSwapKind>(run["row_swap"].at("kind"), all_row_swaps);
    parameters.row_swap.threshold = run["row_swap"].at("threshold").get<Index>();
    parameters.row_swap.pieces = run["row_swap"].at("pieces").get<Index>();
  }
  problem.grid = {run.at("p").get<int>(), run.at("q").get<int>()};
  problem.order = run.at("order") == "row-major" ? RankOrder::row_major : RankOrder::column_major;
  problem.precision = precision_from_name(run.at("precision").get<std::string>());
  const auto ranks = static_cast<Index>(run.at("ranks").size());
  const bool usable = parameters.n >= 1 && parameters.n <= largest_n && parameters.nb >= 1 && problem.grid.rows >= 1 &&
                      problem.grid.columns >= 1 && problem.grid.rows <= ranks && problem.grid.columns <= ranks &&
                      problem.grid.size() == ranks;
  if (!usable) throw InputError("a run's N, NB or grid cannot be: not as `glinpack plu --json` writes it");
  if (problem.distribution().passes() > most_passes) throw InputError("a run has too many passes for the model");
  return problem;
}

// Adds each rank's seconds by phase, and the arrangement of the ranks.
void add_ranks(Observation& observation, const json& ranks) {
  Arrangement& arrangement = observation.problem.arrangement;
  std::map<std::string, int> on_host;
  for (const json& rank : ranks) {
    const bool on_device = computes_on_device(rank.at("backend").get<std::string>());
    arrangement.on_device = arrangement.on_device || on_device;
    arrangement.in_background = arrangement.in_background || (on_device && !rank.at("software_gl").get<bool>());
    arrangement.processes_per_node =
        std::max(arrangement.processes_per_node, ++on_host[rank.at("host").get<std::string>()]);
  }
  const std::optional<Work> messages = kind_of_messages(observation.problem);
  for (const json& rank : ranks) {
    for (const json& line : rank.at("phases")) {
      const auto lane = choice_of<Lane>(line.at("lane"), all_lanes);
      const bool in_passes = line.at("role") != "none";
      // messages are summed separately, without the wait for the other end
      if (!in_passes || lane == Lane::net) continue;
      add_phase(observation.seconds, choice_of<Phase>(line.at("phase"), all_phases), lane, messages,
                line.at("seconds").get<double>());
    }
    if (messages) observation.seconds[*messages] += rank.at("network_seconds").get<double>();
  }
}

MeasuredRun measured_run(const json& run, const json& configuration) {
  MeasuredRun measured;
  Observation& observation = measured.observation;
  observation.problem = problem_of(run, configuration);
  observation.count = observation.problem.distribution().passes();
  add_ranks(observation, run.at("ranks"));
  observation.seconds[Work::substitution] = run.at("solve_seconds").get<double>();
  measured.backend = run.at("backend").get<std::string>();
  measured.seconds = run.at("time").get<double>();
  measured.gflops = run.at("gflops").is_null() ? 0 : run["gflops"].get<double>();
  return measured;
}

// True if the run repeats the last one. The fastest repetition is kept, since disturbances only make a run slower.
bool take_repetition(std::vector<MeasuredRun>& runs, MeasuredRun& run, const json& described) {
  if (runs.empty() || described.at("repeat").get<int>() == 0) return false;
  if (run.seconds < runs.back().seconds) runs.back() = std::move(run);
  return true;
}

bool finished(const json& run) {
  return run.at("singular_column").is_null() && run.at("time").get<double>() > 0 && !run.at("breakdown").is_null() &&
         !run.at("ranks").empty();
}

}  // namespace

std::vector<MeasuredRun> read_measured_runs(const std::string& path) {
  const std::string command = "glinpack plu";
  const json document = read_document(path, command, "runs");
  return read_from(path, command, [&] {
    std::vector<MeasuredRun> runs;
    for (const json& run : document.at("runs")) {
      if (!finished(run)) continue;
      MeasuredRun measured = measured_run(run, document.at("context").at("configuration"));
      measured.file = path;
      if (!is_modelled(measured.observation.problem, measured.backend)) continue;
      if (!take_repetition(runs, measured, run)) runs.push_back(std::move(measured));
    }
    if (runs.empty()) {
      throw InputError(
          "has no run that finished and that the model knows (by blocks, single or double precision); "
          "make one with `glinpack plu --json`");
    }
    return runs;
  });
}

void read_links(MachineModel& machine, const std::string& path) {
  const std::string command = "glinpack network";
  const json document = read_document(path, command, "ping_pong");
  read_from(path, command, [&] {
    struct Ends {
      std::vector<double> latency, seconds_a_byte;
    };
    ByWork<Ends> links;
    for (const json& pair : document.at("ping_pong")) {
      const bool one_host = pair.at("first").at("host") == pair.at("second").at("host");
      Ends& ends = links[one_host ? Work::memory : Work::network];
      double latency = 0, rate = 0;
      for (const json& size : pair.at("sizes")) {
        const double least = size.at("least_seconds").get<double>();
        latency = latency == 0 ? least : std::min(latency, least);
        rate = std::max(rate, size.at("gigabytes_per_second").get<double>() * 1e9);
      }
      if (!(latency > 0 && rate > 0)) continue;
      ends.latency.push_back(latency);
      ends.seconds_a_byte.push_back(1 / rate);
    }
    bool any = false;
    for (const Work work : {Work::network, Work::memory}) {
      if (links[work].latency.empty()) continue;
      any = true;
      const Cost cost{.per_flop = 0,
                      .per_byte = spread_of(links[work].seconds_a_byte).median,
                      .per_step = spread_of(links[work].latency).median};
      machine.figures[work] = {cost, "ping-pongs of " + path};
    }
    if (!any) {
      throw InputError("has no ping-pong; measure with `glinpack network --ping-pong auto` on two ranks or more");
    }
    return 0;
  });
}

void scale_to_ceilings(MachineModel& machine, const std::string& path, Precision precision, bool on_device) {
  const std::string command = "glinpack ceilings";
  const json document = read_document(path, command, "host");
  read_from(path, command, [&] {
    const DefaultCeilings ours;
    const bool wide = precision == Precision::double_;
    const auto ratio = [](const json& measured, double scale, double here) {
      const double there = measured.at("median").get<double>() * scale;
      if (!(there > 0)) throw InputError("a ceiling is not above 0");
      return here / there;
    };
    const auto scale = [&](Work work, double flops, double bytes, double steps) {
      Figure& figure = machine.figures[work];
      figure.cost.per_flop *= flops;
      figure.cost.per_byte *= bytes;
      figure.cost.per_step *= steps;
      if (figure.cost.known()) figure.source += "; scaled to " + path;
    };
    const json& host = document.at("host");
    const double gemm =
        ratio(host.at(wide ? "gemm_double" : "gemm_single"), 1e9, wide ? ours.gemm_double : ours.gemm_single);
    if (!on_device) {
      throw InputError("with openblas, measure a run on one of the nodes and name it (--from)");
    }
    const json& device = document.at("device");
    if (device.is_null())
      throw InputError("has no device: the host alone was measured; see `glinpack ceilings --help`");
    const double fma =
        ratio(device.at(wide ? "fma_double" : "fma_single"), 1e9, wide ? ours.fma_double : ours.fma_single);
    const double copy = ratio(device.at("copy"), 1e9, ours.copy);
    const double dispatch = 1 / ratio(device.at("dispatch"), 1e-6, ours.dispatch);
    const double transfer = ratio(device.at("download"), 1e9, ours.download);
    for (const Work work : {Work::panel_device, Work::normalize, Work::swap, Work::reduce, Work::substitution}) {
      scale(work, fma, copy, dispatch);
    }
    scale(Work::panel_host, gemm, gemm, gemm);
    scale(Work::transfer, 1, transfer, 1);
    return 0;
  });
}

}  // namespace glinpack::app::model
