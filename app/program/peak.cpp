#include "app/program/peak.hpp"

#include <spdlog/fmt/fmt.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <exception>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "app/program/agreement.hpp"
#include "backend/measuring.hpp"
#include "backend/registry.hpp"
#include "gl/ceilings.hpp"
#include "gl/disk_cache.hpp"
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
  std::string computer = fmt::format("{}, {}, {}, {} threads", processor_name(), blas_version(), blas_kernels(),
                                     machine.options.threads);
  if (computes_on_device(machine.backend)) {
    const auto& device = machine.devices->at(static_cast<std::size_t>(machine.options.device));
    computer = device.renderer + ", " + device.version;
  }
  return fmt::format("{}, {} processes on the node, {} precision", computer, session.local_size(),
                     options.precision == Precision::double_ ? "double" : "single");
}

/// 0 if there is none.
double cached_rate(const std::string& path) {
  double rate = 0;
  std::ifstream(path) >> rate;
  return std::max(0.0, rate);
}

/// 0 if it cannot be measured.
double measured_peak(const PluOptions& options, const Machine& machine) {
  const BackendOptions& own = machine.options;
  try {
    return computes_on_device(machine.backend)
               ? gl::measure_device_fma(own.device, options.precision, measuring, own.shader_directory).median
               : measure_host_gemm(options.precision, own.threads, measuring).median;
  } catch (const std::exception& error) {
    spdlog::warn("the peak rate is unknown: {}; --peak states one", error.what());
    return 0;
  }
}

}  // namespace

std::vector<double> peak_rates(const PluOptions& options, const Machine& machine, const MpiSession& session,
                               bool may_measure) {
  constexpr double giga = 1e9;
  if (options.peak)
    return std::vector<double>(*options.peak > 0 ? static_cast<std::size_t>(session.size()) : 0, *options.peak * giga);

  const std::string description = description_of(options, machine, session);
  const std::string folder = gl::user_cache();
  const std::string path = folder.empty() ? "" : gl::cache_path(folder, description, "peak");
  double rate = path.empty() ? 0 : cached_rate(path);
  if (!all_agree(MPI_COMM_WORLD, rate > 0)) {
    if (!may_measure) return {};
    barrier(MPI_COMM_WORLD);
    rate = measured_peak(options, machine);
    // the second line is for human readers
    if (rate > 0 && !path.empty()) gl::write_cache_file(path, fmt::format("{}\n{}\n", rate, description));
  }
  const std::vector<nlohmann::json> gathered = gathered_on_first_rank(rate);
  auto rates = run_on_root_and_broadcast([&] { return nlohmann::json(gathered); }).get<std::vector<double>>();
  if (std::any_of(rates.begin(), rates.end(), [](double each) { return each <= 0; })) rates.clear();
  return rates;
}

}  // namespace glinpack::app
