#include "app/program/peak.hpp"

#include <spdlog/fmt/fmt.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <exception>
#include <limits>
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
  std::string computer =
      fmt::format("{}, {}, {}, {} threads", processor_name(), blas_version(), blas_kernels(), machine.options.threads);
  if (computes_on_device(machine.backend)) {
    const auto& device = machine.devices->at(static_cast<std::size_t>(machine.options.device));
    computer = device.renderer + ", " + device.version;
  }
  return fmt::format("{}, {} processes on the node, {} precision", computer, session.local_size(),
                     options.precision == Precision::double_ ? "double" : "single");
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
  const gl::NumberCache cache("peak");
  double rate = cache.load(description, 1, std::numeric_limits<double>::max()).value_or(0);
  if (!all_agree(MPI_COMM_WORLD, rate > 0)) {
    if (!may_measure) return {};
    barrier(MPI_COMM_WORLD);
    rate = measured_peak(options, machine);
    if (rate > 0) cache.store(description, rate, description);
  }
  const std::vector<nlohmann::json> gathered = gathered_on_first_rank(rate);
  auto rates = run_on_root_and_broadcast([&] { return nlohmann::json(gathered); }).get<std::vector<double>>();
  if (std::any_of(rates.begin(), rates.end(), [](double each) { return each <= 0; })) rates.clear();
  return rates;
}

}  // namespace glinpack::app
