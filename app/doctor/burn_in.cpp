#include "app/doctor/burn_in.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <vector>

#include "app/doctor/judgement.hpp"
#include "app/program/agreement.hpp"
#include "app/program/automatic.hpp"
#include "app/program/machine.hpp"
#include "app/program/outputs.hpp"
#include "app/program/sensors.hpp"
#include "backend/registry.hpp"
#include "base/measuring.hpp"
#include "lu/run.hpp"
#include "matrix/matrix_source.hpp"
#include "mpi/communication.hpp"
#include "watch/stop_request.hpp"

namespace glinpack::app::doctor {

namespace {

using nlohmann::json;

constexpr Index smallest_order = 512;
constexpr double least_loops = 20;  // that the time is to suffice for

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
  Index n = largest_fitting_n(loop_of(info.backend, precision, smallest_order), {&mine, 1}, false, memory_fraction);
  all_reduce(MPI_COMM_WORLD, &n, 1, MPI_INT64_T, MPI_MIN);
  if (n == 0) throw std::runtime_error("no matrix fits into the free memory of all ranks");
  return n;
}

/// The orders of the loops: doubled until a loop takes long enough.
class Orders {
 public:
  Orders(Index largest, double seconds_of_loop)
      : largest_(largest), seconds_(seconds_of_loop), now_(std::min(largest, smallest_order)) {}
  Index now() const { return now_; }
  /// Whether loops have their final order.
  bool is_final() const { return final_; }
  void next(double seconds) {
    if (final_) return;
    const double factor = std::cbrt(seconds_ / seconds);
    final_ = factor < 2 || 2 * now_ >= largest_;
    const auto n = static_cast<double>(now_) * std::clamp(factor, 1.0, 2.0);
    now_ = std::min(largest_, static_cast<Index>(n));
  }

 private:
  Index largest_;
  double seconds_;
  Index now_;
  bool final_ = false;
};

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
class Found {
 public:
  explicit Found(const BackendInfo& info) : info_(info) {}

  void add(const RunResult& result, int loop, bool is_measured) {
    const RankRecord& rank = result.ranks.front();
    ++loops_;
    celsius_ = std::max(celsius_, hottest(rank.power, info_.device_index >= 0));
    if (is_measured) gflops_.push_back(result.gflops);
    if (result.passed) return;
    mismatches_ += std::max<std::int64_t>(1, static_cast<std::int64_t>(rank.mismatches.size()));
    if (!first_.empty()) return;
    first_ =
        fmt::format("loop {}, {}", loop, rank.mismatches.empty() ? result.failure : text_of(rank.mismatches.front()));
  }

  json facts(const RunRecord& run, double seconds, int signal) const {
    const auto median = [this](std::size_t begin, std::size_t end) {
      const auto at = [this](std::size_t i) { return gflops_.begin() + static_cast<std::ptrdiff_t>(i); };
      return begin == end ? 0 : spread_of({at(begin), at(end)}).median;
    };
    const std::size_t measured = gflops_.size();
    const auto [least, most] = std::ranges::minmax_element(gflops_);
    return {{"backend", info_.backend},
            {"device", info_.device},
            {"device_index", info_.device_index},
            {"hardware", info_.device_index >= 0 && !info_.software_gl},
            {"precision", name_of(run.precision)},
            {"n", run.parameters.n},
            {"nb", run.parameters.nb},
            {"minutes", seconds / 60},
            {"signal", signal != 0 ? name_of_signal(signal) : ""},
            {"loops", loops_},
            {"measured_loops", measured},
            {"least_gflops", measured == 0 ? 0 : *least},
            {"median_gflops", median(0, measured)},
            {"most_gflops", measured == 0 ? 0 : *most},
            {"first_half_gflops", median(0, measured / 2)},
            {"second_half_gflops", median(measured - measured / 2, measured)},
            {"mismatches", mismatches_},
            {"first_mismatch", first_},
            {"celsius", celsius_},
            {"error", ""}};
  }

 private:
  BackendInfo info_;
  std::int64_t loops_ = 0;
  std::vector<double> gflops_;  // of loops of the final order
  std::int64_t mismatches_ = 0;
  std::string first_;
  double celsius_ = 0;
};

template <class Real>
json burn_in_with(const MpiSession& session, const Machine& machine, double minutes) {
  Timeline timeline;
  std::unique_ptr<Backend<Real>> backend;
  run_on_all_ranks([&] { backend = make_backend<Real>(machine.backend, machine.options, timeline); });
  const BackendInfo info = backend->info();
  const RankSensors sensors = open_sensors(machine, info);
  const ProcessGrid alone(MPI_COMM_SELF, {1, 1}, RankOrder::row_major);
  Orders orders(largest_order(session, info, precision_of<Real>), minutes * 60 / least_loops);
  Found found(info);
  const StopSignals signals(session.rank() == 0);
  const double begun = steady_seconds();
  Progress progress = progress_on_stderr(session.rank() == 0 ? When::automatic : When::never);
  progress.begin(fmt::format("burn-in of {:g} minutes", minutes), 0);
  RunOptions options;
  options.gather_timelines = false;
  options.sensors = &sensors;
  options.power_interval = 1;
  options.progress = [&](double) { progress.update(std::min(1.0, (steady_seconds() - begun) / (60 * minutes))); };
  for (int loop = 1;; ++loop) {
    const double loop_begun = steady_seconds();
    const RunRecord run = loop_of(info.backend, precision_of<Real>, orders.now());
    run_on_all_ranks([&] {
      const auto source = make_hpl_source(run.parameters.n);
      const RunResult result = glinpack::run(run.parameters, alone, *backend, timeline, *source, options);
      if (!result.passes_done) found.add(result, loop, orders.is_final());
    });
    const int signal = share_stop_signal(MPI_COMM_WORLD);
    double seconds[2] = {steady_seconds() - loop_begun, steady_seconds() - begun};
    all_reduce(MPI_COMM_WORLD, seconds, 2, MPI_DOUBLE, MPI_MAX);
    if (signal != 0 || (orders.is_final() && seconds[1] >= minutes * 60)) {
      progress.end();
      return found.facts(run, seconds[1], signal);
    }
    orders.next(seconds[0]);
  }
}

}  // namespace

json measure_burn_in(const MpiSession& session, const PluOptions& options, double minutes) {
  try {
    const Machine machine = choose_machine(options, session);
    return backend_record(machine.backend).make_double ? burn_in_with<double>(session, machine, minutes)
                                                       : burn_in_with<float>(session, machine, minutes);
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
                         burn_in.at("nb").get<Index>(), fact_text(burn_in.at("precision")));
      text += fmt::format("{:>5} {:>6} {:>11} {:>11} {:>11} {:>11} {:>4}  host, device\n", "rank", "loops",
                          "GFLOPS, min", "median", "max", "mismatches", "C");
    }
    const double celsius = number("celsius");
    text += fmt::format("{:>5} {:>6} {:>11.1f} {:>11.1f} {:>11.1f} {:>11} {:>4}  {}\n", number_of(rank),
                        burn_in.at("loops").get<Index>(), number("least_gflops"), number("median_gflops"),
                        number("most_gflops"), burn_in.at("mismatches").get<Index>(),
                        celsius > 0 ? fmt::format("{:.0f}", celsius) : "-", burnt_in_device(rank));
  }
  return text;
}

}  // namespace glinpack::app::doctor
