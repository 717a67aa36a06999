
#include <algorithm>
#include <cmath>

#include "app/modes/mode_run.hpp"
#include "app/modes/modes.hpp"
#include "app/modes/paranoia_lu.hpp"
#include "app/modes/paranoia_options.hpp"
#include "app/modes/paranoia_report.hpp"
#include "solvers/paranoia/device_arithmetic.hpp"
#include "solvers/paranoia/operations.hpp"

namespace glinpack::app {

namespace {

using arithmetic::OperandSet;
using arithmetic::Operation;

/// The operations of one variant in one precision.
template <class Real>
class ArithmeticRun {
 public:
  ArithmeticRun(const ParanoiaOptions& options, const ModeMachine& machine, std::string variant)
      : options_(options), variant_(std::move(variant)) {
    if (variant_ == "cpu") return;
    device_ = solvers::make_device_arithmetic<Real>(
        *machine.device, variant_ == "fragment" ? solvers::ShaderKind::fragment : solvers::ShaderKind::compute);
  }

  void measure(Operation operation, ParanoiaFindings& findings) {
    OperationRecord record{.variant = variant_, .precision = precision_of<Real>, .operation = operation};
    const auto measure_set = [&](const OperandSet<Real>& set) {
      const std::vector<Real> results = results_of(operation, set);
      record.errors.add(arithmetic::errors_of<Real>(operation, set, results));
      return set.size();
    };
    record.directed = measure_set(arithmetic::directed_operands<Real>(operation));
    record.random = measure_set(arithmetic::random_operands<Real>(operation, options_.samples, options_.seed));
    findings.operations.push_back(std::move(record));
  }

  /// Sends numbers to the variants and back without arithmetic.
  void carry(ParanoiaFindings& findings) {
    if (!device_) return;
    const OperandSet<Real> set = arithmetic::directed_operands<Real>(Operation::addition);
    std::vector<Real> results(set.a.size());
    device_->carry(set, results);
    CarriedRecord record{.variant = variant_, .precision = precision_of<Real>, .numbers = set.size()};
    for (std::size_t i = 0; i < results.size(); ++i) {
      const Real sent = set.a[i], back = results[i];
      if (std::isnan(sent) || (back == sent && std::signbit(back) == std::signbit(sent))) continue;
      ++(back == 0 && std::fpclassify(sent) == FP_SUBNORMAL ? record.denormals_flushed : record.changed);
    }
    findings.carried.push_back(record);
  }

 private:
  std::vector<Real> results_of(Operation operation, const OperandSet<Real>& set) {
    std::vector<Real> results(set.a.size());
    if (device_) {
      device_->compute(operation, set, results);
    } else {
      for (Index i = 0; i < set.size(); ++i) {
        results[static_cast<std::size_t>(i)] = arithmetic::computed_by_host(operation, set.at(i));
      }
    }
    return results;
  }

  const ParanoiaOptions& options_;
  std::string variant_;
  std::unique_ptr<solvers::DeviceArithmetic<Real>> device_;
};

template <class Real>
void measure_arithmetic(const ParanoiaOptions& options, ModeRun& run, const ModeMachine& machine,
                        ParanoiaFindings& findings) {
  for (const std::string& variant : options.variant) {
    if (variant == "fragment" && precision_of<Real> == Precision::double_) continue;
    ArithmeticRun<Real> arithmetic(options, machine, variant);
    solvers::StageClock clock;
    for (const Operation operation : arithmetic::all_operations) {
      run.measure(clock, variant + ", " + std::string(name_of(operation)), 0,
                  [&] { arithmetic.measure(operation, findings); });
    }
    arithmetic.carry(findings);
  }
  run.print(operations_text(findings, precision_of<Real>));
}

bool needs_device(const ParanoiaOptions& options) {
  const bool fragment = options.has_variant("fragment") && options.has_part("arithmetic");
  return options.has_variant("compute") || fragment;
}

}  // namespace

int run_paranoia(const ModeInvocation& invocation) {
  const ParanoiaOptions options = parse_paranoia_options(invocation.arguments);
  ModeRun run("paranoia", options, to_json(options, paranoia_table), invocation);
  constexpr double bytes_of_a_sample = 2 * 4 * sizeof(double);  // three operands and a result, twice while they grow
  check_host_memory("--samples " + std::to_string(options.samples),
                    bytes_of_a_sample * static_cast<double>(options.samples));
  const ModeMachine machine = open_machine(options, needs_device(options));
  if (options.has_part("lu")) check_lu_sizes(options, machine);
  run.begin_without_times(machine);
  ParanoiaFindings findings;
  if (options.has_part("arithmetic")) {
    for (const Precision precision : options.precision) {
      precision == Precision::single ? measure_arithmetic<float>(options, run, machine, findings)
                                     : measure_arithmetic<double>(options, run, machine, findings);
    }
  }
  if (options.has_part("lu")) measure_lu_errors(options, run, machine);
  run.print(lu_errors_text(run.records()));
  run.add_to_json("arithmetic", operations_json(findings));
  run.add_to_json("carried", carried_json(findings));
  run.replace_csv(paranoia_csv(findings, run.records()));
  constexpr int no_fit = 0, check_failed = 1;
  const int exit_code = run.finish(machine, no_fit);
  return findings.passed() ? exit_code : check_failed;
}

}  // namespace glinpack::app
