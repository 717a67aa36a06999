#include "app/model/measured_runs.hpp"

#include "app/input/input_error.hpp"
#include "app/input/values.hpp"
#include "app/model/forecast.hpp"
#include "app/program/program_context.hpp"
#include "app/record/network_record.hpp"
#include "app/record/result_file.hpp"
#include "base/measuring.hpp"

namespace glinpack::app::model {

namespace {

// Names the file in an error of the model's.
template <class Read>
auto read_from(const std::string& path, Read read) {
  try {
    return read();
  } catch (const InputError& error) {
    const std::string reason = error.what();
    throw InputError(reason.starts_with(path) ? reason : path + ": " + reason);
  }
}

// Throws InputError for a run that the model cannot compute.
Problem problem_of(const RunRecord& run) {
  Problem problem = problem_of(run, arrangement_of(run.result.ranks));
  const auto ranks = static_cast<Index>(run.result.ranks.size());
  const GridShape& grid = problem.grid;
  const bool usable = problem.parameters.n <= largest_n && grid.rows <= ranks && grid.columns <= ranks &&
                      static_cast<Index>(grid.rows) * grid.columns == ranks;
  if (!usable) throw InputError("a run's N or grid cannot be: not as `glinpack plu --json` writes it");
  if (problem.distribution().passes() > most_passes) throw InputError("a run has too many passes for the model");
  return problem;
}

MeasuredRun measured_run(const RunRecord& run) {
  MeasuredRun measured{.file = {}, .backend = run.backend, .observation = {}, .seconds = run.result.seconds};
  Observation& observation = measured.observation;
  observation.problem = problem_of(run);
  observation.count = observation.problem.distribution().passes();
  observation.seconds[Work::substitution] = run.result.solve_seconds;
  const std::optional<Work> messages = kind_of_messages(observation.problem);
  for (const RankTime& rank : run.breakdown.by_rank) {
    for (const PhaseWork& work : rank.phases) {
      // messages are summed separately, without the wait for the other end
      if (work.role == Role::none || work.lane == Lane::net) continue;
      add_phase(observation.seconds, work.phase, work.lane, messages, work.busy_seconds);
    }
    if (messages) observation.seconds[*messages] += rank.network;
  }
  // where this program would factorise panels, another version may not have
  if (observation.seconds[Work::panel_device] == 0) observation.problem.parameters.panel = PanelPlace::host;
  return measured;
}

// Returns true if the run repeats the last one, and replaces it if it is faster: disturbances only slow a run down.
bool keep_fastest_repetition(std::vector<MeasuredRun>& runs, MeasuredRun& run, int repeat) {
  if (runs.empty() || repeat == 0) return false;
  if (run.seconds < runs.back().seconds) runs.back() = std::move(run);
  return true;
}

bool finished(const RunRecord& run) {
  return !run.result.singular_column && run.result.seconds > 0 && !run.breakdown.phases.empty() &&
         !run.result.ranks.empty();
}

}  // namespace

std::vector<MeasuredRun> read_measured_runs(const std::string& path) {
  const ResultFile file = read_result_file(path, ResultKind::plu);
  const std::optional<JsonNode> configuration = file.root().at("context").find("configuration");
  const bool mpi_in_nodes = configuration && configuration->text_or("node-broadcast", "") == "mpi";
  return read_from(path, [&] {
    std::vector<MeasuredRun> runs;
    for (RunRecord& run : read_runs(file.root())) {
      if (!finished(run)) continue;
      if (mpi_in_nodes) run.parameters.node_memory = false;
      MeasuredRun measured = measured_run(run);
      measured.file = path;
      if (!is_modelled(measured.observation.problem, measured.backend)) continue;
      if (!keep_fastest_repetition(runs, measured, run.repeat)) runs.push_back(std::move(measured));
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
  const ResultFile file = read_result_file(path, ResultKind::network);
  struct Ends {
    std::vector<double> latency, seconds_a_byte;
  };
  ByWork<Ends> links;
  for (const PingPongRecord& pair : read_network(file.root()).ping_pongs) {
    Ends& ends = links[pair.first.host == pair.second.host ? Work::memory : Work::network];
    if (pair.times.empty()) continue;
    const double latency = pair.quickest()->least, rate = pair.widest()->bytes_per_second();
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
    throw InputError(path +
                     ": has no ping-pong; measure with `glinpack network --ping-pong auto` on two ranks or more");
  }
}

void scale_to_ceilings(MachineModel& machine, const std::string& path, Precision precision, bool on_device) {
  const ResultFile file = read_result_file(path, ResultKind::peaks);
  const JsonNode root = file.root();
  if (!on_device) {
    throw InputError(path + ": with openblas, measure a run on one of the nodes and name it (--from)");
  }
  const std::optional<JsonNode> device = root.find("device");
  if (!device) {
    throw InputError(path + ": has no device: the host alone was measured; see `glinpack peaks --help`");
  }
  const DefaultCeilings defaults;
  const bool wide = precision == Precision::double_;
  const auto ratio = [](const JsonNode& measured, double scale, double here) {
    const double there = value_of<MeasuredQuantity>(measured).values.median * scale;
    if (!(there > 0)) measured.refuse("a ceiling is not above 0");
    return here / there;
  };
  const auto scale = [&](Work work, double flops, double bytes, double steps) {
    Figure& figure = machine.figures[work];
    figure.cost.per_flop *= flops;
    figure.cost.per_byte *= bytes;
    figure.cost.per_step *= steps;
    if (figure.cost.known()) figure.source += "; scaled to " + path;
  };
  const double gemm = ratio(root.at("host").at(wide ? "gemm_double" : "gemm_single"), 1e9,
                            wide ? defaults.gemm_double : defaults.gemm_single);
  const double fma =
      ratio(device->at(wide ? "fma_double" : "fma_single"), 1e9, wide ? defaults.fma_double : defaults.fma_single);
  const double copy = ratio(device->at("copy"), 1e9, defaults.copy);
  const double dispatch = 1 / ratio(device->at("dispatch"), 1e-6, defaults.dispatch);
  const double transfer = ratio(device->at("download"), 1e9, defaults.download);
  for (const Work work : {Work::panel_device, Work::normalize, Work::swap, Work::reduce, Work::substitution}) {
    scale(work, fma, copy, dispatch);
  }
  scale(Work::panel_host, gemm, gemm, gemm);
  scale(Work::transfer, 1, transfer, 1);
}

}  // namespace glinpack::app::model
