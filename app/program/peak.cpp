#include "app/program/peak.hpp"

#include <spdlog/fmt/chrono.h>
#include <spdlog/fmt/fmt.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <exception>
#include <fstream>
#include <limits>
#include <sstream>
#include <string>

#include "app/program/agreement.hpp"
#include "backend/registry.hpp"
#include "base/measuring.hpp"
#include "base/user_cache.hpp"
#include "host/host_memory.hpp"
#include "mpi/communication.hpp"
#include "openblas/blas_library.hpp"
#include "openblas/host_ceilings.hpp"

namespace glinpack::app {

namespace {

// About a second: long enough for all processes to measure at once.
constexpr MeasuringOptions measuring{.repeat = 5, .seconds = 1};

/// What the rate of this process depends on.
std::string description_of(const PluOptions& options, const Machine& machine, const MpiSession& session) {
  std::string computer =
      fmt::format("{}, {}, {}, {} threads", processor_name(), blas_version(), blas_kernels(), machine.options.threads);
  if (computes_on_device(machine.backend)) {
    computer = machine.device->renderer + ", " + machine.device->version;
  }
  return fmt::format("{}, {} processes on the node, {} precision", computer, session.local_size(),
                     options.precision == Precision::double_ ? "double" : "single");
}

/// 0 if it cannot be measured.
double measured_peak(const PluOptions& options, const Machine& machine) {
  const BackendOptions& own = machine.options;
  try {
    return computes_on_device(machine.backend)
               ? device_catalog(machine.backend).measure_peak(own, options.precision, measuring).median
               : measure_host_gemm(options.precision, own.threads, measuring).median;
  } catch (const std::exception& error) {
    spdlog::warn("the peak rate is unknown: {}; --peak states one", error.what());
    return 0;
  }
}

/// The best rate of earlier measurements and runs.
struct KeptPeak {
  double rate = 0;                                        // 0: none
  double load = std::numeric_limits<double>::infinity();  // NodeLoad of the quietest measurement; infinity: unknown
};

KeptPeak load_peak(const std::string& description) {
  KeptPeak kept;
  std::ifstream file = CacheFolder("peak").open(description);
  std::string first_line;
  std::getline(file, first_line);
  std::istringstream line(first_line);
  if (!(line >> kept.rate) || !(kept.rate > 0 && kept.rate <= std::numeric_limits<double>::max())) return {};
  if (!(line >> kept.load)) kept.load = KeptPeak{}.load;
  return kept;
}

void store_peak(const std::string& description, const KeptPeak& peak) {
  const std::string text = fmt::format("{} {}\n{:%Y-%m-%d %H:%M} UTC, {:.2f} processors used by other programs\n{}\n",
                                       peak.rate, peak.load, fmt::gmtime(std::time(nullptr)), peak.load, description);
  CacheFolder("peak").write(description, text);
}

/// Collective over MPI_COMM_WORLD. Measures, and keeps what is better than `kept`.
KeptPeak measured_and_kept(const KeptPeak& kept, const std::string& description, const PluOptions& options,
                           const Machine& machine, const MpiSession& session) {
  world().barrier();
  const NodeLoad load_now;
  const double rate = measured_peak(options, machine);
  const double load = load_now.of_others();
  if (rate <= 0) return kept;
  if (is_loaded(load, node_processors()) && session.local_rank() == 0) {
    spdlog::warn(
        "the peak rate was measured while other programs used {:.1f} of {} processors; the next run measures it again",
        load, node_processors());
  }
  const KeptPeak best{std::max(rate, kept.rate), std::min(load, kept.load)};
  store_peak(description, best);
  return best;
}

// Seconds that all processors of the node have computed, for any program; 0 if the kernel does not report it.
double busy_seconds_of_node() {
  std::ifstream file("/proc/stat");
  std::string name;
  std::array<double, 8> ticks{};  // user, nice, system, idle, waiting for files, interrupts (2), taken by other guests
  file >> name;
  for (double& each : ticks) file >> each;
  if (!file || name != "cpu") return 0;
  const double busy = ticks[0] + ticks[1] + ticks[2] + ticks[5] + ticks[6] + ticks[7];
  return busy / static_cast<double>(sysconf(_SC_CLK_TCK));
}

double busy_seconds_of_process() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

struct OwnSeconds {
  int node;
  double seconds;
};

}  // namespace

std::vector<double> peak_rates(const PluOptions& options, const Machine& machine, const MpiSession& session,
                               bool may_measure) {
  constexpr double giga = 1e9;
  if (options.peak)
    return std::vector<double>(*options.peak > 0 ? static_cast<std::size_t>(session.size()) : 0, *options.peak * giga);

  const std::string description = description_of(options, machine, session);
  KeptPeak peak = load_peak(description);
  if (may_measure && !all_agree(world(), peak.rate > 0 && !is_loaded(peak.load, node_processors()))) {
    peak = measured_and_kept(peak, description, options, machine, session);
  }
  std::vector<double> rates = all_gathered(world(), peak.rate);
  if (std::ranges::any_of(rates, [](double each) { return each <= 0; })) rates.clear();
  return rates;
}

void keep_reached_rate(const PluOptions& options, const Machine& machine, const MpiSession& session, double rate) {
  const std::string description = description_of(options, machine, session);
  const KeptPeak kept = load_peak(description);
  if (rate > kept.rate) store_peak(description, {rate, kept.load});
}

NodeLoad::NodeLoad()
    : begun_(steady_seconds()), node_seconds_(busy_seconds_of_node()), own_seconds_(busy_seconds_of_process()) {}

double NodeLoad::of_others() const {
  world().barrier();  // ranks that are still measuring are no other programs
  const double elapsed = steady_seconds() - begun_;
  const double node = busy_seconds_of_node() - node_seconds_;
  const OwnSeconds mine{first_rank_of_node(), busy_seconds_of_process() - own_seconds_};
  double others = node;
  for (const OwnSeconds& rank : all_gathered(world(), mine)) others -= rank.node == mine.node ? rank.seconds : 0;
  return elapsed > 0 ? std::max(0.0, others / elapsed) : 0;
}

int node_processors() { return std::max(1, static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN))); }

bool is_loaded(double processors_of_others, int processors) {
  constexpr double tolerated = 0.05;
  return processors_of_others > tolerated * processors;
}

}  // namespace glinpack::app
