#include "app/modes/dense_systems_run.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "app/modes/fit.hpp"

namespace glinpack::app {

namespace {

using solvers::EliminationSettings;

constexpr const char* dense_rival = "openblas";
constexpr int dense_fit_degree = 3;  // of the times over N, as in the paper

// Throws InputError if the host has too little memory or the device cannot hold the system.
void check_system(const DenseSystem& system, const ModeMachine& machine, const DenseSystemsMode& mode) {
  const std::string what = "a system of size " + system.size_text();
  const auto n = static_cast<double>(system.n), columns = static_cast<double>(system.columns);
  // A, LAPACK's copy, the padded copy, the staging buffer; A and its factors in double precision
  double bytes = n * (4 * (4 * n + 5 * columns) + 8 * (2 * n + 3 * columns));
  if (machine.device && machine.device->description().software) bytes += 2 * 4 * n * (n + columns);  // in host memory
  check_host_memory(what, bytes);
  for (const EliminationSettings& each : mode.settings) {
    const std::string message = mode.obstacle(machine.device->description(), system, each);
    if (!message.empty()) throw InputError(what + ", variant " + std::string(name_of(each.variant)) + ": " + message);
  }
}

// A table of the records' errors; empty if no record has any.
std::string error_table(const std::vector<ModeRecord>& records) {
  std::string rows;
  for (const ModeRecord& record : records) {
    if (!record.parameters.contains("error")) continue;
    const nlohmann::json& error = record.parameters["error"];
    rows += fmt::format("{:<40}{:>14}{:>14}{:>14}\n", record.series(), record.size,
                        record.check ? fmt::format("{:.2e}", record.check->error) : std::string("-"),
                        error.is_null() ? std::string("inf") : fmt::format("{:.2e}", error.get<double>()));
  }
  if (rows.empty()) return {};
  return fmt::format(
             "\nErrors: the residual ||A x - b|| / (eps (||A|| ||x|| + ||b||) n), which is judged, eps = 2^-24; and "
             "the "
             "difference\nfrom LAPACK's solution in double precision, over its largest "
             "element\n{:<40}{:>14}{:>14}{:>14}\n",
             "variant", "size", "residual", "difference") +
         rows;
}

}  // namespace

ModeRecord DenseSystemsRun::record_of(std::string variant) const {
  return {.variant = std::move(variant),
          .size = system_.size_text(),
          .n = system_.n,
          .parameters = {{"right_hand_sides", system_.columns}, {"inverse", system_.wanted == Wanted::inverse}},
          .flops = flops_of(system_)};
}

void DenseSystemsRun::add(ModeRecord record) {
  if (record.failure.empty() && !exact_.empty()) {
    const double error = relative_error(system_, exact_);
    record.parameters["error"] = std::isfinite(error) ? nlohmann::json(error) : nlohmann::json();
  }
  run_.add(std::move(record));
}

void DenseSystemsRun::measure_rival() {
  ModeRecord record = record_of(dense_rival);
  record.is_rival = true;
  solvers::StageClock clock;
  Index info = 0;
  record.times = run_.measure(clock, record.series() + ", " + record.size, record.flops, [&] {
    std::vector<float> a, b;
    clock.measure(solvers::Stage::pack, [&] {
      a = system_.a;
      b = transposed(system_.b, system_.n, system_.columns);
    });
    clock.measure(solvers::Stage::compute, [&] { info = solve_by_lapack<float>(system_, a, b); });
    if (info != 0) return;
    clock.measure(solvers::Stage::unpack, [&] {
      system_.x = system_.wanted == Wanted::inverse ? std::move(a) : transposed(b, system_.columns, system_.n);
    });
  });
  if (info != 0) {
    record.failure = fmt::format("singular: LAPACK's getrf finds no pivot at step {} of {}", info, system_.n);
  } else if (system_.wanted != Wanted::factors) {
    record.check = check_solution(system_);
  }
  add(std::move(record));
}

void DenseSystemsRun::measure(const EliminationSettings& settings, solvers::StageClock& clock,
                              const std::function<void()>& once, const std::function<ModeCheck()>& judge) {
  ModeRecord record = record_of(std::string(name_of(settings.variant)));
  record.settings = name_of(settings.pivoting);
  record.parameters["pivoting"] = name_of(settings.pivoting);
  if (solvers::block_size(settings.variant) > 1) {
    record.parameters["measure"] = name_of(settings.measure);
    if (settings.measure == solvers::PivotMeasure::as_signed) record.settings += ", signed";
  }
  std::fill(system_.x.begin(), system_.x.end(), 0.0F);
  record.times = run_.measure(clock, record.series() + ", " + record.size, record.flops, [&] {
    if (!record.failure.empty()) return;
    try {
      once();
    } catch (const solvers::SingularMatrixError& error) {
      record.failure = error.what();
    }
  });
  if (record.failure.empty()) record.check = judge ? judge() : check_solution(system_);
  add(std::move(record));
}

int run_dense_systems(const DenseSystemsMode& mode, const EliminationOptions& options, nlohmann::json configuration,
                      const ModeInvocation& invocation) {
  check_matrix_name(options.output);
  ModeRun run(mode.name, options, std::move(configuration), invocation);
  const SystemInputs inputs = read_system_inputs(options);
  std::vector<DenseSystem> systems = systems_of(options, inputs, mode.wanted);
  std::vector<Index> orders;
  for (const DenseSystem& system : systems) orders.push_back(system.n);
  check_fit(options.fit, orders, dense_fit_degree);
  ModeMachine machine = open_machine(options, !mode.settings.empty());
  for (const DenseSystem& system : systems) check_system(system, machine, mode);
  run.begin(machine);
  DenseMatrix result;
  for (DenseSystem& system : systems) {
    fill(system, options, inputs);
    DenseSystemsRun measuring(run, system);
    measuring.measure_rival();
    for (const EliminationSettings& settings : mode.settings)
      mode.measure(measuring, system, *machine.device, settings);
    result = {};
    if (run.records().back().failure.empty()) {
      result = {system.n, system.columns, {system.x.begin(), system.x.end()}};
    }
    system = {};  // frees its memory
  }
  run.print(error_table(run.records()));
  if (!result.elements.empty()) run.write_result([&](std::ostream& out) { write_matrix(out, options.output, result); });
  return run.finish(machine, dense_fit_degree);
}

}  // namespace glinpack::app
