#include "app/papers/records.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "app/input/input_error.hpp"
#include "app/program/program_context.hpp"
#include "app/record/text.hpp"
#include "openblas/host_solvers.hpp"

namespace glinpack::app {

namespace {

std::size_t sizes_needed(int degree) { return static_cast<std::size_t>(degree) + 2; }

void add_errors(PolynomialFit& fit, std::span<const FitPoint> points) {
  double squares = 0;
  for (const FitPoint& point : points) {
    const double error = std::abs(fit.at(point.n) - point.seconds) / point.seconds;
    squares += error * error;
    fit.largest_relative_error = std::max(fit.largest_relative_error, error);
  }
  fit.mean_relative_error = std::sqrt(squares / static_cast<double>(points.size()));
}

const PolynomialFit* rival_of(const SeriesFit& series, std::span<const SeriesFit> fits) {
  const PolynomialFit* first = nullptr;
  for (const SeriesFit& other : fits) {
    if (!other.is_rival) continue;
    if (other.settings == series.settings) return &other.fit;
    if (first == nullptr) first = &other.fit;
  }
  return first;
}

}  // namespace

double PolynomialFit::at(double n) const {
  double value = 0;
  for (std::size_t k = coefficients.size(); k-- > 0;) value = value * n + coefficients[k];
  return value;
}

PolynomialFit fit_polynomial(std::span<const FitPoint> points, int degree) {
  const auto terms = static_cast<std::size_t>(degree) + 1;
  if (points.size() < terms) throw std::invalid_argument("there are fewer points than coefficients");
  // fits in n / scale: the powers of n differ by many orders of magnitude
  double scale = 0;
  for (const FitPoint& point : points) scale = std::max(scale, point.n);
  std::vector<double> matrix, right;
  for (const FitPoint& point : points) {
    double power = 1;
    for (std::size_t k = 0; k < terms; ++k, power *= point.n / scale) matrix.push_back(power / point.seconds);
    right.push_back(1);
  }
  const auto rows = static_cast<Index>(points.size()), columns = static_cast<Index>(terms);
  PolynomialFit fit;
  fit.coefficients = least_squares({matrix.data(), rows, columns, columns}, right);
  double power = 1;
  for (double& coefficient : fit.coefficients) {
    coefficient /= power;
    power *= scale;
  }
  add_errors(fit, points);
  return fit;
}

std::optional<double> crossing(const PolynomialFit& one, const PolynomialFit& other, double from, double to) {
  const auto is_faster = [&](double n) { return one.at(n) < other.at(n); };
  constexpr int steps = 1000;
  for (int step = 0; step < steps; ++step) {
    double low = from + (to - from) * step / steps, high = from + (to - from) * (step + 1) / steps;
    if (is_faster(low) == is_faster(high)) continue;
    const bool before = is_faster(low);
    for (int halving = 0; halving < 50; ++halving) {
      const double middle = (low + high) / 2;
      (is_faster(middle) == before ? low : high) = middle;
    }
    return low;
  }
  return std::nullopt;
}

std::vector<SeriesFit> fit_series(std::span<const ModeRecord> records, int degree) {
  std::vector<SeriesFit> fits;
  for (const ModeRecord& first : records) {
    if (std::ranges::count(fits, first.series(), &SeriesFit::series) > 0) continue;
    std::vector<FitPoint> points;
    std::set<Index> sizes;
    for (const ModeRecord& record : records) {
      if (record.series() != first.series() || !record.passed() || record.times.compute.median <= 0) continue;
      points.push_back({static_cast<double>(record.n), record.times.compute.median});
      sizes.insert(record.n);
    }
    if (sizes.size() < sizes_needed(degree)) continue;
    fits.push_back({.series = first.series(),
                    .settings = first.settings,
                    .is_rival = first.is_rival,
                    .fit = fit_polynomial(points, degree)});
  }
  for (SeriesFit& fit : fits) {
    const PolynomialFit* rival = rival_of(fit, fits);
    if (fit.is_rival || rival == nullptr || rival->dominant() <= 0 || fit.fit.dominant() <= 0) continue;
    fit.speedup = rival->dominant() / fit.fit.dominant();
  }
  return fits;
}

void check_fit(bool fit, const std::vector<Index>& sizes, int degree) {
  const std::size_t different = std::set<Index>(sizes.begin(), sizes.end()).size();
  if (!fit || different >= sizes_needed(degree)) return;
  throw InputError("--fit: " + std::to_string(different) + " size" + (different == 1 ? " is" : "s are") +
                   " too few for a polynomial of degree " + std::to_string(degree) + "; give " +
                   std::to_string(sizes_needed(degree)) + " or more, --n 64,96,128,192,256 for example");
}

std::string one_coefficient_text(std::span<const ModeRecord> records, std::span<const SeriesFit> fits) {
  std::string text;
  for (const SeriesFit& series : fits) {
    std::vector<FitPoint> points;
    for (const ModeRecord& r : records) {
      if (r.series() == series.series && r.passed())
        points.push_back({static_cast<double>(r.n), r.times.compute.median});
    }
    text += fmt::format("{:<40}", series.series);
    for (const bool linear : {true, false}) {
      const auto shape = [linear](double n) { return linear ? n : std::log2(n); };
      double sum = 0, squares = 0, error = 0;  // least squares of (c shape(n) - t) / t
      for (const FitPoint& p : points) {
        sum += shape(p.n) / p.seconds;
        squares += shape(p.n) * shape(p.n) / (p.seconds * p.seconds);
      }
      const double c = squares > 0 ? sum / squares : 0;
      for (const FitPoint& p : points) error += std::pow(c * shape(p.n) / p.seconds - 1, 2);
      text += fmt::format("{:>12.3e}{:>10.1f}%", c, 100 * std::sqrt(error / static_cast<double>(points.size())));
    }
    const PolynomialFit* rival = rival_of(series, fits);
    if (!series.is_rival && rival != nullptr) {
      const auto n = [](const FitPoint& a, const FitPoint& b) { return a.n < b.n; };
      const auto [min, max] = std::ranges::minmax_element(points, n);
      const std::optional<double> overtakes = crossing(series.fit, *rival, min->n, max->n);
      text += overtakes ? fmt::format("{:>12.0f}", *overtakes) : fmt::format("{:>12}", "-");
    }
    text += '\n';
  }
  if (text.empty()) return text;
  return fmt::format(
             "\nseconds = c n, and c log2 n; and the n where the cubic crosses the "
             "processor's\n{:<40}{:>12}{:>11}{:>12}{:>11}{:>12}\n",
             "variant", "c n", "mean err.", "c log2 n", "mean err.", "crossing") +
         text;
}

namespace {

std::string seconds(const Measured& measured) { return fmt::format("{:.4g}", measured.median); }

std::string ratio(const std::optional<double>& value) {
  return value ? fmt::format("{:.3g}", *value) : std::string("-");
}

/// Three digits of what two decimals would cut.
std::string rate_text(double gflops) {
  return gflops < 1 ? fmt::format("{:.3g}", gflops) : fmt::format("{:.2f}", gflops);
}

constexpr const char* columns = "{:<24}{:<28}{:>14}{:>11}{:>11}{:>11}{:>11}{:>9}{:>9}{:>9}{:>10}{:>10}  {}";

}  // namespace

std::string table_line(std::string line) {
  line.resize(line.find_last_not_of(' ') + 1);
  return line + '\n';
}

std::string mode_head(const std::string& mode, const ModeMachine& machine) {
  std::string text = "glinpack-papers " + mode + "\n";
  if (machine.device) {
    const DeviceDescription& device = machine.device->description();
    text += fmt::format("device {}: {}{}\n  driver {}\n", device.index, device.renderer,
                        device.software ? " (software OpenGL: computed by the processor)" : "", device.version);
  }
  text += fmt::format("host {}: {}\n  {}, kernels {}, {} thread{}\n", machine.host_name, machine.processor,
                      machine.blas, machine.kernels, machine.threads, machine.threads == 1 ? "" : "s");
  for (const std::string& note : machine.notes) text += note + "\n";
  return text;
}

std::string mode_table_head() {
  return "\n" + table_line(fmt::format(columns, "variant", "settings", "size", "seconds", "least", "+transfer",
                                       "+packing", "GFLOPS", "speed-up", "with all", "error", "tolerance", ""));
}

std::string mode_line(const ModeRecord& r) {
  if (!r.failure.empty()) {
    return table_line(fmt::format("{:<24}{:<28}{:>14}  FAILED: {}", r.variant, r.settings, r.size, r.failure));
  }
  const std::string verdict = !r.check            ? "not checked"
                              : r.check->passed() ? "passed"
                                                  : "FAILED: differs too much from " + r.check->against;
  return table_line(fmt::format(
      columns, r.variant, r.settings, r.size, seconds(r.times.compute), fmt::format("{:.4g}", r.times.compute.min),
      seconds(r.times.with_transfer), seconds(r.times.with_all), r.flops > 0 ? rate_text(r.gflops()) : std::string("-"),
      ratio(r.speedup), ratio(r.speedup_with_all), r.check ? fmt::format("{:.2e}", r.check->error) : "-",
      r.check ? fmt::format("{:.2e}", r.check->tolerance) : "-", verdict));
}

std::function<std::string(const ModeRecord&)> parameter(const std::string& pointer, const std::string& format,
                                                        double scale, const std::string& unknown) {
  return [=, at = nlohmann::json::json_pointer(pointer)](const ModeRecord& record) {
    const nlohmann::json value = record.parameters.value(at, nlohmann::json());
    if (value.is_null()) return unknown;
    if (value.is_string()) return value.get<std::string>();
    if (value.is_number_integer()) return fmt::format("{}", value.get<Index>());
    return fmt::format(fmt::runtime(format), scale * value.get<double>());
  };
}

std::string records_table(std::span<const ModeRecord> records, const std::string& key,
                          const std::vector<Column>& columns) {
  std::string rows, head;
  const auto add = [](std::string& line, const std::string& text, int width) {
    line += width < 0 ? fmt::format("{:<{}}", text, -width) : fmt::format("{:>{}}", text, width);
  };
  for (const ModeRecord& record : records) {
    if (!record.failure.empty() || !record.parameters.contains(key)) continue;
    std::string row;
    for (const Column& column : columns) add(row, column.cell(record), column.width);
    rows += table_line(row);
  }
  if (rows.empty()) return rows;
  for (const Column& column : columns) add(head, column.title, column.width);
  return table_line(head) + rows;
}

std::string errors_table(std::span<const ModeRecord> records, const std::string& key, const std::string& unknown,
                         int series_width, const std::string& size, int size_width, const std::vector<Column>& more) {
  const auto residual = [](const ModeRecord& r) { return r.check ? fmt::format("{:.2e}", r.check->error) : "-"; };
  std::vector<Column> columns{{"variant", -series_width, [](const ModeRecord& r) { return r.series(); }},
                              {size, size_width, [](const ModeRecord& r) { return r.size; }},
                              {"residual", 14, residual},
                              {"difference", 14, parameter("/" + key, "{:.2e}", 1, unknown)}};
  columns.insert(columns.end(), more.begin(), more.end());
  return records_table(records, key, columns);
}

std::string fits_text(std::span<const SeriesFit> fits) {
  if (fits.empty()) return {};
  const std::size_t terms = fits.front().fit.coefficients.size();
  constexpr std::string_view letters = "abcdefgh";
  std::string formula = "a", head;
  for (std::size_t k = 0; k < terms; ++k) {
    if (k > 0) formula += fmt::format(" + {} n{}", letters[k], k > 1 ? fmt::format("^{}", k) : "");
    head += fmt::format("{:>12}", letters[k]);
  }
  std::string text =
      "\nseconds = " + formula + ", by weighted least squares\n" +
      table_line(fmt::format("{:<40}{}{:>11}{:>11}{:>10}", "variant", head, "mean err.", "largest", "speed-up"));
  for (const SeriesFit& series : fits) {
    std::string values;
    for (const double coefficient : series.fit.coefficients) values += fmt::format("{:>12.3e}", coefficient);
    text += table_line(fmt::format("{:<40}{}{:>10.1f}%{:>10.1f}%{:>10}", series.series, values,
                                   100 * series.fit.mean_relative_error, 100 * series.fit.largest_relative_error,
                                   ratio(series.speedup)));
  }
  return text + fmt::format("speed-up: the processor's {} over the variant's\n", letters[terms - 1]);
}

nlohmann::json number_or_null(const std::optional<double>& value) {
  return value && std::isfinite(*value) ? nlohmann::json(*value) : nlohmann::json();
}

std::string csv_number(double value) { return std::isfinite(value) ? fmt::format("{}", value) : std::string(); }

// The keys of a result in docs/solver.schema.json.

template <class Json>
void describe_seconds(Json& json, std::string_view key, Measured& seconds) {
  MeasuredQuantity quantity = in_unit(seconds, "s");
  json(key.data(), quantity);
}

template <class Json>
void describe(Json& json, MeasuredStages& times) {
  describe_seconds(json, "compute", times.compute);
  describe_seconds(json, "with_transfer", times.with_transfer);
  describe_seconds(json, "with_all", times.with_all);
  json.object("stages", [&times](auto& stages) {
    for (const solvers::Stage stage : solvers::all_stages) {
      describe_seconds(stages, name_of(stage), times.stages[static_cast<std::size_t>(stage)]);
    }
  });
}

template <class Json>
void describe(Json& json, ModeCheck& check) {
  json("against", check.against);
  json.number_or_null("error", check.error);
  json("tolerance", check.tolerance);
  json.derived("passed", check.passed());
}

template <class Json>
void describe(Json& json, ModeRecord& record) {
  json("variant", record.variant);
  json("settings", record.settings);
  json("size", record.size);
  json("n", record.n);
  json("precision", record.precision);
  json("parameters", record.parameters);
  json("rival", record.is_rival);
  json.nullable("times", record.timed(), record.times);
  json.nullable("flops", record.flops > 0, record.flops);
  json.nullable("gflops", record.gflops() > 0, record.gflops());
  json.later("speedup", record.speedup);
  json.later("speedup_with_all", record.speedup_with_all);
  json.later("check", record.check);
  json.nullable("failure", !record.failure.empty(), record.failure);
  bool passed = record.passed();
  json("passed", passed);
}

namespace {

using nlohmann::json;

json fit_json(const SeriesFit& series) {
  return {{"series", series.series},
          {"rival", series.is_rival},
          {"coefficients", series.fit.coefficients},
          {"mean_relative_error", series.fit.mean_relative_error},
          {"largest_relative_error", series.fit.largest_relative_error},
          {"speedup", number_or_null(series.speedup)}};
}

/// The columns of the CSV file after the mode, and where describe() puts their values.
constexpr std::string_view result_columns =
    "variant settings size n precision seconds=times/compute/median least_seconds=times/compute/least "
    "most_seconds=times/compute/most with_transfer_seconds=times/with_transfer/median "
    "with_all_seconds=times/with_all/median pack_seconds=times/stages/pack/median "
    "upload_seconds=times/stages/upload/median compute_seconds=times/stages/compute/median "
    "download_seconds=times/stages/download/median unpack_seconds=times/stages/unpack/median gflops speedup "
    "speedup_with_all error=check/error tolerance=check/tolerance against=check/against passed failure";

}  // namespace

std::string mode_csv(const std::string& mode, std::span<const ModeRecord> records) {
  const std::vector<CsvColumn> columns = csv_columns(result_columns);
  std::vector<std::string> fields{"mode"};
  for (const CsvColumn& column : columns) fields.push_back(column.name);
  std::string text = csv_line(fields);
  for (const ModeRecord& record : records) {
    const json described = json_of(record);
    fields = {mode};
    for (const CsvColumn& column : columns) {
      fields.push_back(text_of_json(described.value(json::json_pointer(column.place), json())));
    }
    text += csv_line(fields);
  }
  return text;
}

json mode_json(const std::string& mode, const ModeMachine& machine, std::span<const ModeRecord> records,
               std::span<const SeriesFit> fits) {
  json fitted = json::array();
  for (const SeriesFit& fit : fits) fitted.push_back(fit_json(fit));
  return {{"format", 1},
          {"mode", mode},
          {"device", machine.device ? device_json(machine.device->description()) : json()},
          {"host",
           {{"name", machine.host_name},
            {"processor", machine.processor},
            {"blas", machine.blas},
            {"kernels", machine.kernels},
            {"threads", machine.threads}}},
          {"notes", machine.notes},
          {"results", json_of(records)},
          {"fits", fitted}};
}

}  // namespace glinpack::app
