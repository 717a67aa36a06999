#include <spdlog/fmt/fmt.h>

#include "app/modes/mode_report.hpp"

namespace glinpack::app {

namespace {

std::string seconds(const Measured& measured) { return fmt::format("{:.4g}", measured.median); }

std::string ratio(const std::optional<double>& value) {
  return value ? fmt::format("{:.3g}", *value) : std::string("-");
}

constexpr const char* columns = "{:<24}{:<16}{:>14}{:>11}{:>11}{:>11}{:>11}{:>9}{:>9}{:>9}{:>10}{:>10}  {}";

}  // namespace

std::string table_line(std::string line) {
  line.resize(line.find_last_not_of(' ') + 1);
  return line + '\n';
}

std::string mode_head(const std::string& mode, const ModeMachine& machine) {
  std::string text = "glinpack " + mode + "\n";
  if (machine.device) {
    const gl::DeviceDescription& device = machine.device->description();
    text += fmt::format("device {}: {}{}\n  driver {}\n", device.index, device.renderer,
                        device.software ? " (software OpenGL: computed by the processor)" : "", device.version);
  }
  text += fmt::format("host {}: {}\n  {}, kernels {}, {} thread{}\n", machine.host_name, machine.processor,
                      machine.blas, machine.kernels, machine.threads, machine.threads == 1 ? "" : "s");
  for (const std::string& note : machine.notes) text += note + "\n";
  return text;
}

std::string mode_table_head() {
  return "\n" +
         table_line(fmt::format(columns, "variant", "settings", "size", "seconds", "least", "+transfer",
                                           "+packing", "GFLOPS", "speed-up", "with all", "error", "tolerance", ""));
}

std::string mode_line(const ModeRecord& r) {
  if (!r.failure.empty()) {
    return table_line(
        fmt::format("{:<24}{:<16}{:>14}  FAILED: {}", r.variant, r.settings, r.size, r.failure));
  }
  const std::string verdict = !r.check            ? "not checked"
                              : r.check->passed() ? "passed"
                                                  : "FAILED: differs too much from " + r.check->against;
  return table_line(
      fmt::format(columns, r.variant, r.settings, r.size, seconds(r.times.compute),
                  fmt::format("{:.4g}", r.times.compute.least), seconds(r.times.with_transfer),
                  seconds(r.times.with_all), r.flops > 0 ? fmt::format("{:.2f}", r.gflops()) : std::string("-"),
                  ratio(r.speedup), ratio(r.speedup_with_all), r.check ? fmt::format("{:.2e}", r.check->error) : "-",
                  r.check ? fmt::format("{:.2e}", r.check->tolerance) : "-", verdict));
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
  std::string text = "\nseconds = " + formula + ", by weighted least squares\n" +
                     table_line(fmt::format("{:<40}{}{:>11}{:>11}{:>10}", "variant", head, "mean err.",
                                                       "largest", "speed-up"));
  for (const SeriesFit& series : fits) {
    std::string values;
    for (const double coefficient : series.fit.coefficients) values += fmt::format("{:>12.3e}", coefficient);
    text += table_line(fmt::format("{:<40}{}{:>10.1f}%{:>10.1f}%{:>10}", series.series, values,
                                              100 * series.fit.mean_relative_error,
                                              100 * series.fit.largest_relative_error, ratio(series.speedup)));
  }
  return text + fmt::format("speed-up: the processor's {} over the variant's\n", letters[terms - 1]);
}

}  // namespace glinpack::app
