#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "app/papers/paranoia.hpp"
#include "app/record/text.hpp"
#include "solvers/paranoia/device_arithmetic.hpp"
#include "solvers/paranoia/operations.hpp"

namespace glinpack::app {

namespace {

using arithmetic::Operands;
using arithmetic::OperandSet;
using arithmetic::Operation;
using arithmetic::OperationErrors;

/// The operations of one variant in one precision.
template <class Real>
class ArithmeticRun {
 public:
  ArithmeticRun(const ParanoiaOptions& options, const ModeMachine& machine, std::string variant)
      : options_(options), variant_(std::move(variant)) {
    if (variant_ == "cpu") return;
    device_.emplace(*machine.device,
                    variant_ == "fragment" ? solvers::ShaderKind::fragment : solvers::ShaderKind::compute);
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
  std::optional<solvers::DeviceArithmetic<Real>> device_;
};

constexpr int digits = 6;

std::string number(double value) {
  const std::string text = fmt::format("{:.{}g}", value, digits);
  return text == "-0" ? "0" : text;
}

std::string range_text(double min, double max) { return "[" + number(min) + ", " + number(max) + "]"; }

/// Table 4 of Ino, Matsui, Goda, Hagihara 2005, for a Quadro FX 3400, 2004; empty if the table has no value.
std::string in_the_paper(Operation operation) {
  static const std::map<Operation, std::string> errors{{Operation::addition, range_text(-1, 0)},
                                                       {Operation::subtraction, range_text(-0.75, 0.75)},
                                                       {Operation::multiplication, range_text(-0.78125, 0.625)},
                                                       {Operation::division, range_text(-1.19902, 1.37442)}};
  const auto found = errors.find(operation);
  return found == errors.end() ? "-" : found->second;
}

std::string bound_text(Operation operation) {
  const arithmetic::ErrorBound bound = arithmetic::glsl_bound(operation);
  const std::string range = fmt::format("{}, {}", -bound.ulps, bound.ulps);
  return bound.included ? "[" + range + "]" : "(" + range + ")";
}

std::string operands_text(Operation operation, const Operands<double>& o) {
  if (operation == Operation::reciprocal) return fmt::format("b = {:a}", o.b);
  const std::string two = fmt::format("a = {:a}, b = {:a}", o.a, o.b);
  return operation == Operation::fma ? two + fmt::format(", c = {:a}", o.c) : two;
}

std::string share(Index part, Index all) { return all == 0 ? "-" : fmt::format("{} of {}", part, all); }

std::string failure_of(const OperationRecord& r) {
  std::string text;
  const OperationErrors& e = r.errors;
  if (e.outside > 0) {
    text += fmt::format("{} of {} results are outside of what GLSL demands, the first with {}; ", e.outside, e.ordinary,
                        operands_text(r.operation, e.first_outside));
  }
  if (e.neither > 0) text += fmt::format("{} of {} denormals neither kept nor flushed; ", e.neither, e.denormals);
  if (e.not_zero > 0) text += fmt::format("{} of {} results are not 0; ", e.not_zero, e.zeros);
  if (!text.empty()) text.resize(text.size() - 2);
  return text;
}

constexpr const char* operation_columns = "  {:<16}{:<10}{:<28}{:<14}{:<14}{:<21}{:>8}  {}";
constexpr const char* class_columns = "  {:<16}{:<10}{:>18}{:>18}{:>18}{:>18}";

std::array<double, 3> operands_of(const Operands<double>& o) { return {o.a, o.b, o.c}; }

std::string operations_text(const ParanoiaFindings& findings, Precision precision) {
  std::string errors = table_line(
      fmt::format(operation_columns, "operation", "on", "error", "IEEE 754", "GLSL", "Quadro (paper)", "nearest", ""));
  std::string classes = table_line(
      fmt::format(class_columns, "", "", "denormals kept", "flushed to 0", "signs of zeros", "infinities, NaN"));
  for (const Operation operation : arithmetic::all_operations) {
    for (const OperationRecord& r : findings.operations) {
      if (r.operation != operation || r.precision != precision) continue;
      const OperationErrors& e = r.errors;
      const bool has_paper = precision == Precision::single && r.variant != "cpu";
      const std::string failure = failure_of(r);
      errors += table_line(fmt::format(
          operation_columns, name_of(operation), r.variant, range_text(e.range.min, e.range.max), range_text(-0.5, 0.5),
          bound_text(operation), has_paper ? in_the_paper(operation) : "",
          e.nearest == e.ordinary
              ? std::string("all")
              : fmt::format("{:.3f}%", 100 * static_cast<double>(e.nearest) / static_cast<double>(e.ordinary)),
          failure.empty() ? "passed" : "FAILED: " + failure));
      classes +=
          table_line(fmt::format(class_columns, name_of(operation), r.variant, share(e.kept, e.denormals),
                                 share(e.flushed, e.denormals), share(e.signs, e.zeros), share(e.as_ieee, e.special)));
    }
  }
  std::string text =
      fmt::format("\n{} precision: min and max error in units in the last place, computed - exact\n{}\n{}",
                  name_of(precision), errors, classes);
  for (const CarriedRecord& r : findings.carried) {
    if (r.precision != precision) continue;
    text += fmt::format("  carried to {} and back: {} of {} numbers are as they were{}{}\n", r.variant,
                        r.numbers - r.denormals_flushed - r.changed, r.numbers,
                        r.denormals_flushed > 0 ? fmt::format(", {} denormals became 0", r.denormals_flushed) : "",
                        r.passed() ? "" : fmt::format("; FAILED: {} are others", r.changed));
  }
  return text;
}

template <class Real>
void measure_in(const ParanoiaOptions& options, ModeRun& run, ParanoiaFindings& findings) {
  for (const std::string& variant : options.variant) {
    if (variant == "fragment" && precision_of<Real> == Precision::double_) continue;
    ArithmeticRun<Real> arithmetic(options, run.machine(), variant);
    solvers::StageClock clock;
    for (const Operation operation : arithmetic::all_operations) {
      run.measure(clock, variant + ", " + std::string(name_of(operation)), 0,
                  [&] { arithmetic.measure(operation, findings); });
    }
    arithmetic.carry(findings);
  }
  run.print(operations_text(findings, precision_of<Real>));
}

}  // namespace

bool ParanoiaFindings::passed() const {
  return std::ranges::all_of(operations, [](const auto& r) { return r.errors.passed(); }) &&
         std::ranges::all_of(carried, &CarriedRecord::passed);
}

void measure_arithmetic(const ParanoiaOptions& options, Precision precision, ModeRun& run, ParanoiaFindings& findings) {
  precision == Precision::single ? measure_in<float>(options, run, findings)
                                 : measure_in<double>(options, run, findings);
}

template <class Json>
void describe(Json& json, OperationRecord& r) {
  const OperationErrors& e = r.errors;
  json("variant", r.variant);
  json("precision", r.precision);
  json("operation", name_of(r.operation));
  json("directed", r.directed);
  json("random", r.random);
  json("ordinary", e.ordinary);
  json.number_or_null("least_ulps", e.range.min);
  json.number_or_null("most_ulps", e.range.max);
  json("least_at", operands_of(e.range.min_at));
  json("most_at", operands_of(e.range.max_at));
  json("bound_ulps", arithmetic::glsl_bound(r.operation).ulps);
  json("nearest", e.nearest);
  json("outside", e.outside);
  json("denormals", e.denormals);
  json("denormals_kept", e.kept);
  json("denormals_flushed", e.flushed);
  json("zeros", e.zeros);
  json("zeros_signed", e.signs);
  json("zeros_missed", e.not_zero);
  json("special", e.special);
  json("special_as_ieee", e.as_ieee);
  json("passed", e.passed());
}

template <class Json>
void describe(Json& json, CarriedRecord& r) {
  json("variant", r.variant);
  json("precision", r.precision);
  json("numbers", r.numbers);
  json("denormals_flushed", r.denormals_flushed);
  json("changed", r.changed);
  json("passed", r.passed());
}

void add_to_json(const ParanoiaFindings& findings, ModeRun& run) {
  run.add_to_json("arithmetic", json_of(findings.operations));
  run.add_to_json("carried", json_of(findings.carried));
}

std::string operations_csv(const ParanoiaFindings& findings) {
  std::string text;
  for (const OperationRecord& r : findings.operations) {
    text += csv_line({std::string(name_of(r.operation)), r.variant, std::string(name_of(r.precision)),
                      std::to_string(r.directed + r.random), csv_number(r.errors.range.min),
                      csv_number(r.errors.range.max), "ulp", r.errors.passed() ? "true" : "false"});
  }
  return text;
}

}  // namespace glinpack::app
