#include "app/papers/study.hpp"

#include <algorithm>
#include <chrono>

#include "app/papers/problem.hpp"

namespace glinpack::app {

namespace {

void check_fits(const Problem& problem, const ModeMachine& machine) {
  const DeviceDescription* device = machine.device ? &machine.device->description() : nullptr;
  const auto check_memory = [&] {
    check_host_memory(problem.what, problem.bytes + (device && device->software ? problem.device_bytes : 0));
  };
  if (!problem.names_device_first) check_memory();
  for (const Variant& variant : device ? problem.variants(machine) : std::vector<Variant>{}) {
    if (variant.refusal) check_obstacle(problem.what + ", variant " + variant.name, variant.refusal(*device));
  }
  if (problem.names_device_first) check_memory();
}

void measure(const Problem& problem, const Variant& variant, bool has_times, ModeRun& run) {
  ModeRecord record{.variant = variant.name,
                    .settings = variant.settings,
                    .size = problem.size.empty() ? std::to_string(problem.n) : problem.size,
                    .n = problem.n,
                    .precision = problem.precision,
                    .parameters = problem.parameters,
                    .is_rival = variant.is_reference,
                    .flops = variant.flops > 0 ? variant.flops : problem.flops};
  record.parameters.update(variant.parameters);
  Steps steps;
  const auto start = std::chrono::steady_clock::now();
  run.on_all_ranks([&] { steps = variant.make(run); });
  const double making = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  solvers::StageClock own;
  const auto step = [&](solvers::Stage stage, const std::function<void()>& work) {
    if (!work) return;
    steps.clock ? work() : own.measure(stage, work);
  };
  run.time(record, steps.clock ? *steps.clock : own, [&] {
    step(solvers::Stage::pack, steps.load);
    step(solvers::Stage::compute, steps.compute);
    step(solvers::Stage::unpack, steps.store);
  });
  if (!has_times) record.times = {};
  if (record.failure.empty() && variant.check) variant.check(record);
  if (record.timed()) {
    record.parameters["set_up_seconds"] = making + std::max(0.0, record.times.first - record.times.with_all.median);
  }
  has_times ? run.add(std::move(record)) : run.keep(std::move(record));
}

}  // namespace

int run_study(const std::function<Study()>& make, const std::string& name, const ModeOptions& options,
              nlohmann::json configuration, const Invocation& invocation, const MpiSession* session) {
  constexpr int exit_check_failed = 1;
  ModeRun run(name, options, std::move(configuration), invocation, session);
  const Study study = make();
  std::vector<Index> sizes;
  for (const Problem& problem : study.problems) sizes.push_back(problem.n);
  const bool has_times = study.fit_degree.has_value();
  if (has_times) check_fit(options.fit, sizes, *study.fit_degree);
  run.open_machine(study.needs_device, study.notes);
  run.on_all_ranks([&] {
    for (const Problem& problem : study.problems) check_fits(problem, run.machine());
  });
  run.begin(has_times);
  if (study.begin) study.begin(run);
  for (const Problem& problem : study.problems) {
    if (problem.fill) problem.fill();
    for (const Variant& variant : problem.variants(run.machine())) measure(problem, variant, has_times, run);
    if (problem.end) problem.end(run);
  }
  std::optional<DenseMatrix> result;
  if (!options.output.empty() && study.result) result = study.result();
  if (study.end) study.end(run);
  const bool records_passed = run.finish(study.fit_degree, result);
  return records_passed && (!study.passed || study.passed()) ? 0 : exit_check_failed;
}

}  // namespace glinpack::app
