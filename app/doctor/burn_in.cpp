#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <vector>

#include "app/doctor/facts.hpp"
#include "app/doctor/subjects.hpp"
#include "app/program/agreement.hpp"
#include "app/program/automatic.hpp"
#include "app/program/machine.hpp"
#include "app/program/outputs.hpp"
#include "backend/registry.hpp"
#include "base/measuring.hpp"
#include "matrix/matrix_source.hpp"
#include "mpi/communication.hpp"
#include "run/run.hpp"
#include "watch/stop_request.hpp"

namespace glinpack::app::doctor {

namespace {

using nlohmann::json;

constexpr Index min_order = 512;
constexpr double min_loops = 20;  // that the time is to suffice for

/// A factorisation by one rank.
RunRecord loop_of(const std::string& backend, Precision precision, Index n) {
  RunRecord run;
  run.backend = backend;
  run.precision = precision;
  run.grid = {1, 1};
  run.parameters.n = n;
  run.parameters.nb = automatic_block_size(backend, precision, n, run.grid);
  run.parameters.abft = true;
  return run;
}

/// The largest order for which the matrices of all ranks fit into memory. Throws std::runtime_error on all ranks if
/// there is none. Collective over MPI_COMM_WORLD.
Index largest_order(const MpiSession& session, const BackendInfo& info, Precision precision) {
  constexpr double memory_fraction = 0.8;                     // as of `glinpack plu --n auto`
  constexpr std::int64_t if_unknown = std::int64_t{4} << 30;  // bytes
  const std::vector<RankMemory> all = gather_memory(info);
  RankMemory mine = all[static_cast<std::size_t>(session.rank())];
  const auto share = [&](std::int64_t bytes, auto shares) {
    return (bytes > 0 ? bytes : if_unknown) / std::max<std::int64_t>(1, std::ranges::count_if(all, shares));
  };
  const auto on_my_node = [&mine](const RankMemory& rank) { return rank.node == mine.node; };
  mine.host_available = share(mine.host_available, on_my_node);
  mine.device_available = share(mine.device_available,
                                [&](const RankMemory& rank) { return on_my_node(rank) && rank.device == mine.device; });
  Index n = largest_fitting_n(loop_of(info.backend, precision, min_order), {&mine, 1}, false, memory_fraction);
  all_reduce(MPI_COMM_WORLD, &n, 1, MPI_INT64_T, MPI_MIN);
  if (n == 0) throw std::runtime_error("no matrix fits into the free memory of all ranks");
  return n;
}

double hottest(const PowerRecord& power, bool on_device) {
  double celsius = 0;
  for (const SensorRecord& sensor : power.read) {
    if ((sensor.info.kind == sensors::Kind::gpu) != on_device) continue;
    for (const sensors::Sample& sample : sensor.samples) {
      if (sensors::known(sample.reading.celsius)) celsius = std::max(celsius, sample.reading.celsius);
    }
  }
  return celsius;
}

/// What the loops of this rank have found.
struct Found {
  std::int64_t loops = 0;
  std::vector<double> gflops = {};  // of loops of the final order
  std::int64_t mismatches = 0;
  std::string first_mismatch = {};
  double celsius = 0;

  void add(const RunResult& result, bool on_device, bool is_final) {
    const RankRecord& rank = result.ranks.front();
    ++loops;
    celsius = std::max(celsius, hottest(rank.power, on_device));
    if (is_final && result.gflops > 0) gflops.push_back(result.gflops);
    if (result.passed) return;
    mismatches += std::max<std::int64_t>(1, static_cast<std::int64_t>(rank.mismatches.size()));
    if (first_mismatch.empty()) {
      first_mismatch = fmt::format("loop {}, {}", loops,
                                   rank.mismatches.empty() ? result.failure : text_of(rank.mismatches.front()));
    }
  }

  void write_to(json& facts) const {
    const auto half = static_cast<std::ptrdiff_t>(gflops.size() / 2);
    const auto spread = [](auto begin, auto end) { return begin == end ? Measured{} : spread_of({begin, end}); };
    const Measured all = spread(gflops.begin(), gflops.end());
    facts.update({{"loops", loops},
                  {"measured_loops", gflops.size()},
                  {"least_gflops", all.min},
                  {"median_gflops", all.median},
                  {"most_gflops", all.max},
                  {"first_half_gflops", spread(gflops.begin(), gflops.begin() + half).median},
                  {"second_half_gflops", spread(gflops.end() - half, gflops.end()).median},
                  {"mismatches", mismatches},
                  {"first_mismatch", first_mismatch},
                  {"celsius", celsius},
                  {"error", ""}});
  }
};

template <class Real>
json burn_in_with(const MpiSession& session, const Machine& machine, double minutes) {
  Timeline timeline;
  std::unique_ptr<Backend<Real>> backend;
  run_on_all_ranks([&] { backend = make_backend<Real>(machine.backend, machine.options, timeline); });
  const BackendInfo info = backend->info();
  const RankSensors sensors = open_sensors(machine, info);
  const ProcessGrid alone(MPI_COMM_SELF, {1, 1}, RankOrder::row_major);
  const Index max_order = largest_order(session, info, precision_of<Real>);
  const StopSignals signals(session.rank() == 0);
  const double begun = steady_seconds();
  Progress progress = progress_on_stderr(session.rank() == 0);
  progress.begin(fmt::format("burn-in of {:g} minutes", minutes), 0);
  RunOptions options;
  options.gather_timelines = false;
  options.sensors = &sensors;
  options.power_interval = 1;
  options.progress = [&](double) { progress.update(std::min(1.0, (steady_seconds() - begun) / (60 * minutes))); };
  Found found;
  Index n = std::min(max_order, min_order);
  for (bool is_final = false;;) {
    const double loop_begun = steady_seconds();
    const RunRecord run = loop_of(info.backend, precision_of<Real>, n);
    run_on_all_ranks([&] {
      const auto source = make_hpl_source(n);
      const RunResult result = glinpack::run(run.parameters, alone, *backend, *source, options);
      if (!result.passes_done) found.add(result, info.device_index >= 0, is_final);
    });
    const int signal = share_stop_signal(MPI_COMM_WORLD);
    double seconds[2] = {steady_seconds() - loop_begun, steady_seconds() - begun};
    all_reduce(MPI_COMM_WORLD, seconds, 2, MPI_DOUBLE, MPI_MAX);
    if (signal != 0 || (is_final && seconds[1] >= minutes * 60)) {
      progress.end();
      json facts{{"backend", info.backend},
                 {"device", info.device},
                 {"device_index", info.device_index},
                 {"hardware", info.device_index >= 0 && !info.software_device},
                 {"precision", name_of(run.precision)},
                 {"n", n},
                 {"nb", run.parameters.nb},
                 {"minutes", seconds[1] / 60},
                 {"signal", signal != 0 ? name_of_signal(signal) : ""}};
      found.write_to(facts);
      return facts;
    }
    if (is_final) continue;
    const double factor = std::cbrt(minutes * 60 / min_loops / seconds[0]);
    is_final = factor < 2 || 2 * n >= max_order;
    n = std::min(max_order, static_cast<Index>(static_cast<double>(n) * std::clamp(factor, 1.0, 2.0)));
  }
}

}  // namespace

json measure_burn_in(const MpiSession& session, const PluOptions& options, double minutes) {
  try {
    const Machine machine = choose_machine(options, session);
    const bool in_double = options.precision == Precision::double_ && backend_record(machine.backend).make_double;
    return in_double ? burn_in_with<double>(session, machine, minutes) : burn_in_with<float>(session, machine, minutes);
  } catch (const std::exception& error) {  // on all ranks
    return {{"error", error.what()}};
  }
}

std::string burn_in_text(const Facts& facts) {
  std::string text;
  for (const json& rank : facts.ranks) {
    const json& burn_in = rank.at("burn_in");
    if (burn_in.is_null() || burn_in.at("error") != "") continue;
    const auto number = [&burn_in](const char* key) { return burn_in.at(key).get<double>(); };
    if (text.empty()) {
      const std::string signal = burn_in.at("signal");
      text = fmt::format("\nBurn-in of {:.2f} minutes{}: N {}, NB {}, {} precision\n", number("minutes"),
                         signal.empty() ? "" : ", ended by " + signal, burn_in.at("n").get<Index>(),
                         burn_in.at("nb").get<Index>(), burn_in.at("precision").get<std::string>());
      text += fmt::format("{:>5} {:>6} {:>11} {:>11} {:>11} {:>11} {:>4}  host, device\n", "rank", "loops",
                          "GFLOPS, min", "median", "max", "mismatches", "C");
    }
    const double celsius = number("celsius");
    const int device = burn_in.at("device_index");
    text +=
        fmt::format("{:>5} {:>6} {:>11.1f} {:>11.1f} {:>11.1f} {:>11} {:>4}  {}, {}{}\n",
                    rank.at("process").at("rank").get<int>(), burn_in.at("loops").get<Index>(), number("least_gflops"),
                    number("median_gflops"), number("most_gflops"), burn_in.at("mismatches").get<Index>(),
                    celsius > 0 ? fmt::format("{:.0f}", celsius) : "-", rank.at("host").get<std::string>(),
                    device < 0 ? "" : fmt::format("device {}, ", device), burn_in.at("device").get<std::string>());
  }
  return text;
}

}  // namespace glinpack::app::doctor
